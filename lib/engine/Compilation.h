// One module on its way through the stages.
#pragma once
#include "engine/Contexts.h"
#include "engine/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pipeline/Stages.h"
#include <functional>

namespace tulle::engine {

enum class CodeForm : uint8_t;

class Compilation {
public:
  using Build = std::function<mlir::OwningOpRef<mlir::ModuleOp>(mlir::MLIRContext &)>;

  /// `source` is the text errors show, `tensors` the names that arguments may have; `build` makes the module
  /// of stage 1.
  Compilation(std::string source, std::vector<std::string> tensors, const pipeline::Options &options,
              const Build &build);

  /// Runs all stages. Throws Error for what the passes refuse, InternalError for our own mistakes.
  ObjectCode object();
  /// The module at a stage from Linalg on, below the reasons of what was chosen on the way there.
  std::string text(pipeline::Stage stage);

private:
  void advance(pipeline::Stage stage);
  std::string codeAt(pipeline::Stage stage);
  std::string generate(CodeForm form);
  std::vector<StatementCode> statements();
  unsigned tensorNamed(mlir::Attribute name) const;

  std::string source;
  std::vector<std::string> tensors;
  pipeline::Options options;
  ContextLease lease;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pipeline::Stage reached = pipeline::Stage::Linalg;
};

} // namespace tulle::engine
