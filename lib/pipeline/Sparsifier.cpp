// The five steps of a drop-in for upstream's sparsifier: rewrite, copy, outline, lower the boundary, and the
// tail to LLVM as upstream composes it.
#include "pipeline/Sparsifier.h"
#include "iteration/Cpu.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/boundary/BoundaryPasses.h"
#include "pipeline/Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <fmt/format.h>
#include <mutex>

using namespace mlir;

namespace tulle::pipeline {

/// Stages of kernels, each a function of its own.
static std::string kernelStages(Stage first, Stage last, const SparsifierOptions &options) {
  Options own;
  own.vectorLength = options.vectorLength;
  own.parallel = options.parallel;
  std::string text;
  for (const StageInfo &info : stages())
    if (info.stage >= first && info.stage <= last)
      if (std::string passes = pipeline::passes(info.stage, own); !passes.empty())
        text += (text.empty() ? "" : ",") + passes;
  return text;
}

/// The table's row for a name.
static std::string rowOf(const std::string &cpu) {
  if (cpu != "native")
    return cpu;
  const llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  return std::string(iteration::chooseCpu(llvm::sys::getHostCPUName().str(), [&](std::string_view name) {
                       return found.lookup({name.data(), name.size()});
                     }).name);
}

std::string sparsifierPasses(const SparsifierOptions &options) {
  const std::string copies = fmt::format(
      "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),tulle-rewrite-sparse-ops,"
      "func.func(empty-tensor-to-alloc-tensor),tulle-insert-tensor-copies{{analysis-only={}}}",
      options.analysisOnly);
  if (options.analysisOnly)
    return copies;
  // Conversions that kernels ask for become kernels themselves, at the stage where the others are by then.
  const std::string kernels = fmt::format(
      "tulle-expand-slices,tulle-expand-foreach,tulle-expand-compress,tulle-expand-inserts,tulle-"
      "expand-explicit-"
      "values,tulle-expand-"
      "reshape,tulle-expand-disassemble,"
      "tulle-expand-constants,tulle-expand-files,tulle-"
      "expand-assemble,tulle-split-ops,tulle-outline-kernels{{cpu={}}},"
      "builtin.module(tulle-import-sparse-tensor{{reassociate={}}},{}),tulle-call-conversions,"
      "builtin.module(func.func(tulle-expand-convert),{},func.func(tulle-expand-filled-buffers,"
      "tulle-free-allocations))",
      rowOf(options.cpu), options.reassociate, kernelStages(Stage::Schedule, Stage::Schedule, options),
      kernelStages(Stage::Iteration, Stage::Vector, options));
  const std::string vectors = fmt::format("convert-vector-to-llvm{{reassociate-fp-reductions={} "
                                          "force-32bit-vector-indices={} enable-x86vector=true}}",
                                          options.reassociate, options.vectorIndices32);
  return fmt::format(
      "{},{},tulle-lower-boundary,tulle-define-errors,sparse-buffer-rewrite{{enable-buffer-initialization={}}"
      "},"
      "tulle-bufferize-dense,sparse-storage-specifier-to-llvm,"
      "func.func(canonicalize,convert-linalg-to-loops,convert-vector-to-scf,expand-realloc,convert-scf-to-cf)"
      ","
      "expand-strided-metadata,lower-affine,{},func.func(convert-complex-to-standard,arith-expand,"
      "convert-math-to-llvm),convert-math-to-libm,convert-complex-to-libm,{},convert-to-llvm,"
      "reconcile-unrealized-casts,tulle-attach-loop-metadata{},tulle-noalias",
      copies, kernels, options.initializeBuffers, vectors, vectors,
      options.parallel ? ",tulle-launch,tulle-define-threads" : "");
}

/// Of the passes that the text names.
static void registerPasses() {
  passes::registerTullePasses();
  passes::registerTulleBoundaryPasses();
  arith::registerArithPasses();
  bufferization::registerBufferizationPasses();
  memref::registerMemRefPasses();
  registerLinalgPasses();
  registerSparseTensorPasses();
  registerConversionPasses();
  registerTransformsPasses();
}

LogicalResult addSparsifier(OpPassManager &manager, const SparsifierOptions &options) {
  static std::once_flag once;
  std::call_once(once, registerPasses);
  return parsePassPipeline(sparsifierPasses(options), manager, llvm::errs());
}

//===--- The command line ---===//

namespace {

enum class Parallelization { None, DenseOuter, AnyOuter, DenseAny, Any };
enum class Emit { Functional, Iterator };

/// Upstream's options by their names. Those that say how upstream's code does what ours does anyway are
/// taken, and make no difference.
struct CommandLine : PassPipelineOptions<CommandLine> {
  Option<bool> analysisOnly{*this, "test-bufferization-analysis-only",
                            llvm::cl::desc("Run only the analysis of what is written in place"),
                            llvm::cl::init(false)};
  Option<bool> initializeBuffers{*this, "enable-buffer-initialization",
                                 llvm::cl::desc("Initialize buffers of push_back with zeros"),
                                 llvm::cl::init(false)};
  Option<bool> reassociate{*this, "reassociate-fp-reductions",
                           llvm::cl::desc("Allow floating-point reductions to be reassociated"),
                           llvm::cl::init(false)};
  Option<bool> indices32{*this, "enable-index-optimizations",
                         llvm::cl::desc("Vector code takes indices for 32 bits"), llvm::cl::init(false)};
  Option<unsigned> vectorLength{*this, "vl", llvm::cl::desc("Elements of a vector (0: chosen for each type)"),
                                llvm::cl::init(0)};
  Option<std::string> cpu{*this, "cpu",
                          llvm::cl::desc("Processor that kernels are planned for: native, a name of "
                                         "#tulle.cpu, or none for a generic one")};
  Option<bool> runtimeLibrary{*this, "enable-runtime-library",
                              llvm::cl::desc("Makes no difference: there is none"), llvm::cl::init(false)};
  Option<bool> sparseDeallocs{*this, "create-sparse-deallocs",
                              llvm::cl::desc("Makes no difference: temporary tensors are always freed"),
                              llvm::cl::init(true)};
  Option<Parallelization> parallelization{
      *this, "parallelization-strategy",
      llvm::cl::desc("With threads: none keeps loops serial; the others make no difference"),
      llvm::cl::init(Parallelization::None),
      llvm::cl::values(clEnumValN(Parallelization::None, "none", ""),
                       clEnumValN(Parallelization::DenseOuter, "dense-outer-loop", ""),
                       clEnumValN(Parallelization::AnyOuter, "any-storage-outer-loop", ""),
                       clEnumValN(Parallelization::DenseAny, "dense-any-loop", ""),
                       clEnumValN(Parallelization::Any, "any-storage-any-loop", ""))};
  Option<bool> threads{
      *this, "threads",
      llvm::cl::desc("Loops of kernels run on OpenMP's threads, where parallelization-strategy is not none"),
      llvm::cl::init(false)};
  Option<Emit> emit{*this, "sparse-emit-strategy",
                    llvm::cl::desc("Makes no difference: both are the same code"),
                    llvm::cl::init(Emit::Functional),
                    llvm::cl::values(clEnumValN(Emit::Functional, "functional", ""),
                                     clEnumValN(Emit::Iterator, "sparse-iterator", ""))};
};

} // namespace

void registerSparsifier() {
  passes::registerTulleBoundaryPasses();
  // PassPipelineRegistration has no way to fail.
  registerPassPipeline(
      "tulle-sparsifier", "Lower a module with sparse_tensor and other dialects to LLVM",
      [](OpPassManager &manager, StringRef text, function_ref<LogicalResult(const Twine &)>) {
        CommandLine line;
        if (failed(line.parseFromString(text)))
          return failure();
        return addSparsifier(manager,
                             {.analysisOnly = line.analysisOnly,
                              .initializeBuffers = line.initializeBuffers,
                              .reassociate = line.reassociate,
                              .vectorIndices32 = line.indices32,
                              .parallel = line.threads && line.parallelization != Parallelization::None,
                              .vectorLength = line.vectorLength,
                              .cpu = line.cpu});
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(CommandLine()); });
}

} // namespace tulle::pipeline
