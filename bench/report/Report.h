// What was measured as a table on the terminal, JSON, Markdown and a plot.
#pragma once
#include "measure/Measure.h"

namespace tulle::bench {

/// Everything a run found.
struct Report {
  std::string machine;                                 ///< processor, system, compiler
  std::string command;                                 ///< that made it
  std::map<int, std::map<std::string, double>> limits; ///< by threads: measured bandwidths (GB/s) and peak
  std::vector<Row> rows;
};

/// The time of `peer` / Tulle's, also of kRoofline; 0 where one is missing.
double ratioTo(const Row &row, const std::string &peer);
/// The same of the fastest peer; hand-written loops, products without order and formats of a peer's own
/// count only where nothing else ran.
/// `peer`, if given, receives its name.
double bestRatio(const Row &row, std::string *peer = nullptr);
/// The fraction of the machine's roofline that was reached; 0 where unknown.
double ofRoofline(const Row &row);
/// The speedup of a copy with the row's threads over one with a single thread, measured in the row's
/// repetitions: what memory bandwidth alone allows the row. 0: not measured.
double copyGain(const Row &row);
/// Of positive numbers; 0 for none.
double geometricMean(const std::vector<double> &values);

/// Appends, for each number of threads, rows "SpMV best format" of the grids, the fastest of Tulle's formats
/// against the peers' CSR, and "MTTKRP 32 best format" of all tensors, against the fastest of MLIR's formats.
void addBestFormats(std::vector<Row> &rows);

/// Of a target. Memory: not met, but threads gain what a copy gains, which is less than the target.
enum class Verdict : uint8_t { None, Met, Missed, Memory };
std::string toString(Verdict verdict);

/// The rows of one kernel with one number of threads, in the order in which they ran, and one of its targets.
struct Family {
  std::string kernel;
  int threads;
  Target target; ///< with nothing in it: none
  size_t number; ///< of the target: the same rows are in the families of the others
  std::vector<const Row *> rows;

  /// The ratio the target is about: that of its peer, or bestRatio.
  double ratio(const Row &row) const;
  double mean() const;          ///< geometric, of `ratio`
  double worst() const;         ///< of `ratio`
  double roofline() const;      ///< geometric mean of ofRoofline
  double scaling() const;       ///< geometric mean of Tulle's time with one thread / with these
  double memoryScaling() const; ///< geometric mean of copyGain
  /// None without a target, or where its peer did not run.
  Verdict verdict() const;
  /// "1.5 over SciPy", "0.8 of the roofline", "30 ms", or empty.
  std::string targetText() const;
};
std::vector<Family> families(const std::vector<Row> &rows);

void printTable(const Report &report);
std::string markdown(const Report &report, const std::string &plot);
std::string svg(const Report &report);
/// Of the group "growth": nanoseconds for each stored entry against their number, by kernel and kind of
/// matrix, a line for each competitor.
std::string growthSvg(const Report &report);
std::string json(const Report &report);
/// Of a file that `json` wrote. Throws tulle::Error naming the file.
Report readReport(const std::string &file);

/// The names of all competitors that any row has, in the order of the peers.
std::vector<std::string> competitors(const std::vector<Row> &rows);

} // namespace tulle::bench
