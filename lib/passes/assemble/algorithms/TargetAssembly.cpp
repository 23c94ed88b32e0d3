#include "passes/assemble/algorithms/TargetAssembly.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/RuntimeCalls.h"

using namespace mlir;

namespace tulle::assemble {

Value TargetAssembly::product(unsigned level, Value a, Value b) const {
  return target.checkedSize(builder, level, a, b);
}

Value TargetAssembly::positions(unsigned level, Value parents, Value each) const {
  return target.checkedPositions(builder, level, parents, each);
}

void TargetAssembly::allocate(unsigned field, Value count) const { target.allocate(builder, field, count); }
void TargetAssembly::shrink(unsigned field, Value count) const { target.shrink(builder, field, count); }
void TargetAssembly::checkWidth(unsigned field, Value value) const {
  target.checkWidth(builder, field, value);
}

void TargetAssembly::refuseGroup(unsigned level, Value parent, Value found, Value wanted) const {
  call(builder, loc, "tulle_error_group", {constant(level), parent, found, wanted});
}

Value TargetAssembly::scratch(Type element, Value count) const {
  Value buffer = levels::allocate(builder, loc, MemRefType::get({ShapedType::kDynamic}, element), count);
  temporaries.push_back(buffer);
  return buffer;
}

Value TargetAssembly::cell(Value initial) const {
  Operation *function = builder.getInsertionBlock()->getParentOp();
  while (!isa<func::FuncOp, dialect::ParallelOp>(function))
    function = function->getParentOp();
  Value buffer;
  {
    // Only what stands at the entry of a function is promoted to a register. A parallel region becomes one.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function->getRegion(0).front());
    buffer = memref::AllocaOp::create(builder, loc, MemRefType::get({1}, builder.getIndexType()));
  }
  write(buffer, constant(0), initial);
  return buffer;
}

void TargetAssembly::freeScratch() const {
  for (Value buffer : temporaries)
    memref::DeallocOp::create(builder, loc, buffer);
  temporaries.clear();
}

} // namespace tulle::assemble
