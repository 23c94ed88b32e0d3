// A table of candidates, the cheapest first; the first that fits is taken.
#include "passes/assemble/choose/Strategies.h"
#include "dialect/Costs.h"
#include "format/Encoding.h"
#include "passes/assemble/choose/FiberAnalysis.h"
#include "passes/assemble/choose/InsertLoops.h"
#include "passes/assemble/choose/ScatterRules.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::ExprKind;
using format::LevelKind;
using levels::Insertion;

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
  return stored > 0 && stored < target.levels() && !order.unique && target.fillIsIdentity() &&
         growsAtEnds(target) && order.sortedLevels() >= stored &&
         FiberAnalysis::oneIterationEach(stream, stored) && matchBlockLoops(target, stream);
}

static bool fitsAppend(const TargetFacts &target, const Stream &stream) {
  const Order &order = stream.order;
  if (!growsAtEnds(target))
    return false;
  unsigned stored = target.storedLevels();
  if (order.sortedLevels() < stored)
    return false;
  // A repeat in a block is told by what is there already, or because it comes next to the first.
  return order.unique || stored == target.levels() || target.fillIsIdentity() || order.sorted();
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
    const levels::LevelFormat *format = levels::find(level.format.kind);
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
