#include "format/Encoding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/ColumnTiles.h"
#include "passes/assemble/algorithms/Counters.h"
#include "passes/assemble/algorithms/Phase.h"
#include "passes/assemble/algorithms/RadixPartition.h"
#include "passes/assemble/algorithms/RowPadding.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/choose/InsertLoops.h"
#include "passes/assemble/choose/ScatterRules.h"
#include "passes/assemble/choose/Strategies.h"
#include "passes/assemble/expand/Expansions.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::Insertion;
using levels::LevelBuild;

//===--- The phases ---===//

namespace {

class Scatter {
public:
  /// `near` (i1), if any: places that are stored to after each other are in the cache.
  Scatter(OpBuilder &b, Target &target, AssembleOp op, const Order &order, Value near = {})
      : b(b), target(target), op(op), order(order), near(near), assembly(b, target), ranks(assembly, order),
        iterations(ranks.any() ? std::nullopt : iterationDimension(op)),
        ownCounters(assembly, order, iterations),
        tiledLevel(ranks.any() ? std::nullopt : TiledLevel::find(target, order)) {
    for (unsigned l = 0; l < target.levels(); ++l) {
      builds.emplace_back();
      builds.back().level = l;
    }
  }

  /// Makes the target's buffers.
  void run() {
    parents = assembly.constant(1);
    if (canRunInParallel())
      chunks = ThreadsOp::create(b, op.getLoc(), op.getBound(), /*fixed=*/false);
    analyse();
    Phase phase(b, "assembly: coordinates and values");
    store();
    for (LevelBuild &build : builds)
      format(build.level).finish(assembly, build);
    std::optional<unsigned> bucket = bucketLevel(target.encoding());
    if (bucket && sortsSegments(target.encoding(), *bucket))
      finishSegments(*bucket);
    assembly.freeScratch();
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l).kind); }
  const format::Level &level(unsigned l) const { return target.encoding().levels[l]; }
  std::string levelText(unsigned l) const {
    return "level " + std::to_string(l) + " (" + format::printLevel(target.encoding(), l) + ")";
  }

  void finishSegments(unsigned bucket);
  void analyse();
  void ask(ArrayRef<unsigned> asked);
  void countPairs();
  void size(unsigned l);
  void store();
  void restart();
  Values coordinates(ValueRange dims, bool numbered = true);
  bool positionsAreEntries() const;
  std::pair<Target *, Value> placeEntry(ValueRange dims, ValueRange at);
  void storeInTiles(OnInsert insert, Value firsts, Value ends);
  void storeDirectly(OnInsert insert);
  void storeChunk(const parallel::Chunk *chunk, OnInsert insert);
  /// Whether the iterations of the outermost loop are the coordinates that tiles are made of.
  bool tileIterations() const { return iterations == tiledLevel->dim; }
  void fillRowPadding();
  void noteIteration();
  void atIterations(function_ref<void()> start, function_ref<void()> end);
  bool canRunInParallel();
  void forChunks(function_ref<void(const parallel::Chunk *)> body);
  void forParts(Value count, function_ref<void(Value first, Value last)> body) const;

  OpBuilder &b;
  Target &target;
  AssembleOp op;
  const Order &order;
  Value near;
  TargetAssembly assembly;
  Ranks ranks;
  std::optional<unsigned> iterations; ///< the dimension the outermost loop goes through, if it does
  Operation *copiedInto = nullptr;    ///< what is around the copy in the making
  IterateOp outerLoop;                ///< and its outermost loop, once there is an insert
  Counters ownCounters;
  Counters *counters = &ownCounters; ///< in a parallel region, those of the part
  bool ranked = false;               ///< the ranks are known
  Value entryCounts; ///< of the rows whose entries a level numbers, where the rest of its slots is emptied
  bool padsIterations = false;          ///< it is emptied when a iteration, which is a row, ends
  std::optional<TiledLevel> tiledLevel; ///< whose coordinates are assembled a tile at a time
  std::optional<ColumnTiles> tiles;     ///< of the part in the making
  SmallVector<LevelBuild> builds;
  Values last; ///< coordinates of the entry before, as far down as levels must tell their first ones
  Value parents, batches; ///< positions of the levels that have their size
  Value chunks;           ///< of the stream, which threads share; null without threads
};

