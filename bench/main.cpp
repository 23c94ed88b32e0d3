// tulle-bench: times kernels against the peers that are installed; `tulle bench` runs it.
#include "registry/Compile.h"
#include "registry/Run.h"
#include "tulle/error.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace tulle::bench {

namespace {

struct Options {
  Selection selection;
  std::vector<int> threads = {1};
  std::string json, markdown, svg, folder, from;
  Assignment assignment;             ///< of a worker
  std::vector<uint64_t> compileOnly; ///< first text and how many
};

} // namespace

static void write(const std::string &file, const std::string &text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush())
    throw Error("bench: cannot write " + file);
}

static void writeReport(const Options &options, const Report &report) {
  namespace fs = std::filesystem;
  if (!options.json.empty())
    write(options.json, json(report));
  const bool isGrowth = !report.rows.empty() &&
                        std::ranges::all_of(report.rows, [](const Row &row) { return row.group == kGrowth; });
  if (!options.svg.empty())
    write(options.svg, isGrowth ? growthSvg(report) : svg(report));
  if (!options.markdown.empty())
    write(options.markdown,
          markdown(report, options.svg.empty() ? "" : fs::path(options.svg).filename().string()));
  if (!options.folder.empty()) {
    write(options.folder + "/performance.svg", svg(report));
    write(options.folder + "/performance.md", markdown(report, "performance.svg"));
  }
}

static void declare(CLI::App &app, Options &options) {
  Selection &selection = options.selection;
  app.name("tulle bench");
  app.add_option(
         "what", selection.what,
         "Which part: kernels (products with dense operands), programs (several statements as one, "
         "against loops fused by hand and a kernel for each statement), solvers (solvers and graph "
         "algorithms as one program with a loop), indirect (gathers, scatters, products by tables, "
         "matrices one behind the other), schedules (primitives of a schedule, against the "
         "one that the compiler chooses), strategies (ways to intersect), "
         "tensors (order 3), assemble (sparse results), real (SpMV, SpMM 16, A + A^T and A * A on the "
         "square matrices of --data; part of all where that is given), growth (products and conversions on "
         "1e5 to 1e8 entries; --svg plots the time of an entry; needs 20 GB, and no part of all), "
         "convert, compile, roofline (the machine alone), quick (some inputs of each), all")
      ->check(
          CLI::IsMember({"kernels", "programs", "solvers", "indirect", "schedules", "strategies", "tensors",
                         "assemble", "real", "growth", "convert", "compile", "roofline", "quick", "all"}))
      ->capture_default_str();
  app.add_option("--kernels", selection.kernels, "Only kernels whose name contains one of these")
      ->delimiter(',');
  app.add_option(
         "--inputs", selection.inputs,
         "Generators or files, instead of each kernel's own: grid2d:N, grid3d27:N, uniform:R:C:K, rmat:S:D, "
         "lower:SPEC, 2000x3000x4000:DENSITY, vectors:N:COUNT:COUNT, nm24:R:C, "
         "blocks:ROWS:SIZE:PER-ROW, band:N:WIDTH, butterfly:N:BLOCK, pruned:R:C:BLOCK:PERCENT, "
         "batch:COUNT:LEAST:MOST, rows:COUNT:LEAST:MOST, sorted:SPEC, pixels:HEIGHT:WIDTH[:TAPS:STRIDE], "
         "voxels:SIZE:PERCENT, FILE.mtx, FILE.tns")
      ->delimiter(',');
  app.add_option("--data", selection.data, "The folder whose files .mtx and .mtx.gz are the inputs of real")
      ->check(CLI::ExistingDirectory);
  app.add_option("--more", selection.more, "Inputs besides each kernel's own, for every kernel they suit")
      ->delimiter(',');
  app.add_option(
         "--peers", selection.peers,
         "Only these peers; the hand-written loops always run. \"upstream passes\": Tulle with MLIR's "
         "canonicalize, cse and loop-invariant-code-motion between its own passes")
      ->delimiter(',');
  app.add_option("--threads", options.threads, "Numbers of threads, one after the other")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--seconds", selection.seconds, "Time for each kernel and input")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--limit", selection.limit, "End after so many seconds with what was measured by then")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "Write everything that was measured");
  app.add_option("--markdown", options.markdown, "Write tables");
  app.add_option("--svg", options.svg, "Write a plot");
  app.add_option("--write", options.folder, "Write performance.md and performance.svg into this folder")
      ->check(CLI::ExistingDirectory);
  app.add_option("--from", options.from, "Measure nothing: the report is one that --json wrote");
  // Between this program's own processes.
  app.add_option("--worker", options.assignment.out)->group("");
  app.add_option("--running", options.assignment.running)->group("");
  app.add_option("--first", options.assignment.first)->group("");
  app.add_option("--without", options.assignment.without)->group("");
  app.add_option("--fake", selection.fake)->group("");
  app.add_option("--compile-only", options.compileOnly)->expected(2)->group("");
  app.footer("Medians: processor time of one thread, the clock for several. Ratios are the best peer's time "
             "/ Tulle's.\n"
             "Peers that are not installed are absent (scripts/setup-bench installs them).\n"
             "Example:\n  tulle bench convert --kernels CSC --inputs grid2d:1000 --seconds 0.5\n"
             "  tulle bench real --data ~/matrices --markdown real.md");
}

/// The command as the report names it: files without their folders.
static std::string commandLine(int argc, char **argv) {
  std::string text = "tulle bench";
  for (int k = 1; k < argc; ++k) {
    std::stringstream list(argv[k]);
    char before = ' ';
    for (std::string part; std::getline(list, part, ',');) {
      text += before + part.substr(part.rfind('/') + 1);
      before = ',';
    }
  }
  return text;
}

static int main(int argc, char **argv) {
  Options options;
  CLI::App app{"Times kernels, programs, sparse results, conversions and compilation against the peers that "
               "are installed: "
               "same data, same process, interleaved repetitions, after all answers were compared"};
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  if (options.compileOnly.size() == 2) {
    compileTexts(options.compileOnly[0], options.compileOnly[1]);
    return 0;
  }
  if (options.assignment.out >= 0) {
    work(options.selection, options.assignment);
    return 0;
  }
  const bool isReal = options.selection.what == "real";
  if (!isReal && options.selection.what != "all" && !options.selection.data.empty())
    throw Error("bench: --data has the inputs of 'real' alone: write 'tulle bench real --data " +
                options.selection.data + "', or 'all' in its place");
  if (isReal && options.from.empty() && options.selection.data.empty() && options.selection.inputs.empty())
    throw Error(
        "bench: 'real' has no inputs of its own: give it a folder of Matrix Market files, --data DIR");
  Report report =
      options.from.empty() ? runAll(options.selection, options.threads) : readReport(options.from);
  if (options.from.empty())
    report.command = commandLine(argc, argv);
  printTable(report);
  writeReport(options, report);
  return 0;
}

} // namespace tulle::bench

int main(int argc, char **argv) {
  tulle::bench::keepMemory(argv);
  try {
    return tulle::bench::main(argc, argv);
  } catch (const std::exception &error) {
    if (*error.what())
      fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
