// Measurements as JSON: what worker processes send and what --json writes.
#pragma once
#include "measure/Measure.h"
#include <nlohmann/json_fwd.hpp>

namespace tulle::bench {

nlohmann::json toJson(const Row &row);
/// Throws nlohmann::json::exception for anything else than toJson wrote.
Row rowFromJson(const nlohmann::json &json);

} // namespace tulle::bench
