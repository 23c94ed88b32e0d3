// `tulle compile`: a program as object code or a library, with a header of C.
#include "Commands.h"
#include "Inputs.h"
#include "Progress.h"
#include "aot/Ahead.h"
#include "aot/Package.h"
#include "notation/ErrorPlace.h"
#include "runtime/io/Io.h"
#include "runtime/io/TemporaryFile.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/ranges.h>
#include <set>
#include <unistd.h>

namespace tulle::cli {

namespace {
struct CompileOptions {
  ProgramOptions program;
  std::string name, output, package, header, target, threads = "none", strategy = "auto";
  std::vector<std::string> march, convert; ///< convert: from, to
  unsigned order = 2;
  VectorOptions vectors;
  bool strictFp = false, dropZeros = false, json = false, quiet = false;
};
} // namespace

/// The file's name without its ending, and without the `lib` that linkers look for.
static std::string nameFromFile(const std::string &file) {
  std::string name = std::filesystem::path(file).stem().string();
  return name.starts_with("lib") && name.size() > 3 ? name.substr(3) : name;
}

static aot::AheadOptions aheadOptions(const CompileOptions &options) {
  aot::AheadOptions ahead;
  ahead.name = !options.name.empty()
                   ? options.name
                   : nameFromFile(options.package.empty() ? options.output : options.package);
  ahead.target = options.target;
  ahead.march = options.march;
  ahead.threads = options.threads == "openmp" ? aot::Threads::OpenMp
                  : options.threads == "hook" ? aot::Threads::Hook
                                              : aot::Threads::None;
  ahead.engine.strictFp = options.strictFp;
  ahead.engine.dropZeros = options.dropZeros;
  options.vectors.applyTo(ahead.engine);
  ahead.engine.strategy = options.strategy;
  ahead.engine.threads =
      ahead.threads == aot::Threads::None ? 1 : 2; // of code, whether it has parallel regions
  return ahead;
}

/// Where files go, looked at before anything is compiled.
static void requireOutputs(const CompileOptions &options) {
  std::set<std::string> files;
  for (const auto &[flag, file] : {std::pair("--output", options.output), {"--header", options.header}}) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      throwError("{} {}: there is no folder '{}'; create it first", flag, file, folder.string());
    if (!file.empty())
      requireNewFile(fmt::format("{} {}", flag, file), file, files);
  }
}

/// A file and its header: where one cannot be written, neither is.
static void writeFiles(const CompileOptions &options, const aot::Ahead &made) {
  runtime::TemporaryFile output(options.output);
  output.write(made.code);
  if (!options.header.empty())
    runtime::writeTextFile(options.header, made.header);
  output.commit();
}

/// A folder that appears whole: its files are written beside it first.
static void writePackage(const std::string &folder,
                         const std::vector<std::pair<std::string, std::string>> &files) {
  namespace fs = std::filesystem;
  const fs::path target = fs::path(folder).lexically_normal(),
                 last = target.has_filename() ? target : target.parent_path();
  if (fs::exists(last) && !(fs::is_directory(last) && fs::is_empty(last)))
    throwError("--package {}: there is something of that name already; remove it, or give another name",
               folder);
  fs::path beside = last;
  beside += fmt::format(".{}.tmp", getpid());
  try {
    for (const auto &[name, text] : files) {
      fs::create_directories((beside / name).parent_path());
      runtime::writeTextFile((beside / name).string(), text);
    }
    fs::rename(beside, last);
  } catch (const fs::filesystem_error &error) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    throwError("--package {}: {}", folder, error.code().message());
  } catch (const Error &) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    throw;
  }
}

/// The formats of --convert, with the widths of those that name none.
static aot::ConversionFormats conversionFormats(const CompileOptions &options) {
  aot::ConversionFormats formats;
  for (const std::string &text : options.program.types)
    formats.type = parseType("--type", text);
  auto parse = [&](const std::string &text) {
    format::Encoding encoding =
        format::parseFormat(text, options.order, "--convert", options.program.levels.read());
    if (std::string why = format::whyNotExecutable(encoding, formats.type); !why.empty())
      throwError("--convert '{}': {}", text, why);
    return format::resolveWidths(encoding, 0, 0);
  };
  formats.from = parse(options.convert[0]);
  formats.to = parse(options.convert[1]);
  return formats;
}

static aot::Ahead compileConversion(const CompileOptions &options, const aot::AheadOptions &ahead,
                                    aot::Form form) {
  const ProgramOptions &program = options.program;
  if (!program.text.empty() || !program.tensors.empty() || !program.formats.empty() ||
      !program.dims.empty() || !program.schedule.empty())
    throw Error("compile: --convert FROM TO is all that a conversion needs, with --order and --type TYPE; "
                "leave out the program and what belongs to it");
  const aot::ConversionFormats formats = conversionFormats(options);
  Progress progress("compiling");
  return aot::compileAhead(formats, ahead, form);
}

[[noreturn]] static void refuseSizes(const notation::Program &program, const std::string &name) {
  const auto tensor = std::ranges::find(program.tensors, name, &notation::TensorDecl::name);
  notation::throwErrorAt(
      program, unsigned(tensor - program.tensors.begin()),
      fmt::format("the code of this program is for fixed sizes (of subscripts that are sums, or of results "
                  "that no operand has), and nothing gives those of '{0}'; add --dims {0}=SIZE…",
                  name));
}

