// Contexts wait in a pool between compilations; a module advances stage by stage, and what its statements
// take is read off before tensors become buffers.
#include "engine/Compilation.h"
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "engine/MarkedLines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "passes/assemble/algorithms/Phase.h"
#include "passes/import/Import.h"
#include "passes/program/PrintSchedule.h"
#include "passes/program/TensorFlow.h"
#include "support/Errors.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <map>
#include <mutex>

namespace tulle::engine {

//===--- Contexts ---===//

/// A context keeps every type and attribute it has ever seen, so it is given up after this many compilations.
static constexpr unsigned mostUses = 256;

static std::mutex poolMutex;
/// Never destroyed: other static objects may still compile while the process ends.
static std::vector<PooledContext> &pool() {
  static auto *contexts = new std::vector<PooledContext>;
  return *contexts;
}

static PooledContext makeContext() {
  mlir::DialectRegistry registry;
  pipeline::registerAll(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  auto managers = std::make_unique<pipeline::PassManagers>(*context);
  return {std::move(context), std::move(managers)};
}

/// The first place in a schedule that the location is made of: a loop has those of all that its schedule
/// says.
static std::optional<mlir::FileLineColRange> placeIn(mlir::Location location) {
  std::optional<mlir::FileLineColRange> found;
  location->walk([&](mlir::Location part) {
    if (auto place = mlir::dyn_cast<mlir::FileLineColRange>(part);
        place && place.getFilename() != passes::kProgramText) {
      found = place;
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return found;
}

ContextLease::ContextLease() {
  {
    std::lock_guard lock(poolMutex);
    if (!pool().empty()) {
      held = std::move(pool().back());
      pool().pop_back();
    }
  }
  if (!held.context)
    held = makeContext();
  handler = std::make_unique<mlir::ScopedDiagnosticHandler>(
      held.context.get(), [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) {
          remarkTexts.push_back(diagnostic.str());
          return mlir::success();
        }
        if (errorText.empty())
          errorPlace = placeIn(diagnostic.getLocation());
        errorText += (errorText.empty() ? "" : "\n") + diagnostic.str();
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          errorText += "\nnote: " + note.str();
        return mlir::success();
      });
}

namespace {

/// Collects the reasons of the choices that passes report.
class ReasonStreamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit ReasonStreamer(std::vector<std::string> &into) : into(into) {}
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    for (const mlir::remark::detail::Remark::Arg &arg : remark.getArgs())
      if (arg.key == "Reason" && std::find(into.begin(), into.end(), arg.val) == into.end())
        into.push_back(arg.val);
  }

private:
  std::vector<std::string> &into;
};

} // namespace

void ContextLease::keepReasons() {
  mlir::remark::RemarkCategories categories;
  categories.passed = dialect::kChoice.str();
  // Fails for files that cannot be opened only.
  (void)mlir::remark::enableOptimizationRemarks(context(), std::make_unique<ReasonStreamer>(reasonTexts),
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(),
                                                categories);
}

ContextLease::~ContextLease() {
  handler.reset();
  context().setRemarkEngine(nullptr);
  if (++held.uses >= mostUses)
    return;
  std::lock_guard lock(poolMutex);
  pool().push_back(std::move(held));
}

//===--- Stages ---===//

using pipeline::Stage;

Compilation::Compilation(std::string source, std::vector<std::string> tensors,
                         const pipeline::Options &options, const Build &build, SourceText schedule,
                         const Target &target)
    : source(std::move(source)), schedule(std::move(schedule)), tensors(std::move(tensors)), options(options),
      target(target) {
  module = build(lease.context());
  iteration::Cpu plan = target.plan;
  for (const auto &[name, value] : options.figures)
    if (std::string wrong = iteration::setFigure(plan, name, value); !wrong.empty())
      throwError("{}", wrong);
  dialect::setCpu(*module, plan);
}

static bool hasScalableVectors(const Target &target) {
  return llvm::Triple(target.triple).isAArch64() &&
         makeTargetMachine(target, /*quick=*/true)->getMCSubtargetInfo()->checkFeatures("+sve");
}

void Compilation::advance(Stage stage) {
  if (stage == Stage::Llvm && options.scalable && !hasScalableVectors(target))
    throwError("scalable vectors are those of SVE, which {} has not; compile for a processor that has "
               "(--target aarch64-linux-gnu --march neoverse-v1), or leave scalable out",
               target.cpu);
  if (mlir::succeeded(lease.passManagers().run(*module, reached, stage, options))) {
    reached = stage;
    return;
  }
  // Up to the loops, passes refuse programs in the user's words; verifiers and MLIR's own passes name
  // operations.
  const std::string &text = lease.errors();
  if (std::optional<mlir::FileLineColRange> place = lease.place())
    throw support::SyntaxError(
        schedule.name, schedule.text,
        {support::offsetOf(schedule.text, {place->getStartLine(), place->getStartColumn()}),
         support::offsetOf(schedule.text, {place->getEndLine(), place->getEndColumn()})},
        text);
  if (stage <= Stage::Loops && !text.empty() && text[0] != '\'')
    throw Error("<expr>: error: " + text + "\n  " + source);
  throw InternalError("the passes of stage '" + std::string(pipeline::stages()[size_t(stage)].name) +
                      "' failed: " + text);
}

std::string Compilation::generate(CodeForm form) {
  std::string code = generateCode(*module, form, options.quick, target);
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

/// Whether the tensor is an argument of the function, changed in place.
static bool isArgument(mlir::Value tensor) {
  llvm::SmallPtrSet<mlir::Value, 8> seen;
  llvm::SmallVector<mlir::Value> work{tensor};
  while (!work.empty()) {
    mlir::Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
        argument && mlir::isa<mlir::func::FuncOp>(argument.getOwner()->getParentOp()))
      return true;
    program::sources(value, work);
  }
  return false;
}

static SliceNumber::Part partOf(dialect::SlicePart part) {
  switch (part) {
  case dialect::SlicePart::Offset:
    return SliceNumber::Offset;
  case dialect::SlicePart::Size:
    return SliceNumber::Size;
  case dialect::SlicePart::Stride:
    return SliceNumber::Stride;
  }
  llvm_unreachable("a part outside its enumeration");
}

/// What each function takes, once conversions of operands have become arguments.
std::vector<CompiledStatement> Compilation::statements() {
  std::vector<CompiledStatement> list;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    if (function.isExternal())
      continue;
    CompiledStatement &statement = list.emplace_back();
    statement.function = function.getName().str();
    for (mlir::BlockArgument argument : function.getArguments()) {
      const unsigned number = argument.getArgNumber();
      if (auto slice = function.getArgAttrOfType<dialect::SliceNumberAttr>(number, dialect::kSliceAttr)) {
        const SliceNumber part{unsigned(slice.getDim()), partOf(slice.getPart())};
        statement.arguments.push_back({tensorNamed(slice.getTensor()), {}, false, false, 0, part});
        continue;
      }
      auto type = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
      if (!type)
        throw InternalError("an argument of a statement is not a tensor");
      auto writer = function.getArgAttrOfType<mlir::IntegerAttr>(number, dialect::kStatementAttr);
      statement.arguments.push_back({tensorNamed(function.getArgAttr(number, dialect::kNameAttr)),
                                     dialect::getEncoding(type).getValue(), bool(writer),
                                     bool(function.getArgAttr(number, dialect::kWholeAttr)),
                                     writer ? unsigned(writer.getInt()) : 0});
    }
    for (mlir::OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
      mlir::Attribute name = function.getResultAttr(result.getOperandNumber(), dialect::kNameAttr);
      statement.tensor = name ? tensorNamed(name) : 0;
      auto type = mlir::dyn_cast<mlir::RankedTensorType>(result.get().getType());
      if (!type)
        throw InternalError("a statement does not return a tensor");
      if (!isArgument(result.get()))
        statement.made.push_back({statement.tensor, dialect::getEncoding(type).getValue()});
    }
    if (statement.made.empty() && std::ranges::none_of(statement.arguments, &Argument::result))
      statement.arguments.back().result = true;
  }
  return list;
}

/// The intervals of functions that have a loop in common.
std::vector<notation::Loop> Compilation::loops() {
  std::map<int64_t, notation::Loop> byNumber;
  unsigned at = 0;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    if (auto around = function->getAttrOfType<mlir::ArrayAttr>(dialect::kLoopsAttr))
      for (auto loop : around.getAsRange<dialect::RepeatAttr>()) {
        notation::Loop &own =
            byNumber.try_emplace(loop.getNumber(), notation::Loop{at, at, loop.getMost(), {}}).first->second;
        if (own.end != at)
          throw InternalError("the functions of a loop do not follow each other");
        own.end = at + 1;
        if (loop.getUntil())
          own.until = tensorNamed(loop.getUntil());
      }
    ++at;
  }
  std::vector<notation::Loop> list;
  for (const auto &[number, loop] : byNumber)
    list.push_back(loop);
  return list;
}

