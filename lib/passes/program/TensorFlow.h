// How tensors of stage 2 flow: which values continue another one in place, and which accesses touch what.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::program {

using mlir::Operation;
using mlir::OpOperand;
using mlir::Value;

inline bool isTensor(Value value) { return mlir::isa<mlir::RankedTensorType>(value.getType()); }

/// Whether the op reads what stores leave alone: sizes, positions, coordinates.
bool readsPattern(Operation *op);

/// Loops over a space or over a set of several.
bool isLoop(Operation *op);
/// What a loop's first iteration is given of its carried values.
mlir::MutableOperandRange initsOf(Operation *loop);

/// Loops that carry tensors, all of whose regions end in a yield of what they carry.
bool carriesTensors(Operation *op);
/// The carried value of that number, as an argument of a loop's region.
mlir::BlockArgument carriedArgument(mlir::Region &region, unsigned number);

/// The values that a tensor lives on in, changed or not, where it is used so: results, and arguments of the
/// regions of loops. Empty for a read.
llvm::SmallVector<Value> continuations(OpOperand &use);

/// Appends the values that a tensor may be made from in place: the operand of a store, what a loop begins
/// with and what its iterations end with.
void sources(Value tensor, llvm::SmallVectorImpl<Value> &from);

} // namespace tulle::program
