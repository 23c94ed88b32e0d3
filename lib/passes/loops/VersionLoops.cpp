// tulle-version-loops: version loops over rows by whether one tile of registers holds a row.
//
// A row of C that stays in registers is tiled, and each row tests again how many tiles of which width fit.
// That is the same for all rows: `for i: for p: for k < n: C[f(i, k)] = …`, where n does not depend on i,
// gets versions for each n that is one tile, and one with `min(n, elements of a vector)` for n, which runs
// where n is less (experiments 044, 101).
//
// tulle-peel-partial-tiles: give the loops over full tiles constant trip counts.
//
// Blocked formats pad the dimensions, so loops over a block end at min(rest, size). All blocks but the last
// are full: with constant bounds LLVM unrolls them completely and keeps a block's results in registers.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VERSIONLOOPS
#define GEN_PASS_DEF_PEELPARTIALTILES
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

//===--- Rows that one tile holds ---===//

/// The loop over rows around a nest whose inner trip count is the same for all of them; null without one.
scf::ForOp versionableRows(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  auto rows = dyn_cast<scf::ForOp>(nest.top()->getParentOp());
  return rows && rows.getNumResults() == 0 && rows.isDefinedOutsideOfLoop(inner.getUpperBound()) &&
                 isZero(inner.getLowerBound()) && !maxTripCount(inner)
             ? rows
             : scf::ForOp();
}

/// A version for rows of each of these lengths, and one for rows that are shorter than all of them.
void addOneTileVersions(scf::ForOp rows, Value length, ArrayRef<int64_t> lengths) {
  levels::Indices at(rows);
  auto version = [&](Value bound) {
    IRMapping map;
    map.map(length, bound); // of other loops over the row, and of its place, too
    at.b.clone(*rows, map);
  };
  Value least = at.constant(lengths.front());
  auto addFrom = [&](auto addFrom, ArrayRef<int64_t> left) -> void {
    if (left.empty())
      return addVersion(at.b, rows, at.isLess(length, least), [&] { version(at.min(length, least)); });
    Value exactly = at.constant(left.front());
    branch(
        at.b, at.loc, at.is(arith::CmpIPredicate::eq, length, exactly), [&] { version(exactly); },
        [&] { addFrom(addFrom, left.drop_front()); });
  };
  addFrom(addFrom, lengths);
}

struct VersionLoopsPass : impl::VersionLoopsBase<VersionLoopsPass> {
  using VersionLoopsBase::VersionLoopsBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    SetVector<Operation *> versioned;
    for (scf::ForOp loop : loopsIn<WalkOrder::PreOrder>(getOperation())) {
      std::optional<ReductionNest> nest = matchReductionNest(loop, Guards::InnerLoop);
      if (!nest || nest->ivDependentBounds || nest->legality.gathers || nest->legality.scatters)
        continue;
      scf::ForOp rows = versionableRows(*nest);
      if (!rows || !versioned.insert(rows))
        continue;
      const unsigned elements = model.vectorLength(nest->legality.widestBits, vl).value;
      const iteration::Choice<std::vector<int64_t>> lengths =
          model.oneTileLengths(nest->legality.widestBits, elements);
      dialect::explainChoice(nest->inner, lengths.reason);
      addOneTileVersions(rows, scf::ForOp(nest->inner).getUpperBound(), lengths.value);
    }
    if (versioned.empty())
      markAllAnalysesPreserved();
  }
};

//===--- Full tiles ---===//

/// Larger tiles gain nothing from being unrolled.
constexpr int64_t largestTile = 16;

bool isTileLoop(scf::ForOp loop) {
  std::optional<int64_t> most = maxTripCount(loop);
  return most && *most > 0 && *most <= largestTile && minWithConstant(loop.getUpperBound());
}

/// The loop and those inside it over tiles, with bounds known before it starts.
SmallVector<scf::ForOp> tileLoops(scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops;
  outermost.walk([&](scf::ForOp loop) {
    Operation *bound = loop.getUpperBound().getDefiningOp();
    if (isTileLoop(loop) && !outermost->isProperAncestor(bound))
      loops.push_back(loop);
  });
  return loops;
}

void peel(scf::ForOp outermost) {
  levels::Indices at(outermost);
  Value full;
  llvm::SmallDenseMap<Value, Value> sizes; ///< bound -> the constant it has in a full tile
  SmallVector<scf::ForOp> loops = tileLoops(outermost);
  for (scf::ForOp loop : loops) {
    Value bound = loop.getUpperBound();
    if (sizes.contains(bound))
      continue;
    Value size = sizes[bound] = at.constant(*minWithConstant(bound));
    full = at.both(full, at.is(arith::CmpIPredicate::eq, bound, size));
  }

  addVersion(at.b, outermost, full, [&] {
    auto constant = cast<scf::ForOp>(at.b.clone(*outermost));
    constant.walk([&](scf::ForOp loop) {
      if (auto it = sizes.find(loop.getUpperBound()); it != sizes.end())
        loop.setUpperBound(it->second);
    });
    return constant.getResults();
  });
  for (scf::ForOp loop : loops)
    disableLoopTransforms(loop); // partial tiles are rare
}

struct PeelPartialTilesPass : impl::PeelPartialTilesBase<PeelPartialTilesPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> outermost;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!isTileLoop(loop) || hasLoopAnnotation(loop) || isHoldScheduled(loop))
        return WalkResult::advance();
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    if (outermost.empty())
      return markAllAnalysesPreserved();
    for (scf::ForOp loop : outermost) {
      dialect::explainChoice(loop, "peeling: full tiles have constant trip "
                                   "counts, partial ones keep their loops");
      peel(loop);
    }
  }
};

} // namespace
} // namespace tulle::passes
