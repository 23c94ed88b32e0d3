// Contenders for one job, run in turn: what disturbs the machine disturbs all of them alike.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tulle::bench {

/// Lets this program's memory stay with it, in large pages, so that loops by hand and MLIR's code do not pay
/// for fresh pages in every run: generated code reuses its blocks as well. Restarts the program once.
void keepMemory(char **argv);

/// Processor time of this thread so far, in milliseconds: on a machine with other work it is less disturbed
/// than the clock.
double threadMs();

/// Milliseconds that `run` takes; what it returns is released after that.
template <typename Run> double timed(Run run) {
  const double begin = threadMs();
  [[maybe_unused]] auto result = run();
  return threadMs() - begin;
}

struct Contender {
  std::string name;            ///< "tulle", "loop", "SciPy", …
  std::function<double()> run; ///< once; returns milliseconds
};

struct Row {
  std::string job, input;
  std::map<std::string, double> medians;     ///< by contender
  std::map<std::string, std::string> absent; ///< why a contender has none
};

/// Runs all once for nothing, then in turn until `seconds` have passed (at least 5, at most 31 rounds). A
/// contender that throws is absent from then on.
Row race(const std::string &job, const std::string &input, std::vector<Contender> contenders, double seconds);

/// The table of milliseconds, the ratios peer / tulle, and their geometric means over the inputs.
void printTable(const std::vector<Row> &rows, const std::vector<std::string> &peers);

/// Options shared by the programs.
struct Options {
  std::vector<std::string> inputs = {"grid2d:1000", "grid3d27:64", "uniform:200000:200000:16", "rmat:17:16"};
  std::string filter; ///< jobs whose name contains it
  double seconds = 4; ///< for each job and input
  bool scipy = true, mlir = true;
};
/// Reads --inputs A,B --filter TEXT --seconds S --no-scipy --no-mlir; exits with the usage otherwise.
Options parseOptions(int argc, char **argv, const char *what);

} // namespace tulle::bench
