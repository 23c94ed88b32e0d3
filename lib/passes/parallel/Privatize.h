// Copies of a dense tensor, or of a part of it, that threads add to instead of the tensor itself.
#pragma once
#include "passes/parallel/SetLoops.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::parallel {

/// Values that are the storage of what a loop carries first.
class Aliases {
public:
  Aliases(Operation *loop);
  bool contains(Value value) const { return all.contains(value); }

private:
  llvm::SmallSetVector<Value, 8> all;
};

/// One operation by which all stores below change what was there; null where there is none.
Operation *combinerOfStores(Operation *loop, const Aliases &aliases);

/// Whether all of the tensor's levels are dense, over digits of its dimensions.
bool isDense(mlir::RankedTensorType type);

/// So many copies in `memory` of what is below one coordinate of the levels before `first`: a tensor that is
/// dense over the copy, then over the levels from `first` on, so that copies are stored as that is.
Value copiesOf(mlir::OpBuilder &b, mlir::Location loc, Value tensor, size_t first, Value memory, Value count);

/// Makes code that works on the tensor, below the iterator `base` only if there is one, work on a copy.
void redirect(Operation *loop, const Aliases &aliases, Value copies, Value copy, dialect::LocateOp base = {});

} // namespace tulle::parallel
