// tulle-register-tiles: results that a loop adds to again and again stay in registers.
//
// In `for p: for k: C[i*n + k] += …` every step of p loads and stores a whole row of C. A tile of k is
// hoisted: its elements are loaded once, updated over all p, and stored once. Each element still sees the
// same operations in the same order.
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "levels/Control.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/TripCount.h"
#include "passes/prefetch/GatherLocality.h"
#include "passes/register_tile/TileLoops.h"
#include "passes/vectorize/BodyEmitter.h"
#include "passes/vectorize/InitLoop.h"

namespace tulle::passes {
#define GEN_PASS_DEF_REGISTERTILES
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

/// How far apart neighboring rows gather is told by so many samples of so many rows, together less than a
/// long loop. One says little: the first entries of rows of a matrix without structure are often near each
/// other.
constexpr int64_t samples = 8, sampledRows = 16;

class Tiler : levels::Indices {
public:
  Tiler(ReductionNest nest, Lanes lanes, bool vectorLengthIsGiven, bool takesFactorsOut,
        const iteration::CostModel &model)
      : Indices(nest.top()), nest(std::move(nest)), lanes(lanes), vectorLengthIsGiven(vectorLengthIsGiven),
        model(model), loops(b, this->nest, model, takesFactorsOut) {}

  void run() {
    scf::ForOp top = nest.top();
    fill = replaceFill(nest);
    if (fill) {
      fromFill = fill->replaced;
      large = fill->large;
    }
    if (large)
      fenceAfter(top);
    if (!fill && mayBeNowhere(nest.store))
      branchOnEmptyLoop();
    if (lanes.takesGathersApart() && !nest.plan.guardedGathers.empty())
      branchOnEmptyBuffers();
    std::optional<int64_t> most = mostIterations(nest.inner);
    bool mayBeLong = !most || *most > model.costs.longLoop;
    llvm::SmallVector<Value> places;
    if (mayBeLong && !nest.movingBounds && lanes.takesGathersApart() && model.cpu.gathers)
      places = coordinatesOf(nest.plan);
    if (!places.empty())
      groupsByDistance(places);
    else if (mayBeLong && (nest.movingBounds || nest.plan.gathers))
      groups();
    else
      group(top.getLowerBound(), top.getUpperBound());
    top.erase();
  }

private:
  ReductionNest nest;
  Lanes lanes; ///< of all but wide tiles
  bool vectorLengthIsGiven;
  const iteration::CostModel &model;
  TileLoops loops;
  std::optional<Fill> fill;
  Value fromFill; ///< at run time: elements start from the fill, not from what is stored
  Value large;    ///< at run time: that, and what is stored is not read again before caches forget it

  /// What goes past the caches is visible to other threads after a fence: one for each thread, after the
  /// outermost loop.
  static void fenceAfter(Operation *loop) {
    while (!mlir::isa<mlir::func::FuncOp, dialect::ParallelOp>(loop->getParentOp()))
      loop = loop->getParentOp();
    if (mlir::isa_and_nonnull<mlir::LLVM::FenceOp>(loop->getNextNode()))
      return;
    mlir::OpBuilder after(loop->getBlock(), std::next(loop->getIterator()));
    mlir::LLVM::FenceOp::create(after, loop->getLoc(), mlir::LLVM::AtomicOrdering::seq_cst, "");
  }

  /// The tiles go where the outer loop has a step.
  void branchOnEmptyLoop() {
    Value some = is(arith::CmpIPredicate::slt, nest.top().getLowerBound(), nest.top().getUpperBound());
    auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
    nest.top()->moveBefore(branch.thenBlock()->getTerminator());
    b.setInsertionPoint(nest.top());
  }

  /// The tiles go where no gathered buffer is empty, a copy of the nest where one is.
  void branchOnEmptyBuffers() {
    auto branch = scf::IfOp::create(b, loc, hasFirstElements(b, loc, nest.plan.guardedGathers),
                                    /*withElseRegion=*/true);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    b.clone(*nest.top());
    nest.top()->moveBefore(branch.thenBlock()->getTerminator());
    b.setInsertionPoint(nest.top());
  }

