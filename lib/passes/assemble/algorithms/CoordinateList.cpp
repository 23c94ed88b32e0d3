#include "passes/assemble/algorithms/CoordinateList.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/RuntimeCalls.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;

/// Dimensions' coordinates fit the target's coordinates field where every level is a dimension as it is.
static Type coordinateType(const Target &target) {
  bool plain = llvm::all_of(target.encoding().levels,
                            [](const format::Level &level) { return level.expr->kind == ExprKind::Dim; });
  return IntegerType::get(target.tensor.getContext(), plain && target.encoding().crdWidth == 32 ? 32 : 64);
}

CoordinateList::CoordinateList(OpBuilder &b, const Target &target, Value bound)
    : CoordinateList(target, Value()) {
  list = records.allocate(b, bound);
  // A dense level's coordinate is stored nowhere, so that nobody else would notice that it does not fit.
  levels::Emitter emit = target.emitter(b);
  if (!coordinateType(target).isInteger(32))
    return;
  for (auto [l, level] : llvm::enumerate(target.encoding().levels)) {
    Value wide = emit.compare(CmpIPredicate::ugt, target.storage.dims[size_t(level.expr->value)],
                              emit.constant(int64_t(1) << 32));
    auto branch = scf::IfOp::create(b, target.loc, wide, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    call(b, target.loc, "tulle_error_width",
         {emit.constant(int64_t(l)), target.storage.dims[size_t(level.expr->value)], emit.constant(32)});
  }
}

CoordinateList::CoordinateList(const Target &target, Value list)
    : target(target), records(target, coordinateType(target)), list(list) {}

void CoordinateList::put(OpBuilder &b, Value at, ValueRange dims, Value value) const {
  records.put(b, list, at, dims, value);
}

std::pair<Values, Value> CoordinateList::at(OpBuilder &b, Value place) const {
  return {records.dims(b, list, place), records.value(b, list, place)};
}

void CoordinateList::forEach(OpBuilder &b, Value count,
                             function_ref<void(OpBuilder &, ValueRange, Value)> visit) const {
  levels::forLoop(b, target.loc, target.emitter(b).constant(0), count, LoopKind::Reduction, {},
                  [&](Value place, levels::Values) {
                    auto [dims, value] = at(b, place);
                    visit(b, dims, value);
                    return levels::Values{};
                  });
}

void CoordinateList::free(OpBuilder &b) const { memref::DeallocOp::create(b, target.loc, list); }

} // namespace tulle::assemble
