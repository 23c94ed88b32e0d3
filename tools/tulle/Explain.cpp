// `tulle explain`: the text of a stage on the road from notation to machine code.
#include "Commands.h"
#include "Inputs.h"
#include "engine/Engine.h"
#include "pipeline/Stages.h"
#include "runtime/io/Io.h"
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace tulle::cli {

namespace {
struct ExplainOptions {
  ProgramOptions program;
  std::string stage = "iteration", output;
  bool strictFp = false;
};
} // namespace

static void writeText(const std::string &path, const std::string &text) {
  std::string temporary = fmt::format("{}.tmp{}", path, getpid());
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::error_code code;
  if (out)
    std::filesystem::rename(temporary, path, code);
  if (!out || code) {
    std::filesystem::remove(temporary, code);
    throw Error(fmt::format("-o {}: cannot write there; is the folder there, writable and not full?", path));
  }
}

static void explain(const ExplainOptions &options) {
  LoadedProgram loaded = load(options.program, /*withData=*/false);
  engine::Options engineOptions;
  engineOptions.strictFp = options.strictFp;
  std::string text;
  for (const pipeline::StageInfo &info : pipeline::stages())
    if (options.stage == "all")
      text += fmt::format("// ---- {}: {}\n{}\n", info.name, info.what,
                          engine::explain(loaded.program, info.name, engineOptions));
  if (options.stage != "all")
    text = engine::explain(loaded.program, options.stage, engineOptions);
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  if (options.output.empty())
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    writeText(options.output, text);
}

void addExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command = app.add_subcommand("explain", "Show what a program becomes, stage by stage");
  addProgramOptions(*command, options->program);
  command
      ->add_option("--stage", options->stage,
                   "One of " + pipeline::stageNames() + ", or all (default: iteration)")
      ->type_name("");
  command->add_option("-o,--output", options->output, "Write to this file instead of printing")
      ->type_name("");
  command->add_flag("--strict-fp", options->strictFp, "Keep the order of floating-point reductions");
  command->footer("Sizes that nothing fixes are set to 1000.\n"
                  "Example:\n  tulle explain 'y(i) = A(i,j) * x(j)' -f A=CSR --stage loops");
  command->callback([options] { explain(*options); });
}

} // namespace tulle::cli