  /// The groups in two forms: what is gathered from far apart is gathered by the instruction.
  void groupsByDistance(llvm::ArrayRef<Value> places) {
    auto branch = scf::IfOp::create(b, loc, looksNear(places), /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    groups();
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    lanes.gatherElements = false;
    groups();
    b.setInsertionPointAfter(branch);
  }

  /// Whether neighboring iterations gather from near places, in samples of the first step and of the middle
  /// one by turns.
  Value looksNear(llvm::ArrayRef<Value> places) {
    scf::ForOp outer = nest.outer(), inner = nest.inner;
    Value length = arith::SubIOp::create(b, loc, inner.getUpperBound(), inner.getLowerBound());
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, outer.getLowerBound(),
                                      outer.getUpperBound());
    Value isLong =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, length, constant(model.costs.longLoop));
    auto branch = scf::IfOp::create(b, loc, b.getI1Type(), arith::AndIOp::create(b, loc, any, isLong),
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    yes.getDefiningOp()->moveBefore(branch);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, yes);
    b.setInsertionPointToStart(branch.thenBlock());
    Value steps = arith::SubIOp::create(b, loc, outer.getUpperBound(), outer.getLowerBound());
    Value middle = arith::DivUIOp::create(b, loc, steps, constant(2));
    Value stride = arith::DivUIOp::create(b, loc, length, constant(samples + 1));
    auto loop = scf::ForOp::create(b, loc, constant(1), constant(samples + 1), constant(1), yes);
    scf::YieldOp::create(b, loc, loop.getResult(0));
    b.setInsertionPointToStart(loop.getBody());
    Value sample = loop.getInductionVar(), turn = arith::AndIOp::create(b, loc, sample, constant(1));
    Value step =
        arith::AddIOp::create(b, loc, outer.getLowerBound(), arith::MulIOp::create(b, loc, turn, middle));
    Value at =
        arith::AddIOp::create(b, loc, inner.getLowerBound(), arith::MulIOp::create(b, loc, sample, stride));
    mlir::IRMapping begin = reads(step), end = begin;
    begin.map(inner.getInductionVar(), at);
    end.map(inner.getInductionVar(), arith::AddIOp::create(b, loc, at, constant(sampledRows)));
    Value near = areNear(b, loc, nest.plan, places, begin, end);
    scf::YieldOp::create(b, loc, arith::AndIOp::create(b, loc, loop.getRegionIterArg(0), near).getResult());
    return branch.getResult(0);
  }

