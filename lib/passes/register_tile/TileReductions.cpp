// tulle-tile-reductions: reduce several rows at a time.
//
// In `for j: s = 0; for k: s += A[i, k] * B[j, k]; C[j] = s` each j loads all of a row of A, and ends with a
// horizontal reduction. A few j have a vector of partial sums each: what does not depend on j is loaded once
// for all of them, and all horizontal reductions are one.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/RowGroups.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/vectorize/Reductions.h"

namespace tulle::passes {
#define GEN_PASS_DEF_TILEREDUCTIONS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using Values = SmallVector<Value>;

/// `for j: … s = reduce over k; … C[…] = s`, where the bounds of k do not depend on j.
struct ReducedRows {
  scf::ForOp rows;
  VectorizationLegality inner;
};

/// The only loop of a body that else loads, computes and stores.
scf::ForOp onlyLoop(scf::ForOp rows) {
  scf::ForOp found;
  for (Operation &op : rows.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !found)
      found = loop;
    else if (op.getNumRegions() != 0 || !(onlyLoads(&op) || (isa<memref::StoreOp>(op) && found)))
      return {};
  }
  return found;
}

std::optional<ReducedRows> matchRows(scf::ForOp rows) {
  if (!canGroup(rows))
    return std::nullopt;
  scf::ForOp inner = onlyLoop(rows);
  if (!inner || inner.getNumResults() != 1 || scheduledUnroll(inner) != 0 || fixedLanes(inner) != 0 ||
      isLoaded(inner.getLowerBound()) || !rows.isDefinedOutsideOfLoop(inner.getLowerBound()) ||
      !rows.isDefinedOutsideOfLoop(inner.getUpperBound()))
    return std::nullopt;
  std::optional<VectorizationLegality> legality = analyzeLoop(inner);
  if (!legality || legality->gathers || legality->scatters || legality->branches || legality->prefetches ||
      legality->reductions.size() != 1 || legality->reductions[0].condition ||
      !inner.getOps<memref::StoreOp>().empty() || !sharesOperand(*legality, rows, /*except=*/{}) ||
      !identity(legality->reductions[0].kind, inner.getInitArgs()[0].getType()))
    return std::nullopt;
  return ReducedRows{rows, std::move(*legality)};
}

/// Sums of products: factors that are the same in all iterations are multiplied with the sum, by
/// distributivity.
void hoistFactors(scf::ForOp inner) {
  BlockArgument carried = inner.getRegionIterArgs()[0];
  auto sum = inner.getYieldedValues()[0].getDefiningOp<arith::AddFOp>();
  auto mayRegroup = [](auto op) {
    return op && op->hasOneUse() && bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::reassoc);
  };
  if (!mayRegroup(sum) || !carried.hasOneUse() || (sum.getLhs() != carried && sum.getRhs() != carried))
    return;
  Values open{sum.getLhs() == carried ? sum.getRhs() : sum.getLhs()}, same, others;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto product = value.getDefiningOp<arith::MulFOp>();
    if (mayRegroup(product) && !inner.isDefinedOutsideOfLoop(value))
      open.append({product.getRhs(), product.getLhs()});
    else
      (inner.isDefinedOutsideOfLoop(value) ? same : others).push_back(value);
  }
  if (same.empty() || others.empty())
    return;
  OpBuilder b(sum);
  const auto flags = sum.getFastmathAttr();
  auto productOf = [&](ArrayRef<Value> factors) {
    Value product = factors[0];
    for (Value factor : factors.drop_front())
      product = arith::MulFOp::create(b, sum.getLoc(), product, factor, flags);
    return product;
  };
  sum->setOperands({carried, productOf(others)});
  b.setInsertionPoint(inner);
  Value init = inner.getInitArgs()[0];
  Value zero = arith::ConstantOp::create(b, sum.getLoc(), b.getZeroAttr(init.getType()));
  inner.getInitArgsMutable()[0].assign(zero);
  b.setInsertionPointAfter(inner);
  same.push_back(inner.getResult(0));
  Value scaled = productOf(same);
  Value result = arith::AddFOp::create(b, sum.getLoc(), init, scaled, flags);
  inner.getResult(0).replaceAllUsesExcept(result, scaled.getDefiningOp());
  eraseDead(inner.getBody());
}

/// The loop over groups of rows, before the loop over rows, which is left with the others.
class TiledReductions : levels::Indices {
public:
  TiledReductions(ReducedRows found, int64_t lanes, const iteration::CostModel &model)
      : Indices(found.rows), rows(found.rows), legality(std::move(found.inner)), inner(legality.loop),
        later(rows, legality, model) {
    this->lanes.count = lanes;
    counts.push_back(std::min(lanes, later.any() ? model.costs.reducedRemoteRows : model.costs.reducedRows));
    if (later.any() && model.costs.fewestReducedRows < counts[0])
      counts.push_back(model.costs.fewestReducedRows);
  }

