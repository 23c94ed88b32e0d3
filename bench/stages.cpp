// What compiling costs up to each stage; `tulle bench compile` times the whole for one statement.
#include "engine/Engine.h"
#include <benchmark/benchmark.h>

namespace {

using namespace tulle;

/// Programs over a matrix A and dense operands, matrices with 64 columns, with a factor that makes each text a kernel of its own in
/// every cache, and what is stored where A is.
struct Source {
  const char *text;
  std::vector<std::string> matrices, vectors, like;
};

const Source spmv{"y(i) = A(i,j) * x(j)", {}, {"x"}, {}};
const Source softmax{"m(i) max= A(i,j) where A; e(i,j) = exp(A(i,j) - m(i)) where A; d(i) = e(i,j); "
                     "p(i,j) = e(i,j) / d(i)",
                     {},
                     {},
                     {"e", "p"}};
const Source attention{"S(i,j) = 0.125 * Q(i,k) * K(j,k) where A; m(i) max= S(i,j) where S; "
                       "e(i,j) = exp(S(i,j) - m(i)) where S; d(i) = e(i,j); P(i,j) = e(i,j) / d(i); "
                       "O(i,k) = P(i,j) * V(j,k)",
                       {"Q", "K", "V"},
                       {},
                       {"S", "e", "P"}};

notation::Program programOf(const Source &source) {
  static uint64_t serial = 0;
  const std::vector<int64_t> square{1000, 1000};
  const format::Encoding csr = format::resolveWidths(format::parseFormat("CSR", 2), 1000, 100000);
  std::map<std::string, notation::Binding> bindings;
  bindings["A"] = {ElementType::F64, square, csr, true};
  for (const std::string &name : source.matrices)
    bindings[name] = {ElementType::F64, std::vector<int64_t>{1000, 64}, format::denseEncoding(2), true};
  for (const std::string &name : source.vectors)
    bindings[name] = {ElementType::F64, std::vector<int64_t>{1000}, format::denseEncoding(1), true};
  for (const std::string &name : source.like)
    bindings[name] = {ElementType::F64, square, std::nullopt, false, -1, "A"};
  return notation::check(std::string(source.text) + " * " + std::to_string(++serial) + ".0", bindings);
}

void stage(benchmark::State &state, const Source &source, const char *name) {
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::explain(programOf(source), name, {.threads = unsigned(state.range(0))}));
}

void eachThreadCount(benchmark::internal::Benchmark *benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->Iterations(20)->ArgName("threads")->Arg(1)->Arg(2);
}

BENCHMARK_CAPTURE(stage, linalg, spmv, "linalg")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, iteration, spmv, "iteration")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, loops, spmv, "loops")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, vector, spmv, "vector")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, llvm, spmv, "llvm")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, assembly, spmv, "asm")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, softmax, softmax, "asm")->Apply(eachThreadCount);
BENCHMARK_CAPTURE(stage, attention, attention, "asm")->Apply(eachThreadCount);

} // namespace

BENCHMARK_MAIN();
