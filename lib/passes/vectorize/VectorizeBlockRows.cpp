// tulle-vectorize-block-rows: the results of a row of small blocks stay in vectors while the row is walked.
//
// In `for p: for r in 0..R: y[f(r)] += sum over c in 0..C of A[p, r, c] * x[…]` every block stores and
// reloads its R results, and each sum is too short for a loop of vectors. R vectors, a lane for each c, are
// carried over all p instead, and combined once at the end; where a loop before them fills those results,
// they start with its value and memory is written once.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/TripCount.h"
#include "passes/vectorize/InitLoop.h"
#include "passes/vectorize/Reductions.h"
#include "llvm/Support/MathExtras.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VECTORIZEBLOCKROWS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

/// Accumulators beyond these would not stay in registers.
constexpr int64_t mostRows = 8, mostVectorBits = 512;

struct Blocks {
  scf::ForOp walk, rows;      ///< over blocks, and over the rows of a block
  VectorizationLegality plan; ///< of the loop over a row's columns
  memref::LoadOp load;
  memref::StoreOp store;
  int64_t height = 0, width = 0;
};

/// Only reads, apart from `except`.
bool onlyReads(mlir::Block &block, llvm::ArrayRef<Operation *> except) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) {
    return llvm::is_contained(except, &op) ||
           (op.getNumRegions() == 0 && (mlir::isMemoryEffectFree(&op) || mlir::isa<memref::LoadOp>(op)));
  });
}

/// The value is computed from what is there before the walk and the row's number, without reading.
bool isFixed(Value value, const Blocks &blocks) {
  scf::ForOp walk = blocks.walk, rows = blocks.rows;
  if (walk.isDefinedOutsideOfLoop(value) || value == rows.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == rows.getBody() && mlir::isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isFixed(operand, blocks); });
}

/// Whether the place is computed without reading within the walk: what stands there is read in order.
bool isInOrder(Value place, scf::ForOp walk) {
  Operation *op = place.getDefiningOp();
  return !op || walk.isDefinedOutsideOfLoop(place) ||
         (mlir::isMemoryEffectFree(op) &&
          llvm::all_of(op->getOperands(), [&](Value operand) { return isInOrder(operand, walk); }));
}

bool isZero(Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }

/// The loops and their lengths.
bool matchLoops(Blocks &blocks) {
  scf::ForOp walk = blocks.walk;
  auto body = walk.getBody()->without_terminator();
  if (body.empty() || walk.getNumRegionIterArgs() != 0 || !mlir::matchPattern(walk.getStep(), mlir::m_One()))
    return false;
  blocks.rows = mlir::dyn_cast<scf::ForOp>(&*std::prev(body.end()));
  if (!blocks.rows || blocks.rows.getNumRegionIterArgs() != 0 || !isZero(blocks.rows.getLowerBound()) ||
      !mlir::matchPattern(blocks.rows.getStep(), mlir::m_One()) ||
      !walk.isDefinedOutsideOfLoop(blocks.rows.getUpperBound()) ||
      !onlyReads(*walk.getBody(), {blocks.rows.getOperation()}))
    return false;
  auto columns = blocks.rows.getBody()->getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(columns))
    return false;
  scf::ForOp inner = *columns.begin();
  std::optional<int64_t> height = mostIterations(blocks.rows), width = mostIterations(inner);
  if (!height || !width || *height < 2 || *height > mostRows || *width < 2 ||
      !isZero(inner.getLowerBound()) || !blocks.rows.isDefinedOutsideOfLoop(inner.getUpperBound()) ||
      inner.getNumRegionIterArgs() != 1)
    return false;
  std::optional<VectorizationLegality> plan = analyzeLoop(inner);
  if (!plan || plan->gathers || plan->branches || !inner.getOps<memref::StoreOp>().empty())
    return false;
  blocks.plan = std::move(*plan);
  blocks.height = *height;
  blocks.width = *width;
  return identity(blocks.plan.reductions[0].kind, inner.getInitArgs()[0].getType()).has_value();
}

