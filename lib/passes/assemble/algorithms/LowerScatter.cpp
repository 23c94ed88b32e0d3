// tulle-lower-scatter: attribute queries that size the levels, then stores of entries at their positions.
#include "format/Encoding.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/ColumnTiles.h"
#include "passes/assemble/algorithms/Counters.h"
#include "passes/assemble/algorithms/HoistPositions.h"
#include "passes/assemble/algorithms/Phase.h"
#include "passes/assemble/algorithms/RadixPartition.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/choose/Strategies.h"
#include <limits>

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERSCATTER
#include "passes/Passes.h.inc"

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::Insertion;
using levels::LevelBuild;
using parallel::Chunk;

namespace {

//===--- Padding ---===//

/// Whether there can be positions of the result that no entry comes to.
bool leavesPadding(const Target &target) {
  if (format::hasReserve(target.encoding(), target.levels() - 1))
    return true;
  for (unsigned l = target.levels(); l-- > 0;) {
    LevelKind kind = target.format(l).kind;
    if (kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed)
      return false;
    if (kind != LevelKind::Singleton || target.format(l).padded)
      return true;
  }
  return true;
}

/// The level that numbers the entries of each row, where it and the row make the positions: the slots of a
/// row without an entry are then its last ones (ELL).
std::optional<unsigned> numberedPadding(const Target &target, const Order &order) {
  if (target.levels() < 3)
    return std::nullopt;
  for (unsigned l = 0; l < target.levels(); ++l) {
    LevelKind kind = target.format(l).kind;
    if (kind != (l < 2 ? LevelKind::Dense : LevelKind::Singleton))
      return std::nullopt;
    if (l >= 2 && target.storage.layout.fields[target.storage.layout.coordinates[l]->field].width == 2)
      return std::nullopt;
  }
  for (unsigned l : {0, 1}) {
    const Expr &number = order.levels[l], &row = order.levels[1 - l];
    if (number->kind == ExprKind::Counter && row->kind == ExprKind::Dim && number->dims.size() == 1 &&
        number->dims[0] == unsigned(row->value))
      return l;
  }
  return std::nullopt;
}

/// Empties the slots of a row from its `first` on; `numbered` is `numberedPadding`. `builds` have their
/// sizes.
void fillPadding(const Target &target, MutableArrayRef<LevelBuild> builds, unsigned numbered, Value row,
                 Value first) {
  forEach(target, first, builds[numbered].size, LoopKind::Parallel, [&](Value k) {
    Value position = target.constant(0);
    for (unsigned l : {0, 1})
      position =
          levels::find(target.format(l).kind)->insert(target, builds[l], position, l == numbered ? k : row);
    for (unsigned l = 2; l < target.levels(); ++l)
      if (target.format(l).padded)
        target.storePadding(l, position);
    storeAt(target, target.fillValue(), target.storage.fields.back(), position);
  });
}

//===--- Levels by position ---===//

/// Builds all levels from the top. A level is first queried, if its size depends on the entries, then sized;
/// when all have their sizes, a last copy of the loops inserts each entry into them. A copy has counters, and
/// knows the entry before: these are restarted with each.
class Scatter {
public:
  /// `pairs` (ScatterOp), and whether positions that are stored to after each other are in the cache (i1), if
  /// known.
  Scatter(Target &target, const Stream &stream, Value pairs, bool parallel, Value cacheResident)
      : b(target.builder), target(target), stream(stream), order(stream.order), pairs(pairs),
        cacheResident(cacheResident), ranks(target, order),
        iterations(ranks.any() ? std::nullopt : iterationDimension(*stream.loops)),
        ownCounters(target, order, iterations),
        tiledLevel(ranks.any() ? std::nullopt : TiledLevel::find(target, order)), builds(target.levels()),
        parents(target.constant(1)) {
    for (auto [l, build] : llvm::enumerate(builds))
      build.level = unsigned(l);
    if (parallel && canRunInParallel())
      chunks = make<ThreadsOp>(target, stream.bound, /*fixed=*/false);
  }