/// What is below one parent is sorted after it is stored, and repeats are combined.
void Scatter::finishSegments(unsigned bucket) {
  Value zero = assembly.constant(0), last = builds[bucket].parents;
  if (!arrivesInOrder(order, bucket))
    target.sortSegments(b, zero, last, zero);
  if (order.unique)
    return;
  Value end = target.combineRepeats(b, zero, last, zero);
  target.shrink(b, target.storage.layout.coordinates[bucket]->field, end);
  target.shrink(b, target.storage.layout.valuesField(), end);
}

/// Sizes all levels from the top. Levels whose sizes depend on the entries are asked for together, in one
/// copy of the loops, as far as they do not depend on each other.
void Scatter::analyse() {
  SmallVector<unsigned> asked;
  auto settle = [&](unsigned end) {
    bool sortsRanks = ranks.any() && !ranked;
    if (asked.empty() && !sortsRanks)
      return;
    ask(asked);
    if (!asked.empty())
      for (unsigned l = asked.front(); l < end; ++l)
        size(l);
    asked.clear();
  };
  for (unsigned l = 0; l < builds.size(); ++l) {
    bool asks = format(l).needsQuery(level(l));
    if (format(l).needsQueryPerParent(level(l)) || (asks && has(order.levels[l], ExprKind::Rank)))
      settle(l);
    if (asks) {
      builds[l].parents = parents;
      builds[l].batches = batches;
      asked.push_back(l);
    } else if (asked.empty()) {
      size(l);
    }
  }
  settle(unsigned(builds.size()));
}

/// The dimension whose entries the iterations of a dense level count; null where that is not all it does.
static std::optional<unsigned> countedDimension(const Expr &e, const levels::LevelFormat &format) {
  if (!format.full() || e->kind != ExprKind::Counter || e->dims.size() != 1)
    return std::nullopt;
  return e->dims[0];
}

