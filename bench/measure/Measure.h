// Contenders for one job, run in turn: what disturbs the machine disturbs all of them alike.
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

/// Lets this program's memory stay with it, in large pages, so that loops by hand and MLIR's code do not pay
/// for fresh pages in every run: generated code reuses its blocks as well. Restarts the program once.
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

/// What a contender computed: index arrays and values in the order of the reference. A contender whose arrays
/// cannot be seen says what it can, and only that is compared.
struct Answer {
  std::vector<std::span<const int32_t>> indices;
  std::span<const double> values;
  std::optional<double> sum;    ///< of the values
  std::optional<int64_t> count; ///< of stored entries
  std::shared_ptr<void> owner;  ///< keeps the arrays
};

/// A contender ready to run.
struct Runner {
  std::function<double()> run;    ///< once; milliseconds
  std::function<Answer()> answer; ///< of the last run; none: nothing can be compared
  int64_t most = INT64_MAX;       ///< runs that there are
};

/// Thrown where a peer is not installed, or its version lacks the operation.
struct Absent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Contender {
  std::string name;                            ///< "tulle", "loop", "SciPy", …
  std::function<std::optional<Runner>()> make; ///< what is not timed; nothing: it has no such operation
};

/// Milliseconds over the rounds.
struct Timing {
  double median = 0, low = 0, high = 0; ///< low, high: quartiles
  int rounds = 0;
};

/// What is asked for of a kernel with one number of threads. Ratios are the peer's time / ours; 0: not asked
/// for.
struct Target {
  double mean = 0;       ///< geometric mean of the ratios over the inputs
  std::string peer = ""; ///< empty: the best of each input
  double each = 0;       ///< ratio on every input
  double ms = 0;         ///< milliseconds that no input exceeds
  bool byMemory = false; ///< it is asked for as far as memory gives several threads as much: as a copy gains
};

struct Row {
  std::string group, kernel, input;
  int threads = 1;
  std::map<std::string, Timing> times;       ///< by contender
  std::map<std::string, std::string> absent; ///< why a contender has none
  std::vector<std::string> compared;         ///< whose answers agreed with the reference's
  double bytes = 0, flops = 0;               ///< the least a run must move and compute
  double boundMs = 0;                        ///< what this machine needs for that; 0: unknown
  std::vector<Target> targets;
};

/// Hears whose turn it is before anything of that contender runs.
using OnTurn = std::function<void(const std::string &name)>;

/// Makes and runs each once, compares its answer with that of the first, then runs all in turn, in another
/// order each round: each until it spent its share of `seconds`, at least 3 times (once where it is far
/// behind the fastest) and at most 501. A run of less than 50 ms is timed behind another one of the same
/// contender: what the one before it left in the caches is not its own. One that takes more than 4 times
/// `seconds`, and 2 seconds, runs once. A contender that throws, or whose answer differs, is absent with the
/// reason.
void race(Row &row, std::vector<Contender> contenders, double seconds, const OnTurn &onTurn);

/// Throws std::runtime_error naming the first difference. Values may differ in the last bits.
void requireEqual(const Answer &made, const Answer &want);

} // namespace tulle::bench
