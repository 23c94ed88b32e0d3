// tulle-inline-entries: traversals of entries as copies of the loops that insert them.
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/Emit.h"
#include "passes/parallel/SetLoops.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_INLINEENTRIES
#include "passes/Passes.h.inc"

static assemble::Values lower(OpBuilder &b, ForEachEntryOp op) {
  auto entries = op.getEntries().getDefiningOp<EntriesOp>();
  Block &body = op.getBody().front();
  parallel::Chunk chunk{op.getChunk(), op.getChunks()};
  assemble::Stream stream;
  stream.loops = &entries.getBody();
  stream.alignment = entries.getAligned().value_or(1);
  auto inlineBody = [&](ValueRange coordinates, Value value) {
    IRMapping mapping;
    mapping.map(body.getArguments().drop_back(), coordinates);
    if (value)
      mapping.map(body.getArguments().back(), value);
    for (Operation &inner : body)
      b.clone(inner, mapping);
  };
  assemble::cloneLoops(b, stream, op.getChunk() ? &chunk : nullptr, inlineBody,
                       /*counting=*/body.getArguments().back().use_empty());
  return {};
}

/// A chunk is a part of what the outermost loop iterates over: there must be one that can be partitioned.
static LogicalResult check(ForEachEntryOp op) {
  auto entries = op.getEntries().getDefiningOp<EntriesOp>();
  if (!entries)
    return op.emitOpError("expected entries that a tulle.entries makes");
  if (!op.getChunk())
    return success();
  Operation *loop = assemble::outermostLoop(entries.getBody());
  if (loop && parallel::canPartition(loop))
    return success();
  InFlightDiagnostic error = op.emitOpError("expected entries of one loop that can be partitioned");
  error.attachNote(entries.getLoc()) << "these are made here";
  return error;
}

namespace {

struct InlineEntries : impl::InlineEntriesBase<InlineEntries> {
  void runOnOperation() override {
    WalkResult legal = getOperation()->walk([](ForEachEntryOp op) {
      return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (legal.wasInterrupted())
      return signalPassFailure();
    assemble::lowerEach<ForEachEntryOp>(getOperation(), lower);
    getOperation()->walk([](EntriesOp entries) {
      if (entries->use_empty())
        entries.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