void Scatter::ask(ArrayRef<unsigned> asked) {
  std::string levels;
  for (unsigned l : asked)
    levels += (levels.empty() ? "" : ", ") + levelText(l);
  Phase phase(b, "analysis: for " + (levels.empty() ? "the ranks" : levels));
  bool sortsRanks = ranks.any() && !ranked;
  // The entries of a row of a matrix are its columns; beyond that, several have the same one.
  const bool pairs = sortsRanks && target.encoding().order() > 2;
  Value rankCounts = sortsRanks ? ranks.startQuery() : Value();
  if (pairs) {
    countPairs();
    rankCounts = {};
  }
  Values counts(builds.size());
  std::optional<unsigned> numbersIterations; // a level that asks how many entries the longest iteration has
  for (unsigned l : asked) {
    builds[l].isConcurrent = bool(chunks);
    format(l).startQuery(assembly, builds[l]);
    std::optional<unsigned> dim = countedDimension(order.levels[l], format(l));
    if (dim && dim == iterations)
      numbersIterations = l;
    else if (dim)
      counts[l] = sortsRanks && ranks.dimension() == *dim ? rankCounts : counters->startCounts(*dim);
  }
  auto isCounted = [&](unsigned l) {
    return counts[l] || (numbersIterations && countedDimension(order.levels[l], format(l)) == iterations);
  };
  bool needsNumbers = false;
  for (unsigned l = 0; !asked.empty() && l <= asked.back(); ++l)
    needsNumbers |= !isCounted(l) && has(order.levels[l], ExprKind::Counter);
  auto query = [&](OpBuilder &, ValueRange dims) {
    if (sortsRanks && !pairs)
      ranks.query(dims[ranks.dimension()]);
    if (asked.empty())
      return;
    noteIteration();
    Values at = coordinates(dims, needsNumbers);
    if (numbersIterations)
      counters->number(*order.levels[*numbersIterations]);
    Value parent = assembly.constant(0);
    for (unsigned l = 0; l <= asked.back(); ++l) {
      if (counts[l] && counts[l] != rankCounts)
        counters->count(counts[l], order.levels[l]->dims[0], dims);
      else if (!isCounted(l) && llvm::is_contained(asked, l))
        format(l).query(assembly, builds[l], parent, at[l], ValueRange(at).take_front(l));
      // Only the first level asked for may depend on its parent, and all above it have their sizes.
      if (l < asked.front())
        parent = format(l).insert(assembly, builds[l], parent, at[l]);
    }
  };
  Value longest =
      numbersIterations ? assembly.zeros(b.getI64Type(), chunks ? chunks : assembly.constant(1)) : Value();
  forChunks([&](const parallel::Chunk *chunk) {
    restart();
    Value zero = assembly.constant(0), most = numbersIterations ? assembly.cell(zero) : Value();
    cloneCounting(b, op, chunk, query);
    auto end = [&] {
      if (numbersIterations)
        assembly.write(
            most, zero,
            arith::MaxUIOp::create(b, op.getLoc(), assembly.read(most, zero), counters->iterationEntries()));
    };
    if (numbersIterations || needsNumbers)
      atIterations([&] { counters->startIteration(); }, end);
    if (numbersIterations)
      assembly.write(longest, chunk ? chunk->index : zero, assembly.read(most, zero));
  });
  for (unsigned l : asked)
    if (counts[l])
      assembly.write(builds[l].work, assembly.constant(0),
                     counters->longest(counts[l], order.levels[l]->dims[0]));
    else if (isCounted(l))
      assembly.write(
          builds[l].work, assembly.constant(0),
          largest(assembly, longest, assembly.constant(0), chunks ? chunks : assembly.constant(1)));
  if (std::optional<unsigned> l = numberedPadding(target, order); !tiledLevel && l && isCounted(*l)) {
    entryCounts = counts[*l];
    padsIterations = !entryCounts;
  }
  if (sortsRanks)
    ranks.sort();
  ranked = true;
}

/// Ranks count different coordinates: those of the ranked and the counted dimension become a matrix of their
/// own.
void Scatter::countPairs() {
  Location loc = target.loc;
  format::Encoding encoding = format::parseFormat("CSR", 2);
  encoding.posWidth = encoding.crdWidth = 64;
  auto dense = RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic}, b.getI1Type());
  auto of = [&](ValueRange dims) { return Values{dims[ranks.dimension()], dims[ranks.counted()]}; };
  Values sizes = of(target.storage.dims);
  auto made =
      AssembleOp::create(b, loc, withEncoding(dense, encoding), sizes, Value(), Value(), AffineMapAttr(),
                         /*unique=*/false, Combine::Or, AssemblyPlan::Auto, AssemblyStrategyAttr());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&made.getBody().emplaceBlock());
    Value present = assembly.constantInt(b.getI1Type(), 1);
    cloneCounting(b, op, nullptr, [&](OpBuilder &inner, ValueRange dims) {
      InsertOp::create(inner, loc, present, of(dims));
    });
  }
  // Every order fits a CSR matrix.
  [[maybe_unused]] LogicalResult chosen = chooseStrategy(made);
  assert(succeeded(chosen));
  traverseStored(b, loc, made.getResult(), sizes, *format::inverseMap(encoding), {},
                 [&](ValueRange pair, Value) { ranks.query(pair[0]); });
}

void Scatter::size(unsigned l) {
  Phase phase(b, "assembly: " + levelText(l));
  LevelBuild &build = builds[l];
  build.paddingIsCleared = entryCounts || padsIterations || tiledLevel;
  build.parents = parents;
  build.batches = batches;
  parents = format(l).size(assembly, build);
  if (format(l).separatesBatches())
    batches = parents;
}

