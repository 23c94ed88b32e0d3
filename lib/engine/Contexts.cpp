#include "engine/Contexts.h"
#include "dialect/Costs.h"
#include "mlir/IR/Remarks.h"
#include "pipeline/Stages.h"
#include <algorithm>
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
  (void)mlir::remark::enableOptimizationRemarks(*held, std::make_unique<ReasonStreamer>(reasonTexts),
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(),
                                                categories);
}

ContextLease::~ContextLease() {
  handler.reset();
  held->setRemarkEngine(nullptr);
  if (++uses >= mostUses)
    return;
  std::lock_guard lock(poolMutex);
  pool().push_back({std::move(held), uses});
}

} // namespace tulle::engine
