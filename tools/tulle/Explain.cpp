// `tulle explain`: the text of a stage between notation and machine code.
#include "Commands.h"
#include "Inputs.h"
#include "engine/Conversion.h"
#include "engine/ExplainPage.h"
#include "pipeline/Stages.h"
#include "runtime/io/Io.h"
#include "support/Errors.h"
#include <cstdio>
#include <functional>

namespace tulle::cli {

namespace {
struct ExplainOptions {
  ProgramOptions program;
  ThreadOptions threads{.threads = 1};
  std::string stage, output, html, strategy = "auto";
  std::vector<std::string> convert; ///< from, to
  unsigned order = 2;
  VectorOptions vectors;
  bool strictFp = false, anySize = false, scheduleIr = false;
};
} // namespace

/// The two formats of --convert, with the widths that small tensors have.
static std::pair<format::Encoding, format::Encoding> conversionFormats(const ExplainOptions &options) {
  auto parse = [&](const std::string &text) {
    format::Encoding encoding =
        format::parseFormat(text, options.order, "--convert", options.program.levels.read());
    if (std::string why = format::whyNotExecutable(encoding); !why.empty())
      throwError("--convert '{}': {}", text, why);
    return format::resolveWidths(encoding, 0, 0);
  };
  return {parse(options.convert[0]), parse(options.convert[1])};
}

static engine::Options engineOptionsOf(const ExplainOptions &options) {
  engine::Options engineOptions;
  engineOptions.strictFp = options.strictFp;
  engineOptions.anySize = options.anySize;
  options.threads.applyTo(engineOptions);
  options.vectors.applyTo(engineOptions);
  engineOptions.strategy = options.strategy;
  return engineOptions;
}

/// The schedule that was given, else the one that is chosen, as ops.
static std::string scheduleIr(const ExplainOptions &options) {
  notation::Program program = load(options.program, /*withData=*/false).program;
  if (program.schedule.empty())
    notation::applySchedule(program, engine::explain(program, "schedule", engineOptionsOf(options)),
                            engine::strategyNames());
  return engine::scheduleIr(program);
}

/// What gives the text of a stage.
static std::function<std::string(std::string_view)> textOf(const ExplainOptions &options) {
  const engine::Options engineOptions = engineOptionsOf(options);
  if (options.convert.empty())
    return [loaded = load(options.program, /*withData=*/false), engineOptions](std::string_view stage) {
      return engine::explain(loaded.program, stage, engineOptions);
    };
  ElementType type = ElementType::F64;
  for (const std::string &text : options.program.types)
    type = parseType("--type", text);
  return [formats = conversionFormats(options), type, engineOptions](std::string_view stage) {
    return engine::explainConversion(type, formats.first, formats.second, stage, engineOptions);
  };
}

static void explain(const ExplainOptions &options) {
  if (options.program.text.empty() == options.convert.empty())
    throw Error("explain: give either a program or --convert FROM TO");
  if (!options.convert.empty() && (!options.program.schedule.empty() || options.scheduleIr))
    throw Error("--schedule is for programs; a conversion has none");
  if (!options.html.empty()) {
    if (!options.convert.empty())
      throwError("--html is for programs; of a conversion, --stage shows each stage");
    runtime::writeTextFile(
        options.html,
        engine::explainPage(load(options.program, /*withData=*/false).program, engineOptionsOf(options)));
    return;
  }
  std::string stage = options.stage;
  if (stage.empty())
    stage = options.convert.empty() ? "iteration" : "assembly";
  std::string text;
  if (options.scheduleIr) {
    text = scheduleIr(options);
  } else {
    auto stageText = textOf(options);
    for (const pipeline::StageInfo &info : pipeline::stages())
      if (stage == "all")
        text += fmt::format("// ---- {}: {}\n{}\n", info.name, info.what, stageText(info.name));
    if (stage != "all")
      text = stageText(stage);
  }
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  if (options.output.empty())
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    runtime::writeTextFile(options.output, text);
}

void addExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command = app.add_subcommand("explain", "Show what a program becomes, stage by stage");
  addProgramOptions(*command, options->program);
  command->get_option("program")->required(false);
  command
      ->add_option("--convert", options->convert, "FROM TO: show the conversion between two formats instead")
      ->expected(2)
      ->type_name("");
  command->add_option("--order", options->order, "Number of dimensions for --convert (default 2)")
      ->check(CLI::Range(0, 64))
      ->type_name("");
  command
      ->add_option("--stage", options->stage,
                   "One of " + pipeline::stageNames() +
                       ", or all (default: iteration; of a conversion: assembly)")
      ->type_name("");
  command
      ->add_flag("--schedule-ir", options->scheduleIr,
                 "Print the schedule, given or chosen, as a transform.named_sequence for tulle-opt")
      ->excludes("--stage");
  command
      ->add_option(
          "--html", options->html,
          "Write a page for a browser to this file: all stages side by side, lines of one statement linked")
      ->excludes("--stage")
      ->excludes("--schedule-ir")
      ->check(CLI::Validator(whyNoFileName, ""))
      ->type_name("");
  command->add_option("-o,--output", options->output, "Write to this file instead of printing")
      ->check(CLI::Validator(whyNoFileName, ""))
      ->type_name("");
  addThreadOptions(*command, options->threads);
  command->get_option("--threads")->description("Threads the code is for (default 1: code without threads)");
  addStrategyOption(*command, options->strategy);
  addVectorOptions(*command, options->vectors);
  command->add_flag("--strict-fp", options->strictFp, "Keep the order of floating-point reductions");
  addSizeOption(*command, options->anySize);
  command->footer("Sizes that nothing fixes are set to 1000.\n"
                  "Example:\n  tulle explain 'y(i) = A(i,j) * x(j)' -f A=CSR --stage loops\n"
                  "  tulle explain 'y(i) = A(i,j) * x(j)' -f A=CSR --html page.html\n"
                  "  tulle explain --convert CSR DIA\n"
                  "  tulle explain --convert COO CSF --order 3 --stage loops");
  command->callback([options] { explain(*options); });
}

} // namespace tulle::cli
