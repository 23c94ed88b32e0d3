// One module on its way through the stages, and the reused context that it lives in.
#pragma once
#include "engine/Codegen.h"
#include "engine/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "pipeline/Stages.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::engine {

/// A context that is used again, and the passes that were made for it.
struct PooledContext {
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<pipeline::PassManagers> managers;
  unsigned uses = 0; ///< compilations before this one
};

/// Holds one context of the pool for one compilation, collecting what the passes say. Contexts run
/// single-threaded (locks cost more than threads gain on modules this small), so each is used by one
/// compilation at a time.
class ContextLease {
public:
  ContextLease();
  ~ContextLease();
  ContextLease(const ContextLease &) = delete;

  mlir::MLIRContext &context() { return *held.context; }
  pipeline::PassManagers &passManagers() { return *held.managers; }
  const std::vector<std::string> &remarks() const { return remarkTexts; }
  /// The errors so far with their notes, one per line; empty when there were none.
  const std::string &errors() const { return errorText; }
  /// Where the first error points into a text; nothing where it points nowhere.
  std::optional<mlir::FileLineColRange> place() const { return errorPlace; }

  /// From now on, reasons of what passes choose are kept.
  void keepReasons();
  /// One line each, in the order in which passes said them, each once.
  const std::vector<std::string> &reasons() const { return reasonTexts; }

private:
  PooledContext held;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
  std::vector<std::string> remarkTexts, reasonTexts;
  std::string errorText;
  std::optional<mlir::FileLineColRange> errorPlace;
};

/// What a program became besides its code.
struct Signature {
  std::vector<CompiledStatement> statements;
  std::vector<notation::Loop> loops;
  std::vector<std::string> remarks;
};

/// A text that errors may point into, as locations in the module do.
struct SourceText {
  std::string text, name;
};

/// A line of a stage's text, and the statement of the program that it is of: line and column where that
/// begins, or 0 where it is of none in particular.
struct ExplainedLine {
  std::string text;
  unsigned line = 0, column = 0;
};

class Compilation {
public:
  using Build = std::function<mlir::OwningOpRef<mlir::ModuleOp>(mlir::MLIRContext &)>;

  /// `source` is the text errors show, `tensors` the names that arguments may have; `build` makes the module
  /// of stage 1, whose locations point into `schedule`.
  Compilation(std::string source, std::vector<std::string> tensors, const pipeline::Options &options,
              const Build &build, SourceText schedule = {}, const Target &target = host());

  /// Runs all stages. Throws Error for what the passes refuse, InternalError for our own mistakes.
  ObjectCode object();
  /// The same up to the LLVM dialect; `code()` is that then.
  Signature lower();
  mlir::ModuleOp code() { return *module; }
  /// The module at a stage from Linalg on, below the reasons of what was chosen on the way there.
  std::string text(pipeline::Stage stage);
  /// The module at one stage of those that are behind it, from Linalg on but for Schedule, line by line.
  std::vector<ExplainedLine> lines(pipeline::Stage stage);
  const std::vector<std::string> &reasons() const { return lease.reasons(); }
  void keepReasons() { lease.keepReasons(); }

private:
  void advance(pipeline::Stage stage);
  /// What was chosen, as a schedule.
  std::string scheduleText();
  /// The reasons of what was chosen, as comments, and the code.
  std::string withReasons(std::string_view comment, const std::string &code) const;
  void advanceTo(pipeline::Stage stage);
  std::string generate(CodeForm form);
  std::vector<CompiledStatement> statements();
  std::vector<notation::Loop> loops();
  unsigned tensorNamed(mlir::Attribute name) const;

  std::string source;
  SourceText schedule;
  std::vector<std::string> tensors;
  pipeline::Options options;
  const Target &target;
  ContextLease lease;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pipeline::Stage reached = pipeline::Stage::Linalg;
};

/// The compilation of a conversion between formats whose widths are resolved: of a statement that makes a
/// new tensor, with arrays of its own. The target stores its values.
Compilation conversionCompilation(ElementType type, const format::Encoding &from, const format::Encoding &to,
                                  bool index32, const Options &options, const Target &target = host());

/// The compilation of a program.
Compilation compilationOf(const notation::Program &program, const Options &options,
                          const Target &target = host());

} // namespace tulle::engine
