#include "passes/assemble/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/assemble/Clone.h"
#include "passes/lower/Control.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Value boundInserts(OpBuilder &b, Target &target, AssembleOp op) {
  if (Value bound = op.getBound())
    return bound;
  Register inserts(b, target.loc, target.emitter(b).constant(0));
  cloneCounting(b, op, [&](OpBuilder &b, ValueRange) { inserts.increment(b); });
  return inserts.get(b);
}

Value fitsMemory(OpBuilder &b, const Target &target, Value bytes) {
  auto module = target.op->getParentOfType<ModuleOp>();
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

Values planPositions(OpBuilder &b, Target &target, AssembleOp op, unsigned runs, int64_t bytes,
                     function_ref<Values(OpBuilder &)> count) {
  if (op.getPlan() == AssemblyPlan::Count)
    return count(b);
  Value inserts = boundInserts(b, target, op);
  Values bounds(runs, inserts);
  if (op.getPlan() == AssemblyPlan::Bound)
    return bounds;
  // Saturated: what would wrap does not fit either.
  levels::Emitter emit = target.emitter(b);
  Value few = arith::MinUIOp::create(b, target.loc, inserts, emit.constant(int64_t(1) << 40));
  Value fits = fitsMemory(b, target, emit.mul(few, emit.constant(bytes)));
  return lower::ifElse(
      b, target.loc, fits, SmallVector<Type>(runs, b.getIndexType()), [&] { return bounds; },
      [&] { return count(b); });
}

} // namespace tulle::assemble