std::optional<Blocks> matchBlocks(scf::ForOp walk) {
  Blocks blocks;
  blocks.walk = walk;
  if (!matchLoops(blocks))
    return std::nullopt;
  scf::ForOp inner = blocks.plan.loop;
  auto stores = blocks.rows.getBody()->getOps<memref::StoreOp>();
  if (!llvm::hasSingleElement(stores))
    return std::nullopt;
  blocks.store = *stores.begin();
  blocks.load = inner.getInitArgs()[0].getDefiningOp<memref::LoadOp>();
  Value buffer = blocks.store.getMemRef();
  if (!blocks.load || blocks.load->getBlock() != blocks.rows.getBody() || blocks.load.getMemRef() != buffer ||
      blocks.load.getIndices() != blocks.store.getIndices() || !blocks.load->hasOneUse() ||
      blocks.store.getValueToStore() != inner.getResult(0) || !inner.getResult(0).hasOneUse() ||
      !walk.isDefinedOutsideOfLoop(buffer) || blocks.store.getMemRefType().getRank() != 1 ||
      !isFixed(blocks.store.getIndices()[0], blocks) ||
      !onlyReads(*blocks.rows.getBody(), {inner.getOperation(), blocks.store.getOperation()}))
    return std::nullopt;
  // Rows are stored where the walk has no block, too.
  if (mayBeNowhere(blocks.store) && !findFill(walk, buffer))
    return std::nullopt;
  unsigned reads = 0;
  walk.walk([&](memref::LoadOp load) { reads += load.getMemRef() == buffer; });
  return reads == 1 ? std::optional(blocks) : std::nullopt;
}

class Emitter {
public:
  /// `fetched`: elements ahead of a block that are asked for with it, or 0.
  Emitter(Blocks found, int64_t fetched)
      : blocks(std::move(found)), fetched(fetched), b(blocks.walk), loc(blocks.walk.getLoc()) {
    lanes.count = int64_t(llvm::PowerOf2Ceil(uint64_t(blocks.width)));
  }

  bool fits() const { return lanes.count * int64_t(blocks.plan.widestBits) <= mostVectorBits; }

  void run() {
    if (constantIterations(blocks.rows))
      return wholeRows(), blocks.walk.erase();
    findStart();
    Value whole = isWhole(blocks.rows.getUpperBound());
    if (start)
      whole = arith::AndIOp::create(b, loc, whole, isWhole(start->size));
    auto branch = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    wholeRows();
    for (scf::ForOp loop : {start ? start->loop : scf::ForOp(), blocks.walk})
      if (loop) {
        loop->moveBefore(branch.elseBlock()->getTerminator());
        loop.walk(
            [](scf::ForOp inside) { keepScalar(inside); }); // the last, incomplete row of blocks is rare
      }
  }

private:
  Blocks blocks;
  int64_t fetched;
  mlir::OpBuilder b;
  mlir::Location loc;
  Lanes lanes;
  std::optional<InitLoop> start; ///< what fills the rows' results before the walk

  void findStart() {
    std::optional<InitLoop> fill = findFill(blocks.walk, blocks.store.getMemRef());
    std::optional<Value> place = placeOf(blocks.store.getIndices()[0], blocks.rows);
    if (fill && place && *place == fill->place)
      start = fill;
  }