/// Before a copy of the loops: no entry has been seen.
void Scatter::restart() {
  copiedInto = b.getInsertionBlock()->getParentOp();
  outerLoop = {};
  counters->reset();
  unsigned deepest = 0;
  for (unsigned l = 0; l < builds.size(); ++l)
    if (insertionOf(level(l)) != Insertion::Computed && !isLeaf(target.encoding(), l))
      deepest = l + 1;
  Value none = assembly.constant(std::numeric_limits<int64_t>::min());
  for (unsigned l = 0; l < deepest; ++l)
    if (l < last.size())
      assembly.write(last[l], assembly.constant(0), none);
    else
      last.push_back(assembly.cell(none));
}

/// The level coordinates of an entry (without `numbered`, 0 for counters), and which levels have their first
/// entry in it.
Values Scatter::coordinates(ValueRange dims, bool numbered) {
  Phase phase(b, "remapping: " + format::printRemapping(target.encoding()));
  counters->enter(dims);
  Values at = target.levelCoordinates(b, dims, [&](const format::ExprNode &e) {
    if (e.kind == ExprKind::Counter)
      return numbered ? counters->number(e) : assembly.constant(0);
    return ranked ? ranks.number(dims) : assembly.constant(0);
  });
  Value fresh;
  for (unsigned l = 0; l < last.size(); ++l) {
    Value zero = assembly.constant(0);
    Value other = assembly.compare(arith::CmpIPredicate::ne, assembly.read(last[l], zero), at[l]);
    assembly.write(last[l], zero, at[l]);
    fresh = fresh ? Value(arith::OrIOp::create(b, op.getLoc(), fresh, other)) : other;
    bool needed = insertionOf(level(l)) != Insertion::Computed && !isLeaf(target.encoding(), l);
    builds[l].firstOccurrence = needed ? fresh : Value();
  }
  return at;
}

/// Most rows have hardly such a slot, so that this is less work than to empty all.
void Scatter::fillRowPadding() {
  const unsigned numbered = *numberedPadding(target, order);
  Value rows = target.storage.dims[order.levels[numbered]->dims[0]];
  forParts(rows, [&](Value first, Value last) {
    levels::forLoop(b, target.loc, first, last, LoopKind::Parallel, {}, [&](Value row, levels::Values) {
      fillPadding(assembly, builds, numbered, row, assembly.read(entryCounts, row));
      return levels::Values{};
    });
  });
}

/// Whether every entry is stored at a position of its own.
bool Scatter::positionsAreEntries() const {
  std::optional<unsigned> bucket = bucketLevel(target.encoding());
  return order.unique || (bucket && sortsSegments(target.encoding(), *bucket));
}

/// The entry's position, and what it is stored in.
std::pair<Target *, Value> Scatter::placeEntry(ValueRange dims, ValueRange at) {
  Value position = assembly.constant(0);
  if (!tiles) {
    for (unsigned l = 0; l < builds.size(); ++l)
      position = format(l).insert(assembly, builds[l], position, at[l]);
    return {&target, position};
  }
  for (unsigned l = 0; l < tiledLevel->level; ++l)
    position = format(l).insert(assembly, builds[l], position, at[l]);
  Value coordinate = dims[tiledLevel->dim];
  if (!tileIterations())
    tiles->enter(coordinate);
  position = tiles->place(position, coordinate);
  TargetAssembly staging(b, tiles->staging());
  for (unsigned l = tiledLevel->level + 1; l < builds.size(); ++l)
    position = format(l).insert(staging, builds[l], position, at[l]);
  return {&tiles->staging(), position};
}

