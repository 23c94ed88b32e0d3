// The state of lowering one function from stage 2 to stage 3.
#pragma once
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/lower/Space.h"

namespace tulle::lower {

/// Builds the lowered body next to the old one, op by op in order. A value of stage 2 is, after lowering, one
/// of: a plain value, the storage of a function argument or of a tensor made here, an iterator, or a space
/// (ranges are spaces, too).
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
  const levels::Storage *addStorage(Value tensor, ValueRange fields, ValueRange sizes);
  Values returned(ValueRange operands) const;
  void lowerBlock(mlir::Block &block);
  void lowerOp(mlir::Operation &op);
  void lowerPlain(mlir::Operation &op);
  Iterator iteratorOf(const Emitter &emit, Value iterator) const;
  void lower(dialect::LoadOp op);
  void lower(dialect::StoreOp op);
  void lower(dialect::FillOp op);
  void lower(dialect::LikeOp op);
  void lower(dialect::LevelSizeOp op);
  void lower(dialect::StoredCountOp op);
  void lower(dialect::ValuesOp op);
  void lower(dialect::WithValuesOp op);
  void lower(dialect::EmptyOp op);
  void lower(dialect::StorageOp op);
  void lower(mlir::tensor::DimOp op);
  void lower(mlir::tensor::CastOp op);

  // LowerIndirect.cpp: tensors of integers that give coordinates; tensors of other dimensions.
  void lower(dialect::ReshapeOp op);
  void lower(dialect::BoundedIndicesOp op);
  void lower(dialect::DistinctIndicesOp op);
  void lower(dialect::OneHotOp op);

  // LowerSpaces.cpp: spaces, and iterators in them.
  void lower(dialect::RangeOp op);
  void lower(dialect::SpaceOp op);
  void lower(dialect::SpaceSizeOp op);
  void lower(dialect::LocateOp op);
  void lower(dialect::SearchOp op);
  void lower(dialect::PositionTableOp op);
  void lower(dialect::LookupOp op);
  void lower(dialect::CoordinatesOp op);
  void lower(dialect::BoundsOp op);
  void lower(dialect::IteratorAtOp op);

  void lower(dialect::NextOp op);
  void lower(dialect::IterateOp op);

  // LowerControl.cpp: other ops with regions.
  void lower(mlir::scf::IfOp op);
  void lower(mlir::scf::ForOp op);
  void lower(mlir::scf::WhileOp op);
  void lower(dialect::ParallelOp op);

  // LowerSpaces.cpp: partitions.
  void lower(dialect::ThreadsOp op);
  /// Whether the space can be partitioned; an error of the operation where it cannot.
  bool checkPartition(mlir::Operation *op, const Space &space);
  void lower(dialect::PartitionOp op);
  void lower(dialect::WorkOp op);
  void lower(dialect::PartitionBoundaryOp op);

  // LowerSlices.cpp: parts of spaces and ranges.
  void lower(dialect::SliceOp op);
  void lower(dialect::RestrictOp op);
  void lower(dialect::ShiftOp op);
  void lower(dialect::BoundsBelowOp op);
  void lower(dialect::EnclosingOp op);

  // PrefetchSegments.cpp
  /// Prefetches the memory of what the loop will reach by coordinates it reads, some iterations after the one
  /// at `position` of its space.
  void prefetch(dialect::IterateOp op, const Space &space, Value position);

  // Coiterate.cpp
  void lower(dialect::CoiterateOp op);

  /// Visits the coordinates of [begin, end) in storage order, repeated ones once or, with `each`, position by
  /// position: `body(coordinate, iterator, carried) -> carried`.
  Values iterate(mlir::Location loc, const Space &space, Value begin, Value end, dialect::LoopAttr loop,
                 bool each, ValueRange carried,
                 llvm::function_ref<Values(Value, const Iterator &, Values)> body);

  // LowerControl.cpp: carried values. Those that are tensors are storage already, so only the others travel
  // at run time.
  Values plain(ValueRange carried) const;
  void bindCarried(ValueRange targets, ValueRange inits, ValueRange plainValues);
  /// The terminator's operands without tensors; checks that tensors keep their storage.
  Values yielded(mlir::Block &block, ValueRange inits);
  /// Emits a loop body once; its first argument is the coordinate, then its iterators, their presence flags,
  /// if it has any, then the carried values.
  Values emitBody(mlir::Region &region, Value coordinate, llvm::ArrayRef<Iterator> its, ValueRange inits,
                  ValueRange plainValues, llvm::ArrayRef<Value> flags = {});

  Emitter emitter(mlir::Operation *op) { return {b, op->getLoc()}; }
  /// For the index arithmetic of a tensor.
  Emitter emitter(mlir::Operation *op, Value tensor) { return {b, op->getLoc(), *tensors.lookup(tensor)}; }
  std::optional<Iterator> parentIterator(Value parent) const;
  template <typename Op> Space spaceOf(Op op, Value condition = {}) {
    return Space::create(emitter(op, op.getTensor()), unsigned(op.getLevel()), parentIterator(op.getParent()),
                         condition);
  }
  /// A body may be emitted several times, and its spaces with it.
  void bind(Value value, Space space) {
    spaces.erase(value);
    spaces.try_emplace(value, space);
  }

  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  const iteration::CostModel model;
  mlir::IRMapping values;
  llvm::DenseMap<Value, const levels::Storage *> tensors;
  llvm::DenseMap<Value, Iterator> iterators;
  llvm::DenseMap<Value, Space> spaces;
  std::vector<std::unique_ptr<levels::Storage>> storages;
  Values temporaries;                           ///< buffers that the current block frees at its end
  llvm::DenseSet<const levels::Storage *> made; ///< in this function: returned as its buffers
  bool ok = true;
};

/// InPlace.cpp: fails with a diagnostic where some store may not be done in place.
mlir::LogicalResult checkInPlace(mlir::func::FuncOp func);

} // namespace tulle::lower
