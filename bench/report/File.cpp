// A report as a JSON file, and back.
#include "Json.h"
#include "Report.h"
#include "tulle/error.h"
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tulle::bench {

std::string json(const Report &report) {
  nlohmann::json made = {{"machine", report.machine}, {"command", report.command}};
  made["limits"] = nlohmann::json::object();
  for (const auto &[threads, limits] : report.limits)
    made["limits"][std::to_string(threads)] = limits;
  made["rows"] = nlohmann::json::array();
  for (const Row &row : report.rows)
    made["rows"].push_back(toJson(row));
  return made.dump(1) + "\n";
}

Report readReport(const std::string &file) {
  std::ifstream in(file);
  if (!in)
    throw Error("bench: cannot read " + file);
  try {
    const nlohmann::json read = nlohmann::json::parse(in);
    Report report;
    report.machine = read.at("machine");
    report.command = read.at("command");
    for (const auto &[threads, limits] : read.at("limits").items())
      report.limits[std::stoi(threads)] = limits.get<std::map<std::string, double>>();
    for (const nlohmann::json &row : read.at("rows"))
      report.rows.push_back(rowFromJson(row));
    return report;
  } catch (const std::exception &error) {
    throw Error("bench: " + file + " is no report that --json wrote: " + error.what());
  }
}

} // namespace tulle::bench
