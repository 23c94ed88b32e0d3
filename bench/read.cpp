// What reading costs: ten million entries of an uncompressed .mtx, as entries and stored as CSR, on one core.
#include "engine/Conversion.h"
#include "runtime/io/Io.h"
#include <benchmark/benchmark.h>
#include <cstdio>
#include <filesystem>
#include <random>
#include <unistd.h>

namespace {

using namespace tulle;

constexpr int64_t rows = 1'000'000, count = 10'000'000;

/// A file of ten entries a row with six significant digits, removed at the end of the process.
struct MatrixFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tulle-bench-" + std::to_string(getpid()) + ".mtx"))
          .string();

  MatrixFile() {
    std::FILE *file = std::fopen(path.c_str(), "w");
    if (!file)
      return;
    std::fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%ld %ld %ld\n", long(rows),
                 long(rows), long(count));
    std::mt19937_64 random(1);
    for (int64_t k = 0; k < count; ++k)
      std::fprintf(file, "%ld %ld %.6g\n", long(k / 10 + 1), long(random() % rows + 1),
                   double(random() % 1'000'000) / 1e6);
    std::fclose(file);
  }
  ~MatrixFile() { std::remove(path.c_str()); }
};

const std::string &matrixFile() {
  static MatrixFile file;
  return file.path;
}

void readEntries(benchmark::State &state) {
  const std::string &path = matrixFile();
  for (auto _ : state)
    benchmark::DoNotOptimize(runtime::readFile(path));
  state.counters["entries/s"] =
      benchmark::Counter(double(count), benchmark::Counter::kIsIterationInvariantRate);
}

void readAndStore(benchmark::State &state) {
  const std::string &path = matrixFile();
  const format::Encoding csr = format::parseFormat("CSR", 2);
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::store(runtime::readFile(path).entries, csr));
  state.counters["entries/s"] =
      benchmark::Counter(double(count), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(readEntries)->Name("read/entries")->Unit(benchmark::kMillisecond);
BENCHMARK(readAndStore)->Name("read/CSR")->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
