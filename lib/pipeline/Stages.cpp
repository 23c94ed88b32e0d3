#include "pipeline/Stages.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"

namespace tulle::pipeline {

static constexpr StageInfo stageTable[] = {
    {Stage::Notation, "notation", "the checked program with types and formats"},
    {Stage::Linalg, "linalg", "linalg.generic on tensors whose types carry the formats"},
    {Stage::Iteration, "iteration", "loops over sets of coordinates"},
    {Stage::Assembly, "assembly", "loops that write the buffers of new tensors"},
    {Stage::Loops, "loops", "scf loops over the buffers of each format"},
    {Stage::Vector, "vector", "innermost loops as vector code"},
    {Stage::Llvm, "llvm", "the LLVM dialect"},
    {Stage::LlvmIr, "llvm-ir", "LLVM IR after optimization"},
    {Stage::Asm, "asm", "assembly for this CPU"},
};

std::span<const StageInfo> stages() { return stageTable; }

std::optional<Stage> findStage(std::string_view name) {
  for (const StageInfo &info : stageTable)
    if (info.name == name)
      return info.stage;
  return std::nullopt;
}

std::string stageNames() {
  std::string names;
  for (const StageInfo &info : stageTable)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

static std::string vectorOptions(const Options &options) {
  return "vl=" + std::to_string(options.vectorLength) + " index32=" + (options.index32 ? "true" : "false");
}

static std::string parallelize(const Options &options) {
  if (!options.parallel)
    return "";
  return std::string(",tulle-parallelize{deterministic=") + (options.deterministic ? "true" : "false") + "}";
}

std::string passes(Stage stage, const Options &options) {
  switch (stage) {
  case Stage::Notation:
  case Stage::Linalg:
  case Stage::LlvmIr:
  case Stage::Asm:
    return "";
  case Stage::Iteration:
    return "func.func(tulle-expand-query,tulle-expand-convert,tulle-resolve-slices,tulle-resolve-order,"
           "tulle-hoist-convert,"
           "tulle-sparsify{strategy=" +
           options.strategy + "},canonicalize,tulle-fuse-init" + parallelize(options) +
           (options.iterationPasses.empty() ? "" : "," + options.iterationPasses) + ")";
  case Stage::Assembly:
    return std::string("tulle-choose-assembly,tulle-expand-assembly{parallel=") +
           (options.parallel ? "true" : "false") + "},func.func(canonicalize)";
  case Stage::Loops:
    return "tulle-lower-build-levels,tulle-lower-scatter,tulle-lower-workspace,tulle-lower-append-blocks,"
           "tulle-lower-collect,tulle-lower-sort,tulle-lower-append,"
           "tulle-lower-sort-segments,tulle-lower-unique,tulle-lower-histogram,tulle-lower-scan,"
           "tulle-lower-scatter-entries,tulle-lower-chained-scan,tulle-inline-entries,"
           "func.func(canonicalize,tulle-index-operands,tulle-insert-copies),tulle-lower,func.func("
           "canonicalize,loop-invariant-code-motion,cse,"
           "tulle-coalesce-segments,tulle-hoist-allocations)";
  case Stage::Vector:
    return "func.func(tulle-vectorize-block-rows,tulle-peel-partial-tiles,tulle-pack-operands,"
           "tulle-cache-block,tulle-version-loops{vl=" +
           std::to_string(options.vectorLength) +
           "},tulle-register-tiles{factors=" + (options.deterministic ? "false " : "true ") +
           vectorOptions(options) + "},tulle-expand-exp,tulle-expand-bf16,tulle-vectorize{" +
           // Samples depend on the part of a loop that a thread has.
           (options.deterministic ? "" : "sample-rows=true ") + vectorOptions(options) +
           "},tulle-expand-segments,tulle-pipeline-scatters,tulle-loop-hints)" +
           (options.parallel ? ",tulle-outline" : "");
  case Stage::Llvm:
    // Allocation goes through functions that the engine binds: unlike malloc, they may refuse.
    // Masks of vectors have no lowering in convert-to-llvm.
    return "convert-scf-to-cf,func.func(convert-complex-to-standard),convert-vector-to-llvm{enable-x86vector="
           "true},finalize-memref-"
           "to-llvm{use-generic-functions=true},"
           "convert-to-llvm,reconcile-unrealized-casts,tulle-attach-loop-metadata,tulle-launch,tulle-noalias,"
           "tulle-entry";
  }
  llvm_unreachable("a stage outside its enumeration");
}

mlir::LogicalResult run(mlir::ModuleOp module, Stage from, Stage to, const Options &options) {
  mlir::PassManager manager(module.getContext());
  for (const StageInfo &info : stageTable) {
    std::string text = info.stage > from && info.stage <= to ? passes(info.stage, options) : "";
    if (!text.empty() && mlir::failed(mlir::parsePassPipeline(text, manager, llvm::errs())))
      return module.emitError("the passes of stage '") << info.name << "' are not registered: " << text;
  }
#ifdef NDEBUG
  // Verifying after each pass takes a third of the passes' time: once for each stage, then.
  manager.enableVerifier(false);
  return mlir::success(mlir::succeeded(manager.run(module)) && mlir::succeeded(mlir::verify(module)));
#else
  return manager.run(module);
#endif
}

} // namespace tulle::pipeline