/// Each part of the stream stores the coordinates from its first one to its last one; those between parts are
/// emptied behind.
void Scatter::storeInTiles(OnInsert insert, Value firsts, Value ends) {
  Value parts = chunks ? chunks : assembly.constant(1), zero = assembly.constant(0);
  forChunks([&](const parallel::Chunk *chunk) {
    tiles.emplace(assembly, *tiledLevel, builds);
    restart();
    cloneLoops(b, op, chunk, insert);
    auto start = [&] {
      counters->startIteration();
      if (tileIterations())
        tiles->enter(outerLoop.getBody().getArgument(0));
    };
    atIterations(start, [] {});
    auto [first, end] = tiles->finish();
    assembly.write(firsts, chunk ? chunk->index : zero, first);
    assembly.write(ends, chunk ? chunk->index : zero, end);
    tiles.reset();
  });
  auto join = [&](Value part, levels::Values reached) {
    ColumnTiles::empty(assembly, *tiledLevel, builds, reached[0], assembly.read(firsts, part));
    Value end = assembly.read(ends, part);
    return levels::Values{arith::MaxUIOp::create(b, op.getLoc(), reached[0], end)};
  };
  Value reached = levels::forLoop(b, op.getLoc(), zero, parts, LoopKind::Reduction, zero, join)[0];
  ColumnTiles::empty(assembly, *tiledLevel, builds, reached, target.storage.dims[tiledLevel->dim]);
  ColumnTiles::emptyOutside(assembly, *tiledLevel, builds);
}

/// Each entry at its place, where the slots that no entry comes to are emptied first, or with their rows.
void Scatter::storeDirectly(OnInsert insert) {
  if (entryCounts)
    fillRowPadding();
  else if (leavesPadding(target) && !padsIterations)
    forParts(parents, [&](Value first, Value last) {
      fillElements(b, target, target.storage.fields.back(), first, last, target.fill(b));
      fence(b, target.loc);
    });
  forChunks([&](const parallel::Chunk *chunk) {
    restart();
    storeChunk(chunk, insert);
    auto end = [&] {
      if (padsIterations)
        fillPadding(assembly, builds, *numberedPadding(target, order), outerLoop.getBody().getArgument(0),
                    counters->iterationEntries());
    };
    atIterations([&] { counters->startIteration(); }, end);
  });
}

void Scatter::store() {
  target.allocate(b, target.storage.layout.valuesField(), parents);
  auto insert = [&](OpBuilder &, ValueRange dims, Value value) {
    noteIteration();
    Values at = coordinates(dims);
    auto [to, position] = placeEntry(dims, at);
    if (positionsAreEntries())
      to->storeValue(b, position, value);
    else
      to->combineValue(b, position, value);
  };
  if (!tiledLevel)
    return storeDirectly(insert);
  Value parts = chunks ? chunks : assembly.constant(1);
  Value firsts = assembly.scratch(b.getI64Type(), parts), ends = assembly.scratch(b.getI64Type(), parts);
  Value fits = ColumnTiles::fit(assembly, *tiledLevel, builds);
  if (!fits)
    return storeInTiles(insert, firsts, ends);
  auto inTiles = [&] {
    storeInTiles(insert, firsts, ends);
    return levels::Values{};
  };
  auto directly = [&] {
    storeDirectly(insert);
    return levels::Values{};
  };
  levels::ifElse(b, op.getLoc(), fits, TypeRange(), inTiles, directly);
}

/// Places in the cache are not fetched ahead: that would be work for nothing.
void Scatter::storeChunk(const parallel::Chunk *chunk, OnInsert insert) {
  auto all = [&] {
    cloneLoops(b, op, chunk, insert);
    return levels::Values{};
  };
  if (!near || iterations) {
    all();
    return;
  }
  auto fetchNothing = [&] {
    all();
    b.getBlock()->walk([&](IterateOp loop) { loop.setLoopAttr(loop.getLoop().withCacheResident()); });
    return levels::Values{};
  };
  levels::ifElse(b, op.getLoc(), near, TypeRange(), fetchNothing, all);
}

//===--- Iterations ---===//

/// In place of an insert: the outermost loop around it is the one that has the iterations.
void Scatter::noteIteration() {
  for (Operation *loop = b.getInsertionBlock()->getParentOp();
       iterations && !isa<func::FuncOp, ParallelOp>(loop); loop = loop->getParentOp())
    if (loop->getBlock()->getParentOp() == copiedInto)
      outerLoop = dyn_cast<IterateOp>(loop);
}

