#include "passes/assemble/algorithms/AllocationPlan.h"
#include "levels/Control.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Value boundInserts(OpBuilder &b, Target &target, AssembleOp op) {
  if (Value bound = op.getBound())
    return bound;
  Register inserts(b, target.loc, target.emitter(b).constant(0));
  cloneCounting(b, op, nullptr, [&](OpBuilder &b, ValueRange) { inserts.increment(b); });
  return inserts.get(b);
}

Value leastBound(OpBuilder &b, AssembleOp op) {
  Value bound = op.getBound(), entries = op.getEntries();
  if (!bound || !entries)
    return bound ? bound : entries;
  return arith::MinUIOp::create(b, op.getLoc(), bound, entries);
}

Value boundEntries(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  Value bound = leastBound(b, op);
  return bound ? bound : countEntries(b, target, op, order);
}

Value countEntries(OpBuilder &b, Target &target, AssembleOp op, const Order &order,
                   const parallel::Chunk *chunk) {
  levels::Emitter emit = target.emitter(b);
  unsigned last = target.storedLevels() - 1;
  bool grouped = FiberAnalysis::oneIterationEach(op, order, last);
  Register inserts(b, target.loc, emit.constant(0)), entries(b, target.loc, emit.constant(0));
  FiberBoundaries groups(b, target, order, grouped ? last : 0);
  Value size = emit.levelSize(last);
  auto count = [&](OpBuilder &b, ValueRange dims) {
    groups.atInsert(b, dims);
    inserts.increment(b);
  };
  cloneCounting(b, op, chunk, count);
  if (!grouped)
    return inserts.get(b);
  groups.finish(b, [&](OpBuilder &b, ValueRange) {
    Value own = arith::MinUIOp::create(b, target.loc, inserts.get(b), size);
    entries.set(b, emit.add(entries.get(b), own));
    inserts.set(b, emit.constant(0));
  });
  return entries.get(b);
}

Value fitsMemory(OpBuilder &b, const Target &target, Value bytes) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  constexpr StringLiteral name = "tulle_fits";
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(b, target.loc, name, b.getFunctionType(b.getI64Type(), b.getI1Type()));
    function.setPrivate();
  }
  Value wide = arith::IndexCastOp::create(b, target.loc, b.getI64Type(), bytes);
  return func::CallOp::create(b, target.loc, function, wide).getResult(0);
}

Value bytesPerEntry(OpBuilder &b, const Target &target, Value block) {
  Type element = target.storage.element;
  int64_t value = isa<ComplexType>(element) ? 16 : std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  levels::Emitter emit = target.emitter(b);
  return emit.add(emit.mul(block, emit.constant(value)), emit.constant(8 * target.storedLevels()));
}

Values planPositions(OpBuilder &b, Target &target, Value entries, unsigned runs, Value block,
                     function_ref<Values(OpBuilder &)> count) {
  AssemblyPlan plan = target.plan;
  if (plan == AssemblyPlan::Count)
    return count(b);
  Values bounds(runs, entries);
  if (plan == AssemblyPlan::Bound)
    return bounds;
  // Saturated: what would wrap does not fit either.
  levels::Emitter emit = target.emitter(b);
  Value few = arith::MinUIOp::create(b, target.loc, entries, emit.constant(int64_t(1) << 40));
  Value fits = fitsMemory(b, target, emit.mul(few, bytesPerEntry(b, target, block)));
  return levels::ifElse(
      b, target.loc, fits, SmallVector<Type>(runs, b.getIndexType()), [&] { return bounds; },
      [&] { return count(b); });
}

} // namespace tulle::assemble
