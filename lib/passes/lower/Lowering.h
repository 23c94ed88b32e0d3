// The state of lowering one function from stage 2 to stage 3.
#pragma once
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/lower/Space.h"

namespace tulle::lower {

/// Builds the lowered body next to the old one, op by op in order. A value of stage 2 is, after lowering, one
/// of: a plain value, the storage of a function argument or of a tensor made here, an iterator, a space, or a
/// range.
class Lowering {
public:
  explicit Lowering(mlir::func::FuncOp func)
      : func(func), b(func.getContext()), model(dialect::costModel(func)) {}

  /// Replaces the function by its lowered form. Errors are reported; the function is then left as it was.
  mlir::LogicalResult run();

private:
  friend class CoiterateLowering;

  // Lower.cpp: functions, and ops without loops.
  mlir::LogicalResult check();
  mlir::func::FuncOp createFunction();
  void nameBuffers(mlir::Block &entry, llvm::ArrayRef<unsigned> first);
  const levels::Storage *addStorage(mlir::Value tensor, mlir::ValueRange fields, mlir::ValueRange dims);
  Values returned(mlir::ValueRange operands) const;
  void lowerBlock(mlir::Block &block);
  void lowerOp(mlir::Operation &op);
  void lowerPlain(mlir::Operation &op);
  void lowerSpace(dialect::SpaceOp op);
  void lowerLocate(dialect::LocateOp op);
  void lowerSearch(dialect::SearchOp op);
  void lowerSpaceSize(dialect::SpaceSizeOp op);
  void lowerLoad(dialect::LoadOp op);
  void lowerValues(dialect::ValuesOp op);
  void lowerStore(dialect::StoreOp op);
  void lowerFill(dialect::FillOp op);
  void lowerStorage(dialect::StorageOp op);
  void lowerWithValues(dialect::WithValuesOp op);

  // LowerTables.cpp
  void lowerPositionTable(dialect::PositionTableOp op);
  void lowerLookup(dialect::LookupOp op);

  // LowerCoordinates.cpp
  void lowerCoordinates(dialect::CoordinatesOp op);

  // LowerLoops.cpp: ops with regions.
  void lowerIf(mlir::scf::IfOp op);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIterate(dialect::IterateOp op);

  // LowerPartitions.cpp: parallel regions and partitions.
  void lowerParallel(dialect::ParallelOp op);
  /// Whether the space can be cut; an error of the operation where it cannot.
  bool checkPartition(mlir::Operation *op, const Space &space);
  void lowerPartition(dialect::PartitionOp op);
  void lowerThreads(dialect::ThreadsOp op);
  void lowerWork(dialect::WorkOp op);
  void lowerPartitionBoundary(dialect::PartitionBoundaryOp op);
  void lowerSlice(dialect::SliceOp op);
  void lowerRestrict(dialect::RestrictOp op);

  // PrefetchSegments.cpp
  /// Prefetches the memory of what the loop will reach by coordinates it reads, some iterations ahead of the
  /// one at `position` of its space.
  void prefetchAhead(dialect::IterateOp op, const Space &space, mlir::Value position);

  // Coiterate.cpp
  void lowerCoiterate(dialect::CoiterateOp op);
  // Flagged.cpp
  Values lowerFlagged(dialect::CoiterateOp op, mlir::ValueRange inits);

  /// Visits the coordinates of [begin, end) in storage order, repeated ones once or, with `each`, position by
  /// position: `body(coordinate, iterator, carried) -> carried`.
  Values walk(mlir::Location loc, const Space &space, mlir::Value begin, mlir::Value end,
              dialect::LoopAttr loop, bool each, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value, const levels::Iterator &, Values)> body);

  // Carried values: those that are tensors are storage already, so only the others travel at run time.
  Values plain(mlir::ValueRange carried) const;
  void bindCarried(mlir::ValueRange targets, mlir::ValueRange inits, mlir::ValueRange plainValues);
  /// The terminator's operands without tensors; checks that tensors keep their storage.
  Values yielded(mlir::Block &block, mlir::ValueRange inits);
  /// Emits a loop body once; its first argument is the coordinate, then its iterators, their presence flags,
  /// if it has any, then the carried values.
  Values emitBody(mlir::Region &region, mlir::Value coordinate, llvm::ArrayRef<levels::Iterator> iterators,
                  mlir::ValueRange inits, mlir::ValueRange plainValues,
                  llvm::ArrayRef<mlir::Value> flags = {});

  Space spaceAt(mlir::Location loc, mlir::Value tensor, uint64_t level, mlir::Value parent);
  std::optional<levels::Iterator> parentIterator(mlir::Value parent) const;

  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  const iteration::CostModel model;
  mlir::IRMapping values;
  llvm::DenseMap<mlir::Value, const levels::Storage *> tensors;
  llvm::DenseMap<mlir::Value, levels::Iterator> iterators;
  llvm::DenseMap<mlir::Value, Space> spaces;
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, mlir::Value>> ranges;
  std::vector<std::unique_ptr<levels::Storage>> storages;
  llvm::DenseSet<const levels::Storage *> made; ///< in this function: returned as its buffers
  bool ok = true;
};

} // namespace tulle::lower
