#include "Report.h"
#include "peer/Peer.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace tulle::bench {

double ratioTo(const Row &row, const std::string &peer) {
  if (peer == kRoofline)
    return ofRoofline(row);
  auto tulle = row.times.find("tulle"), other = row.times.find(peer);
  return tulle == row.times.end() || other == row.times.end() || tulle->second.median <= 0
             ? 0
             : other->second.median / tulle->second.median;
}

double bestRatio(const Row &row, std::string *peer) {
  static const std::set<std::string> apart = {"tulle",          kOneThread,    "loop",
                                              "SciPy unsorted", kMklOwnFormat, kCopy,
                                              kCopyOneThread,   kUnfused,      kUnscheduled};
  double best = 0;
  auto consider = [&](const std::string &name) {
    if (const double ratio = ratioTo(row, name); ratio > 0 && (best == 0 || ratio < best)) {
      best = ratio;
      if (peer)
        *peer = name;
    }
  };
  for (const auto &[name, timing] : row.times)
    if (!apart.count(name))
      consider(name);
  if (best == 0)
    consider("loop");
  return best;
}

double Family::ratio(const Row &row) const {
  return target.peer.empty() ? bestRatio(row) : ratioTo(row, target.peer);
}

double ofRoofline(const Row &row) {
  auto tulle = row.times.find("tulle");
  return tulle == row.times.end() || tulle->second.median <= 0 ? 0 : row.rooflineMs / tulle->second.median;
}

double copyGain(const Row &row) {
  auto one = row.times.find(kCopyOneThread), all = row.times.find(kCopy);
  return one == row.times.end() || all == row.times.end() || all->second.median <= 0
             ? 0
             : one->second.median / all->second.median;
}

double geometricMean(const std::vector<double> &values) {
  double logs = 0;
  int count = 0;
  for (double value : values)
    if (value > 0) {
      logs += std::log(value);
      ++count;
    }
  return count ? std::exp(logs / count) : 0;
}

double Family::mean() const {
  std::vector<double> ratios;
  for (const Row *row : rows)
    ratios.push_back(ratio(*row));
  return geometricMean(ratios);
}

double Family::worst() const {
  double least = 0;
  for (const Row *row : rows)
    if (const double own = ratio(*row); own > 0 && (least == 0 || own < least))
      least = own;
  return least;
}

double Family::roofline() const {
  std::vector<double> parts;
  for (const Row *row : rows)
    parts.push_back(ofRoofline(*row));
  return geometricMean(parts);
}

double Family::scaling() const {
  std::vector<double> ratios;
  for (const Row *row : rows)
    ratios.push_back(ratioTo(*row, kOneThread));
  return geometricMean(ratios);
}

double Family::memoryScaling() const {
  std::vector<double> ratios;
  for (const Row *row : rows)
    ratios.push_back(copyGain(*row));
  return geometricMean(ratios);
}

namespace {

/// The kernels that are one but for the format.
struct Formats {
  std::string base, others, name;   ///< the kernel the peers are those of, how the others begin, the row made
  std::string inputs;               ///< how they begin
  std::vector<Target> want, always; ///< with one thread; with any number of them
  std::string everywhere;           ///< a peer whose fastest format counts, too
};

} // namespace

static Row bestOf(const Formats &formats, const Row &base, const std::vector<Row> &rows) {
  Row best = base;
  best.kernel = formats.name;
  best.targets = formats.always;
  if (base.threads == 1)
    best.targets.insert(best.targets.begin(), formats.want.begin(), formats.want.end());
  auto take = [&](const std::string &name, const Row &row) {
    const auto found = row.times.find(name);
    const auto known = best.times.find(name);
    const bool faster = found != row.times.end() &&
                        (known == best.times.end() || found->second.median < known->second.median);
    if (faster)
      best.times[name] = found->second;
    return faster;
  };
  for (const Row &row : rows) {
    if (!row.kernel.starts_with(formats.others) || row.input != base.input || row.threads != base.threads)
      continue;
    if (take("tulle", row))
      best.rooflineMs = row.rooflineMs;
    if (!formats.everywhere.empty())
      take(formats.everywhere, row);
  }
  return best;
}

