#include "engine/Contexts.h"
#include "pipeline/Stages.h"
#include <mutex>

namespace tulle::engine {

/// A context keeps every type and attribute it has ever seen, so it is given up after this many compilations.
static constexpr unsigned mostUses = 256;

struct PooledContext {
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned uses;
};

static std::mutex poolMutex;
/// Never destroyed: other static objects may still compile while the process ends.
static std::vector<PooledContext> &pool() {
  static auto *contexts = new std::vector<PooledContext>;
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
      held = std::move(pool().back().context);
      uses = pool().back().uses;
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
  if (++uses >= mostUses)
    return;
  std::lock_guard lock(poolMutex);
  pool().push_back({std::move(held), uses});
}

} // namespace tulle::engine
