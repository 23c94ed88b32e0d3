// Threads of generated code: how many, running the tasks of a parallel region, and the environment variables
// of OpenMP that decide on them.
#pragma once
#include "engine/Engine.h"
#include <cstdint>
#include <optional>

namespace tulle::engine {

/// What one call may use.
struct ThreadSettings {
  int threads = 1;
  int64_t workPerThread = 0; ///< stored entries, or what costs as much, that make another thread profitable
  std::function<void(const std::function<void()> &run)> aroundTask = {}; ///< as in Options
  const std::function<bool()> *isInterrupted = nullptr;                  ///< as in RunReport
};

/// The number asked for, else OMP_NUM_THREADS, else the cores this process may run on; at most eight for each
/// of these. Throws an Error for OpenMP's environment variables with values that its library does not
/// survive, whether or not they decide here.
ThreadSettings threadSettings(const Options &options);
/// Whether code for these options holds parallel regions.
bool emitsParallelCode(const Options &options);

/// Counts a calling thread among those that run, so that calls from many threads share the cores.
class RunningThread {
public:
  RunningThread();
  ~RunningThread();
  RunningThread(const RunningThread &) = delete;
};

/// The profitable number of tasks for so much work: at least 1, and 1 on a worker. Threads that other calls
/// use do not count.
int64_t profitableTasks(const ThreadSettings &settings, int64_t work);
/// The same for any number of threads.
int64_t fixedTasks(const ThreadSettings &settings, int64_t work);

/// Runs `task(context, t)` for 0 <= t < tasks on the threads that are free, the caller among them, until one
/// returns false; returns whether none did. On a worker all tasks run one after the other.
bool runTasks(const ThreadSettings &settings, int64_t tasks, bool (*task)(void *context, int64_t t),
              void *context);

/// The number of threads that OMP_NUM_THREADS asks for, where it is set.
std::optional<int64_t> ompNumThreads();

/// Throws an Error that names the variable, for a value that OpenMP's library must not see. To be called
/// before anything of that library, which reads its variables once.
void checkOmpVariables();

} // namespace tulle::engine
