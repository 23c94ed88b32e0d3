#include "engine/Contexts.h"
#include "pipeline/Stages.h"
#include <mutex>

namespace tulle::engine {

static std::mutex poolMutex;
/// Never destroyed: other static objects may still compile while the process ends.
static std::vector<std::unique_ptr<mlir::MLIRContext>> &pool() {
  static auto *contexts = new std::vector<std::unique_ptr<mlir::MLIRContext>>;
  return *contexts;
}

static std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  pipeline::registerAll(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  return context;
}

ContextLease::ContextLease() {
  {
    std::lock_guard lock(poolMutex);
    if (!pool().empty()) {
      held = std::move(pool().back());
      pool().pop_back();
    }
  }
  if (!held)
    held = makeContext();
  handler = std::make_unique<mlir::ScopedDiagnosticHandler>(held.get(), [this](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) {
      remarkTexts.push_back(diagnostic.str());
      return mlir::success();
    }
    errorText += (errorText.empty() ? "" : "\n") + diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      errorText += "\nnote: " + note.str();
    return mlir::success();
  });
}

ContextLease::~ContextLease() {
  handler.reset();
  std::lock_guard lock(poolMutex);
  pool().push_back(std::move(held));
}

} // namespace tulle::engine
