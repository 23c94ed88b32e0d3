// The first screen of docs/performance.md: ten kernels, and the ones that are slower than their best peer.
#include "Headline.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace tulle::bench {

namespace {

struct Chosen {
  const char *kernel, *what;
};

/// One of each kind of work; conversions that copy everything, so that nothing is won by sharing arrays.
constexpr std::array<Chosen, 10> kChosen = {{
    {"SpMV CSR", "matrix × vector, CSR"},
    {"SpMV BCSR(4,4)", "matrix × vector, 4 × 4 blocks"},
    {"SpMM 32", "matrix × 32 dense columns, CSR"},
    {"SDDMM 64", "sampled dense product, CSR"},
    {"2:4 SpMM 128", "2:4 matrix × 128 dense columns"},
    {"MTTKRP 32", "MTTKRP, order 3, CSF"},
    {"A + B", "sum of sparse matrices, CSR"},
    {"A * A", "product of sparse matrices, CSR"},
    {"COO->CSR borrowed", "conversion COO to CSR"},
    {"CSR->CSC", "conversion CSR to CSC"},
}};

/// The ratios of one kernel to the best peer of each input.
struct Ratios {
  std::vector<double> values;
  std::map<std::string, int> peers; ///< on how many inputs each was the best

  Ratios(const std::vector<Row> &rows, const std::string &kernel, int threads) {
    for (const Row &row : rows) {
      std::string peer;
      if (row.kernel != kernel || row.threads != threads)
        continue;
      if (const double ratio = bestRatio(row, &peer); ratio > 0) {
        values.push_back(ratio);
        ++peers[peer];
      }
    }
  }
  double worst() const { return values.empty() ? 0 : *std::min_element(values.begin(), values.end()); }
  std::string names() const {
    std::vector<std::pair<int, std::string>> order;
    for (const auto &[name, count] : peers)
      order.emplace_back(-count, name);
    std::sort(order.begin(), order.end());
    std::vector<std::string> names;
    for (const auto &[count, name] : order)
      names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
  }
};

std::string ratio(double value) { return value > 0 ? fmt::format("{:.3g}", value) : "–"; }

} // namespace

HeadlineTable headline(const Report &report) {
  std::set<int> threads;
  for (const Row &row : report.rows)
    threads.insert(row.threads);
  HeadlineTable table;
  table.titles = {"operation", "kernel", "inputs", "best peer"};
  for (int count : threads) {
    table.titles.push_back(count == 1 ? "1 thread" : fmt::format("{} threads", count));
    if (count == *threads.begin())
      table.titles.push_back("worst input");
  }
  for (const Chosen &chosen : kChosen) {
    if (std::ranges::none_of(report.rows, [&](const Row &row) { return row.kernel == chosen.kernel; }))
      continue; // a part of the bench has some of them
    std::vector<std::string> cells = {chosen.what, chosen.kernel};
    for (int count : threads) {
      const Ratios ratios(report.rows, chosen.kernel, count);
      if (count == *threads.begin())
        cells.insert(cells.end(), {std::to_string(ratios.values.size()), ratios.names()});
      cells.push_back(ratio(geometricMean(ratios.values)));
      if (count == *threads.begin())
        cells.push_back(ratio(ratios.worst()));
    }
    table.rows.push_back(cells);
  }
  return table;
}

std::string slower(const Report &report) {
  std::vector<std::string> list;
  std::set<std::pair<std::string, int>> seen;
  for (const Row &row : report.rows) {
    // The peers of "strategies" are strategies of Tulle.
    if (row.group == "strategies" || !seen.emplace(row.kernel, row.threads).second)
      continue;
    const Ratios ratios(report.rows, row.kernel, row.threads);
    if (const double mean = geometricMean(ratios.values); mean > 0 && mean < 1)
      list.push_back(fmt::format("{} ({} thread{}) {} of {}", row.kernel, row.threads,
                                 row.threads == 1 ? "" : "s", ratio(mean), ratios.names()));
  }
  return fmt::format("{}", fmt::join(list, "; "));
}

} // namespace tulle::bench