void addBestFormats(std::vector<Row> &rows) {
  const std::vector<Formats> kernels = {
      {"SpMV CSR",
       "SpMV ",
       "SpMV best format",
       "grid",
       {{.mean = 1.5}},
       {{.mean = 1, .peer = kMklOwnFormat}},
       ""},
      {"MTTKRP 32", "MTTKRP 32 ", "MTTKRP 32 best format", "", {{.mean = 1.5, .peer = "MLIR"}}, {}, "MLIR"}};
  std::vector<Row> made;
  for (const Formats &formats : kernels)
    for (const Row &base : rows)
      if (base.kernel == formats.base && base.times.count("tulle") && base.input.starts_with(formats.inputs))
        made.push_back(bestOf(formats, base, rows));
  rows.insert(rows.end(), made.begin(), made.end());
}

Verdict Family::verdict() const {
  if (target.ms > 0)
    return std::all_of(rows.begin(), rows.end(),
                       [&](const Row *row) {
                         auto tulle = row->times.find("tulle");
                         return tulle != row->times.end() && tulle->second.median <= target.ms;
                       })
               ? Verdict::Met
               : Verdict::Missed;
  if ((target.mean <= 0 && target.each <= 0) || mean() <= 0)
    return Verdict::None;
  if (mean() >= target.mean && worst() >= target.each)
    return Verdict::Met;
  const double memory = memoryScaling();
  return target.byMemory && memory > 0 && memory < target.mean && mean() >= memory ? Verdict::Memory
                                                                                   : Verdict::Missed;
}

std::string toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::None:
    return "";
  case Verdict::Met:
    return "met";
  case Verdict::Missed:
    return "missed";
  case Verdict::Memory:
    return "as memory allows";
  }
  return "";
}

std::string Family::targetText() const {
  if (target.ms > 0)
    return fmt::format("{} ms", target.ms);
  const std::string peer = target.peer.empty()         ? "the best peer"
                           : target.peer == kOneThread ? "one thread"
                                                       : target.peer;
  if (target.peer == kRoofline)
    return fmt::format("{} of {}", target.mean, peer);
  std::string text;
  if (target.mean > 0)
    text = fmt::format("{} over {}", target.mean, peer);
  if (target.each > 0)
    text += text.empty() ? fmt::format("{} over {} on each", target.each, peer)
                         : fmt::format(", {} on each", target.each);
  return text;
}

std::vector<Family> families(const std::vector<Row> &rows) {
  std::vector<Family> list;
  for (const Row &row : rows)
    for (size_t k = 0; k < std::max<size_t>(row.targets.size(), 1); ++k) {
      auto at = std::find_if(list.begin(), list.end(), [&](const Family &family) {
        return family.kernel == row.kernel && family.threads == row.threads && family.number == k;
      });
      if (at == list.end()) {
        // The targets of a kernel stand together, whatever ran in between.
        auto behind = std::find_if(list.rbegin(), list.rend(), [&](const Family &family) {
          return family.kernel == row.kernel && family.threads == row.threads;
        });
        at = list.insert(behind == list.rend() ? list.end() : behind.base(),
                         {row.kernel, row.threads, row.targets.empty() ? Target{} : row.targets[k], k, {}});
      }
      at->rows.push_back(&row);
    }
  return list;
}

std::vector<std::string> competitors(const std::vector<Row> &rows) {
  std::vector<std::string> order = {"tulle", kOneThread, kUnfused, kUnscheduled}, list;
  for (const Peer &peer : peers())
    order.push_back(peer.name);
  for (const std::string &name : order)
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const Row &row) { return row.times.count(name) || row.absent.count(name); }))
      list.push_back(name);
  return list;
}

} // namespace tulle::bench
