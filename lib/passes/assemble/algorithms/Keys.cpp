#include "passes/assemble/algorithms/Keys.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tulle::assemble {

Value takeFromBucket(const levels::Emitter &emit, Region &keys, Value entry, Value counts, Value first) {
  OpBuilder &b = emit.builder;
  IRMapping mapping;
  mapping.map(keys.getArgument(0), entry);
  for (Operation &inner : keys.front().without_terminator())
    b.clone(inner, mapping);
  auto key = cast<dialect::KeyOp>(keys.front().getTerminator());
  Value bucket = emit.add(first, mapping.lookupOrDefault(key.getBucket()));
  Value count = memref::LoadOp::create(b, emit.loc, counts, bucket);
  memref::StoreOp::create(b, emit.loc, emit.add(count, emit.constant(1)), counts, bucket);
  return count;
}

} // namespace tulle::assemble
