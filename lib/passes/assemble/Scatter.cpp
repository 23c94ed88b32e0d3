#include "passes/assemble/Scatter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/Clone.h"
#include "passes/assemble/Queries.h"
#include <algorithm>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::LevelBuild;
using levels::Placement;

//===--- What scatter can do ---===//

static Placement placementOf(const format::Level &level) {
  const levels::LevelFormat *format = levels::find(level.format.kind);
  return format ? format->placement() : Placement::None;
}

/// The level whose positions are handed out one by one; only singletons stand below it. Null without one.
static std::optional<unsigned> bucketLevel(const format::Encoding &encoding) {
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (placementOf(encoding.levels[l]) == Placement::Bucket)
      return l;
  return std::nullopt;
}

static bool isBuildable(const format::Encoding &encoding) {
  std::optional<unsigned> bucket = bucketLevel(encoding);
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    LevelKind kind = encoding.levels[l].format.kind;
    if (placementOf(encoding.levels[l]) == Placement::None)
      return false;
    if (bucket && l > *bucket && kind != LevelKind::Singleton)
      return false;
  }
  return true;
}

static bool has(const Expr &e, ExprKind kind) {
  return e && (e->kind == kind || has(e->lhs, kind) || has(e->rhs, kind));
}

static bool has(const Order &order, ExprKind kind) {
  return std::any_of(order.levels.begin(), order.levels.end(), [&](const Expr &e) { return has(e, kind); });
}

/// Whether entries that arrive like this can be stored where they belong at once.
static bool isReady(const Target &target, const Order &order) {
  const format::Encoding &encoding = target.encoding();
  bool numbered = has(order, ExprKind::Counter) || has(order, ExprKind::Rank);
  if (numbered && (!order.unique || !Counters::ascend(order, encoding.order())))
    return false;
  std::optional<unsigned> bucket = bucketLevel(encoding);
  if (!bucket)
    return order.unique || target.fillIsIdentity();
  return order.unique && order.sortedLevels(*bucket) == order.levels.size() - *bucket;
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

bool fitsScatter(const Target &target, AssembleOp, const Order &order) {
  return isBuildable(target.encoding()) &&
         (isReady(target, order) || isReady(target, inDimensionOrder(order, target.encoding().order())));
}

//===--- The phases ---===//

namespace {

class Scatter {
public:
  Scatter(OpBuilder &b, Target &target, AssembleOp op, const Order &order)
      : b(b), target(target), op(op), order(order), assembly(b, target), counters(assembly, order) {
    for (unsigned l = 0; l < target.levels(); ++l) {
      builds.emplace_back();
      builds.back().level = l;
    }
  }

  Value run() {
    parents = assembly.constant(1);
    analyse();
    store();
    for (LevelBuild &build : builds)
      format(build.level).finish(assembly, build);
    assembly.freeScratch();
    return target.finish(b);
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l).kind); }
  const format::Level &level(unsigned l) const { return target.encoding().levels[l]; }

  void analyse();
  void ask(ArrayRef<unsigned> asked);
  void start(unsigned l);
  void size(unsigned l);
  void store();
  Values coordinates(ValueRange dims);
  bool leavesEmptySlots() const;

  OpBuilder &b;
  Target &target;
  AssembleOp op;
  const Order &order;
  TargetAssembly assembly;
  Counters counters;
  SmallVector<LevelBuild> builds;
  Value parents, batches; ///< positions of the levels that have their size
};

/// Sizes all levels from the top. Levels whose sizes depend on the entries are asked for together, in one
/// copy of the loops, as far as they do not depend on each other.
void Scatter::analyse() {
  SmallVector<unsigned> asked;
  auto settle = [&](unsigned end) {
    if (asked.empty())
      return;
    ask(asked);
    for (unsigned l = asked.front(); l < end; ++l)
      size(l);
    asked.clear();
  };
  for (unsigned l = 0; l < builds.size(); ++l) {
    if (format(l).asksParents(level(l)))
      settle(l);
    if (format(l).asksEntries(level(l))) {
      if (format(l).asksParents(level(l)))
        builds[l].parents = parents;
      asked.push_back(l);
      continue;
    }
    if (asked.empty())
      size(l);
  }
  settle(unsigned(builds.size()));
}

void Scatter::start(unsigned l) {
  LevelBuild &build = builds[l];
  build.bounds = boundsOf(assembly, order.levels[l]);
  build.batches = batches;
}

