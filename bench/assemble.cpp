// Sparse results whose pattern nobody knows before: A + B and A * A in CSR, against the loops an expert
// writes, SciPy, Eigen and MLIR's own sparsifier, one thread, 32-bit indices, double precision. Ours is
// compared with the loop's arrays first. Rows come out sorted; SciPy's product alone does not sort them
// ("unsorted").
#include "engine/Engine.h"
#include "measure/Measure.h"
#include "measure/Problem.h"
#include "peer/EigenPeer.h"
#include "peer/MlirSparsifier.h"
#include "peer/SciPy.h"
#include <fmt/format.h>
#include <stdexcept>

namespace tulle::bench {

using runtime::Tensor;

namespace {

/// A compiled statement with the result C in CSR.
struct Program {
  notation::Program program;
  std::shared_ptr<engine::Executable> executable;
  std::vector<std::optional<Tensor>> tensors;

  Program(const std::string &text, const std::map<std::string, Tensor> &inputs) {
    std::map<std::string, notation::Binding> bindings;
    for (const auto &[name, tensor] : inputs)
      bindings[name] = {tensor.type, tensor.dims, tensor.encoding, true};
    bindings["C"].encoding = format::resolveWidths(format::parseFormat("CSR", 2), 1, 1);
    program = notation::check(text, bindings);
    executable = engine::compile(program);
    tensors.resize(program.tensors.size());
    for (size_t t = 0; t < tensors.size(); ++t)
      if (auto found = inputs.find(program.tensors[t].name); found != inputs.end())
        tensors[t] = found->second;
  }

  /// A new C.
  Tensor run() {
    std::vector<std::optional<Tensor>> all = tensors;
    executable->run(all);
    for (size_t t = 0; t < all.size(); ++t)
      if (program.tensors[t].name == "C")
        return *all[t];
    throw std::runtime_error("no result");
  }
};

struct Job {
  std::string name, text, mlirText;
  std::map<std::string, Tensor> inputs;
  std::function<Csr()> loop;
  std::optional<std::function<void()>> eigen;
};

Contender mlir(const Job &job, const Tensor &a, const Tensor &b) {
  auto kernel = std::make_shared<std::unique_ptr<MlirKernel>>();
  auto count = std::make_shared<int64_t>(0);
  return {"MLIR", [=, text = job.mlirText] {
            if (!*kernel) {
              *kernel = std::make_unique<MlirKernel>(text, "enable-runtime-library=false", false);
              std::vector<MemRef> arguments;
              for (const Tensor *tensor : {&a, &b})
                for (const runtime::Buffer &buffer : tensor->buffers)
                  arguments.push_back({buffer.data, {buffer.count}});
              arguments.push_back({count.get(), {1}});
              (*kernel)->bind(arguments);
            }
            return timed([&] {
              (*kernel)->run();
              return *count;
            });
          }};
}

Row measure(const Job &job, const std::string &input, const Options &options, SciPy *scipy) {
  std::vector<Contender> contenders;
  std::string wrong;
  try {
    auto program = std::make_shared<Program>(job.text, job.inputs);
    const Tensor made = program->run();
    const Csr want = job.loop();
    requireEqual(made, 0, want.pos.get(), want.rows + 1);
    requireEqual(made, 1, want.crd.get(), want.pos[want.rows]);
    requireEqual(made, 2, want.value.get(), want.pos[want.rows]);
    contenders.push_back({"tulle", [program] { return timed([&] { return program->run(); }); }});
  } catch (const std::exception &error) {
    wrong = error.what();
  }
  contenders.push_back({"loop", [loop = job.loop] { return timed(loop); }});
  if (scipy) {
    contenders.push_back({"SciPy", [=, name = job.name] { return scipy->run(name); }});
    if (job.name == "A * A")
      contenders.push_back({"unsorted", [=] { return scipy->run("A * A unsorted"); }});
  }
  if (job.eigen)
    contenders.push_back({"Eigen", [run = *job.eigen] { return timed([&] { return run(), 0; }); }});
  if (options.mlir)
    contenders.push_back(mlir(job, job.inputs.at("A"), job.inputs.at("B")));
  Row row = race(job.name, input, contenders, options.seconds);
  if (!wrong.empty())
    row.absent["tulle"] = wrong;
  fmt::print(stderr, "{} {}: done\n", job.name, input);
  return row;
}

} // namespace

static int main(int argc, char **argv) {
  const Options options =
      parseOptions(argc, argv, "sparse sums and products, against loops by hand, SciPy, Eigen and MLIR");
  std::vector<Row> rows;
  for (const std::string &input : options.inputs) {
    const Problem p(input);
    const Tensor a = p.csrTensor(p.a), b = p.csrTensor(p.b);
    std::unique_ptr<SciPy> scipy;
    if (options.scipy)
      scipy = std::make_unique<SciPy>(TULLE_SCIPY_PEER, p.a.view(), p.b.view());
    const Job jobs[] = {{"A + B",
                         "C(i,j) = A(i,j) + B(i,j)",
                         sumText(p.a.rows, p.a.columns),
                         {{"A", a}, {"B", b}},
                         [&p] { return add(p.a.view(), p.b.view()); },
                         eigenSum(p.a.view(), p.b.view())},
                        {"A * A",
                         "C(i,j) = A(i,k) * B(k,j)",
                         spgemmText(p.a.rows),
                         {{"A", a}, {"B", a}},
                         [&p] { return multiply(p.a.view(), p.a.view()); },
                         eigenProduct(p.a.view(), p.a.view())}};
    for (const Job &job : jobs)
      if (job.name.find(options.filter) != std::string::npos)
        rows.push_back(measure(job, input, options, scipy.get()));
  }
  printTable(rows, {"loop", "SciPy", "unsorted", "Eigen", "MLIR"});
  return 0;
}

} // namespace tulle::bench

int main(int argc, char **argv) {
  tulle::bench::keepMemory(argv);
  try {
    return tulle::bench::main(argc, argv);
  } catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
