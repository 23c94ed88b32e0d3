// The tensor that one tulle.assemble makes, while it is being made.
#pragma once
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "levels/LevelFormat.h"
#include "passes/assemble/LevelCoordinates.h"

namespace tulle::assemble {

using Values = llvm::SmallVector<mlir::Value>;

/// Emits what every strategy needs of the new tensor. `storage.fields` are null until allocated.
class Target {
public:
  /// Sizes are used where the builder stands: before the op.
  Target(mlir::OpBuilder &b, dialect::AssembleOp op);

  mutable dialect::AssembleOp op; ///< a handle: its accessors are not const
  mlir::Location loc;
  levels::Storage storage;
  iteration::Costs costs;
  bool parallel = false; ///< threads may share the work

  const format::Encoding &encoding() const { return storage.encoding; }
  unsigned levels() const { return unsigned(storage.encoding.levels.size()); }
  const format::LevelFormat &format(unsigned level) const { return storage.encoding.levels[level].format; }
  mlir::RankedTensorType type() const { return op.getResult().getType(); }
  levels::Emitter emitter(mlir::OpBuilder &b) const { return {b, loc, storage}; }
  /// Levels from `level` on that are dense or batch to the end.
  bool fullFrom(unsigned level) const;
  /// One more than the last level that is not dense or batch.
  unsigned storedLevels() const;

  /// The level expressions at the dimensions' coordinates, one index value per level.
  Values levelCoordinates(mlir::OpBuilder &b, mlir::ValueRange dims, Coordinates::Special special = {}) const;

  /// parents * each, the number of positions of a level; the caller hears of a size that no memory holds.
  mlir::Value checkedSize(mlir::OpBuilder &b, unsigned level, mlir::Value parents, mlir::Value each) const;
  /// The same for all positions of a level (see levels::Assembly::positions).
  mlir::Value checkedPositions(mlir::OpBuilder &b, unsigned level, mlir::Value parents,
                               mlir::Value each) const;
  /// `wide` as i64, and calls `name` with the arguments, all i64.
  void call(mlir::OpBuilder &b, llvm::StringRef name, mlir::ValueRange arguments) const;
  /// The same of a function that returns an i64, as index.
  mlir::Value callForIndex(mlir::OpBuilder &b, llvm::StringRef name, mlir::ValueRange arguments) const;
  /// Reports a value (a coordinate or position of `field`, index) that does not fit the field's width. Emits
  /// nothing where no value can be too wide.
  void checkWidth(mlir::OpBuilder &b, unsigned field, mlir::Value value) const;

  /// New memory for `count` elements of a field (2-bit coordinates: a quarter of the bytes), as its buffer.
  void allocate(mlir::OpBuilder &b, unsigned field, mlir::Value count);
  /// The field's buffer ends after `count` elements: the memory behind goes back to its owner.
  void shrink(mlir::OpBuilder &b, unsigned field, mlir::Value count);
  /// What coordinates without an entry have, as it stands in memory.
  mlir::Value fill(mlir::OpBuilder &b) const;
  /// Values `begin` … `end - 1` become the fill.
  void fillValues(mlir::OpBuilder &b, mlir::Value begin, mlir::Value end) const;
  /// Stores a value (of the tensor's element type) at a position.
  void storeValue(mlir::OpBuilder &b, mlir::Value position, mlir::Value value) const;
  /// The same, combined with what is there as the op says.
  void combineValue(mlir::OpBuilder &b, mlir::Value position, mlir::Value value) const;
  /// Two values of the element type combined as the op says.
  mlir::Value combine(mlir::OpBuilder &b, mlir::Value a, mlir::Value c) const;
  /// What `combine` leaves alone, of the element type.
  mlir::Value identity(mlir::OpBuilder &b) const;
  /// Whether the fill is that value.
  bool fillIsIdentity() const;

  /// The tensor of the buffers: replaces the op.
  mlir::Value finish(mlir::OpBuilder &b) const;

private:
  mlir::Value sizeFrom(mlir::OpBuilder &b, llvm::StringRef function, unsigned level, mlir::Value parents,
                       mlir::Value each) const;
};

/// The condition (i1), which hardly ever holds: what is done then does not get the registers.
mlir::Value rarely(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition);

/// The same index, of which nothing is known: what only a rare branch computes of a loop's coordinate, LLVM
/// would count along in every round (CSR->ELL of 5 entries a row: 1.07 of the time).
mlir::Value opaque(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index);

/// An index in a register: `memref.alloca` at the entry of the function, or of the parallel region the
/// builder stands in, which LLVM promotes.
class Register {
public:
  Register(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);
  Register(mlir::OpBuilder &b, mlir::Location loc, mlir::Value initial);
  mlir::Value get(mlir::OpBuilder &b) const;
  void set(mlir::OpBuilder &b, mlir::Value value) const;
  /// Adds to an index; returns the new value.
  mlir::Value increment(mlir::OpBuilder &b, int64_t by = 1) const;

private:
  mlir::Location loc;
  mlir::Value cell;
};

} // namespace tulle::assemble
