// `tulle convert`: a file in one storage format, converted to another by generated code.
#include "Commands.h"
#include "Inputs.h"
#include "Progress.h"
#include "Timing.h"
#include "engine/Conversion.h"
#include "format/Checks.h"
#include "support/Errors.h"
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tulle::cli {

namespace {
struct ConvertOptions {
  ThreadOptions threads;
  LevelsOption levels;
  std::string file, from, to, type, dims, output;
  bool storage = false, noCache = false;
  int time = 0;
};
} // namespace

static format::Encoding executable(const char *flag, const std::string &text,
                                   const std::vector<int64_t> &dims, const format::Declarations &levels) {
  format::Encoding encoding = format::parseFormatFor(text, dims, flag, levels);
  if (std::string why = format::whyNotExecutable(encoding); !why.empty())
    throwError("{} '{}': {}", flag, text, why);
  return encoding;
}

static std::string describe(const runtime::Tensor &tensor) {
  return fmt::format("{}: {} stored, {} bytes", format::displayName(tensor.encoding), tensor.storedCount(),
                     tensor.bytes());
}

/// The JSON of --time.
static std::string measure(const runtime::Tensor &source, const format::Encoding &to,
                           const engine::Options &options, const engine::ConversionReport &first, int count) {
  Progress progress("timing");
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    engine::ConversionReport report;
    engine::convert(source, to, options, &report);
    samples.push_back(report.convertMs);
    progress.fraction(double(i + 1) / count);
  }
  return nlohmann::ordered_json{{"compile_ms", first.compileMs},
                                {"kernel_from", first.origin},
                                {"convert_ms", toJson(spread(std::move(samples)))}}
      .dump(2);
}

static void convert(const ConvertOptions &options) {
  if (!options.output.empty())
    requireOutput("-o " + options.output, options.output);
  runtime::FileContents contents = readAlone(options.file, options.dims, options.type);
  const format::Declarations levels = options.levels.read();
  format::Encoding to = executable("--to", options.to, contents.dims(), levels);
  format::Encoding from =
      executable("--from", options.from.empty() ? contents.suggested : options.from, contents.dims(), levels);
  engine::Options engineOptions;
  engineOptions.diskCache = !options.noCache;
  options.threads.applyTo(engineOptions);
  runtime::Tensor source = store(options.file, std::move(contents), from, engineOptions);

  engine::ConversionReport report;
  runtime::Tensor made;
  {
    Progress progress("converting");
    made = engine::convert(source, to, engineOptions, &report);
  }
  if (!options.output.empty()) {
    Progress progress("writing " + options.output);
    if (std::string note = runtime::writeFile(options.output, made); !note.empty())
      fmt::print(stderr, "note: {}\n", note);
  }
  std::string text = fmt::format("{}\n{}\n", describe(source), describe(made));
  if (options.storage)
    text = runtime::printStorage(made);
  if (options.time > 0)
    text = measure(source, to, engineOptions, report, options.time);
  if (text.empty() || text.back() != '\n')
    text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void addConvert(CLI::App &app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App *command = app.add_subcommand("convert", "Convert a file to another storage format");
  command->add_option("file", options->file, "A tensor file, or a generator")->required()->type_name("");
  command->add_option("--to", options->to, "The format: a name of `tulle formats`, or an encoding")
      ->required()
      ->type_name("");
  command->add_option("--from", options->from, "The format to convert from; default: what the file suggests")
      ->type_name("");
  addLevelsOption(*command, options->levels);
  command->add_option("--type", options->type, "Element type")->type_name("");
  command->add_option("-d,--dims", options->dims, "Sizes for a generator that implies none: 4x5")
      ->type_name("");
  command
      ->add_option("-o,--output", options->output,
                   "Write the tensor (.mtx, .tns, .npz, .h5, .npy for dense; .gz)")
      ->check(CLI::Validator(whyNoFileName, ""))
      ->type_name("");
  command->add_flag("--storage", options->storage,
                    "Print what is stored: sizes, positions, coordinates, values");
  command
      ->add_option("--time", options->time, "Convert this often after a warm-up and print the times as JSON")
      ->check(CLI::Range(1, 1000000))
      ->type_name("");
  addThreadOptions(*command, options->threads);
  command->add_flag("--no-cache", options->noCache, "Neither read nor write the kernel cache on disk");
  command->footer("The code of a conversion is made for the two formats and kept; see it with\n"
                  "  tulle explain --convert CSR DIA\n"
                  "Example:\n  tulle convert matrix.mtx --to DIA --storage\n"
                  "  tulle convert grid2d:1000 --from COO --to CSR --time 20");
  command->callback([options] { convert(*options); });
}

} // namespace tulle::cli
