// tulle-lower-scatter-entries: moves of entries to their buckets as loops.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Keys.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSCATTERENTRIES
#include "passes/Passes.h.inc"

static assemble::Values lower(OpBuilder &b, ScatterEntriesOp op) {
  assemble::IndexEmitter emit(b, op.getLoc());
  Value words = emit.constant(int64_t(op.getWords()));
  auto addressOf = [&](Value record, int64_t word) {
    return emit.add(emit.mul(record, words), emit.constant(word));
  };
  assemble::forEach(emit, op.getBegin(), op.getEnd(), LoopKind::Reduction, [&](Value entry) {
    Value to = assemble::takeFromBucket(emit, op.getBody(), entry, op.getOffsets(), op.getFirst());
    for (int64_t word = 0; word < int64_t(op.getWords()); ++word) {
      Value bits = assemble::loadAt(emit, op.getList(), addressOf(entry, word));
      assemble::storeAt(emit, bits, op.getInto(), addressOf(to, word));
    }
  });
  return {};
}

namespace {

struct LowerScatterEntries : impl::LowerScatterEntriesBase<LowerScatterEntries> {
  void runOnOperation() override { assemble::lowerEach<ScatterEntriesOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
