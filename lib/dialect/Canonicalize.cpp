// Canonical forms: of loops over sets of coordinates, of conversions, and of segments.
#include "dialect/Dialect.h"
#include "iteration/Plan.h"
#include "iteration/Shape.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <bit>

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;
using iteration::CoordinateSet;
using iteration::Minterm;

namespace {

/// A carried value that every iteration passes on unchanged is its init.
struct DropUnchangedCarried : OpRewritePattern<IterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IterateOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    auto yield = cast<YieldOp>(block.getTerminator());
    const unsigned carried = unsigned(op.getInits().size()), leading = block.getNumArguments() - carried;
    SmallVector<Value> inits;
    llvm::BitVector unchanged(carried), arguments(leading + carried);
    for (unsigned k = 0; k < carried; ++k)
      if (yield.getValues()[k] == block.getArgument(leading + k)) {
        unchanged.set(k);
        arguments.set(leading + k);
      } else {
        inits.push_back(op.getInits()[k]);
      }
    if (unchanged.none())
      return failure();
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(unchanged); });
    for (unsigned k : unchanged.set_bits())
      rewriter.replaceAllUsesWith(block.getArgument(leading + k), op.getInits()[k]);
    rewriter.modifyOpInPlace(op, [&] { block.eraseArguments(arguments); });
    auto slim = IterateOp::create(rewriter, op.getLoc(), ValueRange(inits).getTypes(), op.getSpace(), inits,
                                  op.getLoop(), op.getEach());
    rewriter.inlineRegionBefore(op.getBody(), slim.getBody(), slim.getBody().end());
    SmallVector<Value> results(op.getInits());
    for (unsigned k = 0, next = 0; k < carried; ++k)
      if (!unchanged[k])
        results[k] = slim.getResult(next++);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Whether the space holds as many coordinates as a loop over it has iterations, known from positions alone.
bool isCounted(Value space) {
  auto type = dyn_cast<SpaceType>(space.getType());
  return type && iteration::hasTables(type.getFormat());
}

/// How many coordinates the space has, times `each`, as a number of that type.
Value sizeTimes(PatternRewriter &rewriter, Location loc, Value space, const APInt &each, Type type) {
  Value size = SpaceSizeOp::create(rewriter, loc, space);
  if (!type.isIndex())
    size = arith::IndexCastOp::create(rewriter, loc, type, size);
  if (each.isOne())
    return size;
  Value factor = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(type, each));
  return arith::MulIOp::create(rewriter, loc, size, factor);
}

/// Adding a constant at each coordinate of a level adds it times their number, which is a difference of
/// positions.
struct CountIsSpaceSize : OpRewritePattern<IterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IterateOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    if (op.getInits().size() != 1 || !isCounted(op.getSpace()) || block.getOperations().size() != 2)
      return failure();
    auto add = dyn_cast<arith::AddIOp>(block.front());
    APInt each;
    if (!add || block.getTerminator()->getOperand(0) != add || add.getLhs() != block.getArguments().back() ||
        !matchPattern(add.getRhs(), m_ConstantInt(&each)))
      return failure();
    Value all = sizeTimes(rewriter, op.getLoc(), op.getSpace(), each, add.getType());
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, op.getInits()[0], all);
    return success();
  }
};

