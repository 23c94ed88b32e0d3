// Competitors for one job, in interleaved repetitions: what disturbs the machine disturbs all of them alike.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tulle::bench {

/// Lets this program's memory stay with it, in large pages, so that hand-written loops and MLIR's code do not
/// fault pages in on every run: generated code reuses its blocks as well. Restarts the program once.
void keepMemory(char **argv);

/// What times are measured by. Processor time of one thread is less disturbed by other work than the clock,
/// but says nothing about several threads.
enum class Clock { Thread, Wall };
void useClock(Clock clock);
const char *clockName(); ///< "cpu" or "wall"
double nowMs();
/// Milliseconds since `begin`, without what reading the clock takes itself: a call into the system.
double sinceMs(double begin);

/// Milliseconds that `run` takes; what it returns is released after that.
template <typename Run> double timed(Run run) {
  const double begin = nowMs();
  if constexpr (std::is_void_v<decltype(run())>) {
    run();
    return sinceMs(begin);
  } else {
    [[maybe_unused]] auto result = run();
    return sinceMs(begin);
  }
}

/// What a competitor computed: index arrays and values in the order of the reference. A competitor whose
/// arrays cannot be seen says what it can, and only that is compared.
struct Answer {
  std::vector<std::span<const int32_t>> indices;
  std::vector<std::span<const double>> values; ///< of each result
  std::optional<double> sum;                   ///< of the values of the only result
  std::optional<int64_t> count;                ///< of stored entries
  double precision = 1e-11;    ///< of the reference: how far others may be off, of a result's largest value
  std::shared_ptr<void> owner; ///< keeps the arrays
};

/// A competitor ready to run.
struct Runner {
  std::function<double()> run;    ///< once; milliseconds
  std::function<Answer()> answer; ///< of the last run; none: nothing can be compared
  int64_t most = INT64_MAX;       ///< runs that there are
};

/// Thrown where a peer is not installed, or its version lacks the operation.
struct Absent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Competitor {
  std::string name;                            ///< "tulle", "loop", "SciPy", …
  std::function<std::optional<Runner>()> make; ///< what is not timed; nothing: it has no such operation
};

/// Milliseconds over the repetitions.
struct Timing {
  double median = 0, low = 0, high = 0; ///< low, high: quartiles
  int repetitions = 0;
};

/// What is asked for of a kernel with one number of threads. Ratios are the peer's time / Tulle's; 0: not
/// asked for.
struct Target {
  double mean = 0;       ///< geometric mean of the ratios over the inputs
  std::string peer = ""; ///< empty: the best of each input
  double each = 0;       ///< ratio on every input
  double ms = 0;         ///< milliseconds that no input exceeds
  bool byMemory = false; ///< met, too, where several threads gain what a copy gains
};

struct Row {
  std::string group, kernel, input;
  int threads = 1;
  int64_t entries = 0;                       ///< stored ones of A
  std::map<std::string, Timing> times;       ///< by competitor
  std::map<std::string, std::string> absent; ///< why a competitor has none
  std::vector<std::string> compared;         ///< whose answers agreed with the reference's
  double bytes = 0, flops = 0;               ///< the least a run must move and compute
  double rooflineMs = 0;                     ///< the least time this machine needs for that; 0: unknown
  std::vector<Target> targets;
};

/// Hears the name of a competitor before anything of it runs.
using OnNext = std::function<void(const std::string &name)>;

/// Makes and runs each once, compares its answer with that of the first, then runs all alternately, in
/// another order in each repetition: each until it spent its part of `seconds`, at least 3 times (once where
/// it is far behind the fastest) and at most 501. A run of less than 50 ms follows another one of the same
/// competitor, which is not timed: the caches hold what that one left, not what another competitor did. One
/// that takes more than 4 times `seconds`, and 2 seconds, runs once. A competitor that throws, or whose
/// answer differs, is absent with the reason.
void measureInterleaved(Row &row, std::vector<Competitor> competitors, double seconds, const OnNext &onNext);

/// Throws std::runtime_error naming the first difference. Values may differ in the last bits.
void requireEqual(const Answer &made, const Answer &want);

} // namespace tulle::bench
