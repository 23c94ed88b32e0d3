// Clones operations in their order, and each once.
#include "passes/analysis/LoopTransforms.h"

namespace tulle::passes {

using namespace mlir;

void disableVectorization(scf::ForOp loop, LLVM::LoopUnrollAttr unroll) {
  MLIRContext *context = loop.getContext();
  auto vectorize =
      LLVM::LoopVectorizeAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr, LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {},
                                                                   {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

void disableLoopTransforms(scf::ForOp loop) {
  auto yes = BoolAttr::get(loop.getContext(), true);
  disableVectorization(loop, LLVM::LoopUnrollAttr::get(loop.getContext(), yes, {}, {}, {}, {}, {}, {}));
}

void splitGroups(scf::ForOp loop, int64_t size,
                 function_ref<levels::Values(levels::IndicesAt at, Value first, ValueRange carried)> emit) {
  levels::Indices at(loop);
  Value lower = loop.getLowerBound(), step = at.constant(size);
  Value limit = at.sub(loop.getUpperBound(), at.constant(size - 1));
  levels::Values inits{lower};
  llvm::append_range(inits, loop.getInitArgs());
  auto groups = scf::ForOp::create(at.b, at.loc, lower, limit, step, inits);
  at.b.setInsertionPointToStart(groups.getBody());
  Value first = groups.getInductionVar();
  levels::Values results{at.add(first, step)};
  llvm::append_range(results, emit({at.b, at.loc}, first, groups.getRegionIterArgs().drop_front()));
  scf::YieldOp::create(at.b, at.loc, results);
  loop.getLowerBoundMutable().assign(groups.getResult(0));
  loop.getInitArgsMutable().assign(groups.getResults().drop_front());
  disableLoopTransforms(groups);
  disableLoopTransforms(loop);
}

void clonePrologue(OpBuilder &b, scf::ForOp loop, IRMapping &map) {
  auto body = loop.getBody()->without_terminator();
  for (Operation &op : llvm::make_range(body.begin(), std::prev(body.end())))
    b.clone(op, map);
}

Value cloneSlice(OpBuilder &b, Value value, Block *block, IRMapping &map) {
  Operation *op = value.getDefiningOp();
  if (map.contains(value) || !op || op->getBlock() != block)
    return map.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    cloneSlice(b, operand, block, map);
  b.clone(*op, map);
  return map.lookup(value);
}

Value cloneSlice(OpBuilder &b, Value value, scf::ForOp loop, Value iteration) {
  IRMapping map;
  map.map(loop.getInductionVar(), iteration);
  return cloneSlice(b, value, loop.getBody(), map);
}

std::pair<Value, Value> cloneBounds(OpBuilder &b, scf::ForOp loop, scf::ForOp around, Value iteration) {
  IRMapping map;
  map.map(around.getInductionVar(), iteration);
  Value begin = cloneSlice(b, loop.getLowerBound(), around.getBody(), map);
  return {begin, cloneSlice(b, loop.getUpperBound(), around.getBody(), map)};
}

} // namespace tulle::passes
