#include "passes/assemble/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/lower/Control.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Value boundInserts(OpBuilder &b, Target &target, AssembleOp op) {
  Value bound = op.getBound();
  return bound ? bound : countInserts(b, target, op);
}

Value countInserts(OpBuilder &b, Target &target, AssembleOp op, const Piece *piece) {
  Register inserts(b, target.loc, target.emitter(b).constant(0));
  auto count = [&](OpBuilder &b, ValueRange) { inserts.increment(b); };
  if (piece)
    cloneCounting(b, op, *piece, count);
  else
    cloneCounting(b, op, count);
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

int64_t bytesPerEntry(const Target &target, int64_t block) {
  Type element = target.storage.element;
  int64_t value = isa<ComplexType>(element) ? 16 : std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  return value * block + 8 * target.storedLevels();
}

Values planPositions(OpBuilder &b, Target &target, Value inserts, unsigned runs, int64_t block,
                     function_ref<Values(OpBuilder &)> count) {
  AssemblyPlan plan = target.op.getPlan();
  if (plan == AssemblyPlan::Count)
    return count(b);
  Values bounds(runs, inserts);
  if (plan == AssemblyPlan::Bound)
    return bounds;
  // Saturated: what would wrap does not fit either.
  levels::Emitter emit = target.emitter(b);
  Value few = arith::MinUIOp::create(b, target.loc, inserts, emit.constant(int64_t(1) << 40));
  Value fits = fitsMemory(b, target, emit.mul(few, emit.constant(bytesPerEntry(target, block))));
  return lower::ifElse(
      b, target.loc, fits, SmallVector<Type>(runs, b.getIndexType()), [&] { return bounds; },
      [&] { return count(b); });
}

} // namespace tulle::assemble
