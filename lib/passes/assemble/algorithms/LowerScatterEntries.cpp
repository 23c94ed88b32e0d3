// tulle-lower-scatter-entries: moves of entries to their buckets as loops.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Keys.h"
#include "passes/assemble/algorithms/LowerEach.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSCATTERENTRIES
#include "passes/Passes.h.inc"

static levels::Values lower(OpBuilder &b, ScatterEntriesOp op) {
  Location loc = op.getLoc();
  assemble::IndexEmitter emit(b, loc);
  Value words = emit.constant(int64_t(op.getWords()));
  auto addressOf = [&](Value record, int64_t word) {
    return emit.add(emit.mul(record, words), emit.constant(word));
  };
  return levels::forLoop(
      b, loc, op.getBegin(), op.getEnd(), LoopKind::Reduction, {}, [&](Value entry, levels::Values) {
        Value to = assemble::takeFromBucket(emit, op.getBody(), entry, op.getOffsets(), op.getFirst());
        for (int64_t word = 0; word < int64_t(op.getWords()); ++word) {
          Value bits = memref::LoadOp::create(b, loc, op.getList(), addressOf(entry, word));
          memref::StoreOp::create(b, loc, bits, op.getInto(), addressOf(to, word));
        }
        return levels::Values{};
      });
}

namespace {

struct LowerScatterEntries : impl::LowerScatterEntriesBase<LowerScatterEntries> {
  void runOnOperation() override { assemble::lowerEach<ScatterEntriesOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
