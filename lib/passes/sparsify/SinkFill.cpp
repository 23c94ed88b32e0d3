// tulle-sink-fill: rows of a dense result get their start value in the round of the loop that updates them.
//
// A row is then written while it is in the cache, by the thread that works on it, and code that keeps the row
// in registers need not write it before at all.
#include "dialect/Dialect.h"
#include "format/Encoding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_SINKFILL
#include "passes/Passes.h.inc"

namespace {

/// Whether all of the levels are dense and there is one below the first.
bool hasRows(RankedTensorType type) {
  const format::Encoding &encoding = getEncoding(type).getValue();
  return encoding.levels.size() > 1 && llvm::all_of(encoding.levels, [](const format::Level &level) {
           return level.format.kind == format::LevelKind::Dense;
         });
}

/// Whether the loop visits every coordinate of the tensor's first level: a dimension's size is the same for
/// all tensors that a statement's index runs over.
bool visitsAll(IterateOp loop, RankedTensorType type) {
  auto range = loop.getSpace().getDefiningOp<RangeOp>();
  const format::Level &first = getEncoding(type).getValue().levels.front();
  return range && isConstantIntValue(range.getLo(), 0) && range.getHi().getDefiningOp<tensor::DimOp>() &&
         first.expr && first.expr->kind == format::ExprKind::Dim;
}

/// Whether every round touches no row of the tensor but its own.
bool staysInRow(IterateOp loop, Value tensor) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    if (!loop->isProperAncestor(user) || isa<tensor::DimOp, LevelSizeOp>(user))
      return true;
    auto locate = dyn_cast<LocateOp>(user);
    return locate && (locate.getLevel() != 0 || locate.getCoordinate() == loop.getBody().getArgument(0));
  });
}

/// Sets the elements below `parent`; returns the tensor after that.
Value fillBelow(OpBuilder &b, FillOp fill, Value parent, unsigned level, Value carried) {
  Location loc = fill.getLoc();
  Value tensor = fill.getTensor();
  EncodingAttr encoding = getEncoding(fill.getTensor().getType());
  if (level == encoding.getValue().levels.size())
    return StoreOp::create(b, loc, carried.getType(), fill.getValue(), carried, parent);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value range = RangeOp::create(b, loc, zero, LevelSizeOp::create(b, loc, tensor, level));
  auto loop = IterateOp::create(b, loc, carried.getType(), range, carried, LoopKind::Parallel);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), carried.getType()}, {loc, loc});
  auto type = IteratorType::get(b.getContext(), encoding, level);
  Value at = LocateOp::create(b, loc, type, tensor, level, parent, body->getArgument(0));
  YieldOp::create(b, loc, fillBelow(b, fill, at, level + 1, body->getArgument(1)));
  return loop.getResult(0);
}

void sink(FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  if (!fill->hasOneUse() || !hasRows(type))
    return;
  OpOperand &use = *fill->use_begin();
  auto loop = dyn_cast<IterateOp>(use.getOwner());
  if (!loop || loop.getKind() != LoopKind::Parallel || !visitsAll(loop, type) ||
      !staysInRow(loop, fill.getTensor()))
    return;
  Block &body = loop.getBody().front();
  Value row = body.getArgument(use.getOperandNumber()); // the space's place is the coordinate's
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  auto iterator = IteratorType::get(b.getContext(), getEncoding(type), 0);
  Value at = LocateOp::create(b, fill.getLoc(), iterator, fill.getTensor(), 0, Value(), body.getArgument(0));
  Value filled = fillBelow(b, fill, at, 1, row);
  row.replaceUsesWithIf(filled, [&](OpOperand &other) { return other.getOwner() != filled.getDefiningOp(); });
  use.set(fill.getTensor());
  fill.erase();
}

struct SinkFill : impl::SinkFillBase<SinkFill> {
  void runOnOperation() override {
    for (FillOp fill : llvm::to_vector(getOperation().getOps<FillOp>()))
      sink(fill);
  }
};

} // namespace
} // namespace tulle::passes
