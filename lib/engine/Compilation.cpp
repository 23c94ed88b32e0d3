#include "engine/Compilation.h"
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "engine/Codegen.h"
#include "engine/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/assemble/algorithms/Phase.h"
#include <algorithm>

namespace tulle::engine {

using pipeline::Stage;

Compilation::Compilation(std::string source, std::vector<std::string> tensors,
                         const pipeline::Options &options, const Build &build)
    : source(std::move(source)), tensors(std::move(tensors)), options(options) {
  module = build(lease.context());
  dialect::setCpu(*module, hostCpu());
}

void Compilation::advance(Stage stage) {
  if (mlir::succeeded(pipeline::run(*module, reached, stage, options))) {
    reached = stage;
    return;
  }
  // Up to the loops, passes refuse programs in the user's words; verifiers and MLIR's own passes name
  // operations.
  const std::string &text = lease.errors();
  if (stage <= Stage::Loops && !text.empty() && text[0] != '\'')
    throw Error("<expr>: error: " + text + "\n  " + source);
  throw InternalError("the passes of stage '" + std::string(pipeline::stages()[size_t(stage)].name) +
                      "' failed: " + text);
}

std::string Compilation::generate(CodeForm form) {
  std::string code = generateCode(*module, form, options.quick);
  if (code.empty())
    throw InternalError("the LLVM dialect could not be translated: " + lease.errors());
  return code;
}

unsigned Compilation::tensorNamed(mlir::Attribute name) const {
  auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(name);
  auto tensor = text ? std::find(tensors.begin(), tensors.end(), text.str()) : tensors.end();
  if (tensor == tensors.end())
    throw InternalError("an argument or result of a function is not a tensor of the program");
  return unsigned(tensor - tensors.begin());
}

/// What each function takes, once conversions of operands have become arguments.
std::vector<StatementCode> Compilation::statements() {
  std::vector<StatementCode> list;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    StatementCode &statement = list.emplace_back();
    statement.function = function.getName().str();
    for (mlir::BlockArgument argument : function.getArguments()) {
      const unsigned number = argument.getArgNumber();
      auto type = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
      if (!type)
        throw InternalError("an argument of a statement is not a tensor");
      auto writer = function.getArgAttrOfType<mlir::IntegerAttr>(number, dialect::kStatementAttr);
      statement.arguments.push_back({tensorNamed(function.getArgAttr(number, dialect::kNameAttr)),
                                     dialect::getEncoding(type).getValue(), bool(writer),
                                     bool(function.getArgAttr(number, dialect::kWholeAttr)),
                                     writer ? unsigned(writer.getInt()) : 0});
    }
    if (mlir::Attribute name = function.getResultAttr(function.getNumResults() - 1, dialect::kNameAttr))
      statement.tensor = tensorNamed(name);
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(function.getResultTypes().front());
    if (!type)
      throw InternalError("a statement does not return a tensor");
    statement.made = dialect::getEncoding(type).getValue();
  }
  return list;
}

ObjectCode Compilation::object() {
  ObjectCode code;
  advance(Stage::Iteration);
  code.statements = statements();
  advance(Stage::Assembly);
  advance(Stage::Loops);
  // Only tensors that a statement made itself are still returned.
  auto defined = llvm::make_filter_range(module->getOps<mlir::func::FuncOp>(),
                                         [](mlir::func::FuncOp function) { return !function.isExternal(); });
  for (auto [statement, function] : llvm::zip(code.statements, defined))
    if (function.getNumResults() == 0) {
      statement.made.reset();
      if (std::none_of(statement.arguments.begin(), statement.arguments.end(),
                       [](const Argument &a) { return a.result; }))
        statement.arguments.back().result = true;
    }
  advance(Stage::Llvm);
  code.remarks = lease.remarks();
  code.object = generate(CodeForm::Object);
  return code;
}

std::string Compilation::text(Stage stage) {
  lease.keepReasons();
  const std::string comment = stage == Stage::LlvmIr ? "; " : stage == Stage::Asm ? "# " : "// ";
  const std::string code = codeAt(stage);
  std::string text;
  for (const std::string &reason : lease.reasons())
    text += comment + reason + "\n";
  return text + code;
}

std::string Compilation::codeAt(Stage stage) {
  for (Stage next : {Stage::Iteration, Stage::Assembly, Stage::Loops, Stage::Vector, Stage::Llvm})
    if (next <= stage)
      advance(next);
  if (stage == Stage::LlvmIr)
    return generate(CodeForm::LlvmIr);
  if (stage == Stage::Asm)
    return generate(CodeForm::Assembly);
  return assemble::printWithPhases(*module);
}

} // namespace tulle::engine
