// SpMV, SpMM and SDDMM: Tulle and MLIR's own sparsifier on the same buffers, in the same process, one thread,
// 32-bit widths, double precision. Each pair is compared element by element before it is timed.
#include "engine/Convert.h"
#include "engine/Engine.h"
#include "peer/MlirSparsifier.h"
#include "runtime/generate/Generate.h"
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace tulle::bench {

using runtime::Tensor;

namespace {

/// A problem, set up for both sides.
struct Case {
  std::string kernel, matrix; ///< "SpMV", "grid2d:1000"
  notation::Program program;
  std::vector<std::optional<Tensor>> tensors;
  std::shared_ptr<engine::Executable> executable;
  std::unique_ptr<MlirKernel> peer;
  Tensor peerResult;

  Tensor &named(const std::string &name) {
    for (size_t t = 0; t < tensors.size(); ++t)
      if (program.tensors[t].name == name)
        return *tensors[t];
    throw std::runtime_error("no tensor " + name);
  }
};

} // namespace

static notation::Binding bindingOf(const Tensor &tensor) {
  return {tensor.type, tensor.dims, tensor.encoding, true};
}

static Tensor generateDense(const char *spec, std::vector<int64_t> dims) {
  return runtime::generate(spec, dims, ElementType::F64).stored;
}

static void compileOurs(Case &problem, const std::string &text, std::map<std::string, Tensor> inputs,
                        std::optional<format::Encoding> result) {
  std::map<std::string, notation::Binding> bindings;
  for (const auto &[name, tensor] : inputs)
    bindings[name] = bindingOf(tensor);
  if (result)
    bindings["C"].encoding = *result;
  problem.program = notation::check(text, bindings);
  problem.tensors.resize(problem.program.tensors.size());
  for (size_t t = 0; t < problem.tensors.size(); ++t)
    if (auto found = inputs.find(problem.program.tensors[t].name); found != inputs.end())
      problem.tensors[t] = found->second;
  problem.executable = engine::compile(problem.program, {});
  problem.executable->run(problem.tensors);
}

static std::vector<MemRef> matrixArguments(const Tensor &A, void *values) {
  return {{A.buffers[0].data, {A.buffers[0].count}},
          {A.buffers[1].data, {A.buffers[1].count}},
          {values, {A.storedCount()}}};
}

static void setUpProduct(Case &problem, const Tensor &A, int64_t n) {
  int64_t rows = A.dims[0], columns = A.dims[1];
  Tensor x = generateDense("random:7", n ? std::vector<int64_t>{columns, n} : std::vector<int64_t>{columns});
  compileOurs(problem, n ? "C(i,k) = A(i,j) * B(j,k)" : "C(i) = A(i,j) * B(j)", {{"A", A}, {"B", x}},
              std::nullopt);
  problem.peerResult = runtime::makeDense(ElementType::F64, problem.named("C").dims);
  problem.peer =
      std::make_unique<MlirKernel>(n ? spmmText(rows, columns, n) : spmvText(rows, columns),
                                   n ? "enable-runtime-library=false reassociate-fp-reductions=true"
                                     : "enable-runtime-library=false vl=8 reassociate-fp-reductions=true",
                                   false);
  std::vector<MemRef> arguments = matrixArguments(A, A.values());
  arguments.push_back({x.values(), x.dims});
  arguments.push_back({problem.peerResult.values(), problem.peerResult.dims});
  problem.peer->bind(arguments);
}

static void setUpSddmm(Case &problem, const Tensor &A, int64_t n) {
  Tensor d = generateDense("random:7", {A.dims[0], n}), e = generateDense("random:8", {A.dims[1], n});
  compileOurs(problem, "C(i,j) = D(i,k) * E(j,k) where A", {{"A", A}, {"D", d}, {"E", e}}, A.encoding);
  problem.peerResult = runtime::likePattern(A, ElementType::F64);
  problem.peer =
      std::make_unique<MlirKernel>(sddmmText(A.dims[0], A.dims[1], n),
                                   "enable-runtime-library=false reassociate-fp-reductions=true", true);
  std::vector<MemRef> arguments = matrixArguments(A, problem.peerResult.values());
  arguments.push_back({d.values(), d.dims});
  arguments.push_back({e.values(), e.dims});
  problem.peer->bind(arguments);
}

/// Throws when the two sides disagree.
static void compare(Case &problem) {
  problem.peer->run();
  const Tensor &ours = problem.named("C");
  const double *a = static_cast<double *>(ours.values()),
               *b = static_cast<double *>(problem.peerResult.values());
  if (ours.storedCount() != problem.peerResult.storedCount())
    throw std::runtime_error("the results have different sizes");
  double scale = 0, worst = 0;
  for (int64_t i = 0; i < ours.storedCount(); ++i) {
    scale = std::max(scale, std::abs(b[i]));
    worst = std::max(worst, std::abs(a[i] - b[i]));
    if (std::isnan(a[i]) != std::isnan(b[i]))
      throw std::runtime_error("one result is NaN");
  }
  if (worst > 1e-12 * scale)
    throw std::runtime_error("the results differ");
}

/// Reset before main() ends: MLIR's execution engine cannot be destroyed after LLVM's own statics.
static std::unique_ptr<Case> last;

/// The problem asked for; only the last one is kept, since the dense operands are large.
static Case &setUp(const std::string &kernel, const std::string &matrix) {
  if (last && last->kernel == kernel && last->matrix == matrix)
    return *last;
  last.reset();
  auto made = std::make_unique<Case>();
  made->kernel = kernel;
  made->matrix = matrix;
  Tensor A =
      engine::store(runtime::generate(matrix, {}, ElementType::F64).entries, format::parseFormat("CSR", 2));
  if (kernel == "SDDMM64")
    setUpSddmm(*made, A, 64);
  else
    setUpProduct(*made, A, kernel == "SpMM32" ? 32 : 0);
  compare(*made);
  last = std::move(made);
  return *last;
}

static void measure(benchmark::State &state, const std::string &kernel, const std::string &matrix,
                    bool ours) {
  try {
    Case &problem = setUp(kernel, matrix);
    for (auto _ : state) {
      if (ours)
        problem.executable->run(problem.tensors);
      else
        problem.peer->run();
    }
  } catch (const std::exception &error) {
    state.SkipWithError(error.what());
  }
}

} // namespace tulle::bench

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  for (const char *kernel : {"SpMV", "SpMM32", "SDDMM64"})
    for (const char *matrix : {"grid2d:1000", "grid3d27:64", "uniform:200000:200000:16"})
      for (bool ours : {true, false})
        benchmark::RegisterBenchmark(
            (std::string(kernel) + "/" + matrix + "/" + (ours ? "tulle" : "mlir")).c_str(),
            [=](benchmark::State &state) { tulle::bench::measure(state, kernel, matrix, ours); })
            ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  tulle::bench::last.reset();
  return 0;
}
