// Dense results that all threads add to.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/parallel/Monoid.h"
#include "passes/parallel/Share.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {
namespace {

/// Values that are one tensor's storage.
class Aliases {
public:
  Aliases(Operation *loop) {
    for (Value value = initsOf(loop)[0].get(); value;) {
      all.insert(value);
      Operation *op = value.getDefiningOp();
      value = isa_and_nonnull<FillOp, LikeOp, tensor::CastOp>(op) ? tensorOf(op) : Value();
    }
    loop->walk([&](Operation *op) {
      auto add = [&](Value value) {
        if (isa<RankedTensorType>(value.getType()))
          all.insert(value);
      };
      llvm::for_each(op->getResults(), add);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), add);
    });
  }
  bool contains(Value value) const { return all.contains(value); }
  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }

private:
  static Value tensorOf(Operation *op) {
    if (auto fill = dyn_cast<FillOp>(op))
      return fill.getTensor();
    if (auto like = dyn_cast<LikeOp>(op))
      return like.getTensor();
    return op->getOperand(0);
  }
  llvm::SmallSetVector<Value, 8> all;
};

/// One operation by which all stores below change what was there; null where there is none.
Operation *combinerOfStores(Operation *loop, const Aliases &aliases) {
  Operation *found = nullptr;
  llvm::SmallPtrSet<Operation *, 8> loads;
  WalkResult result = loop->walk([&](Operation *op) {
    bool touches = llvm::any_of(op->getOperands(), [&](Value v) { return aliases.contains(v); });
    // Shapes stay those of the result.
    if (touches && !isLoop(op) && !isa<LocateOp, LoadOp, StoreOp, YieldOp, scf::IfOp, scf::YieldOp>(op))
      return WalkResult::interrupt();
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      return WalkResult::advance();
    for (Operation *user : store.getIterator().getUsers()) {
      auto load = dyn_cast<LoadOp>(user);
      if (!load || !aliases.contains(load.getTensor()))
        continue;
      Operation *own = combinerOf(store.getValue(), load.getResult());
      if (!own || (found && found->getName() != own->getName()) || !loads.insert(load).second)
        return WalkResult::interrupt();
      found = own;
      return WalkResult::advance();
    }
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted() || !found)
    return nullptr;
  bool others = false;
  loop->walk([&](LoadOp load) { others |= aliases.contains(load.getTensor()) && !loads.contains(load); });
  return others ? nullptr : found;
}

/// A tensor of so many copies of the result: dense over the part, then over the result's levels, so that
/// copies are stored as the result is.
RankedTensorType copiesType(RankedTensorType type) {
  size_t levels = getEncoding(type).getValue().levels.size();
  return RankedTensorType::get(SmallVector<int64_t>(1 + levels, ShapedType::kDynamic), type.getElementType());
}

/// Makes code that works on the result work on the copy of one part.
void redirect(Operation *loop, const Aliases &aliases, Value copies, Value part) {
  auto type = cast<RankedTensorType>(copies.getType());
  EncodingAttr encoding = getEncoding(type);
  OpBuilder b(loop);
  auto iterator = [&](unsigned level) { return IteratorType::get(b.getContext(), encoding, level); };
  Value copy =
      LocateOp::create(b, loop->getLoc(), iterator(0), copies, b.getI64IntegerAttr(0), Value(), part);
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto locate = dyn_cast<LocateOp>(op); locate && aliases.contains(locate.getTensor())) {
      unsigned level = unsigned(locate.getLevel()) + 1;
      locate.setLevel(level);
      if (level == 1)
        locate.getParentMutable().assign(copy);
      locate.getResult().setType(iterator(level));
    }
    auto retype = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()))
        value.setType(type);
    };
    llvm::for_each(op->getResults(), retype);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
    for (OpOperand &operand : op->getOpOperands())
      if (aliases.contains(operand.get()) &&
          !loop->isAncestor(operand.get().getParentBlock()->getParentOp()) && operand.get() != copies)
        operand.set(copies);
  });
}

} // namespace

