// `tulle show`: a picture of a tensor, in the terminal or as SVG.
#include "Commands.h"
#include "Inputs.h"
#include "runtime/io/TemporaryFile.h"
#include "runtime/picture/Picture.h"
#include "support/Errors.h"
#include <cstdio>

namespace tulle::cli {

namespace {
struct ShowOptions {
  LevelsOption levels;
  std::string file, format, type, dims, output;
  int columns = 72;
};
} // namespace

static void show(const ShowOptions &options) {
  if (!options.output.empty() && !options.output.ends_with(".svg"))
    throwError("-o {}: expected a name that ends in .svg", options.output);
  const runtime::Tensor tensor =
      storeAlone(options.file, options.dims, options.type, options.format, options.levels.read());
  const bool storage = !options.format.empty();
  if (!options.output.empty()) {
    runtime::TemporaryFile file(options.output);
    file.write(runtime::pictureSvg(tensor, storage));
    file.commit();
    return;
  }
  std::string text = runtime::spyText(tensor, options.columns);
  if (storage)
    text += runtime::storageText(tensor);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void addShow(CLI::App &app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App *command = app.add_subcommand(
      "show",
      "Draw where a tensor has entries and, with -f, what a format stores of it: levels, bytes, padding");
  command->add_option("file", options->file, "A tensor file, or a generator")->required()->type_name("");
  addLevelsOption(*command, options->levels);
  command->add_option("-f,--format", options->format, "Show what this format stores, too")->type_name("");
  command->add_option("-o", options->output, "Write an SVG document to this file instead")
      ->type_name("")
      ->check(whyNoFileName);
  command->add_option("--columns", options->columns, "Characters of a line at most (default: 72)")
      ->type_name("")
      ->check(CLI::Range(1, 1000));
  command->add_option("--type", options->type, "Element type to convert to")->type_name("");
  command->add_option("-d,--dims", options->dims, "Sizes for a generator that implies none: 4x5")
      ->type_name("");
  command->footer("Examples:\n  tulle show m.mtx\n  tulle show grid2d:8 -f 'BCSR(4,4)'\n"
                  "  tulle show m.mtx -f 'SELL(8,64)' -o m.svg");
  command->callback([options] { show(*options); });
}

} // namespace tulle::cli
