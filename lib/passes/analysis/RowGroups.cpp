// What rows share is found along the slice of an address; groups are a loop before the one over rows.
#include "passes/analysis/RowGroups.h"

using namespace mlir;

namespace tulle::passes {

bool canGroup(scf::ForOp rows) {
  return isParallel(rows) && hasUnitStep(rows) && rows.getNumResults() == 0 && scheduledUnroll(rows) == 0 &&
         !isPrefetchScheduled(rows);
}

bool isSameForAll(Value value, scf::ForOp rows) {
  return acceptsSlice(value, [&](Value value) -> std::optional<bool> {
    if (rows.isDefinedOutsideOfLoop(value))
      return true;
    if (value.getDefiningOp())
      return std::nullopt;
    // Of a loop inside, the iteration; what it carries may be another row's.
    scf::ForOp loop = scf::getForInductionVarOwner(value);
    return loop && loop != rows;
  });
}

bool sharesOperand(const VectorizationLegality &inner, scf::ForOp rows, memref::LoadOp except) {
  scf::ForOp loop = inner.loop;
  return llvm::any_of(loop.getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
    return load != except && inner.shapeOf(load) == LaneShape::Varying &&
           isSameForAll(load.getIndices()[0], rows);
  });
}

Value behindGroups(levels::Indices &indices, scf::ForOp rows, int64_t size) {
  Value first = rows.getLowerBound(), zero = indices.constant(0), each = indices.constant(size);
  Value count = indices.max(indices.sub(rows.getUpperBound(), first), zero);
  return indices.add(first, indices.times(indices.divide(count, each), each));
}

void forGroups(levels::Indices &indices, scf::ForOp rows, Value behind, Value step,
               function_ref<void(Value)> emit) {
  scf::ForOp groups = forSteps(indices.b, indices.loc, rows.getLowerBound(), behind, step, emit);
  groups->setAttrs(rows->getAttrs());
  rows.getLowerBoundMutable().assign(behind);
}

} // namespace tulle::passes
