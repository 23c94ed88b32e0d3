// Programs to object code, and the text of every stage on the way.
#include "engine/Codegen.h"
#include "engine/Compilation.h"
#include "engine/Host.h"
#include "engine/Parallel.h"
#include "iteration/CostModel.h"
#include "notation/Schedule.h"
#include "passes/import/Import.h"
#include "llvm/Config/llvm-config.h"
#include <dlfcn.h>
#include <limits>
#include <set>
#include <sys/stat.h>

namespace tulle::engine {

using pipeline::Stage;

static constexpr unsigned kMostThreads = 1024;

void checkOptions(const Options &options) {
  if (options.vectorLength > 64 || (options.vectorLength & (options.vectorLength - 1)) != 0)
    throw Error("vector length " + std::to_string(options.vectorLength) +
                ": expected a power of 2 up to 64, or 0 to let the compiler choose");
  if (options.threads > kMostThreads)
    throw Error("threads = " + std::to_string(options.threads) + ": expected at most " +
                std::to_string(kMostThreads) + ", or 0 for all cores");
  constexpr std::string_view strategies[] = {"auto", "merge", "gallop", "blocks"};
  if (std::find(std::begin(strategies), std::end(strategies), options.strategy) == std::end(strategies))
    throw Error("strategy '" + options.strategy + "': expected auto, merge, gallop or blocks");
}

bool coordinatesFit32(const notation::Program &program) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (const notation::TensorDecl &tensor : program.tensors) {
    if (tensor.entries > most) // positions are indices, too
      return false;
    for (int64_t size : tensor.dims)
      if (size > most)
        return false;
  }
  return true;
}

pipeline::Options pipelineOptions(const Options &options, bool index32) {
  return {options.vectorLength, index32,          emitsParallelCode(options), options.deterministic,
          options.quick,        options.strategy, options.iterationPasses};
}
static pipeline::Options pipelineOptions(const notation::Program &program, const Options &options) {
  return pipelineOptions(options, coordinatesFit32(program));
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
    version += " " + std::to_string(file.st_size) + " " + std::to_string(file.st_mtim.tv_sec) + "." +
               std::to_string(file.st_mtim.tv_nsec);
  return version;
}

/// Extents of subscripts such as `A(i+r)` become constants of the code.
static bool dependsOnSizes(const notation::Expr &expr) {
  if (expr->op == notation::Op::Access)
    for (const notation::Affine &subscript : expr->access.subscripts)
      if (!subscript.isVariable())
        return true;
  for (const notation::Expr &arg : expr->args)
    if (dependsOnSizes(arg))
      return true;
  return false;
}
static bool dependsOnSizes(const notation::Mask &mask) {
  if (!mask)
    return false;
  if (mask->op != notation::MaskOp::Stored)
    return dependsOnSizes(mask->lhs) || dependsOnSizes(mask->rhs);
  for (const notation::Affine &subscript : mask->access.subscripts)
    if (!subscript.isVariable())
      return true;
  return false;
}

std::string cacheKeyHead(const Options &options) {
  static const std::string compiler = compilerVersion();
  return compiler + "\n" + host().triple + " " + host().cpu + " " + host().features + "\nplanned for " +
         iteration::printCpu(hostCpu()) + "\nstrict " + std::to_string(options.strictFp) + " drop " +
         std::to_string(options.dropZeros) + " vl " + std::to_string(options.vectorLength) + " wide " +
         std::to_string(options.wideIndices) + " strategy " + options.strategy + " parallel " +
         std::to_string(emitsParallelCode(options)) + " deterministic " +
         std::to_string(options.deterministic) + " quick " + std::to_string(options.quick) + " passes " +
         options.iterationPasses + "\n";
}

static void plainIndices(const notation::Access &access, std::set<unsigned> &out) {
  for (const notation::Affine &subscript : access.subscripts)
    if (subscript.isVariable())
      out.insert(subscript.terms[0].first);
}
static void plainIndices(const notation::Expr &expr, std::set<unsigned> &out) {
  if (expr->op == notation::Op::Access)
    plainIndices(expr->access, out);
  for (const notation::Expr &arg : expr->args)
    plainIndices(arg, out);
}
static void plainIndices(const notation::Mask &mask, std::set<unsigned> &out) {
  if (!mask)
    return;
  if (mask->op == notation::MaskOp::Stored)
    plainIndices(mask->access, out);
  plainIndices(mask->lhs, out);
  plainIndices(mask->rhs, out);
}
/// A new tensor takes its sizes from the operands; those no operand has become constants of the code.
static bool resultDependsOnSizes(const notation::Program &program, const notation::Statement &statement) {
  if (format::isAllDense(program.tensors[statement.lhs.tensor].encoding))
    return false;
  std::set<unsigned> known, wanted;
  plainIndices(statement.rhs, known);
  plainIndices(statement.where, known);
  plainIndices(statement.lhs, wanted);
  return !std::includes(known.begin(), known.end(), wanted.begin(), wanted.end());
}

std::string cacheKey(const notation::Program &program, const Options &options) {
  bool sizes = false;
  for (const notation::Statement &statement : program.statements)
    sizes |= dependsOnSizes(statement.rhs) || dependsOnSizes(statement.where) ||
             resultDependsOnSizes(program, statement);
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

static std::vector<std::string> tensorNames(const notation::Program &program) {
  std::vector<std::string> names;
  for (const notation::TensorDecl &tensor : program.tensors)
    names.push_back(tensor.name);
  return names;
}

static Compilation start(const notation::Program &program, const Options &options) {
  return Compilation(program.text, tensorNames(program), pipelineOptions(program, options),
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
    text += "// " + tensor.name + ": " + std::string(name(tensor.type)) + "[";
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      text += (d ? "," : "") + std::to_string(tensor.dims[d]);
    text += "] " + format::displayName(tensor.encoding) + "\n";
  }
  for (const notation::Statement &statement : program.statements)
    text += notation::print(program, statement) + "\n";
  if (std::string schedule = notation::printSchedule(program); !schedule.empty())
    text += "// schedule: " + schedule + "\n";
  return text;
}

std::string explain(const notation::Program &program, std::string_view stageName, const Options &options) {
  std::optional<Stage> stage = pipeline::findStage(stageName);
  if (!stage)
    throw Error("unknown stage '" + std::string(stageName) + "': expected one of " + pipeline::stageNames());
  checkOptions(options);
  if (*stage == Stage::Notation)
    return printProgram(program);
  return start(program, options).text(*stage);
}

} // namespace tulle::engine
