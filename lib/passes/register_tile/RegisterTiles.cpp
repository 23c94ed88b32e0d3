// tulle-register-tiles: tile reduction nests for registers.
//
// In `for p: for k: C[i*n + k] += …` every iteration of p loads and stores a whole row of C. A tile of k is
// hoisted: its elements are loaded once, updated over all p, and stored once. Each element still sees the
// same operations in the same order.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/register_tile/FusedUse.h"
#include "passes/register_tile/TileLoops.h"

namespace tulle::passes {
#define GEN_PASS_DEF_REGISTERTILES
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;
using Values = SmallVector<Value>;

/// The locality of gathers is tested by so many samples of so many rows, together less than a long loop
/// (experiment 047).
constexpr int64_t samples = 8, sampledRows = 16;

/// Non-temporal stores are visible to other threads after a fence: one for each thread, after the outermost
/// loop.
void addFenceAfter(Operation *loop) {
  while (!isa<func::FuncOp, dialect::ParallelOp>(loop->getParentOp()))
    loop = loop->getParentOp();
  if (isa_and_nonnull<LLVM::FenceOp>(loop->getNextNode()))
    return;
  OpBuilder after(loop->getBlock(), std::next(loop->getIterator()));
  LLVM::FenceOp::create(after, loop->getLoc(), LLVM::AtomicOrdering::seq_cst, "");
}

/// A larger buffer does not stay in a cache from its store to its next load.
constexpr int64_t cacheBytes = int64_t(32) << 20;

/// The initialization of a nest's elements, fused into it.
struct FusedInit {
  mlir::TypedAttr value;
  mlir::Value size; ///< elements that the loop initialized
  /// At run time: whether the nest stores the same elements, so that the loop does not run.
  mlir::Value fused;
  mlir::Value large; ///< at run time: that, and the buffer is larger than caches; null where unknown
  scf::ForOp loop;
};

/// Whether some elements that the inner loop visits are not updated in any iteration of the outer ones: a
/// tile does not store those.
bool skipsElements(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  for (Operation *op = nest.store->getParentOp(); op != inner; op = op->getParentOp())
    if (nest.isOuterInvariant(cast<scf::IfOp>(op).getCondition()))
      return true;
  return false;
}

/// Finds the loop before the nest that initializes what the nest updates, and makes it run only where the
/// nest does not store all of that. Where the nest's bounds depend on an outer loop, its first iterations are
/// to initialize what they do not update.
std::optional<FusedInit> fuseInitLoop(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner, top = nest.top();
  memref::StoreOp store = nest.store;
  if (nest.legality.scatters || (!nest.ivDependentBounds && !isZero(inner.getLowerBound())) ||
      skipsElements(nest))
    return std::nullopt;
  std::optional<InitLoop> init = findInitLoop(top, store.getMemRef());
  std::optional<Value> offset = offsetFrom(store.getIndices()[0], inner);
  if (!init || !offset || *offset != init->offset || (nest.ivDependentBounds && *offset))
    return std::nullopt;
  levels::Indices at(top);
  at.loc = init->loop.getLoc();
  Value covers;
  if (!nest.ivDependentBounds)
    covers = at.b.createOrFold<arith::CmpIOp>(at.loc, CmpIPredicate::eq, inner.getUpperBound(), init->size);
  // Without an iteration there may be no group of them that stores.
  if (nest.ivDependentBounds || nest.legality.gathers)
    covers = at.both(covers, at.isLess(top.getLowerBound(), top.getUpperBound()));
  if (!nest.legality.guardedGathers.empty())
    covers = at.both(covers, areNonEmpty(at.b, at.loc, nest.legality.guardedGathers));
  // From here on all of this is known.
  init->loop->moveBefore(top);
  at.b.setInsertionPoint(init->loop);
  init->loop.getUpperBoundMutable().assign(at.select(covers, init->loop.getLowerBound(), init->size));
  FusedInit fused{init->value, init->size, covers, Value(), init->loop};
  if (unsigned bits = store.getMemRefType().getElementTypeBitWidth(); bits >= 8)
    fused.large = at.both(
        covers, at.is(CmpIPredicate::ugt, at.sizeOf(store.getMemRef()), at.constant(cacheBytes * 8 / bits)));
  return fused;
}

/// Emits tiles of a nest. Invariant: elements are loaded, or initialized, once before the outer loops and
/// stored once after them.
class TileEmitter : levels::IndicesAt {
public:
  TileEmitter(OpBuilder &builder, const ReductionNest &nest, const iteration::CostModel &model,
              bool hoistsFactors)
      : IndicesAt(builder, nest.top().getLoc()), nest(nest), model(model),
        loops(builder, nest, model, hoistsFactors) {}