/// Adds `parts` copies to what the tensor holds; several threads take a piece of its values each.
static Value addUp(OpBuilder &b, Location loc, Operation *combiner, Value tensor, Value size, Value copies,
                   Value parts) {
  Value work = arith::MulIOp::create(b, loc, size, parts);
  Value pieces = ThreadsOp::create(b, loc, work, /*fixed=*/false);
  return region(b, loc, pieces, tensor, [&](Value piece, ValueRange carried) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    Value values = ValuesOp::create(b, loc, copies.getType(), carried[0]);
    auto bounds = pieceOf(b, loc, size, piece, pieces);
    auto copy = scf::ForOp::create(b, loc, zero, parts, one);
    OpBuilder inCopy = OpBuilder::atBlockBegin(copy.getBody());
    Value first = arith::MulIOp::create(inCopy, loc, copy.getInductionVar(), size);
    forEach(inCopy, loc, bounds, [&](OpBuilder &b, Value at) {
      Value own =
          memref::LoadOp::create(b, loc, copies, arith::AddIOp::create(b, loc, first, at).getResult());
      Value sum = combine(b, loc, combiner, memref::LoadOp::create(b, loc, values, at), own);
      memref::StoreOp::create(b, loc, sum, values, at);
    });
    return SmallVector<Value>{carried[0]};
  })[0];
}

bool shareCopies(Operation *loop, const Settings &settings) {
  auto type = loop->getNumResults() == 1 ? dyn_cast<RankedTensorType>(loop->getResult(0).getType())
                                         : RankedTensorType();
  if (!type || !canCut(loop) || type.getElementType().isInteger(1))
    return false;
  const format::Encoding &encoding = getEncoding(type).getValue();
  bool dense = !encoding.levels.empty() && llvm::all_of(encoding.levels, [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense;
  });
  if (!dense || !format::digits(encoding))
    return false;
  Aliases aliases(loop);
  Operation *combiner = combinerOfStores(loop, aliases);
  std::optional<TypedAttr> neutral = combiner ? identity(combiner) : std::nullopt;
  if (!neutral)
    return false;

  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value result = initsOf(loop)[0].get();
  Value entries = work(b, loop), size = StoredCountOp::create(b, loc, result);
  Value parts = ThreadsOp::create(b, loc, entries, settings.deterministic);
  // Copies are written and read once: not worth while where there is less to do than that.
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value most = arith::DivUIOp::create(b, loc, entries, arith::MaxUIOp::create(b, loc, size, one));
  parts = arith::MinUIOp::create(b, loc, parts, most);
  Value several = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, parts, one);
  auto branch = scf::IfOp::create(b, loc, type, several, /*withElseRegion=*/true);

  b.setInsertionPointToStart(branch.thenBlock());
  RankedTensorType copiesOf = copiesType(type);
  auto buffer = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  Value memory =
      memref::AllocOp::create(b, loc, buffer, arith::MulIOp::create(b, loc, parts, size).getResult());
  SmallVector<Value> sizes{parts};
  for (size_t l = 0; l < encoding.levels.size(); ++l)
    sizes.push_back(LevelSizeOp::create(b, loc, result, b.getI64IntegerAttr(int64_t(l))));
  Value copies = StorageOp::create(b, loc, copiesOf, memory, sizes);
  region(b, loc, parts, copies, [&](Value part, ValueRange carried) {
    Value start = constant(b, loc, *neutral), zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value first = arith::MulIOp::create(b, loc, part, size);
    forEach(b, loc, {zero, size}, [&](OpBuilder &b, Value at) {
      memref::StoreOp::create(b, loc, start, memory, arith::AddIOp::create(b, loc, first, at).getResult());
    });
    Operation *own = b.clone(*loop);
    Aliases same(own);
    redirect(own, same, carried[0], part);
    OpBuilder before(own);
    cutToPart(before, own, part, parts);
    return SmallVector<Value>{own->getResult(0)};
  });
  Value sum = addUp(b, loc, combiner, result, size, memory, parts);
  memref::DeallocOp::create(b, loc, memory);
  scf::YieldOp::create(b, loc, sum);

  loop->replaceAllUsesWith(branch);
  b.setInsertionPointToStart(branch.elseBlock());
  loop->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, loop->getResults());
  return true;
}

} // namespace tulle::parallel