/// The same for a counter in memory: `m[at] += 1`, where neither depends on the entry.
struct CountInMemory : OpRewritePattern<IterateOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isPlusOne(arith::AddIOp add, Value of) {
    return add && ((add.getLhs() == of && matchPattern(add.getRhs(), m_One())) ||
                   (add.getRhs() == of && matchPattern(add.getLhs(), m_One())));
  }

  LogicalResult matchAndRewrite(IterateOp op, PatternRewriter &rewriter) const override {
    if (!op.getInits().empty() || !isCounted(op.getSpace()))
      return failure();
    Block &block = op.getBody().front();
    memref::LoadOp load;
    memref::StoreOp store;
    SmallVector<Operation *> addresses;
    for (Operation &inner : block.without_terminator()) {
      if (auto found = dyn_cast<memref::LoadOp>(inner); found && !load)
        load = found;
      else if (auto found = dyn_cast<memref::StoreOp>(inner); found && !store)
        store = found;
      else if (isPure(&inner) && inner.getNumRegions() == 0)
        addresses.push_back(&inner);
      else
        return failure();
    }
    auto add = store ? store.getValue().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
    if (!load || !isPlusOne(add, load) || load.getMemRef() != store.getMemRef() ||
        load.getIndices() != store.getIndices() || !load->hasOneUse() || !add->hasOneUse())
      return failure();
    // What is left computes the index; it must not depend on the entry.
    auto dependsOnEntry = [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) {
        return llvm::is_contained(block.getArguments(), operand) || operand == load.getResult();
      });
    };
    llvm::erase(addresses, add.getOperation());
    if (llvm::any_of(addresses, dependsOnEntry) || dependsOnEntry(load))
      return failure();
    for (Operation *address : addresses)
      rewriter.moveOpBefore(address, op);
    Value size = sizeTimes(rewriter, op.getLoc(), op.getSpace(), APInt(64, 1), add.getType());
    rewriter.moveOpBefore(load, op);
    Value sum = arith::AddIOp::create(rewriter, op.getLoc(), load, size);
    memref::StoreOp::create(rewriter, op.getLoc(), sum, store.getMemRef(), store.getIndices());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Nothing is visited: the results are the inits.
struct DropEmptySet : OpRewritePattern<CoiterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CoiterateOp op, PatternRewriter &rewriter) const override {
    if (!op.getCases().empty() || op.getFlags())
      return failure();
    rewriter.replaceOp(op, op.getInits());
    return success();
  }
};

/// `a` over one space is an iteration.
struct OneSpaceIsIterate : OpRewritePattern<CoiterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CoiterateOp op, PatternRewriter &rewriter) const override {
    if (op.getSpaces().size() != 1 || op.getCases() != ArrayRef<int64_t>{1})
      return failure();
    auto loop = IterateOp::create(rewriter, op.getLoc(), op.getResultTypes(), op.getSpaces()[0],
                                  op.getInits(), op.getLoop());
    rewriter.inlineRegionBefore(op.getCaseRegions()[0], loop.getBody(), loop.getBody().end());
    rewriter.replaceOp(op, loop);
    return success();
  }
};

/// The flag of a space that the set lies within is always set.
struct RequiredFlagIsSet : OpRewritePattern<CoiterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CoiterateOp op, PatternRewriter &rewriter) const override {
    if (!op.getFlags())
      return failure();
    const std::string_view text(op.getSet().data(), op.getSet().size());
    auto set = iteration::SetExpression::parse(text, unsigned(op.getSpaces().size()));
    bool changed = false;
    for (unsigned k = 0; k < op.getSpaces().size(); ++k) {
      BlockArgument flag = op.getFlag(k);
      if (flag.use_empty() || !set->isWithin(k))
        continue;
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(flag.getOwner());
      rewriter.replaceAllUsesWith(flag, arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 1));
      changed = true;
    }
    return success(changed);
  }
};

/// A space that holds every coordinate is located instead of iterated: an intersection with it becomes a loop
/// over the others, a union a loop over the level's range.
struct LocateFullSpace : OpRewritePattern<CoiterateOp> {
  using OpRewritePattern::OpRewritePattern;

  static Minterm without(Minterm m, unsigned k) {
    return (m & ((Minterm(1) << k) - 1)) | (m >> (k + 1) << k);
  }

