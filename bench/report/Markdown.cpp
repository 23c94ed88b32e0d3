// docs/performance.md.
#include "Headline.h"
#include "peer/Peer.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::bench {

static std::string escaped(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

static std::string line(const std::vector<std::string> &cells) {
  std::string text = "|";
  for (const std::string &cell : cells)
    text += " " + escaped(cell) + " |";
  return text + "\n";
}

static std::string head(const std::vector<std::string> &titles, size_t leftAligned) {
  std::vector<std::string> rule;
  for (size_t k = 0; k < titles.size(); ++k)
    rule.push_back(k < leftAligned ? ":--" : "--:");
  return line(titles) + line(rule);
}

/// Three significant digits.
static std::string number(double value) {
  return value <= 0 ? "–" : value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}
static std::string percent(double part) { return part > 0 ? fmt::format("{:.0f}%", 100 * part) : "–"; }

static std::string summary(const Report &report) {
  std::string text = head({"kernel", "threads", "inputs", "peer / tulle", "worst input", "of roofline",
                           "over one thread", "a copy", "target", ""},
                          1);
  for (const Family &family : families(report.rows)) {
    const Verdict verdict = family.verdict();
    text += line({family.kernel, std::to_string(family.threads), std::to_string(family.rows.size()),
                  number(family.mean()), number(family.worst()),
                  family.number == 0 ? percent(family.roofline()) : "",
                  family.number == 0 ? number(family.scaling()) : "",
                  family.number == 0 ? number(family.memoryScaling()) : "", family.targetText(),
                  verdict == Verdict::Missed ? "**missed**" : toString(verdict)});
  }
  return text;
}

static std::string cell(const Row &row, const std::string &name, const std::string &best) {
  auto found = row.times.find(name);
  if (found == row.times.end())
    return row.absent.count(name) ? "absent" : "–";
  const Timing &timing = found->second;
  std::string text = number(timing.median);
  if (name == "tulle" && timing.median > 0)
    text += fmt::format(" ±{:.0f}%", 50 * (timing.high - timing.low) / timing.median);
  return name == best ? "**" + text + "**" : text;
}

static std::string table(const std::vector<Row> &rows) {
  const std::vector<std::string> names = competitors(rows);
  std::vector<std::string> titles = {"kernel", "input"};
  titles.insert(titles.end(), names.begin(), names.end());
  titles.insert(titles.end(), {"best peer / tulle", "of roofline"});
  const bool severalThreads =
      std::any_of(rows.begin(), rows.end(), [](const Row &row) { return row.threads > 1; });
  if (severalThreads)
    titles.push_back("a copy");
  std::string text = head(titles, 2);
  for (const Row &row : rows) {
    std::string best;
    const double ratio = bestRatio(row, &best);
    std::vector<std::string> cells = {row.kernel, row.input};
    for (const std::string &name : names)
      cells.push_back(cell(row, name, best));
    cells.push_back(number(ratio));
    cells.push_back(percent(ofRoofline(row)));
    if (severalThreads)
      cells.push_back(number(copyGain(row)));
    text += line(cells);
  }
  return text;
}

static std::string absences(const std::vector<Row> &rows) {
  std::string text;
  std::set<std::string> said;
  for (const Row &row : rows)
    for (const auto &[name, why] : row.absent)
      if (said.insert(row.kernel + name + why).second)
        text += fmt::format("- {}, {}: no {}: {}\n", row.kernel, row.input, name, why);
  return text;
}

static std::string limits(const Report &report) {
  std::string text;
  for (const auto &[threads, list] : report.limits) {
    text += fmt::format("- {} thread{}:", threads, threads == 1 ? "" : "s");
    for (const auto &[name, value] : list)
      text += fmt::format(" {} {:.1f};", name, value);
    text.back() = '\n';
  }
  return text;
}

/// A screen: the picture, ten kernels, where Tulle is slower, the machine, and what else there is.
static std::string firstScreen(const Report &report, const std::string &plot) {
  std::string text =
      "# Performance\n\nHow many times as fast Tulle is as the fastest other library that has the "
      "operation: that library's time / Tulle's,\n"
      "geometric mean over the inputs (\"loop\": a hand-written loop, where no library has it).\n\n";
  if (!plot.empty())
    text += "![Tulle's speed over the best peer's, ten kernels](headline.svg)\n\n";
  const HeadlineTable table = headline(report);
  if (!table.rows.empty())
    text += head(table.titles, 2);
  for (const std::vector<std::string> &cells : table.rows)
    text += line(cells);
  if (const std::string list = slower(report); !list.empty())
    text += "\nSlower than the best peer, in the mean over the inputs: " + list + ".\n";
  int met = 0, asked = 0;
  for (const Family &family : families(report.rows)) {
    const Verdict verdict = family.verdict();
    asked += verdict != Verdict::None;
    met += verdict == Verdict::Met || verdict == Verdict::Memory;
  }
  text += fmt::format(
      "\n{} of {} [targets](#targets) are met.\n\n{}\n\nBehind this: [how it is "
      "measured](#how-it-is-measured), the [targets](#targets){}, and every measurement.\n"
      "Written by `{}`.\n",
      met, asked, report.machine,
      plot.empty() ? "" : fmt::format(", a [plot of all kernels]({}), one [from Python](python.svg)", plot),
      report.command);
  return text;
}

static std::string howMeasured(const Report &report) {
  return fmt::format(
      "\n## How it is measured\n\n{}\n"
      "Double precision (single in rows named f32), 32-bit indices, medians of interleaved repetitions "
      "within one process, after every "
      "answer "
      "was compared\n"
      "with that of a hand-written loop: processor time for one thread, the clock for several. A ratio is a "
      "peer's "
      "time /\n"
      "Tulle's; the peer is the one a target names, else the fastest library (hand-written loops count where "
      "there "
      "is no other).\n"
      "Peers take the matrix in the format of the row; {} is what mkl_sparse_optimize makes of CSR when "
      "it may copy it, and is\n"
      "compared with Tulle's best format. Of programs, loop is one pass fused by hand, and {} is Tulle with "
      "a "
      "kernel for each statement. Rows with a schedule have {} beside them, Tulle with the schedule that it "
      "chooses.\n"
      "The roofline is the time that the bytes of operands and result take at the bandwidth measured for a "
      "working "
      "set of\n"
      "that size, or the operations at the peak of fused multiply-adds, whichever is longer.\n"
      "\"A copy\": what several threads gain over one when they copy 64 MiB, in the repetitions of the row: "
      "what "
      "memory\n"
      "bandwidth alone allows; on virtual processors it changes by the minute. \"As memory allows\": a "
      "target that "
      "holds where\n"
      "the machine's bandwidth allows it; Tulle gains what a copy gains or more, which is less than the "
      "target.\n",
      limits(report), kMklOwnFormat, kUnfused, kUnscheduled);
}

std::string markdown(const Report &report, const std::string &plot) {
  std::string text = firstScreen(report, plot) + howMeasured(report);
  text += "\n## Targets\n\nGeometric means over the inputs.\n\n" + summary(report);
  std::vector<std::pair<std::string, int>> sections;
  for (const Row &row : report.rows)
    if (std::find(sections.begin(), sections.end(), std::pair(row.group, row.threads)) == sections.end())
      sections.emplace_back(row.group, row.threads);
  for (const auto &[group, threads] : sections) {
    std::vector<Row> rows;
    for (const Row &row : report.rows)
      if (row.group == group && row.threads == threads)
        rows.push_back(row);
    text +=
        fmt::format("\n## {}, {} thread{}\n\nMilliseconds; ± is half the distance of the quartiles; the best "
                    "peer is bold.\n\n{}",
                    group, threads, threads == 1 ? "" : "s", table(rows));
  }
  if (const std::string list = absences(report.rows); !list.empty())
    text += "\n## What did not run\n\n" + list;
  return text;
}

} // namespace tulle::bench
