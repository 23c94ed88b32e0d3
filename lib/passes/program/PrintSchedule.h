// The choices that the loops of statements show, as the text of a schedule.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tulle::passes::program {

/// The schedule of a module whose functions are statements, each lowered to loops over sets of coordinates: a
/// text that --schedule takes, and which gives the same loops. What no primitive says is a comment.
std::string printSchedule(mlir::ModuleOp module);

} // namespace tulle::passes::program
