// tulle-vectorize-block-rows: keep the results of a row of small blocks in vectors.
//
// In `for p: for r in 0..R: y[f(r)] += sum over c in 0..C of A[p, r, c] * x[…]` every block stores and
// reloads its R results, and each sum is too short for a loop of vectors. R vectors, with a lane for each c,
// are carried over all p instead, and reduced once at the end; where a loop before them initializes those
// results, they start with its value and memory is written once.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/vectorize/Reductions.h"
#include "llvm/Support/MathExtras.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VECTORIZEBLOCKROWS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Accumulators beyond these would not stay in registers.
constexpr int64_t mostRows = 8, mostVectorBits = 512;

struct BlockRow {
  scf::ForOp loop, rows;         ///< over blocks, and over the rows of a block
  VectorizationLegality columns; ///< of the loop over a row's columns
  memref::LoadOp load;
  memref::StoreOp store;
  int64_t height = 0, width = 0;
};

/// Whether the index is computed without a load within the loop: then elements are loaded in order.
bool isDirect(Value index, scf::ForOp loop) {
  return acceptsSlice(index, [&](Value value) -> std::optional<bool> {
    Operation *op = value.getDefiningOp();
    if (!op || loop.isDefinedOutsideOfLoop(value))
      return true;
    return isMemoryEffectFree(op) ? std::nullopt : std::optional(false);
  });
}

/// The loops and their trip counts.
bool matchLoops(BlockRow &blocks) {
  blocks.rows = innerLoop(blocks.loop);
  if (!blocks.rows || !isZero(blocks.rows.getLowerBound()) || !hasUnitStep(blocks.rows) ||
      !blocks.loop.isDefinedOutsideOfLoop(blocks.rows.getUpperBound()))
    return false;
  auto columns = blocks.rows.getBody()->getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(columns))
    return false;
  scf::ForOp inner = *columns.begin();
  std::optional<int64_t> height = maxTripCount(blocks.rows), width = maxTripCount(inner);
  if (!height || !width || *height < 2 || *height > mostRows || *width < 2 ||
      !isZero(inner.getLowerBound()) || !blocks.rows.isDefinedOutsideOfLoop(inner.getUpperBound()) ||
      inner.getNumRegionIterArgs() != 1)
    return false;
  std::optional<VectorizationLegality> legality = analyzeLoop(inner);
  if (!legality || legality->gathers || legality->branches || !inner.getOps<memref::StoreOp>().empty())
    return false;
  blocks.columns = std::move(*legality);
  blocks.height = *height;
  blocks.width = *width;
  return identity(blocks.columns.reductions[0].kind, inner.getInitArgs()[0].getType()).has_value();
}

std::optional<BlockRow> matchBlockRow(scf::ForOp loop) {
  BlockRow blocks;
  blocks.loop = loop;
  if (!matchLoops(blocks))
    return std::nullopt;
  scf::ForOp inner = blocks.columns.loop;
  auto stores = blocks.rows.getBody()->getOps<memref::StoreOp>();
  if (!llvm::hasSingleElement(stores))
    return std::nullopt;
  blocks.store = *stores.begin();
  blocks.load = inner.getInitArgs()[0].getDefiningOp<memref::LoadOp>();
  Value buffer = blocks.store.getMemRef();
  if (!blocks.load || blocks.load->getBlock() != blocks.rows.getBody() || blocks.load.getMemRef() != buffer ||
      blocks.load.getIndices() != blocks.store.getIndices() || !blocks.load->hasOneUse() ||
      blocks.store.getValueToStore() != inner.getResult(0) || !inner.getResult(0).hasOneUse() ||
      !loop.isDefinedOutsideOfLoop(buffer) || blocks.store.getMemRefType().getRank() != 1 ||
      !isFunctionOfIndex(blocks.store.getIndices()[0], blocks.rows, loop) ||
      !llvm::all_of(blocks.rows.getBody()->without_terminator(),
                    [&](Operation &op) { return &op == inner || &op == blocks.store || onlyLoads(&op); }))
    return std::nullopt;
  // Rows are stored where the loop has no block, too.
  if (!isAlwaysDereferenceable(blocks.store) && !findInitLoop(loop, buffer))
    return std::nullopt;
  unsigned loads = 0;
  loop.walk([&](memref::LoadOp load) { loads += load.getMemRef() == buffer; });
  return loads == 1 ? std::optional(blocks) : std::nullopt;
}

