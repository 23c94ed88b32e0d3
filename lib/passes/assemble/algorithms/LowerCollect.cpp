// tulle-lower-collect: lists of entries as loops that write them.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/CoordinateList.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERCOLLECT
#include "passes/Passes.h.inc"

/// Emits the body of a traversal of the entries, or of a chunk of them; the builder stands behind it
/// afterwards.
static void forEachEntry(OpBuilder &b, CollectOp op, Value chunk, Value chunks,
                         llvm::function_ref<void(ValueRange dims, Value value)> body) {
  auto loop = ForEachEntryOp::create(b, op.getLoc(), op.getEntries(), chunk, chunks);
  EntriesType type = op.getEntries().getType();
  SmallVector<Type> types(type.getRank(), b.getIndexType());
  types.push_back(type.getElement());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loop.getBody(), {}, types, SmallVector<Location>(types.size(), op.getLoc()));
  body(block->getArguments().drop_back(), block->getArguments().back());
}

/// Counts what each chunk inserts, so that each knows where its entries go.
static Value collectChunks(OpBuilder &b, CollectOp op, const assemble::CoordinateList &list) {
  Location loc = op.getLoc();
  assemble::IndexEmitter emit(b, loc);
  Value zero = emit.constant(0), chunks = ThreadsOp::create(b, loc, op.getBound(), /*fixed=*/false);
  Value starts = assemble::newTable(emit, chunks);
  levels::parallelTasks(b, loc, chunks, [&](Value chunk) {
    assemble::Register count(emit, zero);
    forEachEntry(b, op, chunk, chunks, [&](ValueRange, Value) { count.increment(); });
    assemble::storeAt(emit, count.get(), starts, chunk);
  });
  Value total = ScanOp::create(b, loc, starts, zero, chunks, Value(), zero);
  levels::parallelTasks(b, loc, chunks, [&](Value chunk) {
    assemble::Register next(emit, assemble::loadAt(emit, starts, chunk));
    forEachEntry(b, op, chunk, chunks, [&](ValueRange dims, Value value) {
      list.put(next.get(), dims, value);
      next.increment();
    });
  });
  assemble::freeBuffers(emit, starts);
  return total;
}

static assemble::Values lower(OpBuilder &b, CollectOp op) {
  assemble::Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), op.getSizes());
  Value buffer = assemble::CoordinateList(target, {}).allocate(op.getBound());
  assemble::CoordinateList list(target, buffer);
  list.checkSizes();
  if (op.getParallel())
    return {buffer, collectChunks(b, op, list)};
  assemble::Register count(target, target.constant(0));
  forEachEntry(b, op, {}, {}, [&](ValueRange dims, Value value) {
    list.put(count.get(), dims, value);
    count.increment();
  });
  return {buffer, count.get()};
}

namespace {

struct LowerCollect : impl::LowerCollectBase<LowerCollect> {
  void runOnOperation() override { assemble::lowerEach<CollectOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
