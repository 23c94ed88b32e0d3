// The kernels that are timed: one table, from which competitors, answers and rooflines follow.
#pragma once
#include "peer/Peer.h"

namespace tulle::bench {

/// The group whose inputs are the square matrices of a folder.
inline constexpr const char *kReal = "real";
/// The group of kernels on ever larger inputs; of no other part, as it needs gigabytes.
inline constexpr const char *kGrowth = "growth";

struct Kernel {
  std::string group; ///< "kernels", "programs", "indirect", "strategies", "convert", "assemble", …
  std::string name;
  std::string text; ///< index notation over the operands of its Op; empty for conversions
  Op op;
  std::string format;      ///< of A
  std::string target = ""; ///< of a sparse result
  int64_t n = 0;           ///< dense columns
  std::vector<std::string> inputs = {};
  std::vector<Target> want = {};        ///< with one thread
  std::vector<Target> wantThreads = {}; ///< with several
  /// Instead of peers: Tulle with each of these strategies of co-iteration, against the default.
  std::vector<std::string> strategies = {};
  /// Of a conversion: the source is in the caller's memory, of which nothing can be shared.
  bool borrowed = false;
  std::string schedule = {}; ///< of Tulle, against the one that it chooses
  // Of a program:
  std::map<std::string, std::string> formats = {}; ///< of what it computes and is not dense: "like A"
  std::vector<std::string> results = {};           ///< that are compared; empty: the last
  ElementType type = ElementType::F64;             ///< of all tensors
  std::string apart = {}; ///< of a text of one statement: the same as several, which kUnfused runs
};

/// Those of the group "programs".
std::vector<Kernel> programs();
/// Those of the group "solvers".
std::vector<Kernel> solvers();
/// Those of the group "indirect".
std::vector<Kernel> indirect();
/// Those of the group "schedules".
std::vector<Kernel> schedules();
/// All, in the order in which they run.
const std::vector<Kernel> &kernels();

/// The format of A: what a kernel says of the input's sizes is replaced by what it comes to.
std::string formatOf(const Kernel &kernel, const Input &input);
/// Why this input does not suit the kernel; empty: it does.
std::string unsuited(const Kernel &kernel, const Input &input);

/// The statements that kUnfused runs one by one.
std::vector<std::string> statements(const Kernel &kernel);
/// Tulle as a competitor. `made` receives the bytes of its last results. `threads`: 0 is what OMP_NUM_THREADS
/// says. `strategy`, `upstreamPasses`: as in engine::Options.
Runner tulleRunner(const Kernel &kernel, const Task &task, std::shared_ptr<int64_t> made, unsigned threads,
                   const std::string &strategy = "auto", const std::string &upstreamPasses = "");
/// The same with a kernel for each statement of a program, and all intermediate tensors in memory.
Runner unfusedRunner(const Kernel &kernel, const Task &task, unsigned threads);

/// The same with the schedule that the compiler chooses.
Runner unscheduledRunner(const Kernel &kernel, const Task &task, unsigned threads);

/// The tensors that the texts of an operation read, by the names these have there.
std::map<std::string, runtime::Tensor> operands(const Task &task);
/// The sizes of results that the operands do not give: those with subscripts that tensors give.
std::map<std::string, std::vector<int64_t>> resultSizes(const Task &task);
/// The least bytes and floating-point operations of one run, `made` bytes of new results among them.
void setWork(Row &row, const Task &task, int64_t made);

} // namespace tulle::bench
