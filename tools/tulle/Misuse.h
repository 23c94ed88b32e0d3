// What to say about a command line that cannot be understood.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tulle::cli {

/// Names the word that is wrong, the nearest one that would be right, and the help to read. `app` has thrown
/// `error` on `arguments`.
std::string explainMisuse(const CLI::App &app, const CLI::ParseError &error,
                          const std::vector<std::string> &arguments);

} // namespace tulle::cli
