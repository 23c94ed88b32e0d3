#include "passes/assemble/algorithms/RuntimeCalls.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// A declaration of a function the engine binds; all arguments are i64.
static func::FuncOp declare(OpBuilder &b, Location loc, StringRef name, unsigned arguments,
                            TypeRange results) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(arguments, b.getI64Type());
  auto function = func::FuncOp::create(b, loc, name, b.getFunctionType(types, results));
  function.setPrivate();
  if (name.starts_with(kErrorPrefix))
    function->setAttr("passthrough", b.getStrArrayAttr({"noreturn", "cold"}));
  return function;
}

static SmallVector<Value> asI64(OpBuilder &b, Location loc, ValueRange values) {
  SmallVector<Value> wide;
  for (Value value : values)
    wide.push_back(value.getType().isIndex() ? b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), value)
                                             : value);
  return wide;
}

void call(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  func::FuncOp function = declare(b, loc, name, unsigned(arguments.size()), TypeRange());
  func::CallOp::create(b, loc, function, asI64(b, loc, arguments));
}

Value callForIndex(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  func::FuncOp function = declare(b, loc, name, unsigned(arguments.size()), b.getI64Type());
  auto result = func::CallOp::create(b, loc, function, asI64(b, loc, arguments)).getResult(0);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), result);
}

} // namespace tulle::assemble
