// The text of each stage's passes, the one place that runs it, and the dialects and passes that it needs:
// registering all of MLIR costs a start-up several times as much.
#include "pipeline/Stages.h"
#include "dialect/Dialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "support/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/ranges.h>
#include <mutex>
#include <ranges>

namespace tulle::pipeline {

static constexpr StageInfo stageTable[] = {
    {Stage::Notation, "notation", "the checked program with types and formats"},
    {Stage::Linalg, "linalg", "linalg.generic on tensors whose types carry the formats"},
    {Stage::Schedule, "schedule", "what was chosen for each statement, as a text for --schedule"},
    {Stage::Iteration, "iteration", "loops over sets of coordinates"},
    {Stage::Assembly, "assembly", "loops that write the buffers of new tensors"},
    {Stage::Loops, "loops", "scf loops over the buffers of each format"},
    {Stage::Vector, "vector", "innermost loops as vector code"},
    {Stage::Llvm, "llvm", "the LLVM dialect"},
    {Stage::LlvmIr, "llvm-ir", "LLVM IR after optimization"},
    {Stage::Asm, "asm", "assembly for this CPU"},
};

std::span<const StageInfo> stages() { return stageTable; }

Stage stageNamed(std::string_view name) {
  const auto *found = llvm::find_if(stageTable, [&](const StageInfo &info) { return info.name == name; });
  if (found == std::end(stageTable))
    throwError("unknown stage '{}': expected one of {}", name, stageNames());
  return found->stage;
}

std::string stageNames() {
  return fmt::format("{}", fmt::join(std::views::transform(stageTable, &StageInfo::name), ", "));
}

static std::string ownPasses(Stage stage, const Options &options) {
  const std::string vectors = fmt::format("vl={} index32={}", options.vectorLength, options.index32);
  switch (stage) {
  case Stage::Notation:
  case Stage::Linalg:
  case Stage::LlvmIr:
  case Stage::Asm:
    return "";
  case Stage::Schedule:
    return fmt::format(
        "func.func(tulle-expand-query,tulle-expand-convert,tulle-expand-concat,tulle-resolve-slices),"
        "tulle-tile-readers,tulle-align-loops,"
        "func.func(tulle-resolve-order,tulle-hoist-convert,tulle-sparsify{{strategy={}}})",
        options.strategy);
  case Stage::Iteration:
    return fmt::format(
        "func.func(tulle-factor-reductions,canonicalize,tulle-fuse-init),tulle-link-statements,func.func("
        "tulle-contract-assemblies,tulle-fuse-loops,"
        "tulle-contract-tensors,tulle-remove-dead-stores,tulle-fuse-init,tulle-check-schedule{{threads={}}},"
        "tulle-defer-checks{},tulle-check-in-blocks)",
        options.parallel,
        options.parallel ? fmt::format(",tulle-parallelize{{deterministic={}}}", options.deterministic) : "");
  case Stage::Assembly:
    return fmt::format("tulle-choose-assembly,tulle-expand-assembly{{parallel={}}},func.func(canonicalize)",
                       options.parallel);
  case Stage::Loops:
    return fmt::format(
        "tulle-lower-build-levels,tulle-lower-scatter-levels,tulle-lower-workspace,tulle-lower-append-blocks,"
        "tulle-lower-collect,tulle-lower-sort,tulle-lower-append,"
        "tulle-inline-entries,tulle-lower-accumulate,"
        "tulle-lower-sort-segments,tulle-lower-unique,tulle-lower-histogram,tulle-lower-scan,"
        "tulle-lower-scatter-entries,tulle-lower-chained-scan,"
        "func.func(canonicalize,tulle-index-operands{},tulle-insert-copies),tulle-lower,func.func("
        "canonicalize,tulle-hoist-invariants,cse,tulle-normalize-loops,"
        "tulle-view-segments,"
        "tulle-distribute-functions,tulle-coalesce-segments,tulle-hoist-allocations)",
        options.lowerFirst ? fmt::format(",tulle-lower-loops{{sample={}}}", options.lowerFirst) : "");
  case Stage::Vector:
    // Samples, and groups of rows, depend on the chunk of a loop that a thread has.
    return fmt::format(
        "func.func(tulle-jam,tulle-cache-operands,tulle-vectorize-block-rows,tulle-peel-partial-tiles,tulle-"
        "pack-operands,"
        "tulle-cache-block,tulle-version-loops{{vl={}}},tulle-tile-rows{{vl={}}},"
        "tulle-register-tiles{{factors={} {}}},"
        "tulle-expand-exp,tulle-expand-bf16,tulle-prefetch,tulle-prefetch-rows,tulle-prefetch-elements,tulle-"
        "cache-registers{{vl={}}}"
        ","
        "tulle-jam-updates,{}tulle-vectorize{{"
        "{}"
        "{}}},tulle-stream-stores,tulle-unroll,tulle-expand-segments,"
        "tulle-pipeline-scatters,tulle-loop-hints,tulle-count-iterations,tulle-expand-powers,"
        "tulle-check-schedule{{end=true}}),"
        "tulle-outline",
        options.vectorLength, options.vectorLength, !options.deterministic, vectors, options.vectorLength,
        options.deterministic ? "" : fmt::format("tulle-tile-reductions{{vl={}}},", options.vectorLength),
        options.deterministic ? "" : "sample-rows=true ",
        vectors + (options.scalable ? " scalable=true" : "") +
            (options.tail == "auto" ? "" : " tail=" + options.tail));
  case Stage::Llvm:
    // Allocation goes through functions that the engine binds: unlike malloc, they may refuse.
    // Masks of vectors have no lowering in convert-to-llvm.
    return "tulle-lower-filled-buffers,convert-scf-to-cf,func.func(convert-complex-to-standard),convert-"
           "vector-to-"
           "llvm{enable-x86vector="
           "true},finalize-memref-to-llvm{use-generic-functions=true},"
           "convert-to-llvm,reconcile-unrealized-casts,tulle-attach-loop-metadata,tulle-launch,tulle-noalias,"
           "tulle-entry";
  }
  llvm_unreachable("a stage outside its enumeration");
}

/// The text of passes with these of functions behind each of them, from the loops over sets on: upstream
/// would replace a linalg.generic that converts by a tensor.cast, whatever formats its types have.
static std::string interleaved(const std::string &text, const std::string &passes) {
  const size_t first = text.find("tulle-sparsify");
  std::string result;
  int options = 0;
  bool ofFunction = false;
  for (auto [k, c] : llvm::enumerate(text + ",")) {
    options += (c == '{') - (c == '}');
    if (options == 0 && (c == ',' || c == ')') && result.back() != ')' &&
        (first == std::string::npos || k > first))
      result += ofFunction ? "," + passes : ",func.func(" + passes + ")";
    if (c == '(' || c == ')')
      ofFunction = c == '(';
    result += c;
  }
  result.pop_back();
  return result;
}

std::string passes(Stage stage, const Options &options) {
  std::string own = ownPasses(stage, options);
  return own.empty() || options.upstreamPasses.empty() ? own : interleaved(own, options.upstreamPasses);
}

mlir::PassManager *PassManagers::managerOf(const std::string &text, mlir::ModuleOp module) {
  std::unique_ptr<mlir::PassManager> &manager = byText[text];
  if (manager)
    return manager.get();
  auto made = std::make_unique<mlir::PassManager>(&context);
  std::string error;
  llvm::raw_string_ostream stream(error);
  if (mlir::failed(mlir::parsePassPipeline(text, *made, stream))) {
    module.emitError("no passes '") << text << "': " << error;
    return nullptr;
  }
#ifdef NDEBUG
  // Verifying after each pass takes a third of the passes' time: once for each stage, then.
  made->enableVerifier(false);
#endif
  return (manager = std::move(made)).get();
}

mlir::LogicalResult PassManagers::run(mlir::ModuleOp module, Stage from, Stage to, const Options &options) {
  std::string text;
  for (const StageInfo &info : stageTable)
    if (std::string next = info.stage > from && info.stage <= to ? passes(info.stage, options) : "";
        !next.empty())
      text += (text.empty() ? "" : ",") + next;
  mlir::PassManager *manager = managerOf(text, module);
  if (!manager || mlir::failed(manager->run(module)))
    return mlir::failure();
#ifdef NDEBUG
  return mlir::verify(module);
#else
  return mlir::success();
#endif
}

//===--- What the pipelines need ---===//

static void registerPasses() {
  tulle::passes::registerTullePasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerLoopInvariantCodeMotionPass();
  // Nothing here runs these; tests do, between all passes (Options::upstreamPasses).
  mlir::registerControlFlowSinkPass();
  mlir::registerLoopInvariantSubsetHoistingPass();
  mlir::registerPass([] { return mlir::createSCFToControlFlowPass(); });
  mlir::registerPass([] { return mlir::createConvertComplexToStandardPass(); });
  mlir::registerPass([] { return mlir::createConvertVectorToLLVMPass(); });
  mlir::registerPass([] { return mlir::createFinalizeMemRefToLLVMConversionPass(); });
  mlir::registerPass([] { return mlir::createConvertToLLVMPass(); });
  mlir::registerPass([] { return mlir::createReconcileUnrealizedCastsPass(); });
}

void registerAll(mlir::DialectRegistry &registry) {
  static std::once_flag once;
  std::call_once(once, registerPasses);
  registry.insert<tulle::dialect::TulleDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::complex::ComplexDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect, mlir::x86vector::X86VectorDialect>();
  mlir::arith::registerConvertArithToLLVMInterface(registry);
  mlir::registerConvertComplexToLLVMInterface(registry);
  mlir::cf::registerConvertControlFlowToLLVMInterface(registry);
  mlir::registerConvertFuncToLLVMInterface(registry);
  mlir::index::registerConvertIndexToLLVMInterface(registry);
  mlir::registerConvertMathToLLVMInterface(registry);
  mlir::registerConvertMemRefToLLVMInterface(registry);
  mlir::ub::registerConvertUBToLLVMInterface(registry);
  mlir::vector::registerConvertVectorToLLVMInterface(registry);
  mlir::registerConvertToLLVMDependentDialectLoading(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

} // namespace tulle::pipeline
