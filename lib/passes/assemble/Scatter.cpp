#include "passes/assemble/Scatter.h"
#include "dialect/Attributes.h"
#include "format/PrintEncoding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/ByPosition.h"
#include "passes/assemble/Chain.h"
#include "passes/assemble/Clone.h"
#include "passes/assemble/EmptySlots.h"
#include "passes/assemble/InOrder.h"
#include "passes/assemble/Partition.h"
#include "passes/assemble/Phase.h"
#include "passes/assemble/Queries.h"
#include "passes/assemble/Segments.h"
#include "passes/assemble/SourceTraversal.h"
#include "passes/assemble/Stream.h"
#include "passes/assemble/Strips.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::Insertion;
using levels::LevelBuild;

/// The entries once each, in order of the dimensions.
static Order inDimensionOrder(const Order &order, unsigned dims) {
  Order sorted = order;
  sorted.keys.clear();
  for (unsigned d = 0; d < dims; ++d)
    sorted.keys.push_back(format::dim(d));
  sorted.unique = true;
  return sorted;
}

bool fitsScatter(const Target &target, AssembleOp op, const Order &order) {
  if (!isBuildable(target.encoding(), order))
    return false;
  // What can be appended in order is put in the target's own order, not in that of the dimensions first.
  return isReady(target, order) || (!fitsChain(target, op, order) &&
                                    isReady(target, inDimensionOrder(order, target.encoding().order())));
}

//===--- The phases ---===//

namespace {

class Scatter {
public:
  /// `near` (i1), if any: places that are stored to after each other are in the cache.
  Scatter(OpBuilder &b, Target &target, AssembleOp op, const Order &order, Value near = {})
      : b(b), target(target), op(op), order(order), near(near), assembly(b, target), ranks(assembly, order),
        rounds(ranks.any() ? std::nullopt : roundDimension(op)), ownCounters(assembly, order, rounds),
        stripLevel(ranks.any() ? std::nullopt : StripLevel::find(target, order)) {
    for (unsigned l = 0; l < target.levels(); ++l) {
      builds.emplace_back();
      builds.back().level = l;
    }
  }

  /// Makes the target's buffers.
  void run() {
    parents = assembly.constant(1);
    if (canShare())
      pieces = ThreadsOp::create(b, op.getLoc(), op.getBound(), /*fixed=*/false);
    analyse();
    Phase phase(b, "assembly: coordinates and values");
    store();
    for (LevelBuild &build : builds)
      format(build.level).finish(assembly, build);
    std::optional<unsigned> bucket = bucketLevel(target.encoding());
    if (bucket && sortsSegments(target.encoding(), *bucket)) {
      if (!arrivesInOrder(order, *bucket))
        sortSegments(assembly, builds[*bucket]);
      if (!order.unique)
        combineRepeats(assembly, builds[*bucket]);
    }
    assembly.freeScratch();
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l).kind); }
  const format::Level &level(unsigned l) const { return target.encoding().levels[l]; }
  std::string levelText(unsigned l) const {
    return "level " + std::to_string(l) + " (" + format::printLevel(target.encoding(), l) + ")";
  }

  void analyse();
  void ask(ArrayRef<unsigned> asked);
  void countPairs();
  void size(unsigned l);
  void store();
  void restart();
  Values coordinates(ValueRange dims, bool numbered = true);
  bool positionsAreEntries() const;
  std::pair<Target *, Value> placeEntry(ValueRange dims, ValueRange at);
  void storeInStrips(OnInsert insert, Value firsts, Value ends);
  void storeDirectly(OnInsert insert);
  void storePiece(const parallel::Chunk *piece, OnInsert insert);
  /// Whether the rounds of the outermost loop are the coordinates that strips are made of.
  bool stripRounds() const { return rounds == stripLevel->dim; }
  void emptyRest();
  void noteRound();
  void atRounds(function_ref<void()> start, function_ref<void()> end);
  bool canShare();
  void forPieces(function_ref<void(const parallel::Chunk *)> body);
  void forShares(Value count, function_ref<void(Value first, Value last)> body) const;

  OpBuilder &b;
  Target &target;
  AssembleOp op;
  const Order &order;
  Value near;
  TargetAssembly assembly;
  Ranks ranks;
  std::optional<unsigned> rounds;  ///< the dimension the outermost loop goes through, if it does
  Operation *copiedInto = nullptr; ///< what is around the copy in the making
  IterateOp roundLoop;             ///< and its outermost loop, once there is an insert
  Counters ownCounters;
  Counters *counters = &ownCounters; ///< in a parallel region, those of the part
  bool ranked = false;               ///< the ranks are known
  Value entryCounts; ///< of the rows whose entries a level numbers, where the rest of its slots is emptied
  bool emptiesRounds = false;           ///< it is emptied when a round, which is a row, ends
  std::optional<StripLevel> stripLevel; ///< whose coordinates are assembled a strip at a time
  std::optional<Strips> strips;         ///< of the part in the making
  SmallVector<LevelBuild> builds;
  Values last; ///< coordinates of the entry before, as far down as levels must tell their first ones
  Value parents, batches; ///< positions of the levels that have their size
  Value pieces;           ///< of the stream, which threads share; null without threads
};

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

