// Random programs on random formats, compiled and compared with the interpreter; `--help` lists the options.
#include "Case.h"
#include "CompileTimes.h"
#include "Environment.h"
#include "GuardedBlocks.h"
#include "Schedules.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace tulle::differential {
namespace {

using Clock = std::chrono::steady_clock;
std::optional<Clock::time_point> end; ///< with --seconds and --forever

/// A case in progress.
struct Running {
  std::string text;
  std::atomic<Clock::rep> since = 0; ///< 0: none
};
/// One for each thread that runs cases.
std::array<Running, 8> current;
/// That of this thread; null on the threads of a case's own.
thread_local Running *mine = nullptr;
/// A case may take so long, which is a hundred times what most take with a sanitizer.
constexpr std::chrono::seconds kLongest(300);

extern "C" void reportCrash(int number) {
  const char head[] = "\ncrashed in the differential test on\n";
  (void)!write(STDERR_FILENO, head, sizeof(head) - 1);
  for (const Running &running : current)
    if (running.since != 0 && (!mine || mine == &running))
      (void)!write(STDERR_FILENO, running.text.data(), running.text.size());
  signal(number, SIG_DFL);
  raise(number);
}

/// Operands of a statement at most; 0: as the generator likes.
unsigned operands() { return unsigned(environment("TULLE_DIFFERENTIAL_OPERANDS", 0)); }

std::string report(const Case &c, const Verdict &verdict) {
  Case small = shrink(c);
  return fmt::format("{}\n{}\nshrunk to\n{}\n{}\n(TULLE_DIFFERENTIAL_SEED={} repeats it)", verdict.message,
                     c.describe(), judge(small).message, small.describe(), c.seed);
}

struct Tally {
  std::atomic<uint64_t> agreed = 0, skipped = 0, failed = 0;
  uint64_t tried() const { return agreed + failed; }
};

void one(uint64_t seed, Tally &tally) {
  Case c = generate(seed, operands());
  mine->text = c.describe();
  mine->since = Clock::now().time_since_epoch().count();
  Verdict verdict = judge(c);
  switch (verdict.kind) {
  case Verdict::Kind::Agrees:
    ++tally.agreed;
    return;
  case Verdict::Kind::Skipped:
    ++tally.skipped;
    return;
  default:
    break;
  }
  mine->text =
      fmt::format("a smaller case than this one, which failed by\n{}\n{}", verdict.message, mine->text);
  if (++tally.failed <= 20 || end)
    ADD_FAILURE() << report(c, verdict);
}

/// Takes seeds in turn until enough programs have been tried, or time is up.
void work(std::atomic<uint64_t> &seed, uint64_t count, Tally &tally) {
  while (end ? Clock::now() < *end : tally.tried() < count) {
    one(seed++, tally);
    // A generator whose programs the checker refuses would test nothing.
    if (tally.skipped > 50 + tally.tried())
      return;
  }
}

/// Ends the program with the case that does not end.
void watch(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (Running &running : current) {
      Clock::time_point since{Clock::duration(running.since)};
      if (running.since == 0 || Clock::now() - since < kLongest)
        continue;
      fmt::print(stderr, "no end after {} s\n", kLongest.count());
      mine = &running;
      std::abort();
    }
  }
}