/// At run time: whether the blocks of all rows take more than the caches hold.
Value isLarge(levels::Indices &at, scf::ForOp rows, scf::ForOp blocks, Value count, int64_t residentBlocks) {
  return at.ifThen(at.is(arith::CmpIPredicate::sgt, count, at.constant(0)), [&] {
    Value last = at.sub(rows.getUpperBound(), at.constant(1));
    Value begin = cloneSlice(at.b, blocks.getLowerBound(), rows, rows.getLowerBound());
    Value end = cloneSlice(at.b, blocks.getUpperBound(), rows, last);
    return at.is(arith::CmpIPredicate::sgt, at.sub(end, begin), at.constant(residentBlocks));
  });
}

/// Makes the loop over rows around `blocks`, each of `blockBytes` bytes of values, alternate between the
/// first and the second half of the rows where their blocks are larger than the caches, at run time:
/// iteration t is row t / 2, or half + t / 2. Nearly all that rows of blocks load is one stream of values,
/// and a core loads two streams sooner than one (experiment 042). Does nothing where rows are not
/// independent, or `blocks` does not iterate over their segments.
void interleaveStreams(scf::ForOp blocks, int64_t blockBytes, const iteration::CostModel &model) {
  scf::ForOp rows = rowLoopOf(blocks);
  if (!isParallel(rows))
    return;
  dialect::explainChoice(rows,
                         "two streams: rows of blocks of the first and of the second half alternate, where "
                         "they are larger than the caches");
  levels::Indices at(rows);
  Value first = rows.getLowerBound(), count = at.sub(rows.getUpperBound(), first);
  Value zero = at.constant(0), one = at.constant(1), two = at.constant(2);
  Value half = arith::ShRUIOp::create(at.b, at.loc, at.add(count, one), one);
  Value large = isLarge(at, rows, blocks, count, model.cpu.residentBytes / blockBytes);
  rows.getLowerBoundMutable().assign(zero);
  rows.getUpperBoundMutable().assign(count);
  at.b.setInsertionPointToStart(rows.getBody());
  Value iteration = rows.getInductionVar();
  Value pair = arith::ShRUIOp::create(at.b, at.loc, iteration, one);
  Value isSecond =
      at.is(arith::CmpIPredicate::ne, arith::RemUIOp::create(at.b, at.loc, iteration, two), zero);
  Value interleaved = at.add(pair, at.select(isSecond, half, zero));
  Value row = at.add(first, at.select(large, interleaved, iteration));
  iteration.replaceUsesWithIf(row, [&](OpOperand &use) {
    return use.getOwner()->getBlock() != rows.getBody() ||
           row.getDefiningOp()->isBeforeInBlock(use.getOwner());
  });
}

/// A row of blocks with vector accumulators, a vector for each of a block's rows.
class VectorizedBlockRow : levels::Indices {
public:
  VectorizedBlockRow(BlockRow row, const iteration::CostModel &model)
      : Indices(row.loop), blocks(std::move(row)), model(model) {
    lanes.count = int64_t(llvm::PowerOf2Ceil(uint64_t(blocks.width)));
  }

  bool fits() const { return lanes.count * int64_t(blocks.columns.widestBits) <= mostVectorBits; }

  void emit() {
    dialect::explainChoice(blocks.loop, "block rows: the " + std::to_string(blocks.height) +
                                            " results of rows of " + std::to_string(blocks.height) + " x " +
                                            std::to_string(blocks.width) +
                                            " blocks stay in vectors, reduced once at the end of a row");
    if (exactTripCount(blocks.rows))
      return fullRow(), blocks.loop.erase();
    findStart();
    Value full = isFull(blocks.rows.getUpperBound());
    if (start)
      full = both(full, isFull(start->size));
    auto partialRow = [&] {
      for (scf::ForOp loop : {start ? start->loop : scf::ForOp(), blocks.loop})
        if (loop) {
          loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
          loop.walk([](scf::ForOp inside) { disableLoopTransforms(inside); }); // these are rare
        }
    };
    branch(b, loc, full, [&] { fullRow(); }, partialRow);
  }

  /// Interleaves the rows of blocks around the one emitted.
  void interleave() const { interleaveStreams(vectorized, blockBytes(), model); }

private:
  BlockRow blocks;
  const iteration::CostModel &model;
  Lanes lanes;
  std::optional<InitLoop> start; ///< what initializes the rows' results before the loop
  scf::ForOp vectorized;         ///< the loop over full blocks

  int64_t blockBytes() const { return blocks.height * blocks.width * int64_t(blocks.columns.widestBits) / 8; }

  void findStart() {
    std::optional<InitLoop> init = findInitLoop(blocks.loop, blocks.store.getMemRef());
    std::optional<Value> offset = offsetFrom(blocks.store.getIndices()[0], blocks.rows);
    if (init && offset && *offset == init->offset)
      start = init;
  }

  Value isFull(Value rows) { return is(arith::CmpIPredicate::eq, rows, constant(blocks.height)); }

