// Threads of generated code: how many, and running the parts of a parallel region.
#pragma once
#include "engine/Engine.h"

namespace tulle::engine {

/// What one call may use.
struct ThreadSettings {
  int threads = 1;
  int64_t workPerThread =
      0; ///< stored entries, or what costs as much: with less, another thread does not pay
  std::function<void(const std::function<void()> &run)> aroundPart = {}; ///< as in Options
};

/// The number asked for, else OMP_NUM_THREADS, else the cores this process may run on; at most eight for each
/// of these. Throws an Error for OpenMP's environment variables with values that its library does not
/// survive, whether or not they are asked here.
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

/// How many parts work is worth: at least 1, and 1 on a worker. Threads that other calls use are not counted
/// on.
int64_t worthwhileParts(const ThreadSettings &settings, int64_t work);
/// The same for any number of threads.
int64_t fixedParts(const ThreadSettings &settings, int64_t work);

/// Runs `part(context, p)` for 0 <= p < parts on the threads that are free, the caller among them, until one
/// returns false; returns whether none did. On a worker all parts run one after the other.
bool runParts(const ThreadSettings &settings, int64_t parts, bool (*part)(void *context, int64_t p),
              void *context);

} // namespace tulle::engine
