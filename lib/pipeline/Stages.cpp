// The text of each stage's passes, and the one place that runs it.
#include "pipeline/Stages.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/ranges.h>
#include <ranges>

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
  const auto *found = llvm::find_if(stageTable, [&](const StageInfo &info) { return info.name == name; });
  return found == std::end(stageTable) ? std::nullopt : std::optional(found->stage);
}

std::string stageNames() {
  return fmt::format("{}", fmt::join(std::views::transform(stageTable, &StageInfo::name), ", "));
}

std::string passes(Stage stage, const Options &options) {
  const std::string vectors = fmt::format("vl={} index32={}", options.vectorLength, options.index32);
  switch (stage) {
  case Stage::Notation:
  case Stage::Linalg:
  case Stage::LlvmIr:
  case Stage::Asm:
    return "";
  case Stage::Iteration:
    return fmt::format(
        "func.func(tulle-expand-query,tulle-expand-convert,tulle-resolve-slices,"
        "tulle-resolve-order,tulle-hoist-convert,tulle-sparsify{{strategy={}}},canonicalize,"
        "tulle-fuse-init{}{}{})",
        options.strategy,
        options.parallel ? fmt::format(",tulle-parallelize{{deterministic={}}}", options.deterministic) : "",
        options.iterationPasses.empty() ? "" : ",", options.iterationPasses);
  case Stage::Assembly:
    return fmt::format("tulle-choose-assembly,tulle-expand-assembly{{parallel={}}},func.func(canonicalize)",
                       options.parallel);
  case Stage::Loops:
    return "tulle-lower-build-levels,tulle-lower-collect,tulle-lower-sort,tulle-lower-append,"
           "tulle-lower-sort-segments,tulle-lower-unique,tulle-lower-histogram,tulle-lower-scan,"
           "tulle-lower-scatter-entries,tulle-lower-chained-scan,tulle-inline-entries,"
           "func.func(canonicalize,tulle-index-operands,tulle-insert-copies),tulle-lower,func.func("
           "canonicalize,loop-invariant-code-motion,cse,"
           "tulle-coalesce-segments,tulle-hoist-allocations)";
  case Stage::Vector:
    // Samples depend on the part of a loop that a thread has.
    return fmt::format("func.func(tulle-vectorize-block-rows,tulle-peel-partial-tiles,tulle-pack-operands,"
                       "tulle-cache-block,tulle-version-loops{{vl={}}},tulle-register-tiles{{factors={} {}}},"
                       "tulle-expand-exp,tulle-expand-bf16,tulle-vectorize{{{}{}}},tulle-expand-segments,"
                       "tulle-pipeline-scatters,tulle-loop-hints){}",
                       options.vectorLength, !options.deterministic, vectors,
                       options.deterministic ? "" : "sample-rows=true ", vectors,
                       options.parallel ? ",tulle-outline" : "");
  case Stage::Llvm:
    // Allocation goes through functions that the engine binds: unlike malloc, they may refuse.
    // Masks of vectors have no lowering in convert-to-llvm.
    return "convert-scf-to-cf,func.func(convert-complex-to-standard),convert-vector-to-llvm{enable-x86vector="
           "true},finalize-memref-to-llvm{use-generic-functions=true},"
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
