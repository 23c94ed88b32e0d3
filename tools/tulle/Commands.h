// The sub-commands of `tulle`; each registers itself with its options, help and example, and runs as its
// callback.
#pragma once
#include <CLI/CLI.hpp>

namespace tulle::cli {

void addRun(CLI::App &app);
void addConvert(CLI::App &app);
void addExplain(CLI::App &app);
void addCompile(CLI::App &app);
void addQuery(CLI::App &app);
void addPrint(CLI::App &app);
void addShow(CLI::App &app);
void addFormats(CLI::App &app);
void addDoctor(CLI::App &app);
void addBench(CLI::App &app);

} // namespace tulle::cli
