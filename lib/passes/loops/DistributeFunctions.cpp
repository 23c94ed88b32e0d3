// tulle-distribute-functions: functions of short segments run over all segments of a block.
//
// In a block of rows, `for i: for p in segment(i): C[p] = exp(A[p] - m[i])` ends a vector with each row.
// Where only the function's operand depends on the row, it is stored first, and the function runs over all
// positions.
#include "dialect/Costs.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_DISTRIBUTEFUNCTIONS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

struct RowFunction {
  scf::ForOp rows, segment;
  memref::StoreOp store;
  Operation *function; ///< of one operand, which has the type of what is stored
};

/// Whether the value is computed from the position alone, and from `known`.
bool dependsOnPosition(Value value, scf::ForOp rows, scf::ForOp segment, Value known = {}) {
  return acceptsSlice(value, [&](Value value) -> std::optional<bool> {
    if (value == known || value == segment.getInductionVar() || rows.isDefinedOutsideOfLoop(value))
      return true;
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == segment.getBody() ? std::nullopt : std::optional(false);
  });
}

/// What a block of rows stores stays in the cache.
bool isInBlock(scf::ForOp rows) {
  for (auto around = rows->getParentOfType<scf::ForOp>(); around;
       around = around->getParentOfType<scf::ForOp>())
    if (dialect::loopOf(around).getBlocks())
      return true;
  return false;
}

/// The store that is all the segment's loop does, in rows that else only load, in loops of theirs too.
memref::StoreOp onlyStore(scf::ForOp rows, scf::ForOp segment) {
  auto stores = segment.getBody()->getOps<memref::StoreOp>();
  if (!llvm::hasSingleElement(stores))
    return {};
  memref::StoreOp store = *stores.begin();
  auto result = rows.getBody()->walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    const bool reads = onlyLoads(op) && !(load && load.getMemRef() == store.getMemRef());
    return reads || op == store || isa<scf::ForOp>(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? memref::StoreOp() : store;
}

std::optional<RowFunction> matchRowFunction(scf::ForOp segment) {
  auto rows = dyn_cast<scf::ForOp>(segment->getParentOp());
  if (!isParallel(rows) || !isParallel(segment) || rows.getNumResults() + segment.getNumResults() != 0 ||
      !iteratesSegments(rows, segment) || !isInBlock(rows) || fixedLanes(segment) || scheduledUnroll(segment))
    return std::nullopt;
  memref::StoreOp store = onlyStore(rows, segment);
  if (!store || !dependsOnPosition(store.getIndices()[0], rows, segment))
    return std::nullopt;
  for (Operation &op : *segment.getBody())
    if (isa<math::MathDialect>(op.getDialect()) && op.getNumOperands() == 1 &&
        op.getOperand(0).getType() == store.getMemRefType().getElementType() &&
        !dependsOnPosition(op.getOperand(0), rows, segment) &&
        dependsOnPosition(store.getValueToStore(), rows, segment, op.getResult(0)))
      return RowFunction{rows, segment, store, &op};
  return std::nullopt;
}

void distribute(RowFunction &found) {
  dialect::explainChoice(found.rows,
                         "distributing: a function of short rows runs over all entries of a block");
  OpBuilder b(found.rows->getBlock(), std::next(found.rows->getIterator()));
  IRMapping map;
  auto second = cast<scf::ForOp>(b.clone(*found.rows, map));
  Operation *function = map.lookup(found.function);
  auto store = cast<memref::StoreOp>(map.lookup(found.store.getOperation()));
  b.setInsertionPoint(function);
  Value index = store.getIndices()[0];
  if (Operation *of = index.getDefiningOp(); of && of->getBlock() == function->getBlock()) {
    IRMapping own;
    own.map(cast<scf::ForOp>(function->getParentOp()).getInductionVar(),
            cast<scf::ForOp>(function->getParentOp()).getInductionVar());
    index = cloneSlice(b, index, function->getBlock(), own);
  }
  function->setOperand(0, memref::LoadOp::create(b, function->getLoc(), store.getMemRef(), index));
  found.store.getValueMutable().assign(found.function->getOperand(0));
  for (scf::ForOp rows : {found.rows, second}) {
    for (scf::ForOp segment : rows.getBody()->getOps<scf::ForOp>())
      eraseDead(segment.getBody());
    eraseDead(rows.getBody());
  }
}

struct DistributeFunctions : impl::DistributeFunctionsBase<DistributeFunctions> {
  void runOnOperation() override {
    bool changed = false;
    for (scf::ForOp segment : loopsIn(getOperation()))
      if (std::optional<RowFunction> found = matchRowFunction(segment)) {
        distribute(*found);
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
