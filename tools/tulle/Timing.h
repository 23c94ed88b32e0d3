// Times of repeated runs.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace tulle::cli {

struct Spread {
  double min = 0, median = 0, max = 0;
};

/// Of at least one sample.
Spread spread(std::vector<double> samples);
nlohmann::ordered_json toJson(const Spread &spread);

} // namespace tulle::cli
