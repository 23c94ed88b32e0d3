// From the options -t, -f, --type, --dims and the text of a program to a checked program and its tensors.
#pragma once
#include "Options.h"
#include "engine/Conversion.h"
#include "notation/Program.h"
#include "runtime/io/Io.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tulle::cli {

/// `NAME=VALUE` of option `flag`. Throws Error when there is no name.
std::pair<std::string, std::string> splitAssignment(std::string_view flag, const std::string &text);

/// Sizes written `4x5` or `4,5`; `what` names the option in errors.
std::vector<int64_t> parseDims(const std::string &what, std::string_view text);

/// The element type of that name; `what` names the option in errors.
ElementType parseType(const std::string &what, const std::string &text);

/// Throws Error unless a tensor can be written to a file of that name; `what` names the option.
void requireOutput(const std::string &what, const std::string &path);
/// Throws Error when another of `files` is the same one, also through links; adds it to them.
void requireNewFile(const std::string &what, const std::string &path, std::set<std::string> &files);
/// A validator of -o: the name is not empty.
std::string whyNoFileName(const std::string &path);

/// What a file or a generator gives, with its element type made `type` when one is asked for (a file's values
/// must be the same numbers there, but for rounding). Sizes of length
/// one beyond `order` are dropped: an n x 1 matrix file is a vector.
runtime::FileContents readContents(const std::string &name, const std::string &spec,
                                   std::optional<unsigned> order, const std::vector<int64_t> &dims,
                                   std::optional<ElementType> type);

/// The one file or generator of a command, with its `--dims` and `--type`; either may be empty.
runtime::FileContents readAlone(const std::string &file, const std::string &dims, const std::string &type);

/// What --lengths gives a tensor of `order` dimensions: the files of the dimensions from the second on, "-"
/// for one that has none. Throws Error for another number of files.
std::vector<std::string> parseLengths(const std::string &what, const std::string &text, unsigned order);
/// What lies within these lengths of what was read.
runtime::FileContents withinLengths(const std::string &what, runtime::FileContents contents,
                                    const std::vector<std::string> &files, const engine::Options &options);

/// Stores what was read in `encoding`, without a copy where it has that form already. Errors begin with
/// `name`.
runtime::Tensor store(const std::string &name, runtime::FileContents contents,
                      const format::Encoding &encoding, const engine::Options &options = {},
                      engine::ConversionReport *report = nullptr);

/// The one file or generator of a command as readAlone gives it, stored in a format; in the one that it
/// suggests where `format` is empty.
runtime::Tensor storeAlone(const std::string &file, const std::string &dims, const std::string &type,
                           const std::string &format, const format::Declarations &levels);

/// A program that passed every check, with its inputs in the formats asked for (indexed as program.tensors).
struct LoadedProgram {
  notation::Program program;
  notation::Program unscheduled; ///< the same without its schedule, whose tensors are the first of `program`
  std::vector<std::optional<runtime::Tensor>> tensors;
  std::vector<int64_t> entries; ///< stored entries before block padding; -1 for tensors that are not inputs
  std::vector<std::optional<runtime::Entries>> given; ///< inputs as they came, before any format; see `keep`
  std::vector<std::string> nominal; ///< without data: tensors of which nothing fixes some size
  double readMs = 0, packMs = 0;    ///< compiling the conversions left out
};

/// Throws Error for everything wrong with the options, the text or the data. Without `withData` no file has
/// to be given: sizes that nothing fixes are set to `nominalSize`, and no tensor is stored. `keep`: fill
/// LoadedProgram::given, for checkAgainstInterpreter.
LoadedProgram load(const ProgramOptions &options, bool withData, const engine::Options &engineOptions = {},
                   bool keep = false);
constexpr int64_t nominalSize = 1000;

} // namespace tulle::cli
