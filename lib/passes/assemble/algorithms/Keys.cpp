// Copies the region of an op where its key is needed.
#include "passes/assemble/algorithms/Keys.h"
#include "dialect/Dialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tulle::assemble {

Value takeFromBucket(const levels::Emitter &emit, Region &keys, Value entry, Value counts, Value first) {
  IRMapping mapping;
  mapping.map(keys.getArgument(0), entry);
  for (Operation &inner : keys.front().without_terminator())
    emit.builder.clone(inner, mapping);
  auto key = cast<dialect::KeyOp>(keys.front().getTerminator());
  Value bucket = emit.add(first, mapping.lookupOrDefault(key.getBucket()));
  Value count = loadAt(emit, counts, bucket);
  storeAt(emit, emit.add(count, emit.constant(1)), counts, bucket);
  return count;
}

} // namespace tulle::assemble
