#include "passes/assemble/Workspace.h"

using namespace mlir;

namespace tulle::assemble {

bool fitsWorkspace(const Target &, dialect::AssembleOp, const Order &) { return false; }

FailureOr<Value> lowerByWorkspace(OpBuilder &, Target &, dialect::AssembleOp op, const Order &) {
  return op.emitError("cannot be assembled by workspace");
}

} // namespace tulle::assemble