/// The dimension whose entries the rounds of a dense level count; null where that is not all it does.
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
  std::optional<unsigned> numbersRounds; // a level that asks how many entries the longest round has
  for (unsigned l : asked) {
    builds[l].isConcurrent = bool(pieces);
    format(l).startQuery(assembly, builds[l]);
    std::optional<unsigned> dim = countedDimension(order.levels[l], format(l));
    if (dim && dim == rounds)
      numbersRounds = l;
    else if (dim)
      counts[l] = sortsRanks && ranks.dimension() == *dim ? rankCounts : counters->startCounts(*dim);
  }
  auto isCounted = [&](unsigned l) {
    return counts[l] || (numbersRounds && countedDimension(order.levels[l], format(l)) == rounds);
  };
  bool needsNumbers = false;
  for (unsigned l = 0; !asked.empty() && l <= asked.back(); ++l)
    needsNumbers |= !isCounted(l) && has(order.levels[l], ExprKind::Counter);
  auto query = [&](OpBuilder &, ValueRange dims) {
    if (sortsRanks && !pairs)
      ranks.query(dims[ranks.dimension()]);
    if (asked.empty())
      return;
    noteRound();
    Values at = coordinates(dims, needsNumbers);
    if (numbersRounds)
      counters->number(*order.levels[*numbersRounds]);
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
      numbersRounds ? assembly.zeros(b.getI64Type(), pieces ? pieces : assembly.constant(1)) : Value();
  forPieces([&](const parallel::Chunk *piece) {
    restart();
    Value zero = assembly.constant(0), most = numbersRounds ? assembly.cell(zero) : Value();
    cloneCounting(b, op, piece, query);
    auto end = [&] {
      if (numbersRounds)
        assembly.write(
            most, zero,
            arith::MaxUIOp::create(b, op.getLoc(), assembly.read(most, zero), counters->roundEntries()));
    };
    if (numbersRounds || needsNumbers)
      atRounds([&] { counters->startRound(); }, end);
    if (numbersRounds)
      assembly.write(longest, piece ? piece->index : zero, assembly.read(most, zero));
  });
  for (unsigned l : asked)
    if (counts[l])
      assembly.write(builds[l].work, assembly.constant(0),
                     counters->longest(counts[l], order.levels[l]->dims[0]));
    else if (isCounted(l))
      assembly.write(
          builds[l].work, assembly.constant(0),
          largest(assembly, longest, assembly.constant(0), pieces ? pieces : assembly.constant(1)));
  if (std::optional<unsigned> l = numberedSlots(target, order); !stripLevel && l && isCounted(*l)) {
    entryCounts = counts[*l];
    emptiesRounds = !entryCounts;
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
                         /*unique=*/false, Combine::Or, AssemblyPlan::Auto);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&made.getBody().emplaceBlock());
    Value present = assembly.constantInt(b.getI1Type(), 1);
    cloneCounting(b, op, nullptr, [&](OpBuilder &inner, ValueRange dims) {
      InsertOp::create(inner, loc, present, of(dims));
    });
  }
  walkStored(b, loc, made.getResult(), sizes, *format::inverseMap(encoding), {},
             [&](ValueRange pair, Value) { ranks.query(pair[0]); });
}

