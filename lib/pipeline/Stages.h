// The stages between text and machine code, by name, and the passes that lead from each to the next: the only
// place that orders passes.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tulle::pipeline {

/// In the order of the pipeline. Notation, LlvmIr and Asm are texts that no MLIR pass makes. At Schedule each
/// statement is a function of loops of its own.
enum class Stage : uint8_t {
  Notation,
  Linalg,
  Schedule,
  Iteration,
  Assembly,
  Loops,
  Vector,
  Llvm,
  LlvmIr,
  Asm
};

struct StageInfo {
  Stage stage;
  std::string_view name; ///< as in `--until` and `explain --stage`
  std::string_view what; ///< one line for help texts
};

std::span<const StageInfo> stages();
/// The stage of that name. Throws Error where there is none.
Stage stageNamed(std::string_view name);
/// `notation, linalg, …`, for messages.
std::string stageNames();

struct Options {
  unsigned vectorLength = 0;     ///< elements of a vector; 0: chosen for the element type
  bool index32 = false;          ///< every coordinate fits a signed 32-bit integer
  bool parallel = false;         ///< loops are partitioned among threads
  bool deterministic = false;    ///< in tasks that do not depend on their number
  bool quick = false;            ///< machine code that comes sooner and runs slower
  std::string strategy = "auto"; ///< of loops over sets of coordinates, as in `tulle.coiterate`
  std::string upstreamPasses;    ///< MLIR's, of functions, as text, run behind every pass. For tests
  uint64_t lowerFirst = 0;   ///< draws loops over sets that are lowered before the others; 0: none. For tests
  bool scalable = false;     ///< vectorLength elements are those of one granule of a scalable vector
  std::string tail = "auto"; ///< the iterations behind the last whole vector, as in tulle-vectorize
  std::map<std::string, int64_t> figures; ///< of the processor, in place of its own. For tests
};

/// The passes from the stage before to `stage`, as text; empty where none are needed.
std::string passes(Stage stage, const Options &options);

/// Makes the passes known by name (once per process), and adds to `registry` the dialects modules of these
/// stages hold, with what their lowering to LLVM needs.
void registerAll(mlir::DialectRegistry &registry);

/// The pass managers of one context, which must outlive this. Each is made when it is first needed and kept:
/// making the patterns of its canonicalizations and conversions is a part of a small kernel's compile time.
class PassManagers {
public:
  explicit PassManagers(mlir::MLIRContext &context) : context(context) {}

  /// Runs the passes from `from` (exclusive) to `to` (inclusive, at most Llvm) on a module of the context.
  /// Failure leaves diagnostics with the context's handlers.
  mlir::LogicalResult run(mlir::ModuleOp module, Stage from, Stage to, const Options &options);

private:
  /// The passes that a text names; null, with an error at the module, where one is not registered.
  mlir::PassManager *managerOf(const std::string &text, mlir::ModuleOp module);

  mlir::MLIRContext &context;
  std::map<std::string, std::unique_ptr<mlir::PassManager>> byText;
};

} // namespace tulle::pipeline