  static std::optional<unsigned> fullSpace(CoiterateOp op) {
    for (auto [k, value] : llvm::enumerate(op.getSpaces())) {
      auto space = value.getDefiningOp<SpaceOp>();
      if (space && format::isFull(space.getType().getFormat()))
        return unsigned(k);
    }
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(CoiterateOp op, PatternRewriter &rewriter) const override {
    std::optional<unsigned> full = fullSpace(op);
    // A given range may be shorter than the level; the coordinates outside it are not visited, which only the
    // original says. One space alone is iterated.
    if (!full || op.getRange() || op.getFlags() || op.getSpaces().size() == 1)
      return failure();
    unsigned k = *full;
    auto space = op.getSpaces()[k].getDefiningOp<SpaceOp>();
    Location loc = op.getLoc();
    std::vector<Minterm> minterms;
    SmallVector<Region *> regions;
    for (auto [minterm, region] : llvm::zip(op.getCases(), op.getCaseRegions()))
      if (minterm >> k & 1) {
        minterms.push_back(without(Minterm(minterm), k));
        regions.push_back(&region);
      }
    SmallVector<Value> spaces(op.getSpaces());
    spaces.erase(spaces.begin() + k);
    Value range;
    if (llvm::is_contained(minterms, 0)) {
      Value lo = arith::ConstantIndexOp::create(rewriter, loc, 0);
      Value hi = LevelSizeOp::create(rewriter, loc, space.getTensor(), space.getLevel());
      range = RangeOp::create(rewriter, loc, lo, hi);
    }
    auto loop = CoiterateOp::create(
        rewriter, loc, op.getResultTypes(), CoordinateSet(unsigned(spaces.size()), minterms).print(),
        SmallVector<int64_t>(minterms.begin(), minterms.end()), spaces, range, op.getInits(), op.getLoop(),
        op.getStrategy(), /*flags=*/false, unsigned(regions.size()));
    for (auto [from, to, minterm] : llvm::zip(regions, loop.getCaseRegions(), minterms)) {
      rewriter.inlineRegionBefore(*from, to, to.end());
      Block &block = to.front();
      unsigned arg = 1 + unsigned(std::popcount(minterm & ((Minterm(1) << k) - 1)));
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&block);
      Value located = LocateOp::create(rewriter, loc, block.getArgument(arg).getType(), space.getTensor(),
                                       space.getLevel(), space.getParent(), block.getArgument(0));
      rewriter.replaceAllUsesWith(block.getArgument(arg), located);
      rewriter.modifyOpInPlace(loop, [&] { block.eraseArgument(arg); });
    }
    rewriter.replaceOp(op, loop);
    return success();
  }
};

} // namespace

void IterateOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnchangedCarried, CountIsSpaceSize, CountInMemory>(context);
}

void CoiterateOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropEmptySet, OneSpaceIsIterate, LocateFullSpace, RequiredFlagIsSet>(context);
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource()) : OpFoldResult();
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
static bool isIterated(SegmentOp segment) {
  auto is = [](std::optional<SmallVector<OpFoldResult>> bounds, Value bound) {
    return bounds && bounds->size() == 1 && bounds->front() == OpFoldResult(bound);
  };
  return llvm::any_of(segment->getUsers(), [&](Operation *user) {
    auto loop = dyn_cast<LoopLikeOpInterface>(user);
    return loop && is(loop.getLoopLowerBounds(), segment.getBegin()) &&
           is(loop.getLoopUpperBounds(), segment.getEnd());
  });
}

/// A segment that no loop iterates over, as one that is counted or searched, is two loads: other passes know
/// these. Common subexpressions are left to become one.
static LogicalResult expandUniterated(SegmentOp op, PatternRewriter &rewriter) {
  auto isSameAndIterated = [&](Operation *user) {
    auto other = dyn_cast<SegmentOp>(user);
    return other && other.getAt() == op.getAt() && isIterated(other);
  };
  if (llvm::any_of(op.getPositions().getUsers(), isSameAndIterated))
    return failure();
  op.expand(rewriter);
  return success();
}

void SegmentOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(expandUniterated);
}
