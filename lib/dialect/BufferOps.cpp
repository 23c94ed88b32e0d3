// tulle.segment: when it stays, and the loads it becomes.
#include "dialect/Dialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tulle::dialect;

void SegmentOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBegin(), "begin");
  setName(getEnd(), "end");
}

void SegmentOp::expand(RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(*this);
  Location loc = getLoc();
  auto load = [&](Value at) -> Value {
    Value element = memref::LoadOp::create(rewriter, loc, getPositions(), at);
    return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(), element);
  };
  if (!getBegin().use_empty())
    rewriter.replaceAllUsesWith(getBegin(), load(getAt()));
  if (!getEnd().use_empty()) {
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    auto noWrap = arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
    rewriter.replaceAllUsesWith(getEnd(), load(arith::AddIOp::create(rewriter, loc, getAt(), one, noWrap)));
  }
  rewriter.eraseOp(*this);
}

/// Whether it bounds a loop.
static bool isWalked(SegmentOp segment) {
  auto is = [](std::optional<SmallVector<OpFoldResult>> bounds, Value bound) {
    return bounds && bounds->size() == 1 && bounds->front() == OpFoldResult(bound);
  };
  return llvm::any_of(segment->getUsers(), [&](Operation *user) {
    auto loop = dyn_cast<LoopLikeOpInterface>(user);
    return loop && is(loop.getLoopLowerBounds(), segment.getBegin()) &&
           is(loop.getLoopUpperBounds(), segment.getEnd());
  });
}

/// A segment that no loop walks, as one that is counted or searched, is two loads: other passes know these.
/// Common subexpressions are left to become one.
static LogicalResult expandUnwalked(SegmentOp op, PatternRewriter &rewriter) {
  auto isSameAndWalked = [&](Operation *user) {
    auto other = dyn_cast<SegmentOp>(user);
    return other && other.getAt() == op.getAt() && isWalked(other);
  };
  if (llvm::any_of(op.getPositions().getUsers(), isSameAndWalked))
    return failure();
  op.expand(rewriter);
  return success();
}

void SegmentOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(expandUnwalked);
}
