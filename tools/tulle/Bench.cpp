// `tulle bench`: the benchmarks of the build that this program belongs to.
#include "Commands.h"
#include "tulle/error.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace tulle::cli {

/// Becomes the benchmark: it lies next to this program and prints its own table.
static void bench(const std::string &what, const std::vector<std::string> &options) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / ("bench_" + what)).string();
  if (error || !std::filesystem::exists(program))
    throw Error(
        fmt::format("bench {}: there is no {}; the benchmarks are part of a build, not of an installation: "
                    "build the target bench_{} and run that build's tulle",
                    what, program, what));
  std::vector<char *> arguments = {const_cast<char *>(program.c_str())};
  for (const std::string &option : options)
    arguments.push_back(const_cast<char *>(option.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error(fmt::format("bench {}: cannot run {}: {}", what, program, std::strerror(errno)));
}

void addBench(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("bench", "Time conversions and sparse results against the peers that are installed");
  command->require_subcommand(1);
  auto add = [&](const std::string &what, const std::string &help) {
    CLI::App *job = command->add_subcommand(what, help);
    job->prefix_command();
    job->footer("Options: --inputs GENERATOR,GENERATOR  --filter TEXT  --seconds S  --no-scipy  --no-mlir\n"
                "Example:\n  tulle bench " +
                what + " --inputs grid2d:1000 --seconds 2");
    job->callback([what, job] { bench(what, job->remaining()); });
  };
  add("convert", "Conversions between formats, against loops by hand, SciPy, Eigen and MLIR");
  add("assemble", "A + B and A * A in CSR, against loops by hand, SciPy, Eigen and MLIR");
  command->footer(
      "Medians of processor time in one thread, the contenders run in turn; ratios are peer / tulle.\n"
      "Example:\n  tulle bench convert --filter CSC");
}

} // namespace tulle::cli
