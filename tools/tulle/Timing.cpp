// The least, the median and the greatest of samples.
#include "Timing.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace tulle::cli {

Spread spread(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  size_t half = samples.size() / 2;
  double median = samples.size() % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
  return {samples.front(), median, samples.back()};
}

nlohmann::ordered_json toJson(const Spread &spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

} // namespace tulle::cli
