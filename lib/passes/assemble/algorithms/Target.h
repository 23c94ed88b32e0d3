// The tensor that one tulle.assemble makes, while it is being made.
#pragma once
#include "dialect/Costs.h"
#include "levels/Expression.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

using Values = llvm::SmallVector<mlir::Value>;

/// Emits what every strategy needs of the new tensor. `storage.fields` are null until allocated.
class Target : public TargetFacts {
public:
  /// Sizes are used where the builder stands: before the op.
  Target(mlir::OpBuilder &b, dialect::AssembleOp op);
  /// A tensor of which `sizes` are the dimensions' sizes; none where no size is needed.
  Target(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType tensor, mlir::ValueRange sizes,
         dialect::Combine combine = dialect::Combine::Add,
         dialect::AssemblyPlan plan = dialect::AssemblyPlan::Auto);

  mlir::Location loc;
  iteration::Costs costs;
  bool parallel = false; ///< threads may share the work

  levels::Emitter emitter(mlir::OpBuilder &b) const { return {b, loc, storage}; }

  /// The buffers of the last level, and the values.
  void setSegments(mlir::Value positions, mlir::Value coordinates, mlir::Value values);

  /// tulle.sort_segments and tulle.unique of these.
  void sortSegments(mlir::OpBuilder &b, mlir::Value first, mlir::Value last, mlir::Value start) const;
  mlir::Value combineRepeats(mlir::OpBuilder &b, mlir::Value first, mlir::Value last,
                             mlir::Value start) const;

  /// The level expressions at the dimensions' coordinates, one index value per level.
  Values levelCoordinates(mlir::OpBuilder &b, mlir::ValueRange dims, levels::SpecialValue special = {}) const;

  /// parents * each, the number of positions of a level; the caller hears of a size that no memory holds.
  mlir::Value checkedSize(mlir::OpBuilder &b, unsigned level, mlir::Value parents, mlir::Value each) const;
  /// The same for all positions of a level (see levels::Assembly::positions).
  mlir::Value checkedPositions(mlir::OpBuilder &b, unsigned level, mlir::Value parents,
                               mlir::Value each) const;
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
  mlir::Value combineValues(mlir::OpBuilder &b, mlir::Value a, mlir::Value c) const;
  /// What `combine` leaves alone, of the element type.
  mlir::Value identity(mlir::OpBuilder &b) const;

  /// The tensor of the buffers: replaces the op.
  mlir::Value finish(mlir::OpBuilder &b) const;

private:
  void setSizes(mlir::OpBuilder &b, mlir::ValueRange sizes);
  mlir::Value sizeFrom(mlir::OpBuilder &b, llvm::StringRef function, unsigned level, mlir::Value parents,
                       mlir::Value each) const;
};

/// The condition (i1), which hardly ever holds: what is done then does not get the registers.
mlir::Value rarely(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition);

/// The same index, of which nothing is known: what only a rare branch computes of a loop's coordinate, LLVM
/// would count along in every iteration (docs/experiments/019).
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