TEST(Differential, CompiledProgramsMeanWhatTheInterpreterSays) {
  for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS})
    signal(number, reportCrash);
  Tally tally;
  std::jthread watcher(watch);
  mine = &current[0];
  if (uint64_t seed = environment("TULLE_DIFFERENTIAL_SEED", 0)) {
    fmt::print("{}", generate(seed, operands()).describe());
    std::fflush(stdout);
    one(seed, tally);
    return;
  }
  uint64_t count = environment("TULLE_DIFFERENTIAL_COUNT", 5000);
  std::atomic<uint64_t> seed = environment("TULLE_DIFFERENTIAL_FIRST", 1);
  if (end)
    seed = uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  // Programs are independent of each other, and compiling is meant to be safe from many threads.
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < std::clamp(std::thread::hardware_concurrency(), 1u, unsigned(current.size())); ++n)
    threads.emplace_back([&, n] {
      mine = &current[n];
      work(seed, count, tally);
      mine->since = 0;
    });
  for (std::thread &thread : threads)
    thread.join();
  fmt::print("{} programs agree, {} failed, {} were refused by the checker\n", tally.agreed.load(),
             tally.failed.load(), tally.skipped.load());
  fmt::print("{} of {} schedules were refused\n", scheduleTally.refused.load(), scheduleTally.tried.load());
  EXPECT_EQ(tally.failed, 0u);
  EXPECT_LE(3 * scheduleTally.refused, 50 + 2 * scheduleTally.tried) << "most schedules are refused";
  EXPECT_LE(tally.skipped, 50 + tally.tried()) << "most programs are refused by the checker";
}

/// `z &= D where A` drops entries of z, which a format with two of every four cannot have.
TEST(Differential, resultsThatContinueFromAValueHoldAnyEntries) {
  mine = &current[0];
  const Verdict verdict = judge(generate(2200906));
  EXPECT_EQ(verdict.kind, Verdict::Kind::Agrees) << verdict.message;
}

constexpr const char *kUsage = R"(
Random programs on random formats, compiled and compared with the interpreter:
  differential_test                      5000 programs, the same every time
  differential_test --seconds N          for so long (--forever: until stopped), from a seed of the clock
  differential_test --upstream-passes    MLIR's passes between all passes, for all programs; else for one in four
  differential_test --lower-loops        loops drawn by the seed are lowered before the others; else for one program in six
  differential_test --json               prints them with data and answers, a line each, and runs nothing
  differential_test --compile-times      compiles them only: percentiles of the time, and the seeds that take longest
  TULLE_DIFFERENTIAL_OPERANDS=n          statements have up to so many operands
  TULLE_DIFFERENTIAL_SEED=n              only that program, described
  TULLE_DIFFERENTIAL_COUNT=n, _FIRST=n   how many, from which seed
)";

void printJson() {
  const uint64_t first = environment("TULLE_DIFFERENTIAL_FIRST", 1);
  const uint64_t count = environment("TULLE_DIFFERENTIAL_COUNT", 5000);
  for (uint64_t seed = first; seed < first + count; ++seed)
    if (const std::string line = toJson(generate(seed, operands())); !line.empty())
      fmt::print("{}\n", line);
}

void printCompileTimes() {
  const uint64_t seed = environment("TULLE_DIFFERENTIAL_SEED", 0);
  const uint64_t first = seed ? seed : environment("TULLE_DIFFERENTIAL_FIRST", 1);
  const uint64_t count = seed ? 1 : environment("TULLE_DIFFERENTIAL_COUNT", 5000);
  fmt::print("{}", summary(compileTimes(first, count, operands())));
}

} // namespace
} // namespace tulle::differential

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int a = 1; a < argc; ++a)
    if (std::strcmp(argv[a], "--upstream-passes") == 0)
      tulle::differential::upstreamPasses = true;
    else if (std::strcmp(argv[a], "--lower-loops") == 0)
      tulle::differential::lowerLoops = true;
    else if (std::strcmp(argv[a], "--forever") == 0)
      tulle::differential::end = tulle::differential::Clock::time_point::max();
    else if (std::strcmp(argv[a], "--seconds") == 0 && a + 1 < argc)
      tulle::differential::end =
          tulle::differential::Clock::now() + std::chrono::seconds(std::atol(argv[a + 1]));
    else if (std::strcmp(argv[a], "--json") == 0) {
      tulle::differential::printJson();
      return 0;
    } else if (std::strcmp(argv[a], "--compile-times") == 0) {
      tulle::differential::printCompileTimes();
      return 0;
    } else if (std::strcmp(argv[a], "--help") == 0)
      fmt::print("{}", tulle::differential::kUsage);
  tulle::runtime::guardBlocks();
  return RUN_ALL_TESTS();
}
