// `tulle run`: load, compile, run, check, time, write.
#include "Commands.h"
#include "Inputs.h"
#include "Progress.h"
#include "Report.h"
#include "Rounds.h"
#include "Timing.h"
#include "engine/Engine.h"
#include "support/Errors.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace tulle::cli {

namespace {

struct RunOptions {
  ProgramOptions program;
  ThreadOptions threads;
  std::string strategy = "auto";
  std::vector<std::string> outputs;
  int time = 0;
  VectorOptions vectors;
  bool strictFp = false, anySize = false, dropZeros = false, check = false, noCache = false, quick = false,
       quiet = false;
};

} // namespace

/// A tensor with buffers of its own.
static runtime::Tensor deepCopy(const runtime::Tensor &tensor) {
  runtime::Tensor copy = tensor;
  for (runtime::Buffer &buffer : copy.buffers) {
    runtime::Buffer own = runtime::Buffer::allocate(buffer.count, buffer.bytes, false, "a copy of a tensor");
    if (buffer.bytes != 0)
      std::memcpy(own.data, buffer.data, buffer.bytes);
    buffer = own;
  }
  return copy;
}

/// Where results go, by tensor. Endings and folders are looked at before anything is computed.
static std::map<unsigned, std::string> resolveOutputs(const std::vector<std::string> &outputs,
                                                      const notation::Program &program) {
  std::map<unsigned, std::string> paths;
  std::set<std::string> files;
  const std::vector<std::string> computed = notation::computedNames(program);
  for (const std::string &text : outputs) {
    auto [name, path] = splitAssignment("-o", text);
    if (std::ranges::count(computed, name) == 0)
      throwError("-o {}: the program computes no '{}'; it computes {}", text, name,
                 fmt::join(computed, ", "));
    auto decl = std::ranges::find(program.tensors, name, &notation::TensorDecl::name);
    requireOutput("-o " + text, path);
    requireNewFile("-o " + text, path, files);
    if (!paths.emplace(decl - program.tensors.begin(), path).second)
      throwError("-o {}: '{}' is already written to another file; give -o {} once", text, name, name);
  }
  return paths;
}

/// Runs `count` more times and returns the JSON of --time.
static std::string measure(const engine::Executable &executable, const LoadedProgram &loaded,
                           const Tensors &results, int count) {
  Progress progress("timing");
  const notation::Program &program = loaded.program;
  // Results of their own: an accumulating program must not change the answer of the first run.
  Tensors timed = results;
  for (size_t t = 0; t < timed.size(); ++t)
    if (program.tensors[t].written && timed[t])
      timed[t] = deepCopy(*timed[t]);
  std::vector<double> compute, assemble;
  engine::RunReport report;
  for (int i = 0; i < count; ++i) {
    for (size_t t = 0; t < timed.size(); ++t)
      if (program.tensors[t].written && program.tensors[t].input)
        timed[t] = loaded.tensors[t]; // each run does what the first did
    auto begin = std::chrono::steady_clock::now();
    executable.run(timed, &report);
    double all = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    compute.push_back(report.computeMs);
    assemble.push_back(std::max(0.0, all - report.computeMs));
    progress.fraction(double(i + 1) / count);
  }
  Spread ms = spread(compute);
  int64_t bytes = 0;
  nlohmann::ordered_json tensorBytes;
  for (size_t t = 0; t < results.size(); ++t) {
    int64_t own = results[t] ? results[t]->bytes() : 0;
    tensorBytes[program.tensors[t].name] = own;
    bytes += own;
  }
  nlohmann::ordered_json json = {{"read_ms", loaded.readMs},
                                 {"pack_ms", loaded.packMs},
                                 {"compile_ms", executable.compileMs()},
                                 {"kernel_from", executable.origin()},
                                 {"assemble_ms", spread(assemble).median},
                                 {"compute_ms", toJson(ms)},
                                 {"bytes", bytes},
                                 {"tensor_bytes", tensorBytes}};
  if (!program.loops.empty())
    json["iterations"] = report.iterations;
  if (std::optional<double> operations = countOperations(loaded.unscheduled, loaded.entries, results);
      operations && ms.median > 0)
    json["gflops"] = *operations / ms.median * 1e-6;
  return json.dump(2);
}

/// The first run, whose results are shown.
struct FirstRun {
  std::vector<int64_t> iterations;
  bool interrupted = false; ///< by Ctrl-C, between two rounds
};

static FirstRun runFirst(const engine::Executable &executable, Tensors &tensors) {
  Progress progress("running");
  if (executable.program().loops.empty()) {
    executable.run(tensors);
    return {};
  }
  const Rounds rounds;
  engine::RunReport report = rounds.report(progress);
  executable.run(tensors, &report);
  return {report.iterations, rounds.interrupted()};
}

