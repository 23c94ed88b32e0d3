// The tensor that one algorithm makes, while it is being made.
#pragma once
#include "dialect/Costs.h"
#include "levels/Assembly.h"
#include "levels/Expression.h"
#include "passes/assemble/algorithms/Emit.h"
#include "passes/assemble/algorithms/Phase.h"
#include "passes/assemble/choose/Order.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

/// Emits what every algorithm needs of the new tensor, where the builder stands. `storage.fields` are null
/// until allocated. A copy is another tensor of the same format, with the same buffers at first.
class Target : public TargetFacts, public levels::Assembly {
public:
  /// A tensor of which `sizes` are the dimensions' sizes; none where no size is needed.
  Target(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType tensor, mlir::ValueRange sizes,
         dialect::Combine combine = dialect::Combine::Add,
         dialect::AssemblyPlan plan = dialect::AssemblyPlan::Auto);
  Target(const Target &other);

  using TargetFacts::storage;
  iteration::Costs costs;

  /// tulle.sort_segments and tulle.unique of the buffers of the last level, and the values.
  void sortSegments(mlir::Value first, mlir::Value last, mlir::Value start) const;
  mlir::Value combineRepeats(mlir::Value first, mlir::Value last, mlir::Value start) const;

  /// The level expressions at the dimensions' coordinates, one index value per level.
  Values levelCoordinates(mlir::ValueRange dims, levels::SpecialValue special = {}) const;

  /// The product of the sizes of levels `begin` … `end - 1`; of the values below each last stored position.
  mlir::Value sizesOf(unsigned begin, unsigned end) const;
  mlir::Value blockValues() const { return sizesOf(storedLevels(), levels()); }
  /// The position below one of the level above `begin` at these coordinates of the levels, which are full
  /// ones from there to before `end`.
  mlir::Value positionBelow(mlir::Value above, unsigned begin, unsigned end,
                            mlir::ValueRange coordinates) const;
  mlir::Value product(unsigned level, mlir::Value parents, mlir::Value each) const override;
  mlir::Value positions(unsigned level, mlir::Value parents, mlir::Value each) const override;
  /// 2-bit coordinates take a quarter of the bytes.
  void allocate(unsigned field, mlir::Value count) const override;
  /// The memory behind goes back to its owner.
  void shrink(unsigned field, mlir::Value count) const override;
  /// Emits nothing where no value can be too wide.
  void checkWidth(unsigned field, mlir::Value value) const override;
  void refuseGroup(unsigned level, mlir::Value parent, mlir::Value found, mlir::Value most) const override;
  void refuseDeclared(unsigned level, format::DeclaredFault fault, mlir::Value parent,
                      mlir::Value value) const override;
  mlir::Value scratch(mlir::Type element, mlir::Value count) const override;
  mlir::Value cell(mlir::Value initial) const override;
  /// Frees what `scratch` gave.
  void freeScratch() const;

  /// The type of a field's buffer, and of its elements.
  mlir::MemRefType bufferType(unsigned field) const;
  mlir::Type elementType(unsigned field) const { return bufferType(field).getElementType(); }
  /// What coordinates without an entry have, as it stands in memory.
  mlir::Value fillValue() const;
  /// Values `begin` … `end - 1` become the fill.
  void fillValues(mlir::Value begin, mlir::Value end) const;
  /// A value of the tensor's element type as it stands in memory, and back.
  mlir::Value toMemory(mlir::Value value) const;
  mlir::Value fromMemory(mlir::Value value) const;
  /// Stores a value (of the tensor's element type) at a position.
  void storeValue(mlir::Value position, mlir::Value value) const;
  /// The same, combined with what is there.
  void combineValue(mlir::Value position, mlir::Value value) const;
  /// Two values of the element type combined.
  mlir::Value combineValues(mlir::Value x, mlir::Value y) const;
  /// What `combine` leaves alone, of the element type.
  mlir::Value identity() const;

  /// The buffers are those that `then` or `otherwise` makes: both begin with the same ones.
  void either(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);
  /// The tensor of the buffers.
  mlir::Value finish() const;

private:
  mlir::Value sizeFrom(llvm::StringRef function, unsigned level, mlir::Value parents, mlir::Value each) const;

  mutable Values temporaries;
};

/// Replaces each such op by the buffers that `lower(target, stream, op)` gives the target; an op whose
/// entries do not fit is refused. Returns whether there was one.
template <typename Op, typename Lower>
mlir::FailureOr<bool> lowerBuild(mlir::Operation *root, bool (*fits)(const TargetFacts &, const Stream &),
                                 Lower lower) {
  auto tensorOf = [](Op op) { return mlir::cast<mlir::RankedTensorType>(op.getTensor()); };
  auto streamOf = [&](Op op) {
    return assemble::streamOf(op.getEntries().template getDefiningOp<dialect::EntriesOp>(),
                              dialect::getEncoding(tensorOf(op)).getValue());
  };
  auto check = [&](Op op) {
    if (fits(TargetFacts(tensorOf(op), op.getCombine(), op.getPlan()), streamOf(op)))
      return mlir::WalkResult::advance();
    op.emitOpError("expected entries in an order, and of loops, that it can build the tensor from");
    return mlir::WalkResult::interrupt();
  };
  if (root->walk(check).wasInterrupted())
    return mlir::failure();
  return lowerEach<Op>(root, [&](mlir::OpBuilder &b, Op op) {
    Target target(b, op.getLoc(), tensorOf(op), op.getSizes(), op.getCombine(), op.getPlan());
    const Stream stream = streamOf(op);
    Phase phase(b, "assembly: coordinates and values");
    lower(target, stream, op);
    return target.storage.fields;
  });
}

} // namespace tulle::assemble
