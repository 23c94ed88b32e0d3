// The choices that the loops of statements show, as the text of a schedule.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tulle::passes::program {

/// The schedule that a program has: a text that --schedule takes, and which gives the same loops. What no
/// primitive says is a comment.
class ProgramSchedule {
public:
  /// Reads a module whose functions are statements, each lowered to loops over sets of coordinates.
  explicit ProgramSchedule(mlir::ModuleOp module);
  /// The whole text, with what was chosen for the loops of the program, which `fused` has.
  std::string print(mlir::ModuleOp fused) const;

private:
  struct Statement {
    std::string name;
    bool isRead; ///< by a later one
  };
  std::string places(mlir::ModuleOp fused) const;
  std::string threads(mlir::ModuleOp fused) const;

  std::string text; ///< of each statement by itself
  std::vector<Statement> statements;
};

} // namespace tulle::passes::program
