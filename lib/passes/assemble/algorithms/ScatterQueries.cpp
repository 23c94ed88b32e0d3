// Levels whose sizes depend on the entries are queried by copies of the loops, from the top.
#include "passes/assemble/algorithms/Phase.h"
#include "passes/assemble/algorithms/Scatter.h"
#include "passes/assemble/algorithms/SourceTraversal.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using levels::Answering;
using levels::LevelBuild;
using parallel::Chunk;

/// The dimension whose entries the positions of a dense level count; null where that is not all it does.
std::optional<unsigned> countedDimension(const Expr &e, const levels::LevelFormat &format) {
  if (!format.full() || e->kind != ExprKind::Counter || e->dims.size() != 1)
    return std::nullopt;
  return e->dims[0];
}

/// Sizes all levels from the top. Levels whose sizes depend on the entries are queried together, in one copy
/// of the loops, as far as they do not depend on each other.
void Scatter::analyse() {
  SmallVector<unsigned> queried;
  auto settle = [&](unsigned end) {
    if (queried.empty() && (!ranks.any() || ranked))
      return;
    query(queried);
    for (unsigned l = queried.empty() ? end : queried.front(); l < end; ++l)
      size(l);
    queried.clear();
  };
  for (unsigned l = 0; l < builds.size(); ++l) {
    const bool needsQuery = format(l).needsQuery(level(l));
    if (format(l).needsQueryPerParent(level(l)) ||
        (needsQuery && format::contains(order.levels[l], ExprKind::Rank)))
      settle(l);
    if (needsQuery) {
      builds[l].parents = parents;
      builds[l].batches = batches;
      queried.push_back(l);
    } else if (queried.empty()) {
      size(l);
    }
  }
  settle(unsigned(builds.size()));
}

/// Answers the queries of these levels, and of the ranks where they are not known, by a copy of the loops.
void Scatter::query(ArrayRef<unsigned> queried) {
  auto texts = llvm::map_range(queried, [&](unsigned l) { return target.levelText(l); });
  Phase phase(b, "analysis: for " + (queried.empty() ? "the ranks" : llvm::join(texts, ", ")));
  const Query query = startQuery(queried);
  const Answering answering = answeringOf(query);
  SmallVector<Value> extremes; // coordinates of which the extreme ones answer
  auto atEntry = [&](ValueRange dims) {
    if (answering != Answering::All)
      llvm::append_range(extremes, answeringCoordinates(query, dims));
    queryEntry(query, dims);
  };
  Value longest = queryLongestIteration(atEntry, query, answering, extremes);
  for (unsigned l : queried) {
    if (!isCounted(query, l))
      continue;
    Value counts = query.counts[l] ? query.counts[l] : longest;
    Value end = query.counts[l] ? target.storage.dims[order.levels[l]->dims[0]] : chunkCount();
    target.write(builds[l].work, zero(), largest(target, counts, zero(), end));
  }
  if (std::optional<unsigned> l = numberedPadding(target, order); !tiledLevel && l && isCounted(query, *l)) {
    entryCounts = query.counts[*l];
    padsIterations = !entryCounts;
  }
  if (query.ofRanks)
    ranks.sort();
  ranked = true;
}

Scatter::Query Scatter::startQuery(ArrayRef<unsigned> queried) {
  Query query;
  query.levels = queried;
  query.end = queried.empty() ? 0 : queried.back() + 1;
  query.ofRanks = ranks.any() && !ranked;
  if (query.ofRanks)
    query.rankCounts = ranks.startQuery();
  if (query.ofRanks && pairs) {
    traverseStored(b, target.loc, pairs, ranks.pairOf(target.storage.dims),
                   *format::inverseMap(encodingOf(pairs)), {},
                   [&](ValueRange pair, Value) { ranks.query(pair[0]); });
    query.rankCounts = {};
  }
  query.counts.resize(builds.size());
  for (unsigned l : queried) {
    builds[l].isConcurrent = bool(chunks);
    format(l).startQuery(target, builds[l]);
    std::optional<unsigned> dim = countedDimension(order.levels[l], format(l));
    if (dim && dim == iterations)
      query.numbered = l;
    else if (dim)
      query.counts[l] = query.ofRanks && ranks.dimension() == *dim
                            ? query.rankCounts
                            : target.zeros(b.getI64Type(), target.storage.dims[*dim]);
  }
  query.needsNumbers = llvm::any_of(llvm::seq(query.end), [&](unsigned l) {
    return !isCounted(query, l) && format::contains(order.levels[l], ExprKind::Counter);
  });
  return query;
}

