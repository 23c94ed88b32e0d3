// A table of candidates, the cheapest first; the first that fits is taken. By position: a level takes entries
// in any order if its positions are computed; else the stream must ascend there. tulle-choose-assembly
// chooses for every tulle.assemble.
#include "passes/assemble/choose/Strategies.h"
#include "dialect/Costs.h"
#include "format/Encoding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/assemble/choose/InsertLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::Insertion;

//===--- Assembly by position ---===//

Insertion insertionOf(const format::Level &level) {
  const levels::LevelFormat *format = levels::find(level.format);
  return format ? format->insertion() : Insertion::None;
}

std::optional<unsigned> bucketLevel(const format::Encoding &encoding) {
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (insertionOf(encoding.levels[l]) == Insertion::Append)
      return l;
  return std::nullopt;
}

bool isLeaf(const format::Encoding &encoding, unsigned level) {
  for (unsigned l = level + 1; l < encoding.levels.size(); ++l)
    if (LevelKind kind = encoding.levels[l].format.kind;
        kind != LevelKind::Singleton && kind != LevelKind::Offset)
      return false;
  return true;
}

bool has(const Order &order, ExprKind kind) {
  return llvm::any_of(order.levels, [&](const Expr &e) { return format::contains(e, kind); });
}

const format::ExprNode *rankOf(const Order &order) {
  for (const Expr &level : order.levels)
    if (const format::ExprNode *found = format::find(level, ExprKind::Rank))
      return found;
  return nullptr;
}

bool isBuildable(const format::Encoding &encoding, const Order &order) {
  std::optional<unsigned> bucket = bucketLevel(encoding);
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const format::Level &level = encoding.levels[l];
    if (insertionOf(level) == Insertion::None)
      return false;
    // While it is queried, no entry has its position in a bucket above yet.
    if (bucket && l > *bucket && levels::find(level.format)->needsQuery(level))
      return false;
  }
  return !has(order, ExprKind::Symbol);
}

bool arrivesInOrder(const Order &order, unsigned level) {
  return order.sortedLevels(level) == order.levels.size() - level;
}

bool sortsSegments(const format::Encoding &encoding, unsigned level) {
  LevelKind kind = encoding.levels[level].format.kind;
  bool batched = false;
  for (unsigned l = 0; l < level; ++l)
    batched |= encoding.levels[l].format.kind == LevelKind::Batch;
  return level + 1 == encoding.levels.size() && !batched && !format::hasReserve(encoding, level) &&
         (kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed);
}

static bool ascends(const Expr &e, const Order &order, unsigned dims) {
  if (!e)
    return true;
  if (e->kind == ExprKind::Counter) {
    std::vector<unsigned> all = e->dims;
    for (unsigned d = 0; d < dims; ++d)
      if (!llvm::is_contained(e->dims, d))
        all.push_back(d);
    Order numbering{order.keys, dimensionsOf(all), order.unique};
    unsigned fixed = unsigned(e->dims.size());
    return order.unique && numbering.sortedLevels(fixed) == dims - fixed;
  }
  return ascends(e->lhs, order, dims) && ascends(e->rhs, order, dims);
}

bool countersAscend(const Order &order, unsigned dims) {
  return llvm::all_of(order.levels, [&](const Expr &e) { return ascends(e, order, dims); });
}

bool isReady(const TargetFacts &target, const Order &order) {
  const format::Encoding &encoding = target.encoding();
  bool numbered = has(order, ExprKind::Counter) || has(order, ExprKind::Rank);
  if (numbered && (!order.unique || !countersAscend(order, encoding.order())))
    return false;
  bool combines = true; // repeats meet at their position
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    Insertion placement = insertionOf(encoding.levels[l]);
    if (placement == Insertion::Computed)
      continue;
    bool leaf = isLeaf(encoding, l);
    if (placement == Insertion::Append && leaf && sortsSegments(encoding, l))
      return true;
    combines &= !leaf;
    // Entries of one position arrive one behind the other: those with the coordinates of all its levels.
    if (placement == Insertion::HashTable ? !order.sorted()
        : leaf                            ? !arrivesInOrder(order, l)
                                          : order.sortedLevels() < target.positionsEnd(l))
      return false;
  }
  return order.unique || (combines && target.fillIsIdentity());
}

