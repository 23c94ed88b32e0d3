// Workers take tasks from queues of consecutive ones and steal from the others; what OpenMP's library does
// not survive is refused before it reads its variables.
#include "engine/Parallel.h"
#include "iteration/CostModel.h"
#include "support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <omp.h>

namespace tulle::engine {

//===--- OpenMP's environment variables ---===//

using llvm::StringRef;

/// OpenMP allocates memory for every thread of its variable; for so many that takes 50 ms.
static constexpr uint64_t kMostThreads = 1 << 16;
/// A process that cannot have a thread's stack is ended; generated code needs a few kilobytes of it.
static constexpr uint64_t kLargestStack = uint64_t(1) << 30;

[[noreturn]] static void refuse(const char *variable, const char *value, const std::string &expected) {
  throwError("{}='{}': expected {}; correct the variable, or unset it", variable, value, expected);
}

/// One number of a list; OpenMP knows no other white space, and no sign.
static std::optional<int64_t> parseThreads(StringRef text) {
  uint64_t number = 0;
  text = text.trim(" \t");
  if (text.find_first_not_of("0123456789") != StringRef::npos || text.getAsInteger(10, number) ||
      number < 1 || number > kMostThreads)
    return std::nullopt;
  return int64_t(number);
}

std::optional<int64_t> ompNumThreads() {
  constexpr const char *variable = "OMP_NUM_THREADS";
  const char *value = std::getenv(variable);
  if (!value)
    return std::nullopt;
  // Those behind the first are of regions inside of regions, but the library reads them, too.
  std::optional<int64_t> outermost;
  for (StringRef level : llvm::split(value, ',')) {
    std::optional<int64_t> threads = parseThreads(level);
    if (!threads)
      refuse(variable, value,
             fmt::format("a number of threads from 1 to {}, or such numbers with commas between them",
                         kMostThreads));
    outermost = outermost ? outermost : threads;
  }
  return outermost;
}

/// Bytes, where the text is a size that OpenMP's library takes; it warns of all others and ignores them.
static std::optional<double> parseSize(StringRef text, uint64_t unit) {
  text = text.trim(" \t");
  const StringRef digits = text.take_while(llvm::isDigit),
                  suffix = text.drop_front(digits.size()).trim(" \t");
  double size = 0;
  if (digits.empty() || digits.getAsDouble(size))
    return std::nullopt;
  constexpr StringRef units = "bkmgtpezy";
  if (!suffix.empty()) {
    const size_t power = units.find(llvm::toLower(suffix.front()));
    if (power == StringRef::npos)
      return std::nullopt;
    unit = 1;
    for (size_t k = 0; k < power; ++k)
      size *= 1024;
  }
  return size * double(unit);
}

void checkOmpVariables() {
  ompNumThreads();
  for (auto [variable, unit] :
       {std::pair("OMP_STACKSIZE", 1024), {"GOMP_STACKSIZE", 1024}, {"KMP_STACKSIZE", 1}})
    if (const char *value = std::getenv(variable))
      if (std::optional<double> size = parseSize(value, uint64_t(unit));
          size && *size > double(kLargestStack))
        refuse(variable, value, "at most 1g for the stack of a thread");
}

//===--- Threads ---===//

/// More threads for each core only cost memory, and OpenMP ends a process that cannot have another one.
static constexpr int kMostThreadsPerCore = 8;
/// Partial results cost memory for each task.
static constexpr int64_t kMostFixedTasks = 16;

ThreadSettings threadSettings(const Options &options) {
  // Thread settings are made before any thread is used; what has passed once needs no other look.
  static const int most = (checkOmpVariables(), kMostThreadsPerCore * omp_get_num_procs());
  int threads = options.threads > 0 ? int(options.threads) : omp_get_max_threads();
  return {std::clamp(threads, 1, most),
          options.workPerThread > 0 ? options.workPerThread : iteration::Costs().workPerThread,
          options.aroundTask, nullptr};
}

bool emitsParallelCode(const Options &options) {
  return options.deterministic || threadSettings(options).threads > 1;
}

/// Threads in generated code, in the whole process: those that called, and the workers.
static std::atomic<int> running = 0;

RunningThread::RunningThread() { ++running; }
RunningThread::~RunningThread() { --running; }

/// Takes up to `wanted` of the threads that are free.
static int claim(const ThreadSettings &settings, int wanted) {
  int now = running;
  for (;;) {
    int granted = std::min(wanted, std::max(settings.threads - now, 0));
    if (granted == 0 || running.compare_exchange_weak(now, now + granted))
      return granted;
  }
}

int64_t profitableTasks(const ThreadSettings &settings, int64_t work) {
  if (omp_in_parallel())
    return 1;
  int64_t available = std::max(settings.threads - running + 1, 1);
  return std::clamp<int64_t>(work / settings.workPerThread, 1, available);
}

int64_t fixedTasks(const ThreadSettings &settings, int64_t work) {
  return std::clamp<int64_t>(work / settings.workPerThread, 1, kMostFixedTasks);
}

/// Consecutive tasks are one thread's, since what one leaves in the caches the next may need; a thread whose
/// queue is empty steals from the others. OpenMP's `dynamic` does the same at twice the cost (experiments
/// 025).
struct alignas(64) Queue {
  std::atomic<int64_t> next = 0;
  int64_t end = 0;
};

bool runTasks(const ThreadSettings &settings, int64_t tasks, bool (*task)(void *, int64_t), void *context) {
  std::atomic<bool> good = true;
  auto run = [&](int64_t t) {
    if (!good)
      return;
    bool done = true;
    auto inner = [&] { done = task(context, t); };
    if (settings.aroundTask)
      settings.aroundTask(inner);
    else
      inner();
    if (!done)
      good = false;
  };
  int wanted = int(std::min<int64_t>(tasks, settings.threads)) - 1;
  int workers = wanted > 0 && !omp_in_parallel() ? claim(settings, wanted) : 0;
  if (workers == 0) {
    for (int64_t t = 0; t < tasks; ++t)
      run(t);
    return good;
  }
  std::array<Queue, 64> queues; // of more threads, some begin with the same one
  const int64_t count = std::min<int64_t>(workers + 1, int64_t(queues.size()));
  for (int64_t k = 0; k < count; ++k) {
    queues[size_t(k)].next = k * tasks / count;
    queues[size_t(k)].end = (k + 1) * tasks / count;
  }
#pragma omp parallel num_threads(workers + 1)
  for (int64_t k = 0; k < count; ++k) {
    Queue &queue = queues[size_t((omp_get_thread_num() + k) % count)];
    for (int64_t t = queue.next++; t < queue.end; t = queue.next++)
      run(t);
  }
  running -= workers;
  return good;
}

} // namespace tulle::engine