/// What is done where each iteration of the copied loop begins and ends.
void Scatter::atIterations(function_ref<void()> start, function_ref<void()> end) {
  if (!iterations || !outerLoop)
    return;
  OpBuilder::InsertionGuard guard(b);
  Block &iteration = outerLoop.getBody().front();
  b.setInsertionPointToStart(&iteration);
  start();
  b.setInsertionPoint(iteration.getTerminator());
  end();
}

//===--- Threads ---===//

/// Whether chunks of the stream may be asked about, and stored, at the same time: each entry has a position
/// of its own that its coordinates give, and what is counted together comes in one chunk.
bool Scatter::canRunInParallel() {
  if (!target.parallel || !op.getBound() || !order.unique || ranks.any() || !canPartition(op))
    return false;
  for (unsigned l = 0; l < target.levels(); ++l) {
    const Expr &e = order.levels[l];
    LevelKind kind = target.format(l).kind;
    const auto &coordinates = target.storage.layout.coordinates[l];
    if (kind != LevelKind::Dense && kind != LevelKind::Squeezed && kind != LevelKind::Singleton &&
        kind != LevelKind::Offset)
      return false;
    if (coordinates && target.storage.layout.fields[coordinates->field].width == 2)
      return false;
    bool ascends = !order.keys.empty() && order.keys[0]->kind == ExprKind::Dim;
    if (has(e, ExprKind::Counter) && !(ascends && countedDimension(e, format(l)) == order.keys[0]->value))
      return false;
  }
  return true;
}

/// Runs the body for each chunk of the stream; without threads, once for all of it.
void Scatter::forChunks(function_ref<void(const parallel::Chunk *)> body) {
  if (!chunks)
    return body(nullptr);
  levels::parallelTasks(b, op.getLoc(), chunks, [&](Value number) {
    const parallel::Chunk chunk{number, chunks};
    Counters own(assembly, order, iterations);
    counters = &own;
    body(&chunk);
    counters = &ownCounters;
  });
}

/// Runs the body for chunked of 0 … count-1.
void Scatter::forParts(Value count, function_ref<void(Value first, Value last)> body) const {
  if (!chunks)
    return body(assembly.constant(0), count);
  levels::parallelTasks(b, target.loc, chunks, [&](Value number) {
    auto [first, last] = parallel::chunkBounds(b, target.loc, count, {number, chunks});
    body(first, last);
  });
}

} // namespace

//===--- The strategy ---===//

/// Whether nothing but the parents decides where an entry goes, so that it may be brought near its place
/// first.
static bool canPartition(const Target &target, AssembleOp op, const Order &order) {
  const format::Encoding &encoding = target.encoding();
  std::optional<unsigned> bucket = bucketLevel(encoding);
  return bucket && sortsSegments(encoding, *bucket) && !has(order, ExprKind::Counter) &&
         !has(order, ExprKind::Rank) && RadixPartition::fits(target, op, order, *bucket);
}

FailureOr<Value> expandScatter(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  if (!isReady(target, order))
    return sortFirst(b, target, op);
  if (!canPartition(target, op, order)) {
    Scatter(b, target, op, order).run();
    return target.finish(b);
  }
  Target near = target;
  RadixPartition partition(b, near, op, order, *bucketLevel(target.encoding()));
  RadixPartition::Arrival arrival = partition.arrival(b);
  SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
  levels::Values buffers = levels::ifElse(
      b, target.loc, arrival.profitable, types,
      [&] {
        partition.assemble(b);
        return levels::Values(near.storage.fields);
      },
      [&] {
        auto directly = [&] {
          Scatter(b, target, op, order, arrival.near).run();
          return levels::Values(target.storage.fields);
        };
        Target own = target;
        RadixPartition parts(b, own, op, order, *bucketLevel(target.encoding()));
        Value shared = parts.isConcurrent(b);
        if (!shared)
          return directly();
        auto together = [&] {
          parts.assembleShared(b);
          return levels::Values(own.storage.fields);
        };
        return levels::ifElse(b, target.loc, shared, types, together, directly);
      });
  target.storage.fields.assign(buffers.begin(), buffers.end());
  return target.finish(b);
}

} // namespace tulle::assemble