//===--- The strategies ---===//

bool growsAtEnds(const TargetFacts &target) {
  for (unsigned l = 0; l < target.levels();) {
    LevelKind kind = target.format(l).kind;
    // The size of a counter's level is known after all entries only.
    if (target.isFull(l) && !target.storage.layout.sizes[l]) {
      ++l;
      continue;
    }
    // Positions in reserve lie between segments: their ends are not where the next ones start.
    if ((kind != LevelKind::Compressed && kind != LevelKind::LooseCompressed) ||
        format::hasReserve(target.encoding(), l))
      return false;
    unsigned end = target.positionsEnd(l);
    for (; l < end; ++l)
      if (target.format(l).padded)
        return false;
  }
  return true;
}

/// Blocks larger than this are not collected: the workspace has one for every coordinate of the level.
constexpr int64_t kLargestBlock = 4096;

std::optional<int64_t> workspaceBlock(const TargetFacts &target) {
  for (unsigned l = target.storedLevels(); l < target.levels(); ++l)
    if (target.format(l).kind != LevelKind::Dense)
      return std::nullopt;
  return target.blockSize(kLargestBlock);
}

bool fitsAppendBlocks(const TargetFacts &target, const Stream &stream) {
  const Order &order = stream.order;
  unsigned stored = target.storedLevels();
  return stored > 0 && stored < target.levels() && !order.unique && !has(order, ExprKind::Counter) &&
         target.fillIsIdentity() && growsAtEnds(target) && order.sortedLevels() >= stored &&
         FiberAnalysis::oneIterationEach(stream, stored) && matchBlockLoops(target, stream);
}

static bool fitsAppend(const TargetFacts &target, const Stream &stream) {
  const Order &order = stream.order;
  if (!growsAtEnds(target))
    return false;
  unsigned stored = target.storedLevels();
  if (order.sortedLevels() < stored)
    return false;
  if (has(order, ExprKind::Counter) && (!order.unique || !countersAscend(order, target.encoding().order())))
    return false;
  // A repeat in a block is told by what is there already, or because it comes next to the first.
  return order.unique || stored == target.levels() || target.fillIsIdentity() || order.sorted();
}

bool fitsRow(const TargetFacts &target, const Stream &stream) {
  auto around = stream.loops->getParentOp()->getParentOp();
  return target.levels() == 1 && target.format(0).kind == LevelKind::Compressed && target.format(0).unique &&
         !isa<mlir::func::FuncOp>(around);
}

static bool fitsBitmap(const TargetFacts &target, const Stream &stream) {
  return fitsRow(target, stream) && target.format(0).ordered;
}

bool fitsWorkspace(const TargetFacts &target, const Stream &stream) {
  unsigned stored = target.storedLevels();
  if (target.storage.digits.empty() || stored == 0 || !growsAtEnds(target))
    return false;
  return stream.order.sortedLevels() + 1 >= stored && workspaceBlock(target);
}

static bool fitsRadixSort(const TargetFacts &target, const Stream &stream) {
  const Order &order = stream.order;
  return growsAtEnds(target) && !has(order, ExprKind::Counter) && !has(order, ExprKind::Rank) &&
         !has(order, ExprKind::Symbol);
}

/// The entries once each, in order of the dimensions.
static Order inDimensionOrder(const Order &order, unsigned dims) {
  Order sorted = order;
  sorted.keys.clear();
  for (unsigned d = 0; d < dims; ++d)
    sorted.keys.push_back(format::dim(d));
  sorted.unique = true;
  return sorted;
}

