// Function arguments that are slices, and the tensors they were cut from.
#pragma once
#include "dialect/Dialect.h"
#include "mlir/IR/OpDefinition.h"

namespace tulle::dialect {

/// Coordinate c of a slice is offset + stride * c of what it was cut from: constants, or values of type
/// index.
struct SliceNumbers {
  mlir::OpFoldResult offset, size, stride;
};
/// By dimension; nothing where it is whole.
using Slices = llvm::SmallVector<std::optional<SliceNumbers>>;

/// Makes a function's argument the tensor that its slices were cut from, and notes what the caller has in
/// `tulle.whole`. A `?` becomes an argument of its own, behind the tensor (`tulle.slice`). The sizes of
/// sliced dimensions are those of the slices; whoever else uses the argument must be rewritten.
Slices replaceSliceByWhole(mlir::BlockArgument arg);

/// Erases the arguments that hold numbers of slices nobody asks for.
void eraseUnusedSliceNumbers(mlir::Operation *function);

} // namespace tulle::dialect