static aot::Ahead compileProgram(const CompileOptions &options, const aot::AheadOptions &ahead,
                                 aot::Form form) {
  const LoadedProgram loaded = load(options.program, /*withData=*/false, ahead.engine);
  if (engine::dependsOnSizes(loaded.program) && !loaded.nominal.empty())
    refuseSizes(loaded.program, loaded.nominal.front());
  Progress progress("compiling");
  return aot::compileAhead(loaded.program, ahead, form);
}

static void compile(const CompileOptions &options) {
  if (options.output.empty() == options.package.empty())
    throw Error("compile: give either -o FILE or --package FOLDER");
  if (options.program.text.empty() && options.convert.empty())
    throw Error("compile: give either a program or --convert FROM TO");
  const aot::Form form = options.package.empty() ? aot::formOf(options.output) : aot::Form::Archive;
  const aot::AheadOptions ahead = aheadOptions(options);
  aot::checkName(ahead.name);
  requireOutputs(options);
  const aot::Ahead made = options.convert.empty() ? compileProgram(options, ahead, form)
                                                  : compileConversion(options, ahead, form);
  for (const std::string &remark : made.remarks)
    if (!options.quiet)
      fmt::print(stderr, "remark: {}\n", remark);
  if (options.package.empty())
    writeFiles(options, made);
  else
    writePackage(options.package, aot::packageOf(made, ahead));
  if (options.json)
    fmt::print("{}\n", made.information);
}

static void addOutputOptions(CLI::App &command, CompileOptions &options) {
  command
      .add_option("-o,--output", options.output,
                  "The file to write: NAME.o, .a, .s, .ll, or .so, which a C compiler links ($CC, cc)")
      ->check(CLI::Validator(whyNoFileName, ""))
      ->type_name("");
  command
      .add_option("--package", options.package,
                  "Instead of a file, the folder to make: header, static library, files for CMake and "
                  "pkg-config, and "
                  "a README")
      ->check(CLI::Validator(whyNoFileName, ""))
      ->type_name("");
  command.add_option("--header", options.header, "The C header to write, of C99 and C++")
      ->check(CLI::Validator(whyNoFileName, ""))
      ->type_name("");
  command
      .add_option("--name", options.name,
                  "The name of the function (default: that of the file or the package)")
      ->type_name("");
}

static void addMachineOptions(CLI::App &command, CompileOptions &options) {
  command
      .add_option(
          "--march", options.march,
          "Processors as LLVM names them, with commas between: x86-64-v2,x86-64-v4. The first call takes the "
          "best that the machine is; on one that is none the kernel returns TULLE_CPU (default: native, or "
          "what every processor of --target has)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("");
  command
      .add_option("--target", options.target,
                  "Another machine: x86_64-linux-gnu or aarch64-linux-gnu (default: this one)")
      ->type_name("");
  command
      .add_option(
          "--threads", options.threads,
          "none; openmp: link with -fopenmp; hook: what the caller gives as `parallel` (default: none)")
      ->check(CLI::IsMember({"none", "openmp", "hook"}))
      ->type_name("");
}

void addCompile(CLI::App &app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *command =
      app.add_subcommand("compile", "Compile a program to a function of C, which needs no Tulle to run");
  addProgramOptions(*command, options->program);
  command->get_option("--tensor")
      ->description("NAME=FILE: a sample, whose format and sizes the code is planned for");
  command->get_option("program")->required(false);
  command
      ->add_option("--convert", options->convert,
                   "FROM TO: instead of a program, the conversion of A in one format to B in the other")
      ->expected(2)
      ->type_name("");
  command->add_option("--order", options->order, "Number of dimensions for --convert (default 2)")
      ->check(CLI::Range(1, 64))
      ->type_name("");
  addOutputOptions(*command, *options);
  addMachineOptions(*command, *options);
  addStrategyOption(*command, options->strategy);
  addVectorOptions(*command, options->vectors);
  command->add_flag("--strict-fp", options->strictFp, "Keep the order of floating-point reductions");
  command->add_flag("--drop-zeros", options->dropZeros,
                    "Do not store what a sparse result computes to its fill, such as sums that cancel");
  command->add_flag("--json", options->json, "Print what NAME_info() returns: arguments, formats, arrays");
  command->add_flag("--quiet", options->quiet, "No remarks");
  command->footer(
      "Sizes are those of the arguments at each call.\n"
      "Example:\n  tulle compile 'y(i) = A(i,j) * x(j)' -f A=CSR -o spmv.o --header spmv.h\n"
      "  tulle compile 'C(i,j) = A(i,k) * B(k,j)' -f A=CSR -f B=CSR -f C=CSR --march "
      "x86-64-v2,x86-64-v4 -o spgemm.so --header spgemm.h\n"
      "  tulle compile --convert CSR 'BCSR(4,4)' -o csr_to_bcsr.o --header csr_to_bcsr.h\n"
      "  tulle compile 'y(i) = A(i,j) * x(j)' -f A=CSR --target aarch64-linux-gnu --march neoverse-n1 -o "
      "spmv.o");
  command->callback([options] { compile(*options); });
}

} // namespace tulle::cli