  /// The initialization that is fused, and when tiles start from it: `starts`, `nonTemporal` are known at run
  /// time, where the builder stands.
  void setInit(const FusedInit &fused, Value starts, Value nonTemporal) {
    init = fused;
    startsFromInit = starts;
    storesNonTemporally = nonTemporal;
  }

  /// A loop that takes the elements in place of memory.
  void setUse(const FusedUse &loop) { use = &loop; }

  /// A tile of so many whole vectors from element `first` on, for iterations begin … end - 1 of the outermost
  /// loop.
  /// Where masks take time, tiles whose lanes are all active, but for conditions inside of the outer loops,
  /// have a version of their own.
  void emitFull(Value begin, Value end, Value first, int64_t vectors, const Lanes &lanes) {
    std::vector<BodyEmitter> parts;
    for (int64_t v = 0; v < vectors; ++v)
      parts.push_back(part(add(first, constant(v * lanes.count)), {}, lanes));
    if (model.cpu.masks || nest.load->getParentOp() == nest.inner)
      return update(begin, end, parts, lanes);
    Value allActive;
    for (BodyEmitter &part : parts)
      allActive = both(allActive, part.allLanesActive(nest.load, nest.store));
    std::vector<BodyEmitter> unmasked(parts.begin(), parts.end());
    for (BodyEmitter &part : unmasked)
      part.assumeAllLanesActive();
    branch(
        b, loc, allActive, [&] { update(begin, end, unmasked, lanes); },
        [&] { update(begin, end, parts, lanes); });
  }

  /// One vector from element `first` on, masked from `upper` on.
  void emitMasked(Value begin, Value end, Value first, Value upper, const Lanes &lanes) {
    Value mask = activeLanes(b, loc, lanes, sub(upper, first));
    std::vector<BodyEmitter> parts{part(first, mask, lanes)};
    update(begin, end, parts, lanes, mask);
  }

private:
  using Parts = MutableArrayRef<BodyEmitter>; ///< an emitter for each vector of the tile

  const ReductionNest &nest;
  const iteration::CostModel &model;
  TileLoops loops;
  std::optional<FusedInit> init;
  Value startsFromInit;
  Value storesNonTemporally; ///< null: never
  const FusedUse *use = nullptr;

  BodyEmitter part(Value first, Value mask, const Lanes &lanes) {
    BodyEmitter emitter(b, nest.legality, lanes, first, mask);
    emitter.hoist([&](Operation *op) { return nest.isOuterInvariant(op); },
                  [&](Value condition) { return nest.isOuterInvariant(condition); });
    return emitter;
  }

  /// The outer loops over the tile's elements: loaded before, stored after.
  void update(Value begin, Value end, Parts parts, const Lanes &lanes, Value mask = {}) {
    Values elements = initialElements(parts);
    const Values updated = loops.run(begin, end, elements, parts, lanes);
    if (!use)
      return store(parts, updated, lanes);
    for (auto [part, value] : llvm::zip_equal(parts, updated))
      use->emit(b, part.first(), mask, lanes, value);
  }

