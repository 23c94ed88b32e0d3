// Conversions: generated code against the loop an expert writes for that pair, SciPy, Eigen and MLIR's own
// sparsifier, one thread, 32-bit indices, double precision. Ours is compared with the loop's arrays first.
#include "engine/Convert.h"
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

/// Converts the same tensor again and again.
Contender ours(Tensor from, const std::string &to) {
  const format::Encoding target = format::parseFormat(to, 2);
  return {"tulle", [from, target] {
            return timed([&] {
              engine::ConversionReport report;
              Tensor made = engine::convert(from, target, {}, &report);
              if (report.origin == std::string_view("library"))
                throw std::runtime_error("no code is generated for this pair");
              return made;
            });
          }};
}

template <typename Run> Contender loop(Run run) {
  return {"loop", [run] { return timed(run); }};
}

/// MLIR's conversion over the buffers of `from`.
Contender mlir(const Tensor &from, const std::string &source, const std::string &target) {
  auto kernel = std::make_shared<std::unique_ptr<MlirKernel>>();
  auto count = std::make_shared<int64_t>(0);
  return {"MLIR", [=] {
            if (!*kernel) {
              *kernel =
                  std::make_unique<MlirKernel>(conversionText(from.dims[0], from.dims[1], source,
                                                              unsigned(from.buffers.size() - 1), target),
                                               "enable-runtime-library=false", false);
              std::vector<MemRef> arguments;
              for (const runtime::Buffer &buffer : from.buffers)
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

const std::string
    csrMap = "(i, j) -> (i : dense, j : compressed)",
    cscMap = "(i, j) -> (j : dense, i : compressed)",
    cooMap = "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    bsrMap = "(i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense)";

class Conversions {
public:
  Conversions(const Options &options) : options(options) {}

  void run(const std::string &input) {
    problem = std::make_unique<Problem>(input);
    this->input = input;
    if (options.scipy)
      scipy = std::make_unique<SciPy>(TULLE_SCIPY_PEER, problem->a.view(), problem->b.view());
    const Problem &p = *problem;
    const Tensor csr = p.csrTensor(p.a), coo = p.cooTensor(), shuffled = p.shuffledTensor(),
                 csc = p.cscTensor();
    auto sameCsr = [](const Tensor &made, const Csr &want) {
      requireEqual(made, 0, want.pos.get(), want.rows + 1);
      requireEqual(made, 1, want.crd.get(), want.pos[want.rows]);
      requireEqual(made, 2, want.value.get(), want.pos[want.rows]);
    };
    auto sameDia = [](const Tensor &made, const Dia &want) {
      requireEqual(made, unsigned(made.buffers.size() - 1), want.value.get(), want.count * want.rows);
    };
    job(
        "COO->CSR sorted", coo, "CSR", [&p] { return sortedCooToCsr(p.coo()); }, sameCsr,
        mlir(coo, cooMap, csrMap));
    job("COO->CSR shuffled", shuffled, "CSR", [&p] { return cooToCsr(p.shuffled()); }, sameCsr, {});
    job("CSR->CSC", csr, "CSC", [&p] { return csrToCsc(p.a.view()); }, sameCsr, mlir(csr, csrMap, cscMap));
    if (p.diaPadding() < 4) {
      job("CSR->DIA", csr, "DIA", [&p] { return csrToDia(p.a.view()); }, sameDia, {});
      job("CSC->DIA", csc, "DIA", [&p] { return cscToDia(p.csc.view()); }, sameDia, {});
      job("COO->DIA", coo, "DIA", [&p] { return cooToDia(p.coo()); }, sameDia, {});
    }
    if (p.ellPadding() < 4)
      job(
          "CSR->ELL", csr, "ELL", [&p] { return csrToEll(p.a.view()); },
          [](const Tensor &made, const Ell &want) {
            requireEqual(made, unsigned(made.buffers.size() - 2), want.crd.get(), want.rows * want.width);
            requireEqual(made, unsigned(made.buffers.size() - 1), want.value.get(), want.rows * want.width);
          },
          {});
    job(
        "CSR->BCSR(4,4)", csr, "BCSR(4,4)", [&p] { return csrToBcsr4(p.a.view()); },
        [](const Tensor &made, const Bcsr &want) {
          requireEqual(made, 0, want.pos.get(), want.blockRows + 1);
          requireEqual(made, 1, want.crd.get(), want.pos[want.blockRows]);
          requireEqual(made, 2, want.value.get(), int64_t(want.pos[want.blockRows]) * 16);
        },
        mlir(csr, csrMap, bsrMap));
  }

  std::vector<Row> rows;

private:
  template <typename Loop, typename Same>
  void job(const std::string &name, const Tensor &from, const std::string &to, Loop byHand, Same same,
           Contender sparsifier) {
    if (name.find(options.filter) == std::string::npos)
      return;
    std::vector<Contender> contenders;
    std::string wrong;
    try {
      same(engine::convert(from, format::parseFormat(to, 2)), byHand());
      contenders.push_back(ours(from, to));
    } catch (const std::exception &error) {
      wrong = error.what();
    }
    contenders.push_back(loop(byHand));
    if (scipy && to != "ELL")
      contenders.push_back({"SciPy", [this, name] { return scipy->run(name); }});
    if (name == "CSR->CSC")
      if (auto run = eigenTranspose(problem->a.view()))
        contenders.push_back({"Eigen", [run = *run] { return timed([&] { return run(), 0; }); }});
    if (options.mlir && sparsifier.run)
      contenders.push_back(sparsifier);
    rows.push_back(race(name, input, contenders, options.seconds));
    if (!wrong.empty())
      rows.back().absent["tulle"] = wrong;
    fmt::print(stderr, "{} {}: done\n", name, input);
  }

  const Options &options;
  std::string input;
  std::unique_ptr<Problem> problem;
  std::unique_ptr<SciPy> scipy;
};

} // namespace

static int main(int argc, char **argv) {
  const Options options =
      parseOptions(argc, argv, "conversions, against loops by hand, SciPy, Eigen and MLIR");
  Conversions conversions(options);
  for (const std::string &input : options.inputs)
    conversions.run(input);
  printTable(conversions.rows, {"loop", "SciPy", "Eigen", "MLIR"});
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
