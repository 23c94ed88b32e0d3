#include "Report.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <set>

namespace tulle::bench {

static double ratioTo(const Row &row, const std::string &peer) {
  auto ours = row.times.find("tulle"), theirs = row.times.find(peer);
  return ours == row.times.end() || theirs == row.times.end() || ours->second.median <= 0
             ? 0
             : theirs->second.median / ours->second.median;
}

double bestRatio(const Row &row, std::string *peer) {
  static const std::set<std::string> unfair = {"tulle", "tulle 1", "loop", "SciPy unsorted"};
  double best = 0;
  for (const auto &[name, timing] : row.times)
    if (const double ratio = ratioTo(row, name);
        !unfair.count(name) && ratio > 0 && (best == 0 || ratio < best)) {
      best = ratio;
      if (peer)
        *peer = name;
    }
  if (best == 0 && ratioTo(row, "loop") > 0) {
    best = ratioTo(row, "loop");
    if (peer)
      *peer = "loop";
  }
  return best;
}

double targetRatio(const Row &row) {
  return row.targetPeer.empty() ? bestRatio(row) : ratioTo(row, row.targetPeer);
}

static void printLine(const Row *row, const std::vector<std::string> &cells) {
  fmt::print("{:18} {:26} {:>2}", row ? row->kernel : "kernel", row ? row->input : "input",
             row ? std::to_string(row->threads) : "t");
  for (const std::string &text : cells)
    fmt::print(" {:>10}", text);
  fmt::print("\n");
  std::fflush(stdout);
}

static std::string number(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }

void printTable(const std::vector<Row> &rows, const std::vector<std::string> &contenders) {
  std::vector<std::string> titles;
  for (const std::string &name : contenders)
    titles.push_back(name.substr(0, 10));
  titles.insert(titles.end(), {"best/ours", "of bound"});
  fmt::print("milliseconds (medians)\n");
  printLine(nullptr, titles);
  for (const Row &row : rows) {
    std::vector<std::string> cells;
    for (const std::string &name : contenders) {
      auto found = row.times.find(name);
      cells.push_back(found != row.times.end() ? fmt::format("{:.3f}", found->second.median)
                      : row.absent.count(name) ? "absent"
                                               : "-");
    }
    cells.push_back(number(bestRatio(row)));
    auto ours = row.times.find("tulle");
    cells.push_back(ours != row.times.end() && row.boundMs > 0 && ours->second.median > 0
                        ? fmt::format("{:.0f}%", 100 * row.boundMs / ours->second.median)
                        : "-");
    printLine(&row, cells);
  }
  std::set<std::string> said;
  for (const Row &row : rows)
    for (const auto &[name, why] : row.absent)
      if (said.insert(name + why).second)
        fmt::print(stderr, "{} {}: no {}: {}\n", row.kernel, row.input, name, why);
}

} // namespace tulle::bench
