// Privatization: copies of a dense tensor, or of a subtensor, that tasks reduce into instead of the tensor
// itself.
#pragma once
#include "passes/parallel/SetLoops.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::parallel {

/// Values whose storage is that of the first loop-carried value.
class Aliases {
public:
  Aliases(Operation *loop);
  bool contains(Value value) const { return all.contains(value); }

private:
  llvm::SmallSetVector<Value, 8> all;
};

/// The one operation by which all stores below combine with what was stored; null where there is none.
Operation *combinerOfStores(Operation *loop, const Aliases &aliases);

/// Whether all of the tensor's levels are dense, and over digits of its dimensions.
bool isDense(mlir::RankedTensorType type);

/// `count` copies in `memory` of the subtensor below one coordinate of the levels before `first`: a tensor
/// that is dense over the copy, then over the levels from `first` on.
Value copiesOf(mlir::OpBuilder &b, mlir::Location loc, Value tensor, size_t first, Value memory, Value count);

/// Redirects code that works on the tensor, below the iterator `base` only if there is one, to a copy.
void redirect(Operation *loop, const Aliases &aliases, Value copies, Value copy, dialect::LocateOp base = {});

} // namespace tulle::parallel
