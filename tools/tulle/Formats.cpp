// `tulle formats`: the table of presets, or what one format's text means.
#include "Commands.h"
#include "Options.h"
#include "format/Encoding.h"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace tulle::cli {

static void listFormats() {
  std::vector<format::Preset> presets = format::presets();
  size_t width = 0;
  for (const format::Preset &preset : presets)
    width = std::max(width, preset.name.size());
  for (const format::Preset &preset : presets)
    fmt::print("{:{}}  {}\n{:{}}  {}\n", preset.name, width, preset.what, "", width, preset.pattern);
  fmt::print("\nAny encoding can stand where a name can, for example\n"
             "  -f 'A=(i,j) -> (i : dense, j : compressed)'\n");
}

static void showFormat(const std::string &text, unsigned order, const format::Declarations &levels) {
  format::Encoding encoding = format::parseFormat(text, order, "<format>", levels);
  std::string why = format::whyNotExecutable(encoding);
  fmt::print("{}\n{}\n", format::print(encoding), why.empty() ? "can hold data" : why);
}

void addFormats(CLI::App &app) {
  struct Options {
    std::string name;
    unsigned order = 2;
    LevelsOption levels;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("formats", "List the storage formats that have a name");
  command->add_option("format", options->name, "Show the encoding of this format instead")->type_name("");
  command->add_option("--order", options->order, "Number of dimensions (default 2)")
      ->check(CLI::Range(0, 64))
      ->type_name("");
  addLevelsOption(*command, options->levels);
  command->footer("Example:\n  tulle formats\n  tulle formats 'BCSR(2,3)'\n  tulle formats CSF --order 3");
  command->callback([options] {
    if (options->name.empty())
      listFormats();
    else
      showFormat(options->name, options->order, options->levels.read());
  });
}

} // namespace tulle::cli
