#include "Machine.h"
#include "Measure.h"
#include "peer/Library.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace tulle::bench {

namespace {

using Lanes = double __attribute__((vector_size(64)));

/// Three arrays that all threads have touched.
struct Arrays {
  int64_t count;
  std::vector<double> a, b, c;
  explicit Arrays(int64_t count)
      : count(count), a(size_t(count), 1.0), b(size_t(count), 2.0), c(size_t(count), 3.0) {}

  void copy(int threads = threadCount()) {
    double *to = a.data();
    const double *from = b.data();
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (int64_t k = 0; k < count; ++k)
      to[k] = from[k];
  }
  void triad() {
    double *to = a.data();
    const double *x = b.data(), *y = c.data();
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < count; ++k)
      to[k] = x[k] + 3.0 * y[k];
  }
  /// Eight sums hide the latency of adding.
  double sum() {
    double total = 0;
    for (const std::vector<double> *list : {&a, &b, &c}) {
      const double *x = list->data();
#pragma omp parallel for simd reduction(+ : total) schedule(static)
      for (int64_t k = 0; k < count; ++k)
        total += x[k];
    }
    return total;
  }
};

} // namespace

/// Bytes per millisecond of the fastest of several passes, each long enough for the clock.
template <typename Pass> static double fastest(double bytes, Pass pass) {
  const int repeats = int(std::clamp(4e6 / bytes, 1.0, 2000.0));
  double best = 0;
  pass();
  for (int repetition = 0; repetition < 7; ++repetition) {
    const double ms = timed([&] {
      for (int k = 0; k < repeats; ++k)
        pass();
    });
    best = std::max(best, bytes * repeats / std::max(ms, 1e-9));
  }
  return best;
}

double Machine::bandwidth(double workingSet) {
  static std::map<int, double> known;
  const int power = std::clamp(int(std::lround(std::log2(std::max(workingSet, 1.0)))), 14, 29);
  if (auto found = known.find(power); found != known.end())
    return found->second;
  Arrays arrays(int64_t((1 << power) / 24));
  const double each = double(arrays.count) * 8;
  volatile double sink = 0;
  const double best =
      std::max({fastest(2 * each, [&] { arrays.copy(); }), fastest(3 * each, [&] { arrays.triad(); }),
                fastest(3 * each, [&] { sink = arrays.sum(); })});
  (void)sink;
  return known[power] = best;
}

double Machine::copyMs(int threads) {
  static Arrays arrays(int64_t(1) << 23);
  return timed([&] { arrays.copy(threads); });
}

double Machine::peak() {
  static double known = 0;
  if (known > 0)
    return known;
  // As many chains as registers hold: each takes two of the sixteen where vectors are half as wide.
#ifdef __AVX512F__
  constexpr int64_t chains = 16;
#else
  constexpr int64_t chains = 5;
#endif
  constexpr int64_t steps = 200000, lanes = 8;
  const int threads = threadCount();
  for (int attempt = 0; attempt < 7; ++attempt) {
    double total = 0;
    const double ms = timed([&] {
#pragma omp parallel for reduction(+ : total) num_threads(threads)
      for (int t = 0; t < threads; ++t) {
        Lanes chain[chains];
        for (int k = 0; k < chains; ++k)
          chain[k] = Lanes{} + double(k);
        const Lanes factor = Lanes{} + 0.999999, term = Lanes{} + 1e-6 * t;
        for (int64_t r = 0; r < steps; ++r)
#pragma unroll
          for (int k = 0; k < chains; ++k)
            chain[k] = chain[k] * factor + term;
        for (int k = 1; k < chains; ++k)
          chain[0] += chain[k];
        for (int l = 0; l < lanes; ++l)
          total += chain[0][l];
      }
    });
    volatile double sink = total;
    (void)sink;
    known = std::max(known, 2.0 * double(steps * chains * lanes * threads) / std::max(ms, 1e-9));
  }
  return known;
}

double Machine::roofline(double bytes, double flops) {
  return std::max(bytes > 0 ? bytes / bandwidth(bytes) : 0, flops > 0 ? flops / peak() : 0);
}

std::string Machine::describe() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  auto kib = [](int name) { return std::max(sysconf(name), 0L) / 1024; };
  utsname system{};
  uname(&system);
  double load = 0;
  getloadavg(&load, 1);
  return fmt::format(
      "{}, {} processors, caches {} KiB / {} KiB / {} KiB, {} {}, built by {}; load {:.1f} at the "
      "beginning",
      model, sysconf(_SC_NPROCESSORS_ONLN), kib(_SC_LEVEL1_DCACHE_SIZE), kib(_SC_LEVEL2_CACHE_SIZE),
      kib(_SC_LEVEL3_CACHE_SIZE), system.sysname, system.machine, __VERSION__, load);
}

Machine &machine() {
  static Machine known;
  return known;
}

} // namespace tulle::bench