  /// The elements of a tile before the outer loops. Where they start from the fused initialization nothing is
  /// loaded, not even by a mask without active lanes: that would bring the lines into the cache.
  Values initialElements(Parts parts) {
    auto loads = [&] {
      return llvm::map_to_vector(parts, [&](BodyEmitter part) { return part.loadHoisted(nest.load); });
    };
    if (!init)
      return loads();
    memref::LoadOp load = nest.load;
    Values values;
    for (BodyEmitter &part : parts)
      values.push_back(part.splat(load.getType(), init->value));
    if (use)
      return values;
    return levels::ifElse(
        b, loc, startsFromInit, ValueRange(values).getTypes(), [&] { return values; },
        [&] { return Values(loads()); });
  }

  /// Stores are non-temporal where they write whole lines, the result starts from its initialization, and it
  /// is larger than caches: others would load lines only to overwrite them.
  void store(Parts parts, ArrayRef<Value> values, const Lanes &lanes) {
    const int64_t bits = lanes.count * nest.legality.widestBits;
    auto storeAll = [&](bool nonTemporal) {
      for (auto [part, value] : llvm::zip_equal(parts, values))
        part.storeHoisted(nest.store, value, nonTemporal);
    };
    if (!storesNonTemporally || nest.store->getParentOp() != nest.inner ||
        int64_t(parts.size()) * bits % (model.cpu.line * 8) != 0)
      return storeAll(false);
    Value aligned = parts.front().isLineAligned(nest.store, storesNonTemporally);
    branch(b, loc, aligned, [&] { storeAll(true); }, [&] { storeAll(false); });
  }
};

/// A nest, tiled: groups of iterations of the outer loop, and in each of them tiles of the inner loop from
/// the widest on, then an epilogue.
class TiledNest : levels::Indices {
public:
  /// `lanes`: of all but wide tiles.
  TiledNest(ReductionNest nest, const Lanes &lanes, bool fixedLength, bool hoistsFactors,
            const iteration::CostModel &model)
      : Indices(nest.top()), nest(std::move(nest)), lanes(lanes), fixedLength(fixedLength), model(model),
        tiles(b, this->nest, model, hoistsFactors) {}

  /// Returns other loops that have nothing to do any more.
  SmallVector<scf::ForOp> emit() {
    scf::ForOp top = nest.top();
    std::optional<FusedUse> use = FusedUse::find(nest);
    init = fuseInitLoop(nest);
    if (use && (!init || !matchPattern(init->fused, m_One())))
      use.reset();
    if (use) {
      use->fuse(top);
      init->large = {};
      tiles.setUse(*use);
      dialect::explainChoice(nest.inner,
                             "fusion: the loop behind this one takes what it computes from registers");
    }
    if (init) {
      dialect::explainChoice(nest.inner,
                             "fusion: tiles start from the initial value of the result, where they cover "
                             "what a loop before them initializes, at run time");
      tiles.setInit(*init, init->fused, init->large);
    }
    if (init && init->large)
      addFenceAfter(top);
    if (!init && !isAlwaysDereferenceable(nest.store))
      guard(isLess(top.getLowerBound(), top.getUpperBound()), /*copies=*/false);
    if (!nest.legality.guardedGathers.empty())
      guard(areNonEmpty(b, loc, nest.legality.guardedGathers), /*copies=*/true);
    std::optional<int64_t> most = maxTripCount(nest.inner);
    bool mayBeLong = !most || *most > model.costs.longLoop;
    SmallVector<Value> coordinates;
    if (mayBeLong && !nest.ivDependentBounds && model.cpu.gathers)
      coordinates = gatherCoordinates(nest.legality);
    if (!coordinates.empty())
      groupsByLocality(coordinates);
    else if (mayBeLong && (nest.ivDependentBounds || nest.legality.gathers))
      groups();
    else
      group(top.getLowerBound(), top.getUpperBound(), init ? init->fused : Value());
    Block *block = top->getBlock();
    top.erase();
    eraseDead(block);
    return use ? SmallVector<scf::ForOp>{init->loop, use->done()} : SmallVector<scf::ForOp>();
  }

private:
  ReductionNest nest;
  Lanes lanes;
  bool fixedLength;
  const iteration::CostModel &model;
  TileEmitter tiles;
  std::optional<FusedInit> init;

