// What compiling costs: anew in a warm process, from the disk cache, from memory, and each stage.
#include "engine/Convert.h"
#include "engine/Engine.h"
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

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

void anew(benchmark::State &state, const char *format) {
  engine::compile(spmv(format, nextSerial()),
                  {.diskCache = false}); // the first makes the context and the linker
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::compile(spmv(format, nextSerial()), {.diskCache = false}));
}

/// Each round trips a program through the disk in a process that has it in memory no more: a text never seen,
/// whose file is the copy a child process left.
void fromDisk(benchmark::State &state) {
  std::string directory = (std::filesystem::temp_directory_path() / "tulle-bench-XXXXXX").string();
  if (!mkdtemp(directory.data()))
    return state.SkipWithError("no temporary directory");
  setenv("TULLE_CACHE_DIR", directory.c_str(), 1);
  constexpr int count = 20;
  // A run's texts are its own: none is in memory from the run before.
  uint64_t first = (nextSerial() + (1u << 20)) * count;
  if (fork() == 0) {
    for (int k = 0; k < count; ++k)
      engine::compile(spmv("CSR", first + uint64_t(k)));
    _exit(0);
  }
  for (int status; wait(&status) > 0;) {
  }
  int k = 0;
  for (auto _ : state) {
    auto executable = engine::compile(spmv("CSR", first + uint64_t(k++)));
    if (executable->origin() != std::string("disk cache"))
      return state.SkipWithError("the disk cache missed");
  }
  std::filesystem::remove_all(directory);
}

void fromMemory(benchmark::State &state) {
  engine::compile(spmv("CSR", 1u << 30), {.diskCache = false});
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::compile(spmv("CSR", 1u << 30), {.diskCache = false}));
}

/// A call of a kernel that has next to nothing to compute.
void call(benchmark::State &state) {
  runtime::Entries entries{ElementType::F64, {1000, 1000}, {{}, {}}, {}};
  notation::Program program = spmv("CSR", 1u << 30);
  std::vector<std::optional<runtime::Tensor>> tensors(program.tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].name == "A")
      tensors[t] = engine::store(entries, program.tensors[t].encoding);
    else if (program.tensors[t].name == "x")
      tensors[t] = runtime::makeDense(ElementType::F64, {1000});
  auto executable = engine::compile(program, {.diskCache = false});
  for (auto _ : state)
    executable->run(tensors);
}

void stage(benchmark::State &state, const char *name) {
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::explain(spmv("CSR", nextSerial()), name));
}

BENCHMARK_CAPTURE(anew, CSR, "CSR")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(anew, COO, "COO")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(anew, BCSR, "BCSR(4,4)")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK(fromDisk)->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK(fromMemory)->Unit(benchmark::kMillisecond);
BENCHMARK(call)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(stage, linalg, "linalg")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, iteration, "iteration")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, loops, "loops")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, vector, "vector")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, llvm, "llvm")->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK_CAPTURE(stage, assembly, "asm")->Unit(benchmark::kMillisecond)->Iterations(20);

} // namespace

BENCHMARK_MAIN();