  Value isWhole(Value rows) {
    Value height = arith::ConstantIndexOp::create(b, loc, blocks.height);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rows, height);
  }

  const Reduction &reduction() const { return blocks.plan.reductions[0]; }

  void wholeRows() {
    scf::ForOp inner = blocks.plan.loop;
    Value start = startLanes(b, loc, reduction(), lanes, inner.getInitArgs()[0]);
    llvm::SmallVector<Value> starts(blocks.height, start);
    auto loop = scf::ForOp::create(b, loc, blocks.walk.getLowerBound(), blocks.walk.getUpperBound(),
                                   blocks.walk.getStep(), starts);
    const int64_t bytes = blocks.height * blocks.width * int64_t(blocks.plan.widestBits) / 8;
    loop->setAttr(dialect::kBlockBytesAttr, b.getI64IntegerAttr(bytes));
    // Rows have few blocks: what is left of pairs costs more than pairs save (BCSR(4,4) on `grid2d:1000`, Zen
    // 5: 5.4 ms unrolled by two, 4.7 so).
    keepScalar(loop);
    {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      mlir::IRMapping map;
      map.map(blocks.walk.getInductionVar(), loop.getInductionVar());
      cloneReads(b, blocks.walk, map);
      scf::YieldOp::create(b, loc, sumsOfBlock(loop.getRegionIterArgs(), map));
    }
    storeRows(loop.getResults());
  }

  /// The sums after one block. Columns outside of the tensor are switched off; only the last block has some,
  /// where the width is that of a vector, and a branch takes less than masks in all others (AVX2, whose
  /// masks are vectors: half of the time).
  llvm::SmallVector<Value> sumsOfBlock(mlir::ValueRange sums, const mlir::IRMapping &map) {
    scf::ForOp inner = blocks.plan.loop;
    auto with = [&](Value mask) {
      llvm::SmallVector<Value> updated;
      for (auto [r, sum] : llvm::enumerate(sums))
        updated.push_back(rowOfBlock(r, sum, mask, map));
      return updated;
    };
    Value columns = map.lookupOrDefault(inner.getUpperBound());
    if (constantIterations(inner) == lanes.count)
      return with({});
    if (blocks.width != lanes.count)
      return with(firstLanes(b, loc, lanes, columns));
    Value all = arith::ConstantIndexOp::create(b, loc, lanes.count);
    Value whole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, columns, all);
    auto branch = scf::IfOp::create(b, loc, sums.getTypes(), whole, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, with({}));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, with(firstLanes(b, loc, lanes, columns)));
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  Value rowOfBlock(int64_t r, Value sum, Value mask, mlir::IRMapping map) {
    map.map(blocks.rows.getInductionVar(), arith::ConstantIndexOp::create(b, loc, r));
    for (Operation &op : blocks.rows.getBody()->without_terminator())
      if (&op != blocks.plan.loop && &op != blocks.load && &op != blocks.store)
        b.clone(op, map);
    BodyEmitter emitter(b, blocks.plan, lanes, arith::ConstantIndexOp::create(b, loc, 0), mask);
    emitter.bind(map);
    Value updated = emitter.emit(sum)[0];
    if (fetched > 0)
      emitter.prefetch(fetched, r * blocks.width,
                       [&](memref::LoadOp load) { return isInOrder(load.getIndices()[0], blocks.walk); });
    return updated;
  }

  void storeRows(mlir::ValueRange sums) {
    Value each =
        blocks.height == lanes.count ? combineEach(b, loc, reduction(), llvm::to_vector(sums)) : Value();
    for (int64_t r = 0; r < blocks.height; ++r) {
      mlir::IRMapping map;
      map.map(blocks.rows.getInductionVar(), arith::ConstantIndexOp::create(b, loc, r));
      clonePlace(b, blocks.store.getIndices()[0], blocks.rows.getBody(), map);
      Value old = start ? arith::ConstantOp::create(b, loc, start->value).getResult()
                        : b.clone(*blocks.load, map)->getResult(0);
      Value sum = each ? combine(b, loc, reduction(), old, mlir::vector::ExtractOp::create(b, loc, each, r))
                       : combineLanes(b, loc, reduction(), sums[r], old);
      map.map(blocks.store.getValueToStore(), sum);
      b.clone(*blocks.store, map);
    }
  }
};

struct VectorizeBlockRowsPass : impl::VectorizeBlockRowsBase<VectorizeBlockRowsPass> {
  void runOnOperation() override {
    const int64_t fetched = dialect::costModel(getOperation()).cpu.prefetchBlocks;
    llvm::SmallVector<Blocks> found;
    getOperation().walk([&](scf::ForOp loop) {
      if (std::optional<Blocks> blocks = matchBlocks(loop))
        found.push_back(std::move(*blocks));
    });
    for (Blocks &blocks : found)
      if (Emitter emitter(std::move(blocks), fetched); emitter.fits())
        emitter.run();
  }
};

} // namespace
} // namespace tulle::passes