  /// The tiles go where the condition holds, a copy of the nest, if wanted, where it does not.
  void guard(Value condition, bool copies) {
    auto branch = scf::IfOp::create(b, loc, condition, copies);
    if (copies) {
      Operation *copy = OpBuilder(branch.elseBlock()->getTerminator()).clone(*nest.top());
      for (scf::ForOp loop : loopsIn(copy))
        loop->setAttr(dialect::kLoopAttr, dialect::loopOf(loop).withRare());
    }
    nest.top()->moveBefore(branch.thenBlock()->getTerminator());
    b.setInsertionPoint(nest.top());
  }

  /// Two versions of the groups: with scalarized gathers where these are local, with the instruction
  /// elsewhere.
  void groupsByLocality(ArrayRef<Value> coordinates) {
    branch(
        b, loc, sampleLocality(coordinates), [&] { groups(); },
        [&] {
          lanes.scalarizeGathers = false;
          groups();
        });
  }

  /// Whether neighboring iterations gather from local elements, in samples of the first iteration of the
  /// outer loop and of the middle one alternately.
  Value sampleLocality(ArrayRef<Value> coordinates) {
    scf::ForOp outer = nest.outer(), inner = nest.inner;
    Value length = sub(inner.getUpperBound(), inner.getLowerBound());
    Value any = isLess(outer.getLowerBound(), outer.getUpperBound());
    Value isLong = is(CmpIPredicate::sgt, length, constant(model.costs.longLoop));
    auto sample = [&] {
      Value middle = divide(sub(outer.getUpperBound(), outer.getLowerBound()), constant(2));
      Value stride = divide(length, constant(samples + 1));
      auto isLocal = [&](Value number, const levels::Values &soFar) {
        Value isOdd = arith::AndIOp::create(b, loc, number, constant(1));
        Value p = add(outer.getLowerBound(), times(isOdd, middle));
        Value at = add(inner.getLowerBound(), times(number, stride));
        const IRMapping map = prologue(p);
        Value last = add(at, constant(sampledRows));
        return levels::Values{
            both(soFar[0], areLocal(b, loc, nest.legality, coordinates, model.cpu, at, last, map))};
      };
      return levels::forLoop(b, loc, constant(1), constant(samples + 1), dialect::LoopKind::Reduction,
                             boolean(true), isLocal)[0];
    };
    return ifThen(both(any, isLong), sample, /*otherwise=*/true);
  }

  /// Runs a few iterations of the outer loop at a time where the inner one is long.
  void groups() {
    scf::ForOp outer = nest.outer(), inner = nest.inner;
    Value jammed = constant(model.jammedIterations(nest.legality.gathers));
    Value count = max(sub(outer.getUpperBound(), outer.getLowerBound()), constant(0));
    auto isLong = [&](Value lower, Value upper) {
      return is(CmpIPredicate::sgt, sub(upper, lower), constant(model.costs.longLoop));
    };
    // Of bounds that depend on the iteration, those of the middle one: of diagonals, about the longest.
    Value longLoops;
    if (nest.ivDependentBounds) {
      longLoops = ifThen(is(CmpIPredicate::sgt, count, constant(0)), [&] {
        auto [lower, upper] =
            cloneBounds(b, inner, outer, add(outer.getLowerBound(), divide(count, constant(2))));
        return isLong(lower, upper);
      });
    } else {
      longLoops = isLong(inner.getLowerBound(), inner.getUpperBound());
    }
    Value step = select(longLoops, jammed, max(count, constant(1)));
    forSteps(b, loc, outer.getLowerBound(), outer.getUpperBound(), step, [&](Value first) {
      Value starts;
      if (init)
        starts = both(init->fused, is(CmpIPredicate::eq, first, outer.getLowerBound()));
      Value left = sub(outer.getUpperBound(), first), large;
      if (init && init->large) {
        Value isLast = is(CmpIPredicate::sge, step, left);
        large = both(both(init->large, starts), isLast);
      }
      if (init)
        tiles.setInit(*init, starts, large);
      group(first, add(first, min(step, left)), starts);
    });
  }

