// What docs/performance.md says first.
#pragma once
#include "Report.h"

namespace tulle::bench {

struct HeadlineTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows; ///< as many cells as titles
};

/// Ten kernels, each against the best peer of each input.
HeadlineTable headline(const Report &report);
/// The kernels whose best peers take less time in the mean over the inputs: "TTV (1 thread) 0.8 of loop; …".
std::string slower(const Report &report);

} // namespace tulle::bench
