// What a schedule says of a statement, as attributes of its linalg.generic.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "notation/Program.h"

namespace tulle::passes {

/// Where a primitive stands in the text of the schedule.
mlir::Location scheduleLocation(mlir::Builder &b, const notation::Program &program,
                                const support::SourceRange &range);

/// Puts on the op what the schedule says of the statement's loops, and where it says so; conversions are ops.
/// `main`: the op has these loops, and not those that add increments to a new tensor; `computed`: its result
/// is a new tensor.
void importSchedule(mlir::linalg::GenericOp generic, const notation::Program &program,
                    const notation::Statement &statement, bool main, bool computed);

} // namespace tulle::passes
