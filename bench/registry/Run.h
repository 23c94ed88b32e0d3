// Which kernels run on which inputs, in worker processes: a peer that crashes, hangs or takes all memory is
// absent from one row.
#pragma once
#include "registry/Kernel.h"
#include "report/Report.h"

namespace tulle::bench {

/// What a run was asked for.
struct Selection {
  std::string what = "all";                        ///< a group, or "all", "quick", "roofline"
  std::vector<std::string> kernels, inputs, peers; ///< parts of names; inputs: instead of each kernel's own
  std::vector<std::string> more;                   ///< inputs besides these, for every kernel they suit
  std::string data;                                ///< the folder with the inputs of the group "real"
  double seconds = 1;                              ///< for each kernel and input
  double limit =
      0; ///< seconds for everything, 60% of what is left for each number of threads but the last; 0: none
  std::vector<std::string> fake; ///< competitors that kill their process, for tests of that
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

/// What a worker is to do, and the file descriptors by which it answers.
struct Assignment {
  int out = -1;     ///< rows, as lines of JSON
  int running = -1; ///< holds the name of the competitor that runs, from offset 0, to its '\0'
  size_t first = 0; ///< job
  std::vector<std::string> without; ///< competitors that ended workers in that job
};
/// The worker.
void work(const Selection &selection, const Assignment &assignment);

} // namespace tulle::bench