static bool fitsScatter(const TargetFacts &target, const Stream &stream) {
  const Order &order = stream.order;
  if (!isBuildable(target.encoding(), order))
    return false;
  // What can be appended in order is put in the target's own order, not in that of the dimensions first.
  return isReady(target, order) || (!fitsRadixSort(target, stream) &&
                                    isReady(target, inDimensionOrder(order, target.encoding().order())));
}

static bool fitsLevelByLevel(const TargetFacts &target, const Stream &stream) {
  // What can be appended is sorted and appended.
  if (target.levels() == 0 || growsAtEnds(target) || has(stream.order, ExprKind::Counter) ||
      has(stream.order, ExprKind::Rank))
    return false;
  unsigned buckets = 0, batches = 0;
  for (const format::Level &level : target.encoding().levels) {
    const levels::LevelFormat *format = levels::find(level.format);
    if (!format || format->insertion() == Insertion::None)
      return false;
    buckets += format->insertion() == Insertion::Append;
    batches += format->separatesBatches();
  }
  // Batches of buckets below buckets have different numbers of parents.
  return batches == 0 || buckets <= 1;
}

namespace {

struct Candidate {
  AssemblyStrategy strategy;
  bool (*fits)(const TargetFacts &, const Stream &);
  const char *remark;
};

/// The cheapest first.
constexpr Candidate candidates[] = {
    {AssemblyStrategy::AppendBlocks, fitsAppendBlocks,
     "appended in blocks: one iteration of a loop accumulates each"},
    {AssemblyStrategy::Append, fitsAppend, "appended: entries arrive in the order in which they are stored"},
    {AssemblyStrategy::Workspace, fitsWorkspace,
     "gathered in a workspace, a row at a time: rows arrive in order, their entries do not"},
    {AssemblyStrategy::Scatter, fitsScatter,
     "counted, then stored each at its position: entries arrive out of order, and the loops can run twice"},
    {AssemblyStrategy::RadixSort, fitsRadixSort, "sorted by counting, level by level: no order is known"},
    {AssemblyStrategy::LevelByLevel, fitsLevelByLevel,
     "sorted, then stored level by level: no other way makes this nesting of levels"},
    {AssemblyStrategy::Bitmap, fitsBitmap, "accumulated in an array with a bit set, a row in each iteration"},
    {AssemblyStrategy::Hashed, fitsRow, "accumulated in a hash table, a row in each iteration"},
};

} // namespace

bool fits(AssemblyStrategy strategy, const TargetFacts &target, const Stream &stream) {
  return llvm::any_of(candidates, [&](const Candidate &candidate) {
    return candidate.strategy == strategy && candidate.fits(target, stream);
  });
}

LogicalResult chooseStrategy(AssembleOp op) {
  hoistBounds(op);
  TargetFacts target(op.getResult().getType(), op.getCombine(), op.getPlan());
  Stream stream = streamOf(op);
  for (const Candidate &candidate : candidates) {
    bool wanted = !op.getStrategy() || op.getStrategy() == candidate.strategy;
    if (!wanted || !candidate.fits(target, stream))
      continue;
    op.setStrategy(candidate.strategy);
    explainChoice(op, "entries of a new tensor are " + std::string(candidate.remark));
    return success();
  }
  if (op.getStrategy())
    return op.emitError("expected a strategy that fits the tensor and the order of its entries, got ")
           << stringifyAssemblyStrategy(*op.getStrategy());
  return op.emitError("a tensor in ")
         << format::displayName(target.encoding())
         << " cannot be assembled: with a counter or a rank, one level stores coordinates, the last one, and "
            "no hash table; write dense for those above it, or leave the counter or the rank out";
}

} // namespace tulle::assemble

namespace tulle::passes {
#define GEN_PASS_DEF_CHOOSEASSEMBLY
#include "passes/Passes.h.inc"

namespace {

struct ChooseAssembly : impl::ChooseAssemblyBase<ChooseAssembly> {
  void runOnOperation() override {
    bool failed = getOperation()
                      ->walk([](dialect::AssembleOp op) {
                        return mlir::failed(assemble::chooseStrategy(op)) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                      })
                      .wasInterrupted();
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