void Scatter::ask(ArrayRef<unsigned> asked) {
  for (unsigned l : asked) {
    start(l);
    format(l).startQuery(assembly, builds[l]);
  }
  counters.reset();
  unsigned last = asked.back();
  cloneCounting(b, op, [&](OpBuilder &, ValueRange dims) {
    Values at = coordinates(dims);
    Value parent = assembly.constant(0);
    for (unsigned l = 0; l <= last; ++l) {
      if (llvm::is_contained(asked, l))
        format(l).query(assembly, builds[l], parent, at[l], ValueRange(at).take_front(l));
      // Only the first level asked for may depend on its parent, and all above it have their sizes.
      if (l < asked.front())
        parent = format(l).place(assembly, builds[l], parent, at[l]);
    }
  });
}

void Scatter::size(unsigned l) {
  LevelBuild &build = builds[l];
  if (!build.bounds.end)
    start(l);
  build.parents = parents;
  parents = format(l).size(assembly, build);
  if (format(l).separatesBatches())
    batches = parents;
}

Values Scatter::coordinates(ValueRange dims) {
  counters.enter(dims);
  return target.levelCoordinates(b, dims, [&](const format::ExprNode &e) {
    return e.kind == ExprKind::Counter ? counters.number(e) : assembly.constant(0);
  });
}

/// Whether there can be positions that no entry comes to.
bool Scatter::leavesEmptySlots() const {
  for (unsigned l = target.levels(); l-- > 0;) {
    LevelKind kind = target.format(l).kind;
    if (kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed)
      return false;
    bool onePerParent = (kind == LevelKind::Singleton && !target.format(l).padded);
    if (!onePerParent)
      return true;
  }
  return true;
}

void Scatter::store() {
  unsigned values = target.storage.layout.valuesField();
  target.allocate(b, values, parents);
  if (leavesEmptySlots())
    target.fillValues(b, assembly.constant(0), parents);
  counters.reset();
  cloneLoops(b, op, [&](OpBuilder &, ValueRange dims, Value value) {
    Values at = coordinates(dims);
    Value position = assembly.constant(0);
    for (unsigned l = 0; l < builds.size(); ++l)
      position = format(l).place(assembly, builds[l], position, at[l]);
    if (order.unique)
      target.storeValue(b, position, value);
    else
      target.combineValue(b, position, value);
  });
}

} // namespace

//===--- Entries that have to be put in order first ---===//

/// A walk over a COO tensor with one array per dimension, in storage order.
static void walk(OpBuilder &b, Location loc, Value tensor, function_ref<void(ValueRange, Value)> body) {
  auto type = cast<RankedTensorType>(tensor.getType());
  EncodingAttr encoding = getEncoding(type);
  SmallVector<Value> coordinates;
  Value parent;
  OpBuilder::InsertionGuard guard(b);
  for (unsigned l = 0; l < type.getRank(); ++l) {
    auto spaceType = SpaceType::get(b.getContext(), encoding, l);
    auto iteratorType = IteratorType::get(b.getContext(), encoding, l);
    Value space = SpaceOp::create(b, loc, spaceType, tensor, l, parent);
    auto loop = IterateOp::create(b, loc, TypeRange(), space, ValueRange(), LoopKind::Reduction, true);
    Block *block = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), iteratorType}, {loc, loc});
    YieldOp::create(b, loc);
    b.setInsertionPointToStart(block);
    coordinates.push_back(block->getArgument(0));
    parent = block->getArgument(1);
  }
  Value value = LoadOp::create(b, loc, type.getElementType(), tensor, parent);
  body(coordinates, value);
}

/// The entries become a COO tensor, in order of the dimensions and once each, and the target takes them from
/// there.
static Value bringInOrder(OpBuilder &b, Target &target, AssembleOp op) {
  Location loc = op.getLoc();
  unsigned rank = unsigned(target.type().getRank());
  format::Encoding encoding = format::parseFormat("COO-soa", rank);
  encoding.posWidth = 64;
  encoding.crdWidth = target.encoding().crdWidth == 32 ? 32 : 64;
  encoding.fill = target.encoding().fill;
  auto sorted =
      AssembleOp::create(b, loc, withEncoding(target.type(), encoding), op.getSizes(), op.getBound(),
                         op.getOrderAttr(), op.getUniqueAttr(), op.getCombineAttr(), op.getPlanAttr());
  sorted.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, b.getContext());
  auto made = AssembleOp::create(b, loc, target.type(), op.getSizes(), Value(), AffineMapAttr::get(identity),
                                 b.getUnitAttr(), op.getCombineAttr(), op.getPlanAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&made.getBody().emplaceBlock());
  walk(b, loc, sorted.getResult(),
       [&](ValueRange dims, Value value) { InsertOp::create(b, loc, value, dims); });
  return made.getResult();
}

FailureOr<Value> lowerByScatter(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  if (!isReady(target, order))
    return bringInOrder(b, target, op);
  return Scatter(b, target, op, order).run();
}

} // namespace tulle::assemble