  /// Makes the target's buffers.
  void run() {
    analyse();
    Phase phase(b, "assembly: coordinates and values");
    store();
    for (LevelBuild &build : builds)
      format(build.level).finish(target, build);
    std::optional<unsigned> bucket = bucketLevel(target.encoding());
    if (bucket && sortsSegments(target.encoding(), *bucket))
      finishSegments(*bucket);
    target.freeScratch();
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l).kind); }
  const format::Level &level(unsigned l) const { return target.encoding().levels[l]; }

  /// What a copy of the loops finds out.
  struct Query {
    ArrayRef<unsigned> levels;        ///< that are queried
    unsigned end = 0;                 ///< behind the last of these
    bool ofRanks = false;             ///< and the ranks are
    bool needsNumbers = false;        ///< of counters
    Value rankCounts;                 ///< entries of each coordinate that is ranked, if the copy counts them
    Values counts;                    ///< per level: of a dimension, whose longest count answers the query
    std::optional<unsigned> numbered; ///< the level whose query is how many entries iterations have
  };

  Value zero() const { return target.constant(0); }
  Value chunkCount() const { return chunks ? chunks : target.constant(1); }
  Value numberOf(const Chunk *chunk) const { return chunk ? chunk->index : zero(); }
  /// Whether a level must be told which entries are its first ones.
  bool tellsFirst(unsigned l) const {
    return insertionOf(level(l)) != Insertion::Computed && !isLeaf(target.encoding(), l);
  }
  /// Whether the iterations of the outermost loop are the coordinates that tiles are made of.
  bool tileIterations() const { return iterations == tiledLevel->dim; }

  /// Whether coordinates alone give the positions: different ones are stored apart, whatever was inserted
  /// before.
  bool computesPositions() const {
    return !ranks.any() && !tiledLevel && llvm::all_of(llvm::seq(target.levels()), [&](unsigned l) {
      return insertionOf(level(l)) == Insertion::Computed &&
             !format::contains(order.levels[l], ExprKind::Counter);
    });
  }
  bool canRunInParallel() const;
  void forEachChunk(llvm::function_ref<void(const Chunk *)> body);
  void atIterations(Operation *loop, llvm::function_ref<void(Value)> start,
                    llvm::function_ref<void(Value)> end);
  void analyse();
  void query(ArrayRef<unsigned> queried);
  Query startQuery(ArrayRef<unsigned> queried);
  bool isCounted(const Query &query, unsigned l) const;
  void queryEntry(const Query &query, ValueRange dims);
  bool largestAnswers(const Query &query) const;
  bool largestAnswers(const Query &query, unsigned dim) const;
  Value queryLongestIteration(OnCoordinates atEntry, const Query &query, SmallVectorImpl<Value> &answering);
  void size(unsigned l);
  void restart();
  Values coordinates(ValueRange dims, bool numbered = true);
  std::pair<Target *, Value> insertEntry(ValueRange dims, ValueRange at);
  void store();
  void storeInTiles(OnInsert insert);
  void storeDirectly(OnInsert insert);
  Operation *storeChunk(const Chunk *chunk, OnInsert insert);
  void fillRowPadding();
  void finishSegments(unsigned bucket);

  OpBuilder &b;
  Target &target;
  const Stream &stream;
  const Order &order;
  Value pairs, cacheResident;
  Ranks ranks;
  std::optional<unsigned> iterations; ///< the dimension that the outermost loop iterates over, if it does
  Counters ownCounters;
  Counters *counters = &ownCounters;    ///< in a parallel region, those of the chunk
  bool ranked = false;                  ///< the ranks are known
  Value entryCounts;                    ///< of the rows whose entries a level numbers: the rest is padding
  bool padsIterations = false;          ///< padding is filled when an iteration, which is a row, ends
  std::optional<TiledLevel> tiledLevel; ///< whose coordinates are assembled a tile at a time
  std::optional<ColumnTiles> tiles;     ///< of the chunk in the making
  SmallVector<LevelBuild> builds;
  std::vector<Register>
      last;               ///< coordinates of the entry before, as deep as levels must tell their first ones
  Value parents, batches; ///< positions of the levels that have their size
  Value chunks;           ///< of the stream, for threads; null without threads
};

//===--- Queries and sizes ---===//

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

