// What was measured as a table on the terminal, JSON, Markdown and a plot.
#pragma once
#include "Measure.h"

namespace tulle::bench {

/// The time of the fastest peer that counts (loops by hand and unsorted products do not, unless nothing else
/// ran) / ours; 0 where one is missing. `peer`, if given, receives its name.
double bestRatio(const Row &row, std::string *peer = nullptr);
/// The ratio the row's target is about: that of `targetPeer`, or bestRatio.
double targetRatio(const Row &row);

void printTable(const std::vector<Row> &rows, const std::vector<std::string> &contenders);

} // namespace tulle::bench
