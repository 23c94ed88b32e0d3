// Replaces function arguments that are slices by the tensors they were cut from.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::dialect {

/// The slice of every dimension of the tensor's encoding; nothing where a dimension is whole.
llvm::SmallVector<std::optional<format::Slice>> slicesOf(mlir::RankedTensorType type);

/// Whether the entries of a part of a dimension that the level stores are found by search: they are
/// neighbours.
bool canBeCut(const format::LevelFormat &level);

/// Makes a function's argument the tensor that its slices were cut from, and notes what the caller has in
/// `tulle.whole`. The sizes of sliced dimensions become constants; whoever else uses the argument must be
/// rewritten.
void replaceSliceByWhole(mlir::BlockArgument arg);

} // namespace tulle::dialect
