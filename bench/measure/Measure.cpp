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
  auto [cost, fresh] = costs.try_emplace(clockInUse);
  if (fresh)
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

void requireEqual(const Answer &made, const Answer &want) {
  double scale = 0, sum = 0, magnitude = 0;
  for (double value : want.values) {
    scale = std::max(scale, std::abs(value));
    sum += value;
    magnitude += std::abs(value);
  }
  if (made.count && *made.count != int64_t(want.values.size()))
    throw std::runtime_error(
        fmt::format("it stores {} entries, the reference {}", *made.count, want.values.size()));
  if (made.sum && !(std::abs(*made.sum - sum) <= 1e-9 * magnitude))
    throw std::runtime_error(fmt::format("its values sum to {}, the reference's to {}", *made.sum, sum));
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
        fmt::format("it has {} values, the reference {}", made.values.size(), want.values.size()));
  for (size_t k = 0; k < want.values.size(); ++k)
    if (!(std::abs(made.values[k] - want.values[k]) <= 1e-11 * scale + 1e-300))
      throw std::runtime_error(
          fmt::format("value {} is {}, the reference's {}", k, made.values[k], want.values[k]));
}

namespace {

struct Entrant {
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

/// The reference's answer, in memory of its own: contenders may share their result's.
struct Reference {
  std::vector<std::vector<int32_t>> indices;
  std::vector<double> values;
  bool known = false;

  void keep(const Answer &answer) {
    for (std::span<const int32_t> list : answer.indices)
      indices.emplace_back(list.begin(), list.end());
    values.assign(answer.values.begin(), answer.values.end());
    known = true;
  }
  Answer answer() const {
    Answer made;
    for (const std::vector<int32_t> &list : indices)
      made.indices.push_back(list);
    made.values = values;
    return made;
  }
};

} // namespace

/// One run was enough: what it made goes, or the results of all contenders together exceed the memory.
static void retire(Entrant &entrant) {
  entrant.samples.push_back(entrant.first);
  entrant.runner = {};
  runtime::releaseBlocks();
  malloc_trim(0);
}

/// `longRun`: milliseconds from which on the run that is compared is the only one.
static std::vector<Entrant> enter(Row &row, std::vector<Contender> &contenders, double longRun,
                                  const OnTurn &onTurn) {
  std::vector<Entrant> entrants;
  Reference reference;
  for (Contender &contender : contenders) {
    onTurn(contender.name);
    try {
      std::optional<Runner> made = contender.make();
      if (!made)
        continue;
      Runner runner = std::move(*made);
      const double first = runner.run();
      if (runner.answer) {
        if (reference.known) {
          const Answer made = runner.answer(), want = reference.answer();
          requireEqual(made, want);
          row.compared.push_back(contender.name);
        } else {
          reference.keep(runner.answer());
        }
      }
      entrants.push_back({contender.name, std::move(runner), first});
      if (first > longRun)
        retire(entrants.back());
    } catch (const std::exception &error) {
      row.absent[contender.name] = error.what();
    }
    contender.make = nullptr;
  }
  return entrants;
}

void race(Row &row, std::vector<Contender> contenders, double seconds, const OnTurn &onTurn) {
  const auto begin = std::chrono::steady_clock::now();
  auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  // A run so long that caches and fresh pages hardly matter in it is a sample by itself.
  const double longRun = std::max(2e3, 4e3 * seconds);
  // What ran before left its own lines in the caches, written ones among them, and who comes next waits until
  // these are in memory: a program that runs one kernel again and again has its own. In a longer run it does
  // not show.
  constexpr double unsettled = 50;
  // The medians of 51 runs of 20 us differ by a tenth.
  constexpr size_t mostRuns = 501;
  std::vector<Entrant> entrants = enter(row, contenders, longRun, onTurn);
  double fastest = INFINITY;
  for (const Entrant &entrant : entrants)
    fastest = std::min(fastest, entrant.first);
  const double start = spent(), share = 1e3 * seconds / double(std::max<size_t>(entrants.size(), 1));
  // The slow must not take the rounds of the fast: each has a share of the time, and those that compete run
  // three times however long the others took, since one run is no median.
  auto waits = [&](const Entrant &entrant) {
    const size_t least = entrant.first > 5 * fastest && entrant.first > share ? 1 : 3;
    const bool inTime = entrant.spent < share && spent() - start < 8 * seconds;
    return entrant.runner.run && !row.absent.count(entrant.name) && entrant.samples.size() < mostRuns &&
           entrant.runs < entrant.runner.most && (entrant.samples.size() < least || inTime);
  };
  // Each round in another order: who comes after a contender with threads finds them awake, or finds the
  // caches as it left them, and that must not always be the same one.
  std::vector<Entrant *> order;
  for (Entrant &entrant : entrants)
    order.push_back(&entrant);
  std::mt19937 random(1);
  for (;;) {
    std::erase_if(order, [&](const Entrant *entrant) { return !waits(*entrant); });
    if (order.empty())
      break;
    std::shuffle(order.begin(), order.end(), random);
    for (Entrant *entrant : order) {
      onTurn(entrant->name);
      try {
        double ms = entrant->run();
        entrant->spent += ms;
        if (ms < unsettled && entrant->runs < entrant->runner.most)
          entrant->spent += ms = entrant->run();
        entrant->samples.push_back(ms);
      } catch (const std::exception &error) {
        row.absent[entrant->name] = error.what();
      }
    }
  }
  for (Entrant &entrant : entrants)
    if (!row.absent.count(entrant.name) && !entrant.samples.empty())
      row.times[entrant.name] = summary(std::move(entrant.samples));
}

} // namespace tulle::bench