/// The dimension whose entries the positions of a dense level count; null where that is not all it does.
std::optional<unsigned> countedDimension(const Expr &e, const levels::LevelFormat &format) {
  if (!format.full() || e->kind != ExprKind::Counter || e->dims.size() != 1)
    return std::nullopt;
  return e->dims[0];
}

/// Answers the queries of these levels, and of the ranks where they are not known, by a copy of the loops.
void Scatter::query(ArrayRef<unsigned> queried) {
  auto texts = llvm::map_range(queried, [&](unsigned l) { return target.levelText(l); });
  Phase phase(b, "analysis: for " + (queried.empty() ? "the ranks" : llvm::join(texts, ", ")));
  const Query query = startQuery(queried);
  SmallVector<Value> answering; // coordinates of which the largest answers
  auto atEntry = [&](ValueRange dims) {
    for (auto [d, coordinate] : llvm::enumerate(dims))
      if (largestAnswers(query, unsigned(d)))
        answering.push_back(coordinate);
    queryEntry(query, dims);
  };
  Value longest = queryLongestIteration(atEntry, query, answering);
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

/// Whether the largest coordinates below each parent answer what is queried, and nothing else is.
bool Scatter::largestAnswers(const Query &query) const {
  return !query.ofRanks && !query.numbered && !query.needsNumbers &&
         llvm::all_of(query.levels, [&](unsigned l) { return format(l).queriesLargest(); }) &&
         llvm::none_of(llvm::seq(query.end), [&](unsigned l) { return tellsFirst(l) || query.counts[l]; });
}

/// Whether the largest coordinate of a dimension does: it is that of the levels that are queried, and of none
/// above.
bool Scatter::largestAnswers(const Query &query, unsigned dim) const {
  return largestAnswers(query) && llvm::all_of(query.levels, [&](unsigned queried) {
           return llvm::all_of(llvm::seq(queried + 1), [&](unsigned l) {
             const Expr &e = order.levels[l];
             return e->kind == ExprKind::Dim && (l == queried || unsigned(e->value) != dim);
           });
         });
}

/// Copies of the loops that query, of the largest coordinates only if these answer; returns a table with the
/// number of entries of each chunk's longest iteration, if they are `numbered`.
Value Scatter::queryLongestIteration(OnCoordinates atEntry, const Query &query,
                                     SmallVectorImpl<Value> &answering) {
  Value longest = query.numbered ? target.zeros(b.getI64Type(), chunkCount()) : Value();
  forEachChunk([&](const Chunk *chunk) {
    restart();
    std::optional<Register> most;
    if (query.numbered)
      most.emplace(target, zero());
    Operation *loop = cloneCounting(b, stream, chunk, atEntry);
    if (loop && largestAnswers(query))
      visitLargest(loop, answering);
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

//===--- Entries ---===//

/// Before a copy of the loops: no entry has been seen.
void Scatter::restart() {
  counters->reset();
  unsigned deepest = 0;
  for (unsigned l = 0; l < builds.size(); ++l)
    if (tellsFirst(l))
      deepest = l + 1;
  Value none = target.constant(std::numeric_limits<int64_t>::min());
  for (const Register &before : last)
    before.set(none);
  while (last.size() < deepest)
    last.emplace_back(target, none);
}

/// The level coordinates of an entry (without `numbered`, 0 for counters), and which levels have their first
/// entry in it.
Values Scatter::coordinates(ValueRange dims, bool numbered) {
  Phase phase(b, "remapping: " + format::printRemapping(target.encoding()));
  counters->enter(dims);
  Values at = target.levelCoordinates(dims, [&](const format::ExprNode &e) {
    if (e.kind == ExprKind::Counter)
      return numbered ? counters->number(e) : zero();
    return ranked ? ranks.number(dims) : zero();
  });
  Value isFirst;
  for (auto [l, before] : llvm::enumerate(last)) {
    Value other = target.isDifferent(before.get(), at[l]);
    before.set(at[l]);
    isFirst = isFirst ? make<arith::OrIOp>(target, isFirst, other) : other;
    builds[l].firstOccurrence = tellsFirst(unsigned(l)) ? isFirst : Value();
  }
  return at;
}

/// The entry's position, and what it is stored in.
std::pair<Target *, Value> Scatter::insertEntry(ValueRange dims, ValueRange at) {
  Target *to = &target;
  Value position = zero();
  Block *block = b.getInsertionBlock();
  Operation *before = b.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
  for (unsigned l = 0; l < builds.size(); ++l) {
    if (!tiles || l != tiledLevel->level) {
      position = format(l).insert(*to, builds[l], position, at[l]);
      continue;
    }
    Value coordinate = dims[tiledLevel->dim];
    if (!tileIterations())
      tiles->enter(coordinate);
    position = tiles->position(position, coordinate);
    to = &tiles->staging();
  }
  if (computesPositions())
    hoistPositions(b, block, before, target.storage);
  return {to, position};
}

void Scatter::store() {
  target.allocate(target.storage.layout.valuesField(), parents);
  std::optional<unsigned> bucket = bucketLevel(target.encoding());
  const bool positionsAreEntries = order.unique || (bucket && sortsSegments(target.encoding(), *bucket));
  auto insert = [&](ValueRange dims, Value value) {
    auto [to, position] = insertEntry(dims, coordinates(dims));
    positionsAreEntries ? to->storeValue(position, value) : to->combineValue(position, value);
  };
  if (!tiledLevel)
    return storeDirectly(insert);
  Value fits = TiledColumns(target, *tiledLevel, builds).fitTiles();
  if (!fits)
    return storeInTiles(insert);
  either(target, fits, [&] { storeInTiles(insert); }, [&] { storeDirectly(insert); });
}

/// Each chunk of the stream stores the coordinates from its first one to its last one; those between chunks
/// are emptied behind.
void Scatter::storeInTiles(OnInsert insert) {
  const TiledColumns columns(target, *tiledLevel, builds);
  Value firsts = newBuffer(target, b.getI64Type(), chunkCount());
  Value ends = newBuffer(target, b.getI64Type(), chunkCount());
  forEachChunk([&](const Chunk *chunk) {
    tiles.emplace(columns);
    restart();
    Operation *loop = cloneLoops(b, stream, chunk, insert);
    auto start = [&](Value coordinate) {
      counters->startIteration();
      if (tileIterations())
        tiles->enter(coordinate);
    };
    atIterations(loop, start, [](Value) {});
    auto [first, end] = tiles->finish();
    target.write(firsts, numberOf(chunk), first);
    target.write(ends, numberOf(chunk), end);
    tiles.reset();
  });
  auto join = [&](Value chunk, Values reached) {
    columns.empty(reached[0], target.read(firsts, chunk));
    return Values{target.umax(reached[0], target.read(ends, chunk))};
  };
  Value reached = reduce(target, zero(), chunkCount(), zero(), join)[0];
  freeBuffers(target, {firsts, ends});
  columns.empty(reached, target.storage.dims[tiledLevel->dim]);
  columns.emptyOutside();
}

/// Each entry at its position, where padding is filled first, or with its row.
void Scatter::storeDirectly(OnInsert insert) {
  if (entryCounts)
    fillRowPadding();
  else if (leavesPadding(target) && !padsIterations)
    forRanges(target, chunks, parents, [&](Value, Value first, Value last) {
      fillElements(target, target.storage.fields.back(), first, last, target.fillValue());
      fence(target);
    });
  forEachChunk([&](const Chunk *chunk) {
    restart();
    auto end = [&](Value row) {
      if (padsIterations)
        fillPadding(target, builds, *numberedPadding(target, order), row, counters->iterationEntries());
    };
    atIterations(storeChunk(chunk, insert), [&](Value) { counters->startIteration(); }, end);
  });
}

/// Positions in the cache are not prefetched: that would be work for nothing.
Operation *Scatter::storeChunk(const Chunk *chunk, OnInsert insert) {
  if (computesPositions()) {
    Operation *loop = cloneLoops(b, stream, chunk, insert);
    if (loop)
      keepKinds(loop, *stream.loops);
    return loop;
  }
  if (!cacheResident || iterations)
    return cloneLoops(b, stream, chunk, insert);
  auto all = [&] { cloneLoops(b, stream, chunk, insert); };
  auto withoutPrefetch = [&] {
    all();
    b.getBlock()->walk([&](IterateOp loop) { loop.setLoopAttr(loop.getLoop().withCacheResident()); });
  };
  either(target, cacheResident, withoutPrefetch, all);
  return nullptr;
}

/// Most rows have hardly such a slot, so that this is less work than to empty all.
void Scatter::fillRowPadding() {
  const unsigned numbered = *numberedPadding(target, order);
  Value rows = target.storage.dims[order.levels[numbered]->dims[0]];
  forRanges(target, chunks, rows, [&](Value, Value first, Value last) {
    forEach(target, first, last, LoopKind::Parallel,
            [&](Value row) { fillPadding(target, builds, numbered, row, target.read(entryCounts, row)); });
  });
}

/// What is below one parent is sorted after it is stored, and repeats are combined.
void Scatter::finishSegments(unsigned bucket) {
  Value last = builds[bucket].parents;
  if (!arrivesInOrder(order, bucket))
    target.sortSegments(zero(), last, zero());
  if (order.unique)
    return;
  Value end = target.combineRepeats(zero(), last, zero());
  target.shrink(target.storage.layout.coordinates[bucket]->field, end);
  target.shrink(target.storage.layout.valuesField(), end);
}

//===--- Iterations and chunks ---===//

/// What is done where each iteration of a copy's outermost loop begins and ends, at its coordinate.
void Scatter::atIterations(Operation *loop, llvm::function_ref<void(Value)> start,
                           llvm::function_ref<void(Value)> end) {
  if (!iterations)
    return;
  OpBuilder::InsertionGuard guard(b);
  Block &iteration = cast<IterateOp>(loop).getBody().front();
  b.setInsertionPointToStart(&iteration);
  start(iteration.getArgument(0));
  b.setInsertionPoint(iteration.getTerminator());
  end(iteration.getArgument(0));
}

/// Whether chunks of the stream may be queried, and stored, at the same time: each entry has a position of
/// its own that its coordinates give, and what is counted together comes in one chunk.
bool Scatter::canRunInParallel() const {
  if (!stream.bound || !order.unique || ranks.any() || !canPartition(*stream.loops))
    return false;
  const bool ascends = !order.keys.empty() && order.keys[0]->kind == ExprKind::Dim;
  return llvm::all_of(llvm::seq(target.levels()), [&](unsigned l) {
    const Expr &e = order.levels[l];
    const LevelKind kind = target.format(l).kind;
    if (kind != LevelKind::Dense && kind != LevelKind::Squeezed && kind != LevelKind::Singleton &&
        kind != LevelKind::Offset)
      return false;
    const auto &coordinates = target.storage.layout.coordinates[l];
    if (coordinates && target.storage.layout.fields[coordinates->field].width == 2)
      return false;
    return !format::contains(e, ExprKind::Counter) ||
           (ascends && countedDimension(e, format(l)) == order.keys[0]->value);
  });
}

/// Runs the body for each chunk of the stream, which has counters of its own.
void Scatter::forEachChunk(llvm::function_ref<void(const Chunk *)> body) {
  forChunks(target, chunks, [&](const Chunk *chunk) {
    if (!chunk)
      return body(nullptr);
    Counters own(target, order, iterations);
    counters = &own;
    body(chunk);
    counters = &ownCounters;
  });
}

//===--- The pass ---===//

void lower(Target &target, const Stream &stream, ScatterOp op) {
  auto directly = [&](Value cacheResident) {
    Scatter(target, stream, op.getPairs(), op.getParallel(), cacheResident).run();
  };
  fitsRadixPartition(target, stream) ? partitionOrElse(target, stream, op.getParallel(), directly)
                                     : directly({});
}

bool isReadyToScatter(const TargetFacts &target, const Stream &stream) {
  return isBuildable(target.encoding(), stream.order) && isReady(target, stream.order);
}

struct LowerScatter : impl::LowerScatterBase<LowerScatter> {
  void runOnOperation() override {
    if (failed(lowerBuild<ScatterOp>(getOperation(), isReadyToScatter, lower)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
