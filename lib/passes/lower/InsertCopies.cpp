// tulle-insert-copies: what reads or replaces values that a store in place has overwritten gets a copy of
// them.
#include "dialect/Costs.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/lower/InPlace.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
using lower::Conflict;
#define GEN_PASS_DEF_INSERTCOPIES
#include "passes/Passes.h.inc"

namespace {

/// Whether what becomes of a tensor here is a result of the function: that stays in the caller's buffer.
bool reachesReturn(OpOperand &use, llvm::SmallPtrSetImpl<Value> &seen) {
  if (isa<func::ReturnOp>(use.getOwner()))
    return true;
  SmallVector<Value> next;
  lower::continuations(use, next);
  return llvm::any_of(next, [&](Value value) {
    return seen.insert(value).second &&
           llvm::any_of(value.getUses(), [&](OpOperand &other) { return reachesReturn(other, seen); });
  });
}

/// Whether nothing writes through the memref, or passes it on to where that is not known.
bool isOnlyRead(Value memref) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return isOnlyRead(user->getResult(0));
    return isa<memref::LoadOp, memref::DimOp>(user);
  });
}

struct InsertCopies : impl::InsertCopiesBase<InsertCopies> {
  void runOnOperation() override {
    copies.clear();
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return; // tulle-lower says what it expects
    // Every step gives one use a tensor of its own, so they come to an end.
    while (std::optional<Conflict> conflict = lower::findConflict(func))
      if (!resolve(*conflict)) {
        (void)lower::emitConflict(*conflict);
        return signalPassFailure();
      }
  }

  bool resolve(const Conflict &conflict) {
    OpOperand &use = *conflict.use;
    if (!conflict.version)
      return false;
    if (conflict.kind == Conflict::Read)
      return read(use, conflict.version);
    OpOperand *other = conflict.overwrite;
    const bool isOwn = other && isa<RankedTensorType>(other->get().getType());
    // A store that finds what it left in the iteration before starts from a copy in each iteration, made
    // right before.
    llvm::SmallPtrSet<Value, 8> seen;
    if (isOwn && (other == &use || !reachesReturn(*other, seen))) {
      note(*other);
      OpBuilder b(other->getOwner());
      other->set(makeCopy(b, other->get()));
      return true;
    }
    if (conflict.kind != Conflict::Write || !isa<RankedTensorType>(use.get().getType()))
      return false;
    note(use);
    use.set(castTo(copyAfter(conflict.version), use));
    return true;
  }

  /// Lets a use that only reads have the copy that all such share.
  bool read(OpOperand &use, Value version) {
    OpOperand *from = &use;
    if (isa<MemRefType>(use.get().getType())) {
      Value base = use.get();
      while (auto view = base.getDefiningOp<ViewLikeOpInterface>())
        base = view.getViewSource();
      auto values = base.getDefiningOp<ValuesOp>();
      if (!values || !isOnlyRead(base))
        return false;
      from = &values.getTensorMutable();
    }
    Value &copy = copies[version];
    if (from->get() == copy)
      return false;
    note(use);
    if (!copy)
      copy = copyAfter(version);
    from->set(castTo(copy, *from));
    return true;
  }

  static void note(OpOperand &use) {
    explainChoice(use.getOwner(), "copied: a tensor's old values are needed after a store has replaced them");
  }

  static Value copyAfter(Value version) {
    OpBuilder b(version.getContext());
    b.setInsertionPointAfterValue(version);
    return makeCopy(b, version);
  }

  static Value castTo(Value copy, OpOperand &use) {
    if (copy.getType() == use.get().getType())
      return copy;
    OpBuilder b(copy.getContext());
    b.setInsertionPointAfterValue(copy);
    return tensor::CastOp::create(b, copy.getLoc(), use.get().getType(), copy);
  }

  /// A tensor with the pattern and the values of another, until the end of the block.
  static Value makeCopy(OpBuilder &b, Value tensor) {
    Location loc = tensor.getLoc();
    auto type = cast<RankedTensorType>(tensor.getType());
    Type stored = type.getElementType().isInteger(1) ? b.getI8Type() : type.getElementType();
    auto memory = MemRefType::get({ShapedType::kDynamic}, stored);
    Value count = StoredCountOp::create(b, loc, tensor);
    Value from = ValuesOp::create(b, loc, memory, tensor),
          to = memref::AllocOp::create(b, loc, memory, count);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    levels::forEach(b, loc, zero, count, LoopKind::Parallel, [&](Value at) {
      memref::StoreOp::create(b, loc, memref::LoadOp::create(b, loc, from, at).getResult(), to, at);
    });
    Value copy = WithValuesOp::create(b, loc, type, tensor, to);
    Block *block = b.getInsertionBlock();
    OpBuilder end =
        block->mightHaveTerminator() ? OpBuilder(block->getTerminator()) : OpBuilder::atBlockEnd(block);
    memref::DeallocOp::create(end, loc, to);
    return copy;
  }

  DenseMap<Value, Value> copies; ///< of values, for those that read them
};

} // namespace
} // namespace tulle::passes