bool Scatter::isCounted(const Query &query, unsigned l) const {
  return query.counts[l] || (query.numbered && countedDimension(order.levels[l], format(l)) == iterations);
}

void Scatter::queryEntry(const Query &query, ValueRange dims) {
  if (query.ofRanks && !pairs)
    ranks.query(dims[ranks.dimension()]);
  if (query.levels.empty())
    return;
  Values at = coordinates(dims, query.needsNumbers);
  if (query.numbered)
    counters->number(*order.levels[*query.numbered]);
  Value parent = zero();
  for (unsigned l = 0; l < query.end; ++l) {
    if (query.counts[l] && query.counts[l] != query.rankCounts)
      target.increment(query.counts[l], dims[order.levels[l]->dims[0]]);
    else if (!isCounted(query, l) && llvm::is_contained(query.levels, l))
      format(l).query(target, builds[l], parent, at[l], ValueRange(at).take_front(l));
    // Only the first level queried may depend on its parent, and all above it have their sizes.
    if (l < query.levels.front())
      parent = format(l).insert(target, builds[l], parent, at[l]);
  }
}

/// Which coordinates below each parent answer all that is queried.
Answering Scatter::answeringOf(const Query &query) const {
  const bool asksMore =
      query.ofRanks || query.numbered || query.needsNumbers ||
      llvm::any_of(llvm::seq(query.end), [&](unsigned l) { return tellsFirst(l) || query.counts[l]; });
  Answering answering = asksMore ? Answering::All : Answering::Largest;
  for (unsigned l : query.levels)
    answering = std::max(answering, format(l).answering(level(l)));
  return answering;
}

/// Whether `coordinate` is `from`, or computed from it.
static bool isComputedFrom(Value coordinate, Value from) {
  Operation *op = coordinate.getDefiningOp();
  return coordinate == from ||
         (op && llvm::any_of(op->getOperands(), [&](Value v) { return isComputedFrom(v, from); }));
}

/// The coordinates of an entry whose extreme values answer: those of the levels that are queried, on which
/// none above depends.
SmallVector<Value> Scatter::answeringCoordinates(const Query &query, ValueRange dims) const {
  auto isQueriedAlone = [&](unsigned dim) {
    return llvm::all_of(query.levels, [&](unsigned queried) {
      return llvm::all_of(llvm::seq(queried + 1), [&](unsigned l) {
        const Expr &e = order.levels[l];
        return e->kind == ExprKind::Dim && (l == queried || unsigned(e->value) != dim);
      });
    });
  };
  SmallVector<Value> found;
  for (unsigned d = 0; d < dims.size(); ++d) {
    auto others =
        llvm::make_filter_range(llvm::seq(unsigned(dims.size())), [&](unsigned o) { return o != d; });
    if (isQueriedAlone(d) &&
        llvm::none_of(others, [&](unsigned o) { return isComputedFrom(dims[o], dims[d]); }))
      found.push_back(dims[d]);
  }
  return found;
}

/// Copies of the loops that query, of the extreme coordinates only if these answer; returns a table with the
/// number of entries of each chunk's longest iteration, if they are `numbered`.
Value Scatter::queryLongestIteration(OnCoordinates atEntry, const Query &query, Answering answering,
                                     SmallVectorImpl<Value> &extremes) {
  Value longest = query.numbered ? target.zeros(b.getI64Type(), chunkCount()) : Value();
  forEachChunk([&](const Chunk *chunk) {
    restart();
    std::optional<Register> most;
    if (query.numbered)
      most.emplace(target, zero());
    Operation *loop = cloneCounting(b, stream, chunk, atEntry);
    if (loop && answering != Answering::All)
      visitExtremes(loop, extremes, answering == Answering::LeastAndLargest);
    auto end = [&](Value) {
      if (most)
        most->set(target.umax(most->get(), counters->iterationEntries()));
    };
    if (query.numbered || query.needsNumbers)
      atIterations(loop, [&](Value) { counters->startIteration(); }, end);
    if (most)
      target.write(longest, numberOf(chunk), most->get());
  });
  return longest;
}

void Scatter::size(unsigned l) {
  Phase phase(b, "assembly: " + target.levelText(l));
  LevelBuild &build = builds[l];
  build.paddingIsCleared = entryCounts || padsIterations || tiledLevel;
  build.parents = parents;
  build.batches = batches;
  parents = format(l).size(target, build);
  if (format(l).separatesBatches())
    batches = parents;
}

} // namespace tulle::assemble
