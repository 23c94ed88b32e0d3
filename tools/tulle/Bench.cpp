// `tulle bench`: the benchmarks of the build that this program belongs to.
#include "Commands.h"
#include "support/Errors.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace tulle::cli {

/// Becomes tulle-bench, which lies next to this program and knows its own options.
static void bench(const std::vector<std::string> &options) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "tulle-bench").string();
  if (error || !std::filesystem::exists(program))
    throwError("bench: there is no {}; the benchmarks are part of a build, not of an installation: build the "
               "target tulle-bench and run that build's tulle",
               program);
  std::vector<char *> arguments = {const_cast<char *>(program.c_str())};
  for (const std::string &option : options)
    arguments.push_back(const_cast<char *>(option.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throwError("bench: cannot run {}: {}", program, std::strerror(errno));
}

void addBench(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "bench", "Time kernels, sparse results and conversions against the peers that are installed");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command] { bench(command->remaining()); });
}

} // namespace tulle::cli
