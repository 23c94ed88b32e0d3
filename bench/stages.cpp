// What compiling costs up to each stage; `tulle bench compile` times the whole.
#include "engine/Engine.h"
#include <benchmark/benchmark.h>

namespace {

using namespace tulle;

/// The product as text number `serial`: a text of its own is a kernel of its own in every cache.
notation::Program spmv(const std::string &format, uint64_t serial) {
  std::string text = "y(i) = A(i,j) * x(j) * " + std::to_string(serial + 1) + ".0";
  std::map<std::string, notation::Binding> bindings;
  bindings["A"] = {ElementType::F64, std::vector<int64_t>{1000, 1000},
                   format::resolveWidths(format::parseFormat(format, 2), 1000, 100000), true};
  bindings["x"] = {ElementType::F64, std::vector<int64_t>{1000}, format::denseEncoding(1), true};
  return notation::check(text, bindings);
}

uint64_t nextSerial() {
  static uint64_t serial = 0;
  return serial++;
}

void stage(benchmark::State &state, const char *name) {
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::explain(spmv("CSR", nextSerial()), name));
}

BENCHMARK_CAPTURE(stage, linalg, "linalg")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, iteration, "iteration")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, loops, "loops")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, vector, "vector")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, llvm, "llvm")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, assembly, "asm")->Unit(benchmark::kMillisecond)->Iterations(20);

} // namespace

BENCHMARK_MAIN();
