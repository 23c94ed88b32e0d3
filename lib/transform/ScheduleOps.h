// Schedules as ops of the transform dialect.
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#define GET_OP_CLASSES
#include "transform/ScheduleOps.h.inc"

namespace tulle::transform {

/// Adds `transform.tulle.*` to the transform dialect.
void registerScheduleOps(mlir::DialectRegistry &registry);

} // namespace tulle::transform
