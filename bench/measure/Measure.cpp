#include "Measure.h"
#include "runtime/tensor/BlockPool.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <memory>
#include <random>
#include <time.h>
#include <unistd.h>

namespace tulle::bench {

void keepMemory(char **argv) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  // The C library reads this before main() begins.
  if (!std::getenv("GLIBC_TUNABLES")) {
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
    execv("/proc/self/exe", argv);
  }
}

static Clock clockInUse = Clock::Thread;

void useClock(Clock clock) { clockInUse = clock; }
const char *clockName() { return clockInUse == Clock::Thread ? "cpu" : "wall"; }

double nowMs() {
  timespec now;
  clock_gettime(clockInUse == Clock::Thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

static double readingMs() {
  double least = INFINITY;
  for (int k = 0; k < 1000; ++k) {
    const double begin = nowMs();
    least = std::min(least, nowMs() - begin);
  }
  return least;
}

double sinceMs(double begin) {
  const double end = nowMs();
  static std::map<Clock, double> costs;
  auto [cost, inserted] = costs.try_emplace(clockInUse);
  if (inserted)
    cost->second = readingMs();
  return std::max(end - begin - cost->second, 0.0);
}

static double quantile(const std::vector<double> &sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const size_t below = size_t(at), above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

static Timing summary(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75), int(samples.size())};
}

static void requireSum(const Answer &made, std::span<const double> want, double precision) {
  double sum = 0, magnitude = 0;
  for (double value : want) {
    sum += value;
    magnitude += std::abs(value);
  }
  if (made.count && *made.count != int64_t(want.size()))
    throw std::runtime_error(fmt::format("it stores {} entries, the reference {}", *made.count, want.size()));
  if (made.sum && !(std::abs(*made.sum - sum) <= precision * magnitude))
    throw std::runtime_error(fmt::format("its values sum to {}, the reference's to {}", *made.sum, sum));
}

static void requireValues(std::span<const double> made, std::span<const double> want, double precision) {
  if (made.size() != want.size())
    throw std::runtime_error(fmt::format("it has {} values, the reference {}", made.size(), want.size()));
  double scale = 0;
  for (double value : want)
    scale = std::max(scale, std::abs(value));
  for (size_t k = 0; k < want.size(); ++k)
    if (!(std::abs(made[k] - want[k]) <= precision * scale + 1e-300))
      throw std::runtime_error(fmt::format("value {} is {}, the reference's {}", k, made[k], want[k]));
}

void requireEqual(const Answer &made, const Answer &want) {
  if (made.sum || made.count)
    requireSum(made, want.values.at(0), std::max(1e-9, want.precision));
  if (!made.indices.empty() && made.indices.size() != want.indices.size())
    throw std::runtime_error("it has other index arrays than the reference");
  for (size_t k = 0; k < made.indices.size(); ++k)
    if (made.indices[k].size() != want.indices[k].size() ||
        std::memcmp(made.indices[k].data(), want.indices[k].data(), made.indices[k].size_bytes()) != 0)
      throw std::runtime_error(fmt::format("index array {} differs from the reference's", k));
  if (made.values.empty() && (made.sum || made.count))
    return;
  if (made.values.size() != want.values.size())
    throw std::runtime_error(
        fmt::format("it has {} results, the reference {}", made.values.size(), want.values.size()));
  for (size_t r = 0; r < want.values.size(); ++r)
    requireValues(made.values[r], want.values[r], want.precision);
}

namespace {

struct Prepared {
  std::string name;
  Runner runner;
  double first; ///< ms of the run that was compared: caches and pages are cold in it
  std::vector<double> samples = {};
  double spent = 0; ///< ms in them
  int64_t runs = 1;

  double run() {
    ++runs;
    return runner.run();
  }
};

/// The reference's answer, in memory of its own: competitors may write their results to the same memory.
struct Reference {
  std::vector<std::vector<int32_t>> indices;
  std::vector<std::vector<double>> values;
  double precision = 0;
  bool known = false;

  void keep(const Answer &answer) {
    for (std::span<const int32_t> list : answer.indices)
      indices.emplace_back(list.begin(), list.end());
    for (std::span<const double> list : answer.values)
      values.emplace_back(list.begin(), list.end());
    precision = answer.precision;
    known = true;
  }
  Answer answer() const {
    Answer made;
    made.indices.assign(indices.begin(), indices.end());
    made.values.assign(values.begin(), values.end());
    made.precision = precision;
    return made;
  }
};

} // namespace

/// One run was enough: what it made goes, or the results of all competitors together exceed the memory.
static void retire(Prepared &one) {
  one.samples.push_back(one.first);
  one.runner = {};
  runtime::releaseBlocks();
  malloc_trim(0);
}

/// `longRun`: milliseconds from which on the run that is compared is the only one.
static std::vector<Prepared> prepare(Row &row, std::vector<Competitor> &competitors, double longRun,
                                     const OnNext &onNext) {
  std::vector<Prepared> prepared;
  Reference reference;
  for (Competitor &competitor : competitors) {
    onNext(competitor.name);
    try {
      std::optional<Runner> made = competitor.make();
      if (!made)
        continue;
      Runner runner = std::move(*made);
      const double first = runner.run();
      if (runner.answer) {
        if (reference.known) {
          const Answer made = runner.answer(), want = reference.answer();
          requireEqual(made, want);
          row.compared.push_back(competitor.name);
        } else {
          reference.keep(runner.answer());
        }
      }
      prepared.push_back({competitor.name, std::move(runner), first});
      if (first > longRun)
        retire(prepared.back());
    } catch (const std::exception &error) {
      row.absent[competitor.name] = error.what();
    }
    competitor.make = nullptr;
  }
  return prepared;
}

void measureInterleaved(Row &row, std::vector<Competitor> competitors, double seconds, const OnNext &onNext) {
  const auto begin = std::chrono::steady_clock::now();
  auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  // A run so long that caches hardly matter in it is a sample by itself. Fresh pages do: competitors have
  // those of a dense result before they run.
  const double longRun = std::max(2e3, 4e3 * seconds);
  // The competitor before left its own lines in the caches, dirty ones among them, which the next one has to
  // write back; a program that runs one kernel repeatedly has none of these. In a longer run it does not
  // show.
  constexpr double unsettled = 50;
  // The medians of 51 runs of 20 us differ by a tenth.
  constexpr size_t mostRuns = 501;
  std::vector<Prepared> prepared = prepare(row, competitors, longRun, onNext);
  double fastest = INFINITY;
  for (const Prepared &one : prepared)
    fastest = std::min(fastest, one.first);
  const double start = spent(), budget = 1e3 * seconds / double(std::max<size_t>(prepared.size(), 1));
  // The slow must not take the time of the fast: each has the same budget. Three repetitions are the least
  // for a median, unless a competitor is far behind.
  auto waits = [&](const Prepared &one) {
    const size_t least = one.first > 5 * fastest && one.first > budget ? 1 : 3;
    const bool inTime = one.spent < budget && spent() - start < 8 * seconds;
    return one.runner.run && !row.absent.count(one.name) && one.samples.size() < mostRuns &&
           one.runs < one.runner.most && (one.samples.size() < least || inTime);
  };
  // Each repetition in another order: the one after a competitor with threads finds these awake and the
  // caches as it left them, and that must not always be the same one.
  std::vector<Prepared *> order;
  for (Prepared &one : prepared)
    order.push_back(&one);
  std::mt19937 random(1);
  for (;;) {
    std::erase_if(order, [&](const Prepared *one) { return !waits(*one); });
    if (order.empty())
      break;
    std::shuffle(order.begin(), order.end(), random);
    for (Prepared *one : order) {
      onNext(one->name);
      try {
        double ms = one->run();
        one->spent += ms;
        if (ms < unsettled && one->runs < one->runner.most)
          one->spent += ms = one->run();
        one->samples.push_back(ms);
      } catch (const std::exception &error) {
        row.absent[one->name] = error.what();
      }
    }
  }
  for (Prepared &one : prepared)
    if (!row.absent.count(one.name) && !one.samples.empty())
      row.times[one.name] = summary(std::move(one.samples));
}

} // namespace tulle::bench
