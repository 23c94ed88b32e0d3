// Programs to object code, and the text of every stage on the way.
#include "dialect/Dialect.h"
#include "engine/Codegen.h"
#include "engine/Contexts.h"
#include "engine/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/Import.h"
#include "pipeline/Stages.h"
#include "llvm/Config/llvm-config.h"
#include <dlfcn.h>
#include <limits>
#include <sys/stat.h>

namespace tulle::engine {

using pipeline::Stage;

void checkOptions(const Options &options) {
  if (options.vectorLength > 64 || (options.vectorLength & (options.vectorLength - 1)) != 0)
    throw Error("vector length " + std::to_string(options.vectorLength) +
                ": expected a power of 2 up to 64, or 0 to let the compiler choose");
}

bool coordinatesFit32(const notation::Program &program) {
  for (const notation::TensorDecl &tensor : program.tensors)
    for (int64_t size : tensor.dims)
      if (size > int64_t(std::numeric_limits<int32_t>::max()))
        return false;
  return true;
}

static pipeline::Options pipelineOptions(const notation::Program &program, const Options &options) {
  return {options.vectorLength, coordinatesFit32(program)};
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

std::string cacheKey(const notation::Program &program, const Options &options) {
  bool sizes = false;
  for (const notation::Statement &statement : program.statements)
    sizes |= dependsOnSizes(statement.rhs) || dependsOnSizes(statement.where);
  static const std::string compiler = compilerVersion();
  std::string key = compiler + "\n" + host().triple + " " + host().cpu + " " + host().features + "\n";
  key += "strict " + std::to_string(options.strictFp) + " vl " + std::to_string(options.vectorLength) +
         " index32 " + std::to_string(coordinatesFit32(program)) + "\n";
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
  return key + program.text;
}

namespace {

/// One module on its way through the stages.
class Compilation {
public:
  Compilation(const notation::Program &program, const Options &options)
      : program(program), pipelineOptions(engine::pipelineOptions(program, options)) {
    module = passes::importProgram(lease.context(), program, {options.strictFp});
  }

  /// Runs the passes up to `stage`.
  void advance(Stage stage) {
    if (mlir::succeeded(pipeline::run(*module, reached, stage, pipelineOptions))) {
      reached = stage;
      return;
    }
    // Up to the loops, passes refuse programs in the user's words; verifiers and MLIR's own passes name
    // operations.
    const std::string &text = lease.errors();
    if (stage <= Stage::Loops && !text.empty() && text[0] != '\'')
      throw Error("<expr>: error: " + text + "\n  " + program.text);
    throw InternalError("the passes of stage '" + std::string(pipeline::stages()[size_t(stage)].name) +
                        "' failed: " + text);
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  std::string generate(CodeForm form) {
    std::string code = generateCode(*module, form);
    if (code.empty())
      throw InternalError("the LLVM dialect could not be translated: " + lease.errors());
    return code;
  }

  const std::vector<std::string> &remarks() const { return lease.remarks(); }

  /// What each statement takes, once conversions of operands have become arguments.
  std::vector<std::vector<Argument>> arguments() {
    std::vector<std::vector<Argument>> statements;
    for (auto function : module->getOps<mlir::func::FuncOp>()) {
      std::vector<Argument> &list = statements.emplace_back();
      for (mlir::BlockArgument argument : function.getArguments()) {
        auto name = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), passes::kNameAttr);
        auto type = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
        if (!name || !type)
          throw InternalError("an argument of a statement is not a named tensor");
        list.push_back({tensorIndex(name), dialect::getEncoding(type).getValue(), false});
      }
      list.back().result = true;
    }
    return statements;
  }

private:
  const notation::Program &program;
  pipeline::Options pipelineOptions;
  ContextLease lease;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Stage reached = Stage::Linalg;

  unsigned tensorIndex(llvm::StringRef name) const {
    for (unsigned i = 0; i < program.tensors.size(); ++i)
      if (name == program.tensors[i].name)
        return i;
    throw InternalError("no tensor is called '" + name.str() + "'");
  }
};

} // namespace

ObjectCode compileToObject(const notation::Program &program, const Options &options) {
  Compilation compilation(program, options);
  ObjectCode code;
  compilation.advance(Stage::Iteration);
  code.statements = compilation.arguments();
  compilation.advance(Stage::Loops);
  compilation.advance(Stage::Llvm);
  code.remarks = compilation.remarks();
  code.object = compilation.generate(CodeForm::Object);
  return code;
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
  return text;
}

std::string explain(const notation::Program &program, std::string_view stageName, const Options &options) {
  std::optional<Stage> stage = pipeline::findStage(stageName);
  if (!stage)
    throw Error("unknown stage '" + std::string(stageName) + "': expected one of " + pipeline::stageNames());
  checkOptions(options);
  if (*stage == Stage::Notation)
    return printProgram(program);
  Compilation compilation(program, options);
  for (Stage next : {Stage::Iteration, Stage::Assembly, Stage::Loops, Stage::Vector, Stage::Llvm})
    if (next <= *stage)
      compilation.advance(next);
  if (*stage == Stage::LlvmIr)
    return compilation.generate(CodeForm::LlvmIr);
  if (*stage == Stage::Asm)
    return compilation.generate(CodeForm::Assembly);
  return compilation.print();
}

} // namespace tulle::engine
