// Canonical forms of the loops of stage 2.
#include "dialect/Dialect.h"
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

/// A carried value that every round passes on unchanged is its init.
struct DropUnchangedCarried : OpRewritePattern<IterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IterateOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    auto yield = cast<YieldOp>(block.getTerminator());
    unsigned carried = unsigned(op.getInits().size());
    unsigned leading = block.getNumArguments() - carried;
    SmallVector<unsigned> kept;
    for (unsigned k = 0; k < carried; ++k)
      if (yield.getValues()[k] != block.getArgument(leading + k))
        kept.push_back(k);
    if (kept.size() == carried)
      return failure();
    SmallVector<Value> inits, yielded, results(carried);
    for (unsigned k : kept) {
      inits.push_back(op.getInits()[k]);
      yielded.push_back(yield.getValues()[k]);
    }
    auto slim = IterateOp::create(rewriter, op.getLoc(), ValueRange(inits).getTypes(), op.getSpace(), inits,
                                  op.getLoop(), op.getEach());
    SmallVector<Type> types(ValueRange(block.getArguments().take_front(leading)).getTypes());
    llvm::append_range(types, ValueRange(inits).getTypes());
    Block *body =
        rewriter.createBlock(&slim.getBody(), {}, types, SmallVector<Location>(types.size(), op.getLoc()));
    SmallVector<Value> args(body->getArguments().take_front(leading));
    for (unsigned k = 0, next = 0; k < carried; ++k) {
      bool keep = next < kept.size() && kept[next] == k;
      args.push_back(keep ? Value(body->getArgument(leading + next)) : op.getInits()[k]);
      results[k] = keep ? slim.getResult(next) : op.getInits()[k];
      next += keep;
    }
    rewriter.modifyOpInPlace(yield, [&] { yield.getValuesMutable().assign(yielded); });
    rewriter.mergeBlocks(&block, body, args);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Adding a constant at each coordinate of a level adds it times their number, which is a difference of
/// positions.
struct CountIsSpaceSize : OpRewritePattern<IterateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IterateOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<SpaceType>(op.getSpace().getType());
    if (!type || op.getInits().size() != 1)
      return failure();
    const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
    bool packed =
        level.kind == format::LevelKind::Compressed || level.kind == format::LevelKind::LooseCompressed;
    Block &block = op.getBody().front();
    if (!packed || !level.unique || block.getOperations().size() != 2)
      return failure();
    auto add = dyn_cast<arith::AddIOp>(block.front());
    APInt each;
    if (!add || block.getTerminator()->getOperand(0) != add || add.getLhs() != block.getArguments().back() ||
        !matchPattern(add.getRhs(), m_ConstantInt(&each)))
      return failure();
    Location loc = op.getLoc();
    Value count = SpaceSizeOp::create(rewriter, loc, op.getSpace());
    if (!add.getType().isIndex())
      count = arith::IndexCastOp::create(rewriter, loc, add.getType(), count);
    Value times = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(add.getType(), each));
    Value all = arith::MulIOp::create(rewriter, loc, count, times);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, op.getInits()[0], all);
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

/// A space that holds every coordinate is located instead of walked: an intersection with it becomes a loop
/// over the others, a union a loop over the level's range.
struct LocateFullSpace : OpRewritePattern<CoiterateOp> {
  using OpRewritePattern::OpRewritePattern;

  static Minterm without(Minterm m, unsigned k) {
    return (m & ((Minterm(1) << k) - 1)) | (m >> (k + 1) << k);
  }

  static std::optional<unsigned> fullSpace(CoiterateOp op) {
    for (auto [k, value] : llvm::enumerate(op.getSpaces())) {
      auto space = value.getDefiningOp<SpaceOp>();
      if (!space)
        continue;
      format::LevelKind kind =
          getEncoding(space.getTensor().getType()).getValue().levels[space.getLevel()].format.kind;
      if (kind == format::LevelKind::Dense || kind == format::LevelKind::Batch)
        return unsigned(k);
    }
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(CoiterateOp op, PatternRewriter &rewriter) const override {
    std::optional<unsigned> full = fullSpace(op);
    // A given range may be shorter than the level; the coordinates outside it are not visited, which only the
    // original says.
    if (!full || op.getRange() || op.getFlags())
      return failure();
    unsigned k = *full;
    auto space = op.getSpaces()[k].getDefiningOp<SpaceOp>();
    Location loc = op.getLoc();
    SmallVector<int64_t> cases;
    SmallVector<Region *> regions;
    for (auto [minterm, region] : llvm::zip(op.getCases(), op.getCaseRegions()))
      if (minterm >> k & 1) {
        cases.push_back(without(Minterm(minterm), k));
        regions.push_back(&region);
      }
    SmallVector<Value> spaces(op.getSpaces());
    spaces.erase(spaces.begin() + k);
    bool universe = llvm::is_contained(cases, 0);
    Value range;
    if (universe) {
      Value lo = arith::ConstantIndexOp::create(rewriter, loc, 0);
      Value hi = LevelSizeOp::create(rewriter, loc, space.getTensor(), space.getLevel());
      range = RangeOp::create(rewriter, loc, lo, hi);
    }
    Operation *loop;
    SmallVector<Region *> targets;
    if (spaces.empty()) {
      if (!universe)
        return failure();
      auto iterate =
          IterateOp::create(rewriter, loc, op.getResultTypes(), range, op.getInits(), op.getLoop());
      targets.push_back(&iterate.getBody());
      loop = iterate;
    } else {
      std::vector<Minterm> minterms(cases.begin(), cases.end());
      std::string set = CoordinateSet(unsigned(spaces.size()), minterms).print();
      auto rest =
          CoiterateOp::create(rewriter, loc, op.getResultTypes(), set, cases, spaces, range, op.getInits(),
                              op.getLoop(), op.getStrategy(), /*flags=*/false, unsigned(regions.size()));
      for (Region &region : rest.getCaseRegions())
        targets.push_back(&region);
      loop = rest;
    }
    for (auto [from, to, minterm] : llvm::zip(regions, targets, cases)) {
      rewriter.inlineRegionBefore(*from, *to, to->end());
      Block &block = to->front();
      unsigned arg = 1 + unsigned(std::popcount(Minterm(minterm) & ((Minterm(1) << k) - 1)));
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

/// The same for a counter in memory: `m[at] += 1`, where neither depends on the entry.
struct CountInMemory : OpRewritePattern<IterateOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Whether the space holds as many coordinates as a loop over it has rounds.
  static bool isCounted(Value space) {
    auto type = dyn_cast<SpaceType>(space.getType());
    if (!type)
      return false;
    const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
    return level.unique &&
           (level.kind == format::LevelKind::Compressed || level.kind == format::LevelKind::LooseCompressed);
  }

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
    // What is left computes the place; it must not depend on the entry.
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
    Value size = SpaceSizeOp::create(rewriter, op.getLoc(), op.getSpace());
    if (!add.getType().isIndex())
      size = arith::IndexCastOp::create(rewriter, op.getLoc(), add.getType(), size);
    rewriter.moveOpBefore(load, op);
    Value sum = arith::AddIOp::create(rewriter, op.getLoc(), load, size);
    memref::StoreOp::create(rewriter, op.getLoc(), sum, store.getMemRef(), store.getIndices());
    rewriter.eraseOp(op);
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
