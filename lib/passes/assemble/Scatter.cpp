#include "passes/assemble/Scatter.h"

using namespace mlir;

namespace tulle::assemble {

bool fitsScatter(const Target &, dialect::AssembleOp, const Order &) { return false; }

FailureOr<Value> lowerByScatter(OpBuilder &, Target &, dialect::AssembleOp op, const Order &) {
  return op.emitError("cannot be assembled by scatter");
}

} // namespace tulle::assemble
