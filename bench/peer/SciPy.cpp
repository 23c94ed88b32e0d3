// SciPy in a child process, and as a competitor.
#include "SciPy.h"
#include "Peer.h"
#include "runtime/io/Io.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

/// One array as an .npy file, which is written without compressing it.
template <typename T>
static void save(const std::string &file, ElementType type, const T *data, int64_t count) {
  runtime::writeFile(file, runtime::borrowDense(type, {count}, const_cast<T *>(data)));
}

static void saveMatrix(const std::string &stem, const CsrView &a) {
  const int64_t count = a.pos[a.rows], shape[] = {a.rows, a.columns};
  save(stem + "-shape.npy", ElementType::I64, shape, 2);
  save(stem + "-indptr.npy", ElementType::I32, a.pos, a.rows + 1);
  save(stem + "-indices.npy", ElementType::I32, a.crd, count);
  save(stem + "-data.npy", ElementType::F64, a.value, count);
}

SciPy::SciPy(const std::string &script, const CsrView &a, const CsrView &b, const std::string &clock) {
  std::string name = (std::filesystem::temp_directory_path() / "tulle-bench-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw Absent("no temporary folder for SciPy's matrices");
  folder = name;
  const std::string fileA = folder + "/A", fileB = folder + "/B";
  saveMatrix(fileA, a);
  saveMatrix(fileB, b);
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0)
    throw Absent("no pipe to SciPy");
  std::signal(SIGPIPE, SIG_IGN);
  process = fork();
  if (process == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    for (int end : {down[0], down[1], up[0], up[1]})
      close(end);
    unsetenv("GLIBC_TUNABLES"); // SciPy as its users run it
    // Debian's own Python has Debian's SciPy, whatever else is in PATH.
    execl("/usr/bin/python3", "python3", script.c_str(), fileA.c_str(), fileB.c_str(), clock.c_str(),
          TULLE_BENCH_INSTALLED, nullptr);
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  toChild = down[1];
  fromChild = up[0];
}

SciPy::~SciPy() {
  close(toChild);
  close(fromChild);
  int status;
  waitpid(process, &status, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

SciPy::Result SciPy::run(const std::string &operation) {
  const std::string line = operation + "\n";
  std::string answer;
  char c;
  bool asked = write(toChild, line.data(), line.size()) == ssize_t(line.size());
  while (asked && read(fromChild, &c, 1) == 1 && c != '\n')
    answer += c;
  if (answer.starts_with("error "))
    throw Absent("SciPy: " + answer.substr(6));
  Result result;
  if (std::sscanf(answer.c_str(), "%lf %lf %ld", &result.ms, &result.sum, &result.count) != 3)
    throw Absent("Python, NumPy or SciPy is not installed, or failed");
  return result;
}

static const char *nameOf(const Task &task) {
  const std::string &form = task.format;
  const bool known = form == "CSR" || form == "CSC" || form == "DIA" || form == "BCSR(4,4)" ||
                     form == "COO-soa" || form == "COO shuffled";
  switch (task.op) {
  case Op::SpMV:
    return known ? "SpMV" : nullptr;
  case Op::SpMM:
    return known ? "SpMM" : nullptr;
  case Op::Add:
    return "Add";
  case Op::Multiply:
    return "Multiply";
  case Op::ConjugateGradients:
    return "CG";
  case Op::PageRank:
    return "PageRank";
  case Op::BreadthFirstSearch:
    return "BFS";
  case Op::ShortestPaths:
    return "SSSP";
  case Op::Components:
    return "components";
  case Op::HStack:
    return "hstack";
  case Op::VStack:
    return "vstack";
  case Op::BlockDiagonal:
    return "block_diag";
  case Op::Convert:
    return known && task.target != "ELL" && task.target != "skyline" ? "Convert" : nullptr;
  default:
    return nullptr;
  }
}

/// An operation as scipy_peer.py names it.
static Runner scipy(const Task &task, const std::string &name) {
  const std::string line =
      fmt::format("{}\t{}\t{}\t{}\t{}", name, task.format, task.target, task.n, tulle::name(task.type));
  auto last = std::make_shared<SciPy::Result>();
  // Its sums drop zeros and its formats hold more than the entries: these have a number to compare.
  const bool counted = task.op == Op::Multiply || (task.op >= Op::Gather && task.op <= Op::RowSquares);
  return Runner{[line, last, &child = task.input.scipy()] { return (*last = child.run(line)).ms; },
                [last, counted] {
                  Answer answer;
                  answer.sum = last->sum;
                  if (counted)
                    answer.count = last->count;
                  return answer;
                }};
}

/// The operation of the task among those that a peer has, by its name in scipy_peer.py.
static std::optional<Runner> among(const Task &task, const std::map<Op, const char *> &operations) {
  const auto found = operations.find(task.op);
  return found == operations.end() ? std::nullopt : std::optional(scipy(task, found->second));
}

std::optional<Runner> scipyPeer(const Task &task) {
  const char *name = nameOf(task);
  return name ? std::optional(scipy(task, name)) : std::nullopt;
}
std::optional<Runner> scipyUnsortedPeer(const Task &task) {
  return among(task, {{Op::Multiply, "Multiply unsorted"}});
}
std::optional<Runner> numpyPeer(const Task &task) {
  return among(task, {{Op::Gather, "gather"}, {Op::Scatter, "scatter"}, {Op::Convolution, "convolution"}});
}
std::optional<Runner> awkwardPeer(const Task &task) {
  return among(task,
               {{Op::RowSums, "row sums"}, {Op::RowMaxima, "row maxima"}, {Op::RowSquares, "row squares"}});
}
std::optional<Runner> numpyIm2colPeer(const Task &task) { return among(task, {{Op::Convolution, "im2col"}}); }

} // namespace tulle::bench
