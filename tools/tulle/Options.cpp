// Each option is added, with its help, in one place.
#include "Options.h"
#include "support/Errors.h"
#include <cerrno>
#include <cstring>
#include <fmt/ranges.h>
#include <fstream>

namespace tulle::cli {

CLI::Option *addList(CLI::App &command, const std::string &flags, std::vector<std::string> &values,
                     const std::string &help) {
  return command.add_option(flags, values, help)->allow_extra_args(false)->type_name("");
}

void addProgramOptions(CLI::App &command, ProgramOptions &options) {
  command.add_option("program", options.text, "Statements, separated by ';'")->required()->type_name("");
  addList(command, "-t,--tensor", options.tensors,
          "NAME=FILE (.mtx .tns .smtx .npy .npz .h5, .gz) or NAME=GENERATOR: random[:seed[:density]] ones "
          "iota grid2d:N "
          "grid3d27:N uniform:rows:cols:nnz-per-row nm:rows:cols:n:m rmat:scale:degree "
          "permutation:size[:seed] hilbert:rows:cols morton:rows:cols");
  addList(command, "-f,--format", options.formats,
          "NAME=FORMAT: a name of `tulle formats` or an encoding such as '(i,j) -> (i : dense, j : "
          "compressed)', or "
          "'like A': the coordinates of tensor A, and values of its own");
  addLevelsOption(command, options.levels);
  addList(command, "--type", options.types,
          "NAME=TYPE, or TYPE for all: f64 f32 f16 bf16 c64 c128 i8 i16 i32 i64 bool");
  addList(command, "--keep", options.keep,
          "NAME: a result, too, though a later statement reads it; other intermediate tensors need not exist "
          "in memory");
  command
      .add_option("--schedule", options.schedule,
                  "How to compute, where the default is not wanted, as a text or @FILE: 'reorder(i, k, j)' "
                  "is the order "
                  "of loops, 'convert(A, CSC)' computes on A in another format, 'strategy(j, gallop)' "
                  "co-iterates one "
                  "loop so, 'assemble(C, count)' counts the entries of a sparse result first. explain "
                  "--stage schedule "
                  "prints the default")
      ->type_name("");
  addList(command, "-d,--dims", options.dims,
          "NAME=4x5: sizes that neither a file nor the other tensors give");
  addList(
      command, "--lengths", options.lengths,
      "NAME=FILE[,FILE…]: a ragged tensor; its file is padded, and these hold how long its second, third, … "
      "dimension is below each coordinate of the first ones ('-': a dimension without lengths)");
}

void addThreadOptions(CLI::App &command, ThreadOptions &options) {
  command
      .add_option(
          "--threads", options.threads,
          "Threads of generated code at most (default: OMP_NUM_THREADS, else all cores of this process)")
      ->check(CLI::Range(1, 1024))
      ->type_name("");
  command.add_flag("--deterministic", options.deterministic,
                   "Results have the same bits for any number of threads");
}

void addVectorOptions(CLI::App &command, VectorOptions &options) {
  CLI::Option *length =
      command
          .add_option("--vl", options.length,
                      "Elements of a vector, a power of 2 up to 64 (default: chosen for processor and type)")
          ->type_name("");
  command
      .add_flag("--scalable", options.scalable,
                "Vectors are multiples of --vl elements, as many as the processor's registers hold (SVE)")
      ->needs(length);
  command
      .add_option("--tail", options.tail,
                  "Iterations behind the last whole vector of a loop: mask, one masked vector, or auto "
                  "(default), as is fastest")
      ->check(CLI::IsMember(engine::tailNames()));
  command.add_flag("--wide-indices", options.wideIndices,
                   "Gather with 64-bit indices where coordinates fit 32 bits, too");
}

void addSizeOption(CLI::App &command, bool &anySize) {
  command.add_flag("--any-size", anySize,
                   "Make code for tensors of any sizes: no length of a row is a constant of it");
}

void addStrategyOption(CLI::App &command, std::string &strategy) {
  command
      .add_option("--strategy", strategy,
                  fmt::format("How loops over sets of coordinates run: {} (default: auto, by the cost model)",
                              fmt::join(engine::strategyNames(), ", ")))
      ->check(CLI::IsMember(engine::strategyNames()))
      ->type_name("");
}

/// A file that the option `flag` names; what is larger than 1 MiB is no text of that kind.
static std::string readText(std::string_view flag, const std::string &file) {
  constexpr size_t most = 1 << 20;
  std::string text(most + 1, '\0');
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), std::streamsize(text.size()));
  if (!stream.eof() && stream.gcount() <= std::streamsize(most))
    throwError("{}: cannot read {}: {}", flag, file, std::strerror(errno ? errno : EIO));
  if (stream.gcount() > std::streamsize(most))
    throwError("{}: the file has more than {} bytes", flag, most);
  text.resize(size_t(stream.gcount()));
  return text;
}

std::pair<std::string, std::string> scheduleText(const std::string &given) {
  if (!given.starts_with('@'))
    return {given, "--schedule"};
  const std::string file = given.substr(1);
  return {readText("--schedule " + given, file), file};
}

format::Declarations LevelsOption::read() const {
  return file.empty() ? format::Declarations()
                      : format::parseLevels(readText("--levels " + file, file), file);
}

void addLevelsOption(CLI::App &command, LevelsOption &option) {
  command
      .add_option("--levels", option.file,
                  "FILE: declares level formats, which encodings may name besides the built-in ones")
      ->type_name("");
}

} // namespace tulle::cli