  /// All tiles, for the iterations of the outer loop from `begin` to `end`.
  void group(Value begin, Value end, Value startsFromInit) {
    const bool regular =
        !nest.legality.gathers && !fixedLength && (!nest.ivDependentBounds || model.hasWholeLines());
    const iteration::Choice<std::vector<iteration::Tile>> shapes =
        model.tiles(nest.legality.widestBits, unsigned(lanes.count), regular, nest.legality.gathers);
    auto [lower, upper] = commonBounds(begin, end);
    std::optional<int64_t> most = maxTripCount(nest.inner), exactly = exactTripCount(nest.inner);
    Value position = lower;
    int64_t left = exactly.value_or(-1);
    if (!nest.ivDependentBounds && most && *most <= lanes.count && exactly != lanes.count)
      return oneVector(begin, end, lower, upper);
    dialect::explainChoice(nest.inner, shapes.reason);
    for (const iteration::Tile &shape : shapes.value) {
      Lanes tile = lanes;
      tile.count = shape.elements;
      const int64_t width = shape.vectors * tile.count;
      if ((most && *most < width) || (exactly && left < width))
        continue;
      position = tileLoop(begin, end, position, upper, shape.vectors, tile);
      left = exactly ? left % width : left;
    }
    if (nest.ivDependentBounds) {
      if (init)
        initializeAround(lower, position, startsFromInit);
      peeledEnds(begin, end, [&](Value from, Value to) { return std::pair(from, min(to, lower)); });
      peeledEnds(begin, end, [&](Value from, Value to) { return std::pair(max(from, position), to); });
    } else if (left != 0) {
      maskedEpilogue(begin, end, position, upper);
    }
  }

  /// Initializes what no tile covers, in the first iterations.
  void initializeAround(Value lower, Value position, Value startsFromInit) {
    auto store = [&](Value from, Value to) {
      forSteps(b, loc, from, select(startsFromInit, to, from), constant(1), [&](Value at) {
        Value value = arith::ConstantOp::create(b, loc, init->value);
        memref::StoreOp::create(b, loc, value, nest.store.getMemRef(), at);
      });
    };
    store(constant(0), min(lower, init->size));
    store(position, init->size);
  }

  /// The bounds that the inner loops of all these iterations have in common.
  std::pair<Value, Value> commonBounds(Value begin, Value end) {
    scf::ForOp inner = nest.inner;
    if (!nest.ivDependentBounds)
      return {inner.getLowerBound(), inner.getUpperBound()};
    // Without an iteration there is no tile.
    Value most = select(isLess(begin, end), constant(std::numeric_limits<int64_t>::max()), constant(0));
    SmallVector<Value> inits{constant(0), most};
    auto narrow = [&](Value index, const levels::Values &bounds) {
      IRMapping map = prologue(index);
      return levels::Values{max(bounds[0], map.lookupOrDefault(inner.getLowerBound())),
                            min(bounds[1], map.lookupOrDefault(inner.getUpperBound()))};
    };
    levels::Values common = levels::forLoop(b, loc, begin, end, dialect::LoopKind::Reduction, inits, narrow);
    return {common[0], common[1]};
  }

  /// Clones the outer loop's body without the inner loop.
  IRMapping prologue(Value index) {
    IRMapping map;
    clonePrologue(b, nest.outer(), index, map);
    return map;
  }

  /// The nest as it was, over the part of the inner loop that `clip` leaves.
  template <typename Clip> void peeledEnds(Value begin, Value end, Clip clip) {
    forSteps(b, loc, begin, end, nest.outer().getStep(), [&](Value index) {
      IRMapping map = prologue(index);
      auto [from, to] = clip(map.lookupOrDefault(nest.inner.getLowerBound()),
                             map.lookupOrDefault(nest.inner.getUpperBound()));
      auto inner = cast<scf::ForOp>(b.clone(*nest.inner, map));
      inner.getLowerBoundMutable().assign(from);
      inner.getUpperBoundMutable().assign(to);
    });
  }

