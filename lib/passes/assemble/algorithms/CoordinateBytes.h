// The coordinates of one fiber that many entries meet at, as a set that is emptied in order.
#pragma once
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// Filled in any order, visited in ascending order, and emptied by the visit: CoordinateBits with a byte for
/// each key, and one for each 64 of these. Nothing is read where a key is marked, so that keys next to each
/// other do not wait for each other; the visit looks at all of the upper bytes.
class CoordinateBytes {
public:
  /// An empty set of keys below `size`; memory of the call.
  CoordinateBytes(const Target &target, mlir::Value size);

  void insert(mlir::Value key) const;
  /// Visits the keys in ascending order and empties the set.
  void drain(llvm::function_ref<void(mlir::Value)> visit) const;
  /// The set is empty.
  void free() const;

private:
  mlir::Value emptyGroups(mlir::Value count) const;
  void eachByte(mlir::Value bytes, mlir::Value group, llvm::function_ref<void(mlir::Value)> visit) const;

  const Target &target;
  mlir::Value groups; ///< of the summary
  mlir::Value bytes, summary;
};

} // namespace tulle::assemble
