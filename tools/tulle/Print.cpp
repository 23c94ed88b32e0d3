// `tulle print`: a file in a storage format, buffer by buffer.
#include "Commands.h"
#include "Inputs.h"
#include <cstdio>

namespace tulle::cli {

namespace {
struct PrintOptions {
  LevelsOption levels;
  std::string file, format, type, dims;
};
} // namespace

static void print(const PrintOptions &options) {
  std::string text = runtime::printStorage(
      storeAlone(options.file, options.dims, options.type, options.format, options.levels.read()));
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void addPrint(CLI::App &app) {
  auto options = std::make_shared<PrintOptions>();
  CLI::App *command =
      app.add_subcommand("print", "Show how a file is stored in a format: sizes, positions, coordinates, "
                                  "values");
  command->add_option("file", options->file, "A tensor file, or a generator")->required()->type_name("");
  addLevelsOption(*command, options->levels);
  command->add_option("-f,--format", options->format, "The format; default: what the file suggests")
      ->type_name("");
  command->add_option("--type", options->type, "Element type to convert to")->type_name("");
  command->add_option("-d,--dims", options->dims, "Sizes for a generator that implies none: 4x5")
      ->type_name("");
  command->footer(
      "Example:\n  tulle print grid2d:2 -f CSR\n"
      "  tulle print m.mtx -f '(i,j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, "
      "j mod 2 : dense)'");
  command->callback([options] { print(*options); });
}

} // namespace tulle::cli