  /// Tiles of so many vectors from `lower` while they fit; returns where they end.
  Value tileLoop(Value begin, Value end, Value lower, Value upper, int64_t vectors, const Lanes &tile) {
    const int64_t width = vectors * tile.count;
    Value step = constant(width), limit = sub(upper, constant(width - 1));
    auto loop = scf::ForOp::create(b, loc, lower, limit, step, lower);
    b.setInsertionPointToStart(loop.getBody());
    tiles.emitFull(begin, end, loop.getInductionVar(), vectors, tile);
    scf::YieldOp::create(b, loc, add(loop.getInductionVar(), step));
    b.setInsertionPointAfter(loop);
    return loop.getResult(0);
  }

  /// The elements after the last tile: a scalar epilogue would run the outer loop once for each.
  void maskedEpilogue(Value begin, Value end, Value lower, Value upper) {
    forSteps(b, loc, lower, upper, constant(lanes.count),
             [&](Value first) { tiles.emitMasked(begin, end, first, upper, lanes); });
  }

  /// All elements of rows that are no longer than a vector.
  void oneVector(Value begin, Value end, Value lower, Value upper) {
    auto branch = scf::IfOp::create(b, loc, isLess(lower, upper), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    tiles.emitMasked(begin, end, lower, upper, lanes);
  }
};

/// Whether the loop has few iterations, of a number that is known when it runs: all fit a masked vector.
/// Loops over blocks of a format have a version with constant bounds.
bool isPartOfTile(scf::ForOp inner) {
  return !exactTripCount(inner) && !minWithConstant(inner.getUpperBound());
}

/// Whether the loop is over a row of a known number of elements that lie together, which is one masked vector
/// as the end of a longer row is: LLVM makes scalars of it (experiment 122).
bool isShortRow(const ReductionNest &nest) {
  return exactTripCount(nest.inner).value_or(0) > 1 && !nest.legality.gathers && !nest.legality.scatters &&
         !nest.legality.branches;
}

struct RegisterTilesPass : impl::RegisterTilesBase<RegisterTilesPass> {
  using RegisterTilesBase::RegisterTilesBase;

  void runOnOperation() override {
    // Loops around a nest come after it: they are gone when the nest reaches that far.
    const iteration::CostModel model = dialect::costModel(getOperation());
    SetVector<Operation *> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.insert(loop); });
    while (!loops.empty()) {
      auto loop = cast<scf::ForOp>(loops.front());
      loops.remove(loop);
      std::optional<ReductionNest> nest = matchReductionNest(loop, Guards::InnerLoop);
      // A tile is more iterations at a time than a schedule asks for.
      const unsigned scheduled = nest ? fixedLanes(nest->inner) : 0;
      if (!nest || scheduled == 1 || isBodyScheduled(nest->top()))
        continue;
      const iteration::Choice<unsigned> length =
          model.vectorLengthFor(isPartOfTile(nest->inner) ? maxTripCount(nest->inner) : std::nullopt,
                                nest->legality.widestBits, scheduled ? scheduled : vl);
      const Lanes lanes{length.value, /*scalable=*/false, index32, /*scalarizeGathers=*/true};
      if (std::optional<int64_t> most = maxTripCount(nest->inner);
          most && *most < lanes.count && (scheduled || !isShortRow(*nest)) &&
          !(model.cpu.masks && isPartOfTile(nest->inner)))
        continue; // no vector fits
      dialect::explainChoice(nest->inner, length.reason);
      noteLanes(nest->inner);
      // Several loops around say whether there is an iteration only while they run.
      if (nest->outers.size() > 1 && !isAlwaysDereferenceable(nest->store) &&
          !findInitLoop(nest->top(), nest->store.getMemRef()))
        nest->outers.erase(nest->outers.begin(), std::prev(nest->outers.end()));
      for (scf::ForOp gone : nest->outers)
        loops.remove(gone);
      for (scf::ForOp done : TiledNest(std::move(*nest), lanes, scheduled || vl, factors, model).emit()) {
        loops.remove(done);
        done.erase();
      }
    }
    getOperation().walk([](memref::AllocOp buffer) { eraseUnused(buffer); });
  }
};

} // namespace
} // namespace tulle::passes
