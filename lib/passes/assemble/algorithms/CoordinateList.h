// Entries in memory, as a list of their coordinates and values.
#pragma once
#include "passes/assemble/algorithms/StagedRecords.h"

namespace tulle::assemble {

/// Emits accesses to a list of entries, each a record of coordinates and value.
class CoordinateList {
public:
  /// New memory for `bound` entries of the target, whose sizes the records' coordinates must hold.
  CoordinateList(mlir::OpBuilder &b, const Target &target, mlir::Value bound);
  /// The list that a buffer holds.
  CoordinateList(const Target &target, mlir::Value list);

  mlir::Value buffer() const { return list; }
  const StagedRecords &layout() const { return records; }
  void put(mlir::OpBuilder &b, mlir::Value at, mlir::ValueRange dims, mlir::Value value) const;
  /// The dimensions' coordinates of one entry, and its value.
  std::pair<Values, mlir::Value> at(mlir::OpBuilder &b, mlir::Value place) const;
  /// Visits the first `count` entries in order: `visit(b, dims, value)`.
  void forEach(mlir::OpBuilder &b, mlir::Value count,
               llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange, mlir::Value)> visit) const;
  void free(mlir::OpBuilder &b) const;

private:
  const Target &target;
  StagedRecords records;
  mlir::Value list;
};

} // namespace tulle::assemble
