#include "passes/assemble/Chain.h"

using namespace mlir;

namespace tulle::assemble {

bool fitsChain(const Target &, dialect::AssembleOp, const Order &) { return false; }

FailureOr<Value> lowerByChain(OpBuilder &, Target &, dialect::AssembleOp op, const Order &) {
  return op.emitError("cannot be assembled by chain");
}

} // namespace tulle::assemble
