#include "Json.h"
#include <nlohmann/json.hpp>

namespace tulle::bench {

nlohmann::json toJson(const Row &row) {
  nlohmann::json times = nlohmann::json::object();
  for (const auto &[name, timing] : row.times)
    times[name] = {{"median", timing.median},
                   {"low", timing.low},
                   {"high", timing.high},
                   {"repetitions", timing.repetitions}};
  nlohmann::json targets = nlohmann::json::array();
  for (const Target &target : row.targets)
    targets.push_back({{"mean", target.mean},
                       {"peer", target.peer},
                       {"each", target.each},
                       {"ms", target.ms},
                       {"by_memory", target.byMemory}});
  return {{"group", row.group},     {"kernel", row.kernel},         {"input", row.input},
          {"threads", row.threads}, {"entries", row.entries},       {"times", times},
          {"absent", row.absent},   {"compared", row.compared},     {"bytes", row.bytes},
          {"flops", row.flops},     {"rooflineMs", row.rooflineMs}, {"targets", targets}};
}

Row rowFromJson(const nlohmann::json &json) {
  Row row;
  row.group = json.at("group");
  row.kernel = json.at("kernel");
  row.input = json.at("input");
  row.threads = json.at("threads");
  row.entries = json.value("entries", int64_t(0));
  for (const auto &[name, timing] : json.at("times").items())
    row.times[name] = {timing.at("median"), timing.at("low"), timing.at("high"), timing.at("repetitions")};
  row.absent = json.at("absent");
  row.compared = json.at("compared");
  row.bytes = json.at("bytes");
  row.flops = json.at("flops");
  row.rooflineMs = json.at("rooflineMs");
  for (const nlohmann::json &target : json.at("targets"))
    row.targets.push_back({target.at("mean"), target.at("peer"), target.at("each"), target.at("ms"),
                           target.value("by_memory", false)});
  return row;
}

} // namespace tulle::bench