  /// Runs a few steps of the outer loop at a time where the inner one is long.
  void groups() {
    scf::ForOp outer = nest.outer(), inner = nest.inner;
    Value step = constant(model.jammedIterations(nest.plan.gathers));
    if (!nest.movingBounds) {
      Value length = arith::SubIOp::create(b, loc, inner.getUpperBound(), inner.getLowerBound());
      Value steps = arith::SubIOp::create(b, loc, outer.getUpperBound(), outer.getLowerBound());
      Value isLong =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, length, constant(model.costs.longLoop));
      step = arith::SelectOp::create(b, loc, isLong, step, max(steps, constant(1)));
    }
    auto loop = scf::ForOp::create(b, loc, outer.getLowerBound(), outer.getUpperBound(), step);
    b.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar();
    if (fill)
      fromFill = arith::AndIOp::create(
          b, loc, fill->replaced,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, first, outer.getLowerBound()));
    Value left = arith::SubIOp::create(b, loc, outer.getUpperBound(), first);
    if (large) {
      Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, step, left);
      large = arith::AndIOp::create(b, loc, arith::AndIOp::create(b, loc, fill->large, fromFill), isLast);
    }
    group(first, arith::AddIOp::create(b, loc, first, min(step, left)));
    b.setInsertionPointAfter(loop);
  }

  /// All tiles, for the steps of the outer loop from `begin` to `end`.
  void group(Value begin, Value end) {
    const bool regular =
        !nest.plan.gathers && !vectorLengthIsGiven && (!nest.movingBounds || model.hasWholeLines());
    const iteration::Choice<std::vector<iteration::Tile>> tiles =
        model.tiles(nest.plan.widestBits, unsigned(lanes.count), regular, nest.plan.gathers);
    dialect::explainChoice(nest.inner, tiles.reason);
    auto [lower, upper] = commonBounds(begin, end);
    std::optional<int64_t> most = mostIterations(nest.inner), exactly = constantIterations(nest.inner);
    Value position = lower;
    int64_t left = exactly.value_or(-1);
    if (!exactly && !nest.movingBounds && most && *most <= lanes.count)
      return oneVector(begin, end, lower, upper);
    for (const iteration::Tile &shape : tiles.value) {
      Lanes tile = lanes;
      tile.count = shape.elements;
      const int64_t vectors = shape.vectors, width = vectors * tile.count;
      if (most && *most < width)
        continue;
      position = tileLoop(begin, end, position, upper, vectors, tile);
      left = exactly ? left % width : left;
    }
    if (nest.movingBounds) {
      fillAround(lower, position);
      ends(begin, end, [&](Value from, Value to) { return std::pair(from, min(to, lower)); });
      ends(begin, end, [&](Value from, Value to) { return std::pair(max(from, position), to); });
    } else if (left != 0) {
      maskedRest(begin, end, position, upper);
    }
  }

  /// The start value of what no tile covers in the first steps.
  void fillAround(Value lower, Value position) {
    if (!fill)
      return;
    auto store = [&](Value from, Value to) {
      auto loop = scf::ForOp::create(
          b, loc, from, arith::SelectOp::create(b, loc, fromFill, to, from).getResult(), constant(1));
      mlir::OpBuilder inside = mlir::OpBuilder::atBlockBegin(loop.getBody());
      Value value = arith::ConstantOp::create(inside, loc, fill->value);
      mlir::memref::StoreOp::create(inside, loc, value, nest.store.getMemRef(), loop.getInductionVar());
    };
    store(constant(0), min(lower, fill->size));
    store(position, fill->size);
  }

  /// What the inner loops of all these steps have in common.
  std::pair<Value, Value> commonBounds(Value begin, Value end) {
    scf::ForOp outer = nest.outer(), inner = nest.inner;
    if (!nest.movingBounds)
      return {inner.getLowerBound(), inner.getUpperBound()};
    llvm::SmallVector<Value> inits{constant(0), constant(std::numeric_limits<int64_t>::max())};
    auto loop = scf::ForOp::create(b, loc, begin, end, outer.getStep(), inits);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    mlir::IRMapping map = reads(loop.getInductionVar());
    scf::YieldOp::create(b, loc,
                         {max(loop.getRegionIterArg(0), map.lookupOrDefault(inner.getLowerBound())),
                          min(loop.getRegionIterArg(1), map.lookupOrDefault(inner.getUpperBound()))});
    return {loop.getResult(0), loop.getResult(1)};
  }

  /// The outer loop's body without the inner loop.
  mlir::IRMapping reads(Value index) {
    mlir::IRMapping map;
    map.map(nest.outer().getInductionVar(), index);
    cloneReads(b, nest.outer(), map);
    return map;
  }

  /// The nest as it was, over the part of the inner loop that `clip` leaves.
  template <typename Clip> void ends(Value begin, Value end, Clip clip) {
    auto loop = scf::ForOp::create(b, loc, begin, end, nest.outer().getStep());
    b.setInsertionPointToStart(loop.getBody());
    mlir::IRMapping map = reads(loop.getInductionVar());
    auto [from, to] = clip(map.lookupOrDefault(nest.inner.getLowerBound()),
                           map.lookupOrDefault(nest.inner.getUpperBound()));
    auto inner = mlir::cast<scf::ForOp>(b.clone(*nest.inner, map));
    inner.getLowerBoundMutable().assign(from);
    inner.getUpperBoundMutable().assign(to);
    b.setInsertionPointAfter(loop);
  }

  /// Tiles of so many vectors from `lower` while they fit; returns where they end.
  Value tileLoop(Value begin, Value end, Value lower, Value upper, int64_t vectors, const Lanes &tile) {
    const int64_t width = vectors * tile.count;
    Value step = constant(width);
    Value limit = arith::SubIOp::create(b, loc, upper, constant(width - 1));
    auto loop = scf::ForOp::create(b, loc, lower, limit, step, lower);
    b.setInsertionPointToStart(loop.getBody());
    Value position = loop.getInductionVar();
    std::vector<BodyEmitter> parts;
    for (int64_t v = 0; v < vectors; ++v)
      parts.push_back(part(arith::AddIOp::create(b, loc, position, constant(v * tile.count)), {}, tile));
    wholeTile(begin, end, parts, tile);
    scf::YieldOp::create(b, loc, arith::AddIOp::create(b, loc, position, step).getResult());
    b.setInsertionPointAfter(loop);
    return loop.getResult(0);
  }

  /// The elements after the last tile: a scalar loop would walk the outer loop once for each.
  void maskedRest(Value begin, Value end, Value lower, Value upper) {
    auto loop = scf::ForOp::create(b, loc, lower, upper, constant(lanes.count));
    b.setInsertionPointToStart(loop.getBody());
    maskedVector(begin, end, loop.getInductionVar(), upper);
    b.setInsertionPointAfter(loop);
  }

  /// All elements of rows that are no longer than a vector.
  void oneVector(Value begin, Value end, Value lower, Value upper) {
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
    auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    maskedVector(begin, end, lower, upper);
  }

  /// The elements from `first` on, which one vector holds.
  void maskedVector(Value begin, Value end, Value first, Value upper) {
    Value mask = firstLanes(b, loc, lanes, arith::SubIOp::create(b, loc, upper, first));
    std::vector<BodyEmitter> parts{part(first, mask, lanes)};
    updates(begin, end, parts, lanes);
  }

  BodyEmitter part(Value first, Value mask, const Lanes &tile) {
    BodyEmitter emitter(b, nest.plan, tile, first, mask);
    emitter.hoist([&](Operation *op) { return nest.isFixed(op); });
    return emitter;
  }

  /// The outer loops over a whole tile: where masks take time, in a copy of their own for tiles in which no
  /// element is switched off but by the steps of these loops.
  void wholeTile(Value begin, Value end, llvm::MutableArrayRef<BodyEmitter> parts, const Lanes &tile) {
    if (model.cpu.masks || nest.load->getParentOp() == nest.inner)
      return updates(begin, end, parts, tile);
    Value all;
    for (BodyEmitter &part : parts) {
      Value on = part.allOn(nest.load, nest.store);
      all = all ? arith::AndIOp::create(b, loc, all, on).getResult() : on;
    }
    auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    std::vector<BodyEmitter> whole(parts.begin(), parts.end());
    for (BodyEmitter &part : whole)
      part.assumeAllOn();
    updates(begin, end, whole, tile);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    updates(begin, end, parts, tile);
  }

  /// The outer loops over the tile's elements: loaded before, stored after.
  void updates(Value begin, Value end, llvm::MutableArrayRef<BodyEmitter> parts, const Lanes &tile) {
    llvm::SmallVector<Value> elements = start(parts);
    store(parts, loops.run(begin, end, elements, parts, tile), tile);
  }

  /// The elements of a tile before the outer loops. Where they start from the fill nothing is read, not even
  /// by a mask without lanes: that would bring the lines into the cache.
  llvm::SmallVector<Value> start(llvm::MutableArrayRef<BodyEmitter> parts) {
    auto loads = [&] {
      return llvm::map_to_vector(parts, [&](BodyEmitter part) { return part.loadHoisted(nest.load); });
    };
    if (!fill)
      return loads();
    llvm::SmallVector<Value> filled;
    for (BodyEmitter &part : parts)
      filled.push_back(part.splat(loc, nest.load.getType(), fill->value));
    auto branch = scf::IfOp::create(b, loc, mlir::ValueRange(filled).getTypes(), fromFill,
                                    /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, filled);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, loads());
    return llvm::map_to_vector(branch.getResults(), [](mlir::OpResult r) -> Value { return r; });
  }

  /// Stores a tile: past the caches where the result starts from its fill and is larger than they are,
  /// because the lines would be read only to be overwritten.
  void store(llvm::MutableArrayRef<BodyEmitter> parts, llvm::ArrayRef<Value> values, const Lanes &tile) {
    const int64_t bits = tile.count * nest.plan.widestBits;
    if (!large || nest.store->getParentOp() != nest.inner ||
        int64_t(parts.size()) * bits % (model.cpu.line * 8) != 0) {
      for (auto [part, value] : llvm::zip_equal(parts, values))
        part.storeHoisted(nest.store, value);
      return;
    }
    auto branch = scf::IfOp::create(b, loc, parts.front().startsLine(nest.store, large),
                                    /*withElseRegion=*/true);
    for (bool streams : {true, false}) {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint((streams ? branch.thenBlock() : branch.elseBlock())->getTerminator());
      for (auto [part, value] : llvm::zip_equal(parts, values))
        part.storeHoisted(nest.store, value, streams);
    }
  }
};