  void emit() {
    if (later.any())
      later.emitBefore();
    for (int64_t size : counts) {
      count = size;
      b.setInsertionPoint(rows);
      forGroups(*this, rows, behindGroups(*this, rows, count), constant(count),
                [&](Value group) { emitGroup(group); });
    }
  }

private:
  scf::ForOp rows;
  VectorizationLegality legality;
  scf::ForOp inner;
  LaterRows later;
  Lanes lanes;
  SmallVector<int64_t, 2> counts; ///< of rows: where segments may be short, smaller groups follow larger ones
  int64_t count = 0;              ///< of the rows in the groups that are emitted

  const Reduction &reduction() const { return legality.reductions[0]; }

  void emitGroup(Value group) {
    if (later.any())
      later.emitAt(b, group, count);
    std::vector<IRMapping> maps{size_t(count)};
    for (auto [r, map] : llvm::enumerate(maps)) {
      map.map(rows.getInductionVar(), add(group, constant(int64_t(r))));
      for (Operation &op : *rows.getBody()) {
        if (&op == inner)
          break;
        b.clone(op, map);
      }
    }
    Values initials;
    for (const IRMapping &map : maps)
      initials.push_back(map.lookupOrDefault(inner.getInitArgs()[0]));
    Value sums = reducedEach(partialSums(maps, initials));
    Value buffer = levels::allocaAtEntry(
        b, loc, MemRefType::get({count}, cast<VectorType>(sums.getType()).getElementType()));
    vector::StoreOp::create(b, loc, sums, buffer, constant(0));
    auto finish = [&](Value r) { finishRow(add(group, r), memref::LoadOp::create(b, loc, buffer, r)); };
    forSteps(b, loc, constant(0), constant(count), constant(1), finish)->setAttrs(rows->getAttrs());
  }

  /// What a row does with its sum: iterations of a loop that tulle-vectorize makes vectors of, in which the
  /// buffer becomes a register.
  void finishRow(Value row, Value sum) {
    IRMapping map;
    map.map(rows.getInductionVar(), row);
    for (Operation &op : rows.getBody()->without_terminator()) {
      if (&op != inner)
        b.clone(op, map);
      else
        map.map(inner.getResult(0),
                combine(b, loc, reduction(), map.lookupOrDefault(inner.getInitArgs()[0]), sum));
    }
  }

  /// A vector for each row: those of all whole vectors, then of a masked one.
  Values partialSums(ArrayRef<IRMapping> maps, ValueRange initials) {
    Values sums;
    for (Value initial : initials)
      sums.push_back(initialLanes(b, loc, reduction(), lanes, initial));
    Value lower = inner.getLowerBound(), upper = inner.getUpperBound(), step = constant(lanes.count);
    Value behind = add(lower, times(divide(max(sub(upper, lower), constant(0)), step), step));
    auto loop = scf::ForOp::create(b, loc, lower, behind, step, sums);
    disableLoopTransforms(loop);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      scf::YieldOp::create(b, loc, update(maps, loop.getInductionVar(), {}, loop.getRegionIterArgs()));
    }
    sums.assign(loop.getResults().begin(), loop.getResults().end());
    return levels::ifElse(
        b, loc, isLess(behind, upper), ValueRange(sums).getTypes(),
        [&] { return update(maps, behind, activeLanes(b, loc, lanes, sub(upper, behind)), sums); },
        [&] { return sums; });
  }

  Values update(ArrayRef<IRMapping> maps, Value first, Value mask, ValueRange sums) {
    Values updated;
    for (auto [map, sum] : llvm::zip_equal(maps, sums)) {
      BodyEmitter emitter(b, legality, lanes, first, mask);
      emitter.bind(map);
      updated.push_back(emitter.emit(sum)[0]);
    }
    return updated;
  }

  /// A vector of the horizontal reduction of each: halves first, until there are as many lanes as rows.
  Value reducedEach(Values sums) {
    for (int64_t half = lanes.count / 2; half >= count; half /= 2)
      for (Value &sum : sums) {
        auto part = [&](int64_t from) {
          return vector::ExtractStridedSliceOp::create(b, loc, sum, from, half, 1);
        };
        sum = combine(b, loc, reduction(), part(0), part(half));
      }
    return reduceEach(b, loc, reduction(), sums);
  }
};

struct TileReductionsPass : impl::TileReductionsBase<TileReductionsPass> {
  using TileReductionsBase::TileReductionsBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    bool changed = false;
    for (scf::ForOp rows : loopsIn(getOperation())) {
      std::optional<ReducedRows> found = matchRows(rows);
      if (!found)
        continue;
      hoistFactors(found->inner.loop);
      changed = true;
      if (found = matchRows(rows); !found)
        continue;
      const unsigned bits = found->inner.widestBits;
      const int64_t lanes = vl ? unsigned(vl) : model.rowVectorLength(bits, model.vectorLength(bits).value);
      std::optional<int64_t> columns = maxTripCount(found->inner.loop), most = maxTripCount(rows);
      if (lanes < 2 || (columns && *columns < 2 * lanes) || (most && *most < model.costs.fewestReducedRows))
        continue;
      dialect::explainChoice(rows,
                             "reducing several rows at a time: what they share is loaded once, and their "
                             "horizontal reductions are one");
      TiledReductions(std::move(*found), lanes, model).emit();
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
