// The table on the terminal.
#include "Report.h"
#include <cstdio>
#include <fmt/format.h>
#include <set>

namespace tulle::bench {

static void printLine(const std::string &kernel, const std::string &input, const std::string &threads,
                      const std::vector<std::string> &cells) {
  fmt::print("{:24} {:26} {:>2}", kernel, input, threads);
  for (const std::string &text : cells)
    fmt::print(" {:>10}", text);
  fmt::print("\n");
}

/// What was not measured is 0.
static std::string number(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }
static std::string percent(double part) { return part > 0 ? fmt::format("{:.0f}%", 100 * part) : "-"; }

static std::string cell(const Row &row, const std::string &name) {
  auto found = row.times.find(name);
  return found != row.times.end() ? fmt::format("{:.3f}", found->second.median)
         : row.absent.count(name) ? "absent"
                                  : "-";
}

static void printAbsent(const std::vector<Row> &rows) {
  std::set<std::string> said;
  for (const Row &row : rows)
    for (const auto &[name, why] : row.absent)
      if (said.insert(name + why).second)
        fmt::print(stderr, "{} {}: no {}: {}\n", row.kernel, row.input, name, why);
}

void printTable(const Report &report) {
  fmt::print("{}\n", report.machine);
  for (const auto &[threads, limits] : report.limits)
    for (const auto &[name, value] : limits)
      fmt::print("{} thread{}: {} {:.1f}\n", threads, threads == 1 ? "" : "s", name, value);
  if (report.rows.empty())
    return;
  const std::vector<std::string> columns = competitors(report.rows);
  std::vector<std::string> titles;
  for (const std::string &name : columns)
    titles.push_back(name.substr(0, 10));
  titles.insert(titles.end(), {"best/tulle", "roofline", "copy / 1", "compared"});
  fmt::print("\nmilliseconds (medians)\n");
  printLine("kernel", "input", "t", titles);
  for (const Row &row : report.rows) {
    std::vector<std::string> cells;
    for (const std::string &name : columns)
      cells.push_back(cell(row, name));
    const double ratio = bestRatio(row), part = ofRoofline(row);
    cells.push_back(number(ratio));
    cells.push_back(percent(part));
    cells.push_back(number(copyGain(row)));
    cells.push_back(std::to_string(row.compared.size()));
    printLine(row.kernel, row.input, std::to_string(row.threads), cells);
  }
  fmt::print("\ngeometric means over the inputs, peer / tulle\n");
  printLine("kernel", "target", "t", {"mean", "worst", "roofline", "/ 1 thread", "copy / 1", ""});
  for (const Family &family : families(report.rows)) {
    printLine(family.kernel, family.targetText(), std::to_string(family.threads),
              {number(family.mean()), number(family.worst()),
               family.number == 0 ? percent(family.roofline()) : "",
               family.number == 0 ? number(family.scaling()) : "",
               family.number == 0 ? number(family.memoryScaling()) : "", toString(family.verdict())});
  }
  std::fflush(stdout);
  printAbsent(report.rows);
}

} // namespace tulle::bench
