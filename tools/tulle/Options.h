// The options that several commands have.
#pragma once
#include "engine/Engine.h"
#include "format/LevelDeclaration.h"
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tulle::cli {

/// --levels: level formats that the user declares.
struct LevelsOption {
  std::string file;
  /// Those of the file; none without one. Throws Error for a file that cannot be read.
  format::Declarations read() const;
};
void addLevelsOption(CLI::App &command, LevelsOption &option);

/// The options that `run` and `explain` share, as the user wrote them.
struct ProgramOptions {
  std::string text;
  std::vector<std::string> tensors; ///< NAME=FILE or NAME=generator
  std::vector<std::string> formats; ///< NAME=FORMAT
  std::vector<std::string> types;   ///< NAME=TYPE, or TYPE for all that have no own
  std::vector<std::string> dims;    ///< NAME=4x5
  std::vector<std::string> lengths; ///< NAME=FILE,… of the dimensions from the second on
  std::vector<std::string> keep;    ///< results besides those that no later statement reads
  std::string schedule;             ///< how to compute, where the default is not wanted
  LevelsOption levels;
};
/// --threads and --deterministic.
struct ThreadOptions {
  unsigned threads = 0;
  bool deterministic = false;
  void applyTo(engine::Options &options) const {
    options.threads = threads;
    options.deterministic = deterministic;
  }
};
void addThreadOptions(CLI::App &command, ThreadOptions &options);
/// --vl, --scalable, --tail and --wide-indices.
struct VectorOptions {
  unsigned length = 0;
  bool scalable = false, wideIndices = false;
  std::string tail = "auto";
  void applyTo(engine::Options &options) const {
    options.vectorLength = length;
    options.scalable = scalable;
    options.tail = tail;
    options.wideIndices = wideIndices;
  }
};
void addVectorOptions(CLI::App &command, VectorOptions &options);
/// --any-size, for engine::Options::anySize.
void addSizeOption(CLI::App &command, bool &anySize);
/// --strategy, for engine::Options::strategy.
void addStrategyOption(CLI::App &command, std::string &strategy);

void addProgramOptions(CLI::App &command, ProgramOptions &options);

/// A repeatable option that takes exactly one value each time, so that it never swallows a positional
/// argument.
CLI::Option *addList(CLI::App &command, const std::string &flags, std::vector<std::string> &values,
                     const std::string &help);

/// The text of --schedule, that of the file where `@FILE` is given, and what errors call it. Throws Error for
/// a file that cannot be read, or has more than 1 MiB.
std::pair<std::string, std::string> scheduleText(const std::string &given);

} // namespace tulle::cli
