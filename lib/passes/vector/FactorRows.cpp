// tulle-factor-rows: what all entries of a segment are multiplied by is taken out of their sum.
//
// In `for q: for p in segment(q): for k: C[k] += v[p] * D[q, k] * E[crd[p], k]` (MTTKRP) every entry reads
// the row of D and is multiplied with it. By the distributive law `W[k] = Σ v[p] * E[crd[p], k]` comes first,
// then `C[k] += W[k] * D[q, k]`.
#include "dialect/Costs.h"
#include "levels/Control.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/vector/Indices.h"
#include "passes/vector/Nest.h"

namespace tulle::passes {
#define GEN_PASS_DEF_FACTORROWS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

bool mayReassociate(arith::ArithFastMathInterface op) {
  return arith::bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
}

/// A nest whose innermost outer loop walks the segments of the one around it and adds products.
struct Sum {
  Nest nest;
  arith::AddFOp sum;
  llvm::SmallVector<Value> within,
      shared; ///< factors that the position decides; those that are the same for a segment

  scf::ForOp segments() const { return nest.outers.end()[-2]; }
  scf::ForOp walk() const { return nest.outer(); }
};

/// Whether the value is computed from the loop's index. Every value is asked once, however many paths lead to
/// it.
bool dependsOn(Value value, scf::ForOp loop) {
  llvm::SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == loop.getInductionVar())
      return true;
    Operation *op = next.getDefiningOp();
    if (!op || !loop->isProperAncestor(op) || !seen.insert(op).second)
      continue;
    if (op->getNumRegions() != 0)
      return true;
    llvm::append_range(open, op->getOperands());
  }
  return false;
}

void collectFactors(Value value, scf::ForOp inner, llvm::SmallVectorImpl<Value> &factors) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != inner.getBody() || !product->hasOneUse() ||
      !mayReassociate(product)) {
    factors.push_back(value);
    return;
  }
  collectFactors(product.getLhs(), inner, factors);
  collectFactors(product.getRhs(), inner, factors);
}

std::optional<Sum> matchSum(scf::ForOp loop) {
  std::optional<Nest> nest = matchNest(loop);
  if (!nest || nest->movingBounds || !walksSegments(*nest) || mayBeNowhere(nest->store))
    return std::nullopt; // segments without entries add to their row, too
  for (size_t l = 0; l + 1 < nest->outers.size(); ++l)
    if (nest->outers[l]->hasAttr(kNear) || nest->outers[l]->hasAttr(kShort) ||
        !walksSegments(nest->outers[l], nest->outers[l + 1]))
      return std::nullopt;
  auto sum = nest->store.getValueToStore().getDefiningOp<arith::AddFOp>();
  if (!sum || sum->getBlock() != nest->inner.getBody() || !sum->hasOneUse() || !mayReassociate(sum) ||
      !nest->load->hasOneUse())
    return std::nullopt;
  const bool onTheLeft = sum.getLhs() == nest->load.getResult();
  if (!onTheLeft && sum.getRhs() != nest->load.getResult())
    return std::nullopt;
  Sum found{std::move(*nest), sum, {}, {}};
  llvm::SmallVector<Value> factors;
  collectFactors(onTheLeft ? sum.getRhs() : sum.getLhs(), found.nest.inner, factors);
  for (Value factor : factors)
    (dependsOn(factor, found.walk()) ? found.within : found.shared).push_back(factor);
  const bool hasRow =
      llvm::any_of(found.shared, [&](Value factor) { return dependsOn(factor, found.nest.inner); });
  return !found.within.empty() && hasRow ? std::optional(std::move(found)) : std::nullopt;
}

class Factorer : Indices {
public:
  Factorer(Sum found, const iteration::CostModel &model)
      : Indices(found.nest.top()), found(std::move(found)), model(model) {}

  void run() {
    scf::ForOp top = found.nest.top();
    Value areLong = haveLongSegments();
    Value row = workspace();
    auto branch = scf::IfOp::create(b, loc, areLong, /*withElseRegion=*/true);
    mlir::IRMapping map;
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    b.clone(*top, map);
    top->moveBefore(branch.elseBlock()->getTerminator());
    found.segments()->setAttr(kShort, b.getUnitAttr());
    factor(map, row);
  }

private:
  Sum found;
  const iteration::CostModel &model;

  /// The positions that the nest walks, from those of its outermost loop on: segments and entries.
  Value haveLongSegments() {
    scf::ForOp top = found.nest.top();
    Value begin = top.getLowerBound(), end = top.getUpperBound();
    return levels::ifElse(
        b, loc, is(arith::CmpIPredicate::slt, begin, end), b.getI1Type(),
        [&] {
          Value segments, entries;
          for (size_t l = 1; l < found.nest.outers.size(); ++l) {
            segments = sub(end, begin);
            begin = segmentStart(l, begin);
            end = segmentStart(l, end);
            entries = sub(end, begin);
          }
          Value few = times(segments, constant(model.costs.shortSegment));
          return levels::Values{is(arith::CmpIPredicate::sge, entries, few)};
        },
        [&] { return levels::Values{arith::ConstantOp::create(b, loc, b.getBoolAttr(false))}; })[0];
  }

