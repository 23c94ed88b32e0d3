// tulle-stream-stores: write results that no cache holds past the caches.
//
// A store to a line that is in no cache reads the line first. A loop that writes whole lines need not: where
// its buffers are large, at run time, vectors of one line each are stored without (docs/experiments/126).
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {
#define GEN_PASS_DEF_STREAMSTORES
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;

constexpr int64_t lineBytes = 64;
/// Shorter loops hardly have whole lines enough to pay for the tests.
constexpr int64_t leastIterations = 4096;

int64_t bytesOf(memref::StoreOp store) { return bitsOf(store.getMemRefType().getElementType()) / 8; }

/// Whether the loop is executed for each iteration of another one, but for one over the chunks of threads.
bool isInner(scf::ForOp loop) {
  return loop->getParentOfType<scf::ForOp>() ||
         (loop->getParentOfType<scf::WhileOp>() && !loop->getParentOfType<dialect::ParallelOp>());
}

/// Whether something in the function reads the buffer, or may.
bool isRead(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (auto store = dyn_cast<memref::StoreOp>(user))
      return store.getMemRef() != buffer;
    return !isa<memref::DimOp, memref::DeallocOp, memref::ReinterpretCastOp, vector::StoreOp,
                vector::MaskedStoreOp, memref::ExtractAlignedPointerAsIndexOp>(user) &&
           !user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// The stores of a loop that does nothing but write elements one behind the other, some of which differ, to
/// buffers that nothing reads, which are results; none elsewhere.
SmallVector<memref::StoreOp> streamsOf(const VectorizationLegality &legality) {
  if (!legality.reductions.empty() || legality.gathers || legality.scatters || legality.branches ||
      legality.prefetches)
    return {};
  scf::ForOp loop = legality.loop;
  SmallVector<memref::StoreOp> stores = llvm::to_vector(loop.getBody()->getOps<memref::StoreOp>());
  auto isOfLines = [&](memref::StoreOp store) {
    Type element = store.getMemRefType().getElementType();
    return element.isIntOrFloat() && bitsOf(element) % 8 == 0 &&
           legality.shapeOf(store.getIndices()[0]) == LaneShape::Consecutive;
  };
  // A fill is `memset`.
  const bool differ = llvm::any_of(stores, [&](memref::StoreOp store) {
    return legality.shapeOf(store.getValueToStore()) != LaneShape::Uniform;
  });
  if (!differ || !llvm::all_of(stores, [&](memref::StoreOp store) {
        return isOfLines(store) && !isRead(store.getMemRef());
      }))
    return {};
  return stores;
}

/// Lines of a loop, split off ahead of it.
class StreamedLoop : levels::IndicesOf<OpBuilder> {
public:
  StreamedLoop(const VectorizationLegality &legality, ArrayRef<memref::StoreOp> stores, int64_t least)
      : IndicesOf(legality.loop), legality(legality), stores(stores), loop(legality.loop), least(least) {}

  void emit() {
    Value begin = loop.getLowerBound();
    Value behind = levels::ifElse(
        b, loc, isLarge(), b.getIndexType(), [&] { return levels::Values{emitLines()}; },
        [&] { return levels::Values{begin}; })[0];
    loop.getLowerBoundMutable().assign(behind);
  }

private:
  const VectorizationLegality &legality;
  ArrayRef<memref::StoreOp> stores;
  scf::ForOp loop;
  int64_t least; ///< bytes

  Value isLarge() {
    Value isLong =
        is(CmpIPredicate::sge, sub(loop.getUpperBound(), loop.getLowerBound()), constant(leastIterations));
    Value bytes = constant(0);
    for (memref::StoreOp store : stores)
      bytes = add(bytes, times(sizeOf(store.getMemRef()), constant(bytesOf(store))));
    return both(isLong, is(CmpIPredicate::ugt, bytes, constant(least)));
  }

  /// The bytes of a line before the element that iteration `first` stores.
  Value bytesIntoLine(memref::StoreOp store, Value first) {
    Value index = cloneSlice(b, store.getIndices()[0], loop, first);
    Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, store.getMemRef());
    return both(add(start, times(index, constant(bytesOf(store)))), constant(lineBytes - 1));
  }

  /// Whole lines of the buffer with the smallest elements, from the first one on; the others' begin there,
  /// too, or nothing is done. Returns the first iteration that is left.
  Value emitLines() {
    memref::StoreOp smallest = *llvm::min_element(
        stores, [](memref::StoreOp x, memref::StoreOp y) { return bytesOf(x) < bytesOf(y); });
    const int64_t lanes = lineBytes / bytesOf(smallest);
    Value begin = loop.getLowerBound(), into = bytesIntoLine(smallest, begin);
    Value left = both(sub(constant(lineBytes), into), constant(lineBytes - 1));
    Value first = add(begin, divide(left, constant(bytesOf(smallest))));
    Value aligned = boolean(true);
    for (memref::StoreOp store : stores)
      aligned = both(aligned, is(CmpIPredicate::eq, bytesIntoLine(store, first), constant(0)));
    auto stream = [&] {
      emitScalars(begin, first);
      Value count = both(sub(loop.getUpperBound(), first), constant(-lanes));
      Value end = add(first, count);
      emitVectors(first, end, lanes);
      return levels::Values{end};
    };
    return levels::ifElse(b, loc, aligned, b.getIndexType(), stream,
                          [&] { return levels::Values{begin}; })[0];
  }

  void emitScalars(Value begin, Value end) {
    scf::ForOp scalars = forSteps(b, loc, begin, end, constant(1), [&](Value iteration) {
      IRMapping map;
      map.map(loop.getInductionVar(), iteration);
      for (Operation &op : loop.getBody()->without_terminator())
        b.clone(op, map);
    });
    disableLoopTransforms(scalars);
  }

  /// Other threads see such stores behind the fence.
  void emitVectors(Value begin, Value end, int64_t lanes) {
    scf::ForOp vectors = forSteps(b, loc, begin, end, constant(lanes), [&](Value first) {
      BodyEmitter body(b, legality, Lanes{.count = lanes}, first);
      body.storeLines();
      body.emit({});
    });
    disableVectorization(vectors);
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "");
  }
};

struct StreamStoresPass : impl::StreamStoresBase<StreamStoresPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    for (scf::ForOp loop : loopsIn(getOperation())) {
      if (!isInnermost(loop) || !isParallel(loop) || isInner(loop) || hasLoopAnnotation(loop) ||
          fixedLanes(loop) != 0 || scheduledUnroll(loop) != 0)
        continue;
      std::optional<VectorizationLegality> legality = analyzeLoop(loop);
      if (!legality)
        continue;
      if (SmallVector<memref::StoreOp> stores = streamsOf(*legality); !stores.empty())
        StreamedLoop(*legality, stores, model.costs.streamedBytes).emit();
    }
  }
};

} // namespace
} // namespace tulle::passes