  const Reduction &reduction() const { return blocks.columns.reductions[0]; }

  void fullRow() {
    scf::ForOp inner = blocks.columns.loop;
    Value initial = initialLanes(b, loc, reduction(), lanes, inner.getInitArgs()[0]);
    SmallVector<Value> initials(blocks.height, initial);
    vectorized = scf::ForOp::create(b, loc, blocks.loop.getLowerBound(), blocks.loop.getUpperBound(),
                                    blocks.loop.getStep(), initials);
    // Rows have few blocks: an epilogue costs more than unrolling saves (experiment 046).
    disableLoopTransforms(vectorized);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(vectorized.getBody());
      IRMapping map;
      clonePrologue(b, blocks.loop, vectorized.getInductionVar(), map);
      scf::YieldOp::create(b, loc, sumsOfBlock(vectorized.getRegionIterArgs(), map));
    }
    storeRows(vectorized.getResults());
  }

  /// The sums after one block. Columns outside of the tensor are masked; where the width is that of a vector
  /// only the last block has some, and a branch is faster than masks in all others (experiment 046).
  SmallVector<Value> sumsOfBlock(ValueRange sums, const IRMapping &map) {
    scf::ForOp inner = blocks.columns.loop;
    auto with = [&](Value mask) {
      SmallVector<Value> updated;
      for (auto [r, sum] : llvm::enumerate(sums))
        updated.push_back(rowOfBlock(r, sum, mask, map));
      return updated;
    };
    Value columns = map.lookupOrDefault(inner.getUpperBound());
    if (exactTripCount(inner) == lanes.count)
      return with({});
    if (blocks.width != lanes.count)
      return with(activeLanes(b, loc, lanes, columns));
    Value isFullBlock = is(arith::CmpIPredicate::sge, columns, constant(lanes.count));
    return levels::ifElse(
        b, loc, isFullBlock, sums.getTypes(), [&] { return with({}); },
        [&] { return with(activeLanes(b, loc, lanes, columns)); });
  }

  Value rowOfBlock(int64_t r, Value sum, Value mask, IRMapping map) {
    map.map(blocks.rows.getInductionVar(), constant(r));
    for (Operation &op : blocks.rows.getBody()->without_terminator())
      if (&op != blocks.columns.loop && &op != blocks.load && &op != blocks.store)
        b.clone(op, map);
    BodyEmitter emitter(b, blocks.columns, lanes, constant(0), mask);
    emitter.bind(map);
    Value updated = emitter.emit(sum)[0];
    if (model.cpu.prefetchBlocks > 0)
      emitter.prefetch(model.cpu.prefetchBlocks, r * blocks.width,
                       [&](memref::LoadOp load) { return isDirect(load.getIndices()[0], blocks.loop); });
    return updated;
  }

  void storeRows(ValueRange sums) {
    Value each =
        blocks.height == lanes.count ? reduceEach(b, loc, reduction(), llvm::to_vector(sums)) : Value();
    for (int64_t r = 0; r < blocks.height; ++r) {
      IRMapping map;
      map.map(blocks.rows.getInductionVar(), constant(r));
      cloneSlice(b, blocks.store.getIndices()[0], blocks.rows.getBody(), map);
      Value old = start ? arith::ConstantOp::create(b, loc, start->value).getResult()
                        : b.clone(*blocks.load, map)->getResult(0);
      Value sum = each ? combine(b, loc, reduction(), old, vector::ExtractOp::create(b, loc, each, r))
                       : reduceLanes(b, loc, reduction(), sums[r], old);
      map.map(blocks.store.getValueToStore(), sum);
      b.clone(*blocks.store, map);
    }
  }
};

struct VectorizeBlockRowsPass : impl::VectorizeBlockRowsBase<VectorizeBlockRowsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    std::vector<VectorizedBlockRow> rows;
    getOperation().walk([&](scf::ForOp loop) {
      const bool scheduled = isBodyScheduled(loop) || llvm::any_of(loopsIn(loop), [](scf::ForOp inner) {
                               return fixedLanes(inner) != 0;
                             });
      if (std::optional<BlockRow> blocks = scheduled ? std::nullopt : matchBlockRow(loop))
        if (VectorizedBlockRow row(std::move(*blocks), model); row.fits())
          rows.push_back(std::move(row));
    });
    if (rows.empty())
      return markAllAnalysesPreserved();
    for (VectorizedBlockRow &row : rows)
      row.emit();
    // One stream that is prefetched is as good as two.
    if (model.cpu.prefetchBlocks == 0)
      for (VectorizedBlockRow &row : rows)
        row.interleave();
  }
};

} // namespace
} // namespace tulle::passes