  /// The first position that loop l of the nest walks for a position of the loop around it.
  Value segmentStart(size_t l, Value position) {
    scf::ForOp around = found.nest.outers[l - 1], walk = found.nest.outers[l];
    mlir::IRMapping map;
    map.map(around.getInductionVar(), position);
    return clonePlace(b, walk.getLowerBound(), around.getBody(), map);
  }

  /// A row for the sums, allocated outside of all loops that its length does not need.
  Value workspace() {
    Value length = found.nest.inner.getUpperBound();
    Operation *around = found.nest.top();
    while (mlir::isa<scf::ForOp, scf::IfOp>(around->getParentOp()) &&
           !around->getParentOp()->isAncestor(length.getParentBlock()->getParentOp()))
      around = around->getParentOp();
    mlir::OpBuilder outside(around);
    auto type = mlir::MemRefType::get({mlir::ShapedType::kDynamic}, found.nest.load.getType());
    Value row = memref::AllocOp::create(outside, loc, type, length);
    outside.setInsertionPointAfter(around);
    memref::DeallocOp::create(outside, loc, row);
    return row;
  }

  /// The loops that `map` has copies of: a segment's sum goes to `row`, and what it is multiplied by follows.
  void factor(const mlir::IRMapping &map, Value row) {
    auto copy = [&](auto op) { return mlir::cast<decltype(op)>(map.lookup(op.getOperation())); };
    scf::ForOp walk = copy(found.walk()), inner = copy(found.nest.inner);
    b.setInsertionPoint(walk);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(found.nest.load.getType()));
    overRow([&](Value k) { memref::StoreOp::create(b, loc, zero, row, k); });

    b.setInsertionPointAfter(walk);
    overRow([&](Value k) {
      mlir::IRMapping own = map, copies;
      own.map(found.nest.inner.getInductionVar(), k);
      Value value = memref::LoadOp::create(b, loc, row, k);
      for (Value factor : found.shared)
        value =
            arith::MulFOp::create(b, loc, value, cloned(factor, own, copies), found.sum.getFastmathAttr());
      Value before = cloned(found.nest.load, own, copies);
      Value after = arith::AddFOp::create(b, loc, before, value, found.sum.getFastmathAttr());
      memref::StoreOp::create(b, loc, after, found.nest.store.getMemRef(),
                              cloned(found.nest.store.getIndices()[0], own, copies));
    });

    memref::StoreOp store = copy(found.nest.store);
    b.setInsertionPoint(store);
    Value value;
    for (Value factor : found.within) {
      Value next = map.lookupOrDefault(factor);
      value =
          value ? arith::MulFOp::create(b, loc, value, next, found.sum.getFastmathAttr()).getResult() : next;
    }
    Value k = inner.getInductionVar(), before = memref::LoadOp::create(b, loc, row, k);
    Value after = arith::AddFOp::create(b, loc, before, value, found.sum.getFastmathAttr());
    memref::StoreOp::create(b, loc, after, row, k);
    store.erase();
    for (scf::ForOp loop : {inner, walk})
      eraseUnused(*loop.getBody());
  }

  static void eraseUnused(mlir::Block &block) {
    llvm::SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      if (mlir::isOpTriviallyDead(op))
        op->erase();
  }

  /// A loop over the columns.
  void overRow(llvm::function_ref<void(Value)> body) {
    scf::ForOp inner = found.nest.inner;
    auto loop = scf::ForOp::create(b, loc, inner.getLowerBound(), inner.getUpperBound(), inner.getStep());
    loop->setAttrs(inner->getAttrs());
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// The value again, from what the walk over a segment computes it of. `copies` has what has been cloned.
  Value cloned(Value value, const mlir::IRMapping &map, mlir::IRMapping &copies) {
    Operation *op = value.getDefiningOp();
    if (!op ||
        !found.walk()->isProperAncestor(op)) // what it has a copy of within the walk is cloned all the same
      return map.lookupOrDefault(value);
    if (!copies.contains(value)) {
      mlir::IRMapping own;
      for (Value operand : op->getOperands())
        own.map(operand, cloned(operand, map, copies));
      copies.map(value, b.clone(*op, own)->getResult(0));
    }
    return copies.lookup(value);
  }
};

struct FactorRowsPass : impl::FactorRowsBase<FactorRowsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Sum> found = matchSum(loop))
        Factorer(std::move(*found), model).run();
  }
};

} // namespace
} // namespace tulle::passes
