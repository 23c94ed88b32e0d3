// Which phase of assembly an operation belongs to: remapping, analysis or assembly. Kept in locations, which
// the passes behind carry along, and shown by `tulle explain` as comments.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tulle::assemble {

/// Marks what is built during its life, but what lies within another phase's.
class Phase {
public:
  Phase(mlir::OpBuilder &b, std::string text);
  ~Phase();
  Phase(const Phase &) = delete;

private:
  mlir::OpBuilder &b;
  mlir::Block *block;
  mlir::Operation *before; ///< what the phase begins behind; null at the block's start
  std::string text;
};

/// The text of a module with a comment where a phase begins.
std::string printWithPhases(mlir::ModuleOp module);

} // namespace tulle::assemble