struct RegisterTilesPass : impl::RegisterTilesBase<RegisterTilesPass> {
  using RegisterTilesBase::RegisterTilesBase;

  void runOnOperation() override {
    // Loops around a nest come after it: they are gone when the nest reaches that far.
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::SetVector<Operation *> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.insert(loop); });
    while (!loops.empty()) {
      auto loop = mlir::cast<scf::ForOp>(loops.front());
      loops.remove(loop);
      if (std::optional<ReductionNest> nest = matchReductionNest(loop)) {
        Lanes lanes;
        const iteration::Choice<unsigned> length = model.vectorLength(nest->plan.widestBits, vl);
        lanes.count = length.value;
        lanes.index32 = index32;
        lanes.gatherElements = gatherElements;
        if (std::optional<int64_t> most = mostIterations(nest->inner); most && *most < lanes.count)
          continue; // no vector fits
        dialect::explainChoice(nest->inner, length.reason);
        // Several loops around say whether there is a step only while they run.
        if (nest->outers.size() > 1 && mayBeNowhere(nest->store) &&
            !findFill(nest->top(), nest->store.getMemRef()))
          nest->outers.erase(nest->outers.begin(), std::prev(nest->outers.end()));
        for (scf::ForOp gone : nest->outers)
          loops.remove(gone);
        Tiler(std::move(*nest), lanes, vl != 0, factors, model).run();
      }
    }
  }
};

} // namespace
} // namespace tulle::passes