Signature Compilation::lower() {
  Signature signature;
  advance(Stage::Iteration);
  signature.statements = statements();
  signature.loops = loops();
  advance(Stage::Assembly);
  advance(Stage::Loops);
  advance(Stage::Llvm);
  signature.remarks = lease.remarks();
  return signature;
}

ObjectCode Compilation::object() {
  Signature signature = lower();
  return {std::move(signature.statements), std::move(signature.loops), std::move(signature.remarks),
          generate(CodeForm::Object)};
}

void Compilation::advanceTo(Stage stage) {
  for (Stage next :
       {Stage::Schedule, Stage::Iteration, Stage::Assembly, Stage::Loops, Stage::Vector, Stage::Llvm})
    if (next > reached && next <= stage)
      advance(next);
}

std::vector<ExplainedLine> Compilation::lines(Stage stage) {
  advanceTo(stage);
  if (stage < Stage::LlvmIr)
    return markedLines(*module);
  addLineTables(*module);
  return stage == Stage::LlvmIr ? markedLlvmIr(generate(CodeForm::LlvmIr))
                                : markedAssembly(generate(CodeForm::Assembly));
}

std::string Compilation::text(Stage stage) {
  lease.keepReasons();
  if (stage == Stage::Schedule)
    return withReasons("// ", scheduleText());
  advanceTo(stage);
  if (stage == Stage::LlvmIr)
    return withReasons("; ", generate(CodeForm::LlvmIr));
  if (stage == Stage::Asm)
    return withReasons("# ", generate(CodeForm::Assembly));
  return withReasons("// ", assemble::printWithPhases(*module));
}

std::string Compilation::scheduleText() {
  advance(Stage::Schedule);
  const passes::program::ProgramSchedule schedule(*module);
  advance(Stage::Iteration);
  return schedule.print(*module);
}

std::string Compilation::withReasons(std::string_view comment, const std::string &code) const {
  std::string text;
  for (const std::string &reason : lease.reasons())
    text.append(comment).append(reason).append("\n");
  return text + code;
}

} // namespace tulle::engine
