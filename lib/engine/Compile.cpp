// Programs to object code, and the text of every stage on the way.
#include "engine/Codegen.h"
#include "engine/Compilation.h"
#include "engine/Host.h"
#include "engine/Parallel.h"
#include "iteration/CostModel.h"
#include "notation/Schedule.h"
#include "passes/import/Import.h"
#include "support/Errors.h"
#include "llvm/Config/llvm-config.h"
#include <dlfcn.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>
#include <sys/stat.h>

namespace tulle::engine {

using pipeline::Stage;

static constexpr unsigned kMostThreads = 1024;

void checkOptions(const Options &options) {
  if (options.vectorLength > 64 || (options.vectorLength & (options.vectorLength - 1)) != 0)
    throwError("vector length {}: expected a power of 2 up to 64, or 0 to let the compiler choose",
               options.vectorLength);
  if (options.threads > kMostThreads)
    throwError("threads = {}: expected at most {}, or 0 for all cores", options.threads, kMostThreads);
  constexpr std::string_view strategies[] = {"auto", "merge", "gallop", "blocks"};
  if (std::find(std::begin(strategies), std::end(strategies), options.strategy) == std::end(strategies))
    throwError("strategy '{}': expected auto, merge, gallop or blocks", options.strategy);
}

bool indicesFit32(const std::vector<int64_t> &dims, int64_t entries) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  return entries <= most && std::all_of(dims.begin(), dims.end(), [](int64_t size) { return size <= most; });
}

bool coordinatesFit32(const notation::Program &program) {
  return std::all_of(program.tensors.begin(), program.tensors.end(),
                     [](const notation::TensorDecl &t) { return indicesFit32(t.dims, t.entries); });
}

Stage stageNamed(std::string_view name) {
  if (std::optional<Stage> stage = pipeline::findStage(name))
    return *stage;
  throwError("unknown stage '{}': expected one of {}", name, pipeline::stageNames());
}

pipeline::Options pipelineOptions(const Options &options, bool index32) {
  return {options.vectorLength, index32,          emitsParallelCode(options), options.deterministic,
          options.quick,        options.strategy, options.upstreamPasses};
}

/// Changes whenever the library or program that holds this compiler is built anew.
static std::string compilerVersion() {
  std::string version = "tulle " TULLE_VERSION " llvm " LLVM_VERSION_STRING;
  Dl_info info;
  struct stat file;
  bool found = dladdr(reinterpret_cast<void *>(&compilerVersion), &info) && info.dli_fname;
  // A program that was found through PATH is known to the loader by the name that was typed only.
  const char *path = found && info.dli_fname[0] == '/' ? info.dli_fname : "/proc/self/exe";
  if (stat(path, &file) == 0)
    version += fmt::format(" {} {}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  return version;
}

/// Calls `visit` with every access of an expression, or of a mask.
template <class Visit> static void visitAccesses(const notation::Expr &expr, Visit visit) {
  if (expr->op == notation::Op::Access)
    visit(expr->access);
  for (const notation::Expr &arg : expr->args)
    visitAccesses(arg, visit);
}
template <class Visit> static void visitAccesses(const notation::Mask &mask, Visit visit) {
  if (!mask)
    return;
  if (mask->op == notation::MaskOp::Stored)
    visit(mask->access);
  visitAccesses(mask->lhs, visit);
  visitAccesses(mask->rhs, visit);
}

/// Extents of subscripts such as `A(i+r)` become constants of the code; so do the sizes of a new tensor that
/// no operand has.
static bool dependsOnSizes(const notation::Program &program, const notation::Statement &statement) {
  bool depends = false;
  std::set<unsigned> known; // indices with the size of an operand's dimension
  auto note = [&](const notation::Access &access) {
    for (const notation::Affine &subscript : access.subscripts)
      if (subscript.isVariable())
        known.insert(subscript.terms[0].first);
      else
        depends = true;
  };
  visitAccesses(statement.rhs, note);
  visitAccesses(statement.where, note);
  if (!format::isAllDense(program.tensors[statement.lhs.tensor].encoding))
    for (const notation::Affine &subscript : statement.lhs.subscripts)
      depends |= subscript.isVariable() && !known.contains(subscript.terms[0].first);
  return depends;
}

std::string cacheKeyHead(const Options &options) {
  static const std::string compiler = compilerVersion();
  return fmt::format("{}\n{} {} {}\nplanned for {}\nstrict {:d} drop {:d} vl {} wide {:d} strategy {} "
                     "parallel {:d} deterministic {:d} quick {:d} passes {}\n",
                     compiler, host().triple, host().cpu, host().features, iteration::printCpu(hostCpu()),
                     options.strictFp, options.dropZeros, options.vectorLength, options.wideIndices,
                     options.strategy, emitsParallelCode(options), options.deterministic, options.quick,
                     options.upstreamPasses);
}

std::string cacheKey(const notation::Program &program, const Options &options) {
  bool sizes = false;
  for (const notation::Statement &statement : program.statements)
    sizes |= dependsOnSizes(program, statement);
  std::string key = cacheKeyHead(options) + "index32 " + std::to_string(coordinatesFit32(program)) + "\n";
  for (const notation::TensorDecl &tensor : program.tensors) {
    format::Encoding encoding = tensor.encoding;
    if (format::isAllDense(encoding)) // widths of nothing
      encoding.posWidth = encoding.crdWidth = 0;
    key += tensor.name + " " + std::string(name(tensor.type)) + " " + format::print(encoding) +
           (tensor.input ? " input" : "") + (tensor.written ? " written" : "");
    for (int64_t size : sizes ? tensor.dims : std::vector<int64_t>())
      key += " " + std::to_string(size);
    key += "\n";
  }
  std::vector<int64_t> entries;
  for (const notation::TensorDecl &tensor : program.tensors)
    if (tensor.entries >= 0 && !format::isAllDense(tensor.encoding))
      entries.push_back(tensor.entries);
  if (entries.size() > 1) { // how many one operand has against another
    key += "entries";
    for (double ratio : iteration::relativeEntries(entries))
      key += " " + std::to_string(int64_t(ratio));
    key += "\n";
  }
  return key + program.text + "\n" + notation::printSchedule(program);
}

static Compilation start(const notation::Program &program, const Options &options) {
  std::vector<std::string> names;
  for (const notation::TensorDecl &tensor : program.tensors)
    names.push_back(tensor.name);
  return Compilation(program.text, std::move(names), pipelineOptions(options, coordinatesFit32(program)),
                     [&](mlir::MLIRContext &context) {
                       return passes::importProgram(context, program, {options.strictFp, options.dropZeros});
                     });
}

ObjectCode compileToObject(const notation::Program &program, const Options &options) {
  return start(program, options).object();
}

static std::string printProgram(const notation::Program &program) {
  std::string text;
  for (const notation::TensorDecl &tensor : program.tensors) {
    text += fmt::format("// {}: {}[{}] {}\n", tensor.name, name(tensor.type), fmt::join(tensor.dims, ","),
                        format::displayName(tensor.encoding));
  }
  for (const notation::Statement &statement : program.statements)
    text += notation::print(program, statement) + "\n";
  if (std::string schedule = notation::printSchedule(program); !schedule.empty())
    text += "// schedule: " + schedule + "\n";
  return text;
}

std::string explain(const notation::Program &program, std::string_view stageName, const Options &options) {
  const Stage stage = stageNamed(stageName);
  checkOptions(options);
  return stage == Stage::Notation ? printProgram(program) : start(program, options).text(stage);
}

} // namespace tulle::engine
