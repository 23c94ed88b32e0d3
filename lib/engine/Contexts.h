// MLIR contexts, reused: making one costs more than compiling a small statement.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <string>
#include <vector>

namespace tulle::engine {

/// Holds one context of the pool for one compilation, collecting what the passes say. Contexts run
/// single-threaded (locks cost more than threads gain on modules this small), so each is used by one
/// compilation at a time.
class ContextLease {
public:
  ContextLease();
  ~ContextLease();
  ContextLease(const ContextLease &) = delete;

  mlir::MLIRContext &context() { return *held; }
  const std::vector<std::string> &remarks() const { return remarkTexts; }
  /// The errors so far with their notes, one per line; empty when there were none.
  const std::string &errors() const { return errorText; }

  /// From now on, reasons of what passes choose are kept.
  void keepReasons();
  /// One line each, in the order in which passes said them, each once.
  const std::vector<std::string> &reasons() const { return reasonTexts; }

private:
  std::unique_ptr<mlir::MLIRContext> held;
  unsigned uses = 0; ///< of the context, before this one
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
  std::vector<std::string> remarkTexts, reasonTexts;
  std::string errorText;
};

} // namespace tulle::engine