/// What stands below the results.
static void printRounds(const notation::Program &program, const FirstRun &first, const Tensors &tensors,
                        std::FILE *stream) {
  if (!program.loops.empty())
    fmt::print(stream, "{}\n", describeRounds(program, first.iterations, tensors));
  if (first.interrupted)
    fmt::print(stderr, "stopped by Ctrl-C: the results are those of the last round\n");
}

static void run(const RunOptions &options) {
  engine::Options engineOptions;
  engineOptions.strictFp = options.strictFp;
  engineOptions.anySize = options.anySize;
  engineOptions.dropZeros = options.dropZeros;
  engineOptions.diskCache = !options.noCache;
  engineOptions.quick = options.quick;
  options.threads.applyTo(engineOptions);
  options.vectors.applyTo(engineOptions);
  engineOptions.strategy = options.strategy;
  LoadedProgram loaded = load(options.program, /*withData=*/true, engineOptions, /*keep=*/options.check);
  const notation::Program &program = loaded.program;
  std::map<unsigned, std::string> outputs = resolveOutputs(options.outputs, program);
  for (const auto &[t, path] : outputs)
    loaded.program.tensors[t].result = true;

  std::shared_ptr<engine::Executable> executable;
  {
    Progress progress("compiling");
    executable = engine::compile(program, engineOptions);
  }
  for (const std::string &remark : executable->remarks())
    if (!options.quiet)
      fmt::print(stderr, "remark: {}\n", remark);

  Tensors tensors = loaded.tensors;
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].written && tensors[t])
      tensors[t] = deepCopy(*tensors[t]); // the given value stays as it was, for --check
  const FirstRun first = runFirst(*executable, tensors);
  const bool check = options.check && !first.interrupted;
  if (check)
    checkAgainstInterpreter(loaded, tensors, first.iterations);
  std::string timing =
      options.time > 0 && !first.interrupted ? measure(*executable, loaded, tensors, options.time) : "";
  for (const auto &[t, path] : outputs) {
    Progress progress("writing " + path);
    std::string note = runtime::writeFile(path, *tensors[t]);
    if (!note.empty() && !options.quiet)
      fmt::print(stderr, "note: {}\n", note);
  }
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].result && !outputs.count(t) && timing.empty() && !options.quiet)
      fmt::print("{}\n", summarize(program.tensors[t].name, *tensors[t]));
  if (!timing.empty())
    fmt::print("{}\n", timing);
  // The JSON of --time stays alone on stdout.
  std::FILE *notes = timing.empty() ? stdout : stderr;
  if (!options.quiet)
    printRounds(program, first, tensors, notes);
  if (check && !options.quiet)
    fmt::print(notes, "check: equal to the dense interpreter\n");
  if (first.interrupted) {
    std::fflush(stdout);
    std::raise(SIGINT); // whoever started the process learns that it was stopped
  }
}

void addRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Compile a program and run it on files or generated tensors");
  addProgramOptions(*command, options->program);
  addList(*command, "-o,--output", options->outputs,
          "NAME=FILE: write a result (.npy for dense tensors, .mtx, .tns, .npz, .h5, .gz); default: print a "
          "summary");
  command->add_option("--time", options->time, "Run this often after a warm-up and print the times as JSON")
      ->check(CLI::Range(1, 1000000))
      ->type_name("");
  command->add_flag("--check", options->check,
                    "Compare the results with the dense interpreter (small tensors)");
  addVectorOptions(*command, options->vectors);
  command->add_flag("--strict-fp", options->strictFp, "Keep the order of floating-point reductions");
  addSizeOption(*command, options->anySize);
  command->add_flag("--drop-zeros", options->dropZeros,
                    "Do not store what a sparse result computes to its fill, such as sums that cancel");
  command->add_flag("--quick", options->quick, "Optimize less: code comes sooner and runs slower");
  addThreadOptions(*command, options->threads);
  addStrategyOption(*command, options->strategy);
  command->add_flag("--no-cache", options->noCache, "Neither read nor write the kernel cache on disk");
  command->add_flag("--quiet", options->quiet, "No summaries and remarks");
  command->footer("Without -f a tensor has the format its file suggests (.mtx CSR, .tns CSF, .npy dense); "
                  "results are dense.\n"
                  "Example:\n  tulle run 'y(i) = A(i,j) * x(j)' -t A=matrix.mtx -f A=CSR -t x=random:7 -o "
                  "y=y.mtx --time 20");
  command->callback([options] { run(*options); });
}

} // namespace tulle::cli