void Scatter::size(unsigned l) {
  Phase phase(b, "assembly: " + levelText(l));
  LevelBuild &build = builds[l];
  build.paddingIsCleared = entryCounts || emptiesRounds || stripLevel;
  build.parents = parents;
  build.batches = batches;
  parents = format(l).size(assembly, build);
  if (format(l).separatesBatches())
    batches = parents;
}

/// Before a copy of the loops: no entry has been seen.
void Scatter::restart() {
  copiedInto = b.getInsertionBlock()->getParentOp();
  roundLoop = {};
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
void Scatter::emptyRest() {
  const unsigned numbered = *numberedSlots(target, order);
  Value rows = target.storage.dims[order.levels[numbered]->dims[0]];
  forShares(rows, [&](Value first, Value last) {
    levels::forLoop(b, target.loc, first, last, LoopKind::Parallel, {}, [&](Value row, levels::Values) {
      emptySlots(assembly, builds, numbered, row, assembly.read(entryCounts, row));
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
  if (!strips) {
    for (unsigned l = 0; l < builds.size(); ++l)
      position = format(l).insert(assembly, builds[l], position, at[l]);
    return {&target, position};
  }
  for (unsigned l = 0; l < stripLevel->level; ++l)
    position = format(l).insert(assembly, builds[l], position, at[l]);
  Value coordinate = dims[stripLevel->dim];
  if (!stripRounds())
    strips->enter(coordinate);
  position = strips->place(position, coordinate);
  TargetAssembly room(b, strips->room());
  for (unsigned l = stripLevel->level + 1; l < builds.size(); ++l)
    position = format(l).insert(room, builds[l], position, at[l]);
  return {&strips->room(), position};
}

/// Each part of the stream stores the coordinates from its first one to its last one; those between parts are
/// emptied behind.
void Scatter::storeInStrips(OnInsert insert, Value firsts, Value ends) {
  Value parts = pieces ? pieces : assembly.constant(1), zero = assembly.constant(0);
  forPieces([&](const parallel::Chunk *piece) {
    strips.emplace(assembly, *stripLevel, builds);
    restart();
    cloneLoops(b, op, piece, insert);
    auto start = [&] {
      counters->startRound();
      if (stripRounds())
        strips->enter(roundLoop.getBody().getArgument(0));
    };
    atRounds(start, [] {});
    auto [first, end] = strips->finish();
    assembly.write(firsts, piece ? piece->index : zero, first);
    assembly.write(ends, piece ? piece->index : zero, end);
    strips.reset();
  });
  auto join = [&](Value part, levels::Values reached) {
    Strips::empty(assembly, *stripLevel, builds, reached[0], assembly.read(firsts, part));
    Value end = assembly.read(ends, part);
    return levels::Values{arith::MaxUIOp::create(b, op.getLoc(), reached[0], end)};
  };
  Value reached = levels::forLoop(b, op.getLoc(), zero, parts, LoopKind::Reduction, zero, join)[0];
  Strips::empty(assembly, *stripLevel, builds, reached, target.storage.dims[stripLevel->dim]);
  Strips::emptyOutside(assembly, *stripLevel, builds);
}

/// Each entry at its place, where the slots that no entry comes to are emptied first, or with their rows.
void Scatter::storeDirectly(OnInsert insert) {
  if (entryCounts)
    emptyRest();
  else if (leavesEmptySlots(target) && !emptiesRounds)
    forShares(parents, [&](Value first, Value last) {
      fillElements(b, target, target.storage.fields.back(), first, last, target.fill(b));
      fence(b, target.loc);
    });
  forPieces([&](const parallel::Chunk *piece) {
    restart();
    storePiece(piece, insert);
    auto end = [&] {
      if (emptiesRounds)
        emptySlots(assembly, builds, *numberedSlots(target, order), roundLoop.getBody().getArgument(0),
                   counters->roundEntries());
    };
    atRounds([&] { counters->startRound(); }, end);
  });
}

void Scatter::store() {
  target.allocate(b, target.storage.layout.valuesField(), parents);
  auto insert = [&](OpBuilder &, ValueRange dims, Value value) {
    noteRound();
    Values at = coordinates(dims);
    auto [to, position] = placeEntry(dims, at);
    if (positionsAreEntries())
      to->storeValue(b, position, value);
    else
      to->combineValue(b, position, value);
  };
  if (!stripLevel)
    return storeDirectly(insert);
  Value parts = pieces ? pieces : assembly.constant(1);
  Value firsts = assembly.scratch(b.getI64Type(), parts), ends = assembly.scratch(b.getI64Type(), parts);
  Value fits = Strips::fit(assembly, *stripLevel, builds);
  if (!fits)
    return storeInStrips(insert, firsts, ends);
  auto inStrips = [&] {
    storeInStrips(insert, firsts, ends);
    return levels::Values{};
  };
  auto directly = [&] {
    storeDirectly(insert);
    return levels::Values{};
  };
  levels::ifElse(b, op.getLoc(), fits, TypeRange(), inStrips, directly);
}

/// Places in the cache are not fetched ahead: that would be work for nothing.
void Scatter::storePiece(const parallel::Chunk *piece, OnInsert insert) {
  auto all = [&] {
    cloneLoops(b, op, piece, insert);
    return levels::Values{};
  };
  if (!near || rounds) {
    all();
    return;
  }
  auto fetchNothing = [&] {
    all();
    b.getBlock()->walk([&](IterateOp loop) { loop->setAttr(dialect::kStoresNearAttr, b.getUnitAttr()); });
    return levels::Values{};
  };
  levels::ifElse(b, op.getLoc(), near, TypeRange(), fetchNothing, all);
}

//===--- Rounds ---===//

/// In place of an insert: the outermost loop around it is the one that has the rounds.
void Scatter::noteRound() {
  for (Operation *loop = b.getInsertionBlock()->getParentOp(); rounds && !isa<func::FuncOp, ParallelOp>(loop);
       loop = loop->getParentOp())
    if (loop->getBlock()->getParentOp() == copiedInto)
      roundLoop = dyn_cast<IterateOp>(loop);
}

/// What is done where each round of the copied loop begins and ends.
void Scatter::atRounds(function_ref<void()> start, function_ref<void()> end) {
  if (!rounds || !roundLoop)
    return;
  OpBuilder::InsertionGuard guard(b);
  Block &round = roundLoop.getBody().front();
  b.setInsertionPointToStart(&round);
  start();
  b.setInsertionPoint(round.getTerminator());
  end();
}

//===--- Threads ---===//

/// Whether pieces of the stream may be asked about, and stored, at the same time: each entry has a position
/// of its own that its coordinates give, and what is counted together comes in one piece.
bool Scatter::canShare() {
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

/// Runs the body for each piece of the stream; without threads, once for all of it.
void Scatter::forPieces(function_ref<void(const parallel::Chunk *)> body) {
  if (!pieces)
    return body(nullptr);
  levels::parallelTasks(b, op.getLoc(), pieces, [&](Value number) {
    const parallel::Chunk piece{number, pieces};
    Counters own(assembly, order, rounds);
    counters = &own;
    body(&piece);
    counters = &ownCounters;
  });
}

/// Runs the body for shares of 0 … count-1.
void Scatter::forShares(Value count, function_ref<void(Value first, Value last)> body) const {
  if (!pieces)
    return body(assembly.constant(0), count);
  levels::parallelTasks(b, target.loc, pieces, [&](Value number) {
    auto [first, last] = parallel::chunkBounds(b, target.loc, count, {number, pieces});
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
         !has(order, ExprKind::Rank) && Partition::fits(target, op, order, *bucket);
}

FailureOr<Value> lowerByScatter(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  if (!isReady(target, order))
    return bringInOrder(b, target, op);
  if (!canPartition(target, op, order)) {
    Scatter(b, target, op, order).run();
    return target.finish(b);
  }
  Target near = target;
  Partition partition(b, near, op, order, *bucketLevel(target.encoding()));
  Partition::Arrival arrival = partition.arrival(b);
  SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
  levels::Values buffers = levels::ifElse(
      b, target.loc, arrival.pays, types,
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
        Partition parts(b, own, op, order, *bucketLevel(target.encoding()));
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
