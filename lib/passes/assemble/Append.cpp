#include "passes/assemble/Append.h"

using namespace mlir;

namespace tulle::assemble {

bool fitsAppend(const Target &, dialect::AssembleOp, const Order &) { return false; }

FailureOr<Value> lowerByAppend(OpBuilder &, Target &, dialect::AssembleOp op, const Order &) {
  return op.emitError("cannot be assembled by append");
}

} // namespace tulle::assemble
