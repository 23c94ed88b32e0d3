// Which kernels run on which inputs, in worker processes: a peer that crashes or hangs costs one row.
#pragma once
#include "registry/Kernel.h"
#include "report/Report.h"

namespace tulle::bench {

/// What a run was asked for.
struct Selection {
  std::string what = "all";                        ///< a group, or "all", "quick", "bounds"
  std::vector<std::string> kernels, inputs, peers; ///< parts of names; inputs: instead of each kernel's own
  std::vector<std::string> more;                   ///< inputs besides these, for every kernel they suit
  double seconds = 1;                              ///< for each kernel and input
  double limit =
      0; ///< seconds for everything, 60% of what is left for each number of threads but the last; 0: none
};

struct Job {
  const Kernel *kernel;
  std::string input;
};
/// Input by input, so that each is loaded once.
std::vector<Job> jobs(const Selection &selection);

/// Runs all jobs with each number of threads, each in a worker with OMP_NUM_THREADS and its like set. Ends
/// early, with what was measured by then, at the limit and when interrupted.
Report runAll(const Selection &selection, const std::vector<int> &threads);

/// The worker: jobs from `first` on, as lines of JSON to the file descriptor.
void work(const Selection &selection, size_t first, int out);

} // namespace tulle::bench
