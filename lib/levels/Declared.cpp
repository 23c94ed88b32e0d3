// Declared levels: the expressions of a declaration, emitted, and the checks that what is stored is what is
// read.
#include "format/LevelDeclaration.h"
#include "levels/Expression.h"
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {
namespace {

using format::DeclaredFault;
using format::Expr;
using format::ExprKind;
using format::LevelDeclaration;
using format::LevelQuery;

/// What the variables of a declaration are where its expressions are emitted.
struct Scope {
  Value parent, position, coordinate;
  llvm::function_ref<Value(unsigned variable)> queried = nullptr;
};

/// Emits expressions of a declaration. A wrong one may compute anything, so that nothing is known not to
/// wrap.
class DeclaredEmitter {
public:
  DeclaredEmitter(LevelEmitter emit, Scope scope)
      : emit(emit), b(emit.builder), loc(emit.loc), scope(scope) {}

  Value operator()(const Expr &e) const {
    if (e->kind == ExprKind::Constant)
      return emit.constant(e->value);
    if (e->kind == ExprKind::Level)
      return variable(unsigned(e->value));
    Value x = (*this)(e->lhs), y = (*this)(e->rhs);
    switch (e->kind) {
    case ExprKind::Add:
      return b.createOrFold<arith::AddIOp>(loc, x, y);
    case ExprKind::Sub:
      return b.createOrFold<arith::SubIOp>(loc, x, y);
    case ExprKind::Mul:
      return b.createOrFold<arith::MulIOp>(loc, x, y);
    case ExprKind::Min:
      return b.createOrFold<arith::MinSIOp>(loc, x, y);
    case ExprKind::Max:
      return b.createOrFold<arith::MaxSIOp>(loc, x, y);
    default:
      return floorDivision(emit, e->kind, x, y);
    }
  }

private:
  Value variable(unsigned which) const {
    switch (which) {
    case format::kParent:
      return scope.parent;
    case format::kPosition:
      return scope.position;
    case format::kCoordinate:
      return scope.coordinate;
    case format::kLevelSize:
      return emit.size();
    case format::kStoredSize:
      return emit.storage.sizes[emit.level];
    case format::kBegin:
      return emit.storedRange(scope.parent).begin;
    case format::kEnd:
      return emit.storedRange(scope.parent).end;
    case format::kParentCoordinate:
      return emit.storedCoordinate(scope.parent);
    case format::kStoredCoordinate:
      return emit.storedCoordinate(scope.position);
    default:
      return scope.queried(which);
    }
  }

  LevelEmitter emit;
  OpBuilder &b;
  Location loc;
  Scope scope;
};

const LevelDeclaration &declarationOf(const format::LevelFormat &format) { return *format.declaration; }

class Declared : public LevelFormat {
public:
  explicit Declared(Insertion insertion) : inserts(insertion) {}

  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    const LevelDeclaration &declaration = declarationOf(emit.format());
    if (declaration.length)
      return emit.storedRange(parent.position);
    Value slots = DeclaredEmitter(emit, {})(declaration.slots), begin = emit.mul(parent.position, slots);
    return {begin, emit.add(begin, slots)};
  }
  Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value position) const override {
    return DeclaredEmitter(emit, {parent.position, position, {}})(declarationOf(emit.format()).coordinate);
  }
  bool hasPadding(const format::LevelFormat &format) const override { return format.padded; }

  Insertion insertion() const override { return inserts; }
  bool needsQuery(const format::Level &level) const override {
    return !declarationOf(level.format).queries.empty();
  }

  void startQuery(const Assembly &a, LevelBuild &build) const override {
    const auto &queries = of(a, build).queries;
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
    if (queries.size() > 1)
      build.extra = a.zeros(a.builder.getI64Type(), build.parents);
  }
  Answering answering(const format::Level &level) const override {
    const auto &queries = declarationOf(level.format).queries;
    return llvm::any_of(queries, [](const LevelQuery &q) { return q.kind == LevelQuery::Count; })
               ? Answering::All
               : Answering::LeastAndLargest;
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange) const override {
    for (auto [number, query] : llvm::enumerate(of(a, build).queries)) {
      if (query.kind == LevelQuery::Count) {
        a.fetchAdd(build, parent);
        continue;
      }
      // One more than the coordinate: 0 where there is none.
      Value buffer = answers(a, build, unsigned(number)), old = a.read(buffer, parent);
      Value next = a.sum(coordinate, a.constant(1));
      Value least = a.select(a.isEqual(old, 0), next, a.umin(old, next));
      a.write(buffer, parent, query.kind == LevelQuery::Max ? a.umax(old, next) : least);
    }
  }

  Value size(const Assembly &a, LevelBuild &build) const override {
    const LevelDeclaration &declaration = of(a, build);
    LevelEmitter emit(a, build.level);
    auto largest = [&](unsigned variable) { return largestAnswer(a, build, variable - format::kLargest); };
    if (declaration.size) {
      Value size = DeclaredEmitter(emit, {{}, {}, {}, largest})(declaration.size);
      refuseSize(a, build, DeclaredFault::Size, a.constant(0), size);
      a.makeSize(build.level, size);
    }
    Value count = makeEdges(a, build);
    if (declaration.firstCoordinate) {
      a.allocateCoordinates(build.level, build.parents);
      forEachParent(a, build, [&](Value parent) {
        a.storeCoordinate(build.level, parent, ofParent(a, build, parent, declaration.firstCoordinate));
      });
    }
    if (declaration.storesCoordinates) {
      a.allocateCoordinates(build.level, count);
      if (declaration.padded)
        a.clearCoordinates(build.level, count);
      startCursors(a, build);
    }
    return count;
  }

  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    const LevelDeclaration &declaration = of(a, build);
    LevelEmitter emit(a, build.level);
    PositionRange range = positions(emit, Iterator{parent, {}, {}, {}});
    Value position = declaration.position
                         ? DeclaredEmitter(emit, {parent, {}, coordinate})(declaration.position)
                         : a.sum(range.begin, a.fetchAdd(build, parent));
    Value within = a.isBelow(a.difference(position, range.begin), a.difference(range.end, range.begin));
    refuseUnless(a, build, within, DeclaredFault::Outside, parent, coordinate);
    if (declaration.storesCoordinates) {
      a.storeCoordinate(build.level, position, coordinate);
      return position;
    }
    Value found = DeclaredEmitter(emit, {parent, position, {}})(declaration.coordinate);
    refuseUnless(a, build, a.isEqual(found, coordinate), DeclaredFault::Differs, parent, coordinate);
    return position;
  }

  /// What no entry was stored for must not be read as one.
  void finish(const Assembly &a, LevelBuild &build) const override {
    const LevelDeclaration &declaration = of(a, build);
    if (declaration.padded)
      return;
    LevelEmitter emit(a, build.level);
    forEachParent(a, build, [&](Value parent) {
      PositionRange range = positions(emit, Iterator{parent, {}, {}, {}});
      if (declaration.storesCoordinates) {
        Value count = a.read(build.work, parent);
        Value isFull = a.isEqual(count, a.difference(range.end, range.begin));
        return refuseUnless(a, build, isFull, DeclaredFault::Unfilled, parent, count);
      }
      Value size = emit.size();
      reduce(a, range.begin, range.end, a.constant(-1), [&](Value position, Values before) {
        Value c = DeclaredEmitter(emit, {parent, position, {}})(declaration.coordinate);
        Value ascends = a.compare(arith::CmpIPredicate::sgt, c, before[0]);
        refuseUnless(a, build, a.both(ascends, a.isBelow(c, size)), DeclaredFault::Unordered, parent, c);
        return Values{c};
      });
    });
  }

private:
  static const LevelDeclaration &of(const Assembly &a, const LevelBuild &build) {
    return declarationOf(a.made.encoding.levels[build.level].format);
  }

  static void forEachParent(const Assembly &a, const LevelBuild &build,
                            llvm::function_ref<void(Value)> body) {
    forEach(a, build.parents, dialect::LoopKind::Reduction, body);
  }

  static void refuseUnless(const Assembly &a, const LevelBuild &build, Value holds, DeclaredFault fault,
                           Value parent, Value value) {
    when(a, a.isEqual(holds, 0), [&] { a.refuseDeclared(build.level, fault, parent, value); });
  }
  /// What is negative, or more than any memory holds.
  static void refuseSize(const Assembly &a, const LevelBuild &build, DeclaredFault fault, Value parent,
                         Value size) {
    Value fits = a.compare(arith::CmpIPredicate::ule, size, int64_t(1) << 58);
    refuseUnless(a, build, fits, fault, parent, size);
  }

  /// The buffer of a query: the count, which `fetchAdd` finds there, is the work of the level.
  static Value answers(const Assembly &a, const LevelBuild &build, unsigned number) {
    const auto &queries = of(a, build).queries;
    const unsigned first = queries.size() > 1 && queries[1].kind == LevelQuery::Count ? 1 : 0;
    return number == first ? build.work : build.extra;
  }

  static Value decoded(const Assembly &a, LevelQuery::Kind kind, Value stored) {
    if (kind == LevelQuery::Count)
      return stored;
    Value one = a.constant(1);
    return a.difference(kind == LevelQuery::Min ? a.umax(stored, one) : stored, one);
  }

  static Value largestAnswer(const Assembly &a, const LevelBuild &build, unsigned number) {
    Value largest = reduce(a, build.parents, a.constant(0), [&](Value parent, Values most) {
      return Values{a.umax(most[0], a.read(answers(a, build, number), parent))};
    })[0];
    return decoded(a, of(a, build).queries[number].kind, largest);
  }

  static Value ofParent(const Assembly &a, const LevelBuild &build, Value parent, const Expr &e) {
    auto queried = [&](unsigned variable) {
      const unsigned number = variable - format::kQuery;
      return decoded(a, of(a, build).queries[number].kind, a.read(answers(a, build, number), parent));
    };
    return DeclaredEmitter({a, build.level}, {parent, {}, {}, queried})(e);
  }

  /// Positions of all parents; returns their number.
  static Value makeEdges(const Assembly &a, const LevelBuild &build) {
    const LevelDeclaration &declaration = of(a, build);
    if (declaration.length)
      return a.storePositions(build, [&](Value parent) {
        Value length = ofParent(a, build, parent, declaration.length);
        refuseSize(a, build, DeclaredFault::Length, parent, length);
        return length;
      });
    Value slots = DeclaredEmitter({a, build.level}, {})(declaration.slots);
    refuseSize(a, build, DeclaredFault::Slots, a.constant(0), slots);
    return a.positions(build.level, build.parents, slots);
  }

  /// The counts become the number of entries that each parent has so far.
  static void startCursors(const Assembly &a, LevelBuild &build) {
    if (build.work)
      a.fill(build.work, a.constant(0), build.parents, a.constant(0));
    else
      build.work = a.zeros(a.builder.getI64Type(), build.parents);
  }

  Insertion inserts;
};

} // namespace

const LevelFormat &formatOfDeclared(const LevelDeclaration &declaration) {
  static const Declared appended(Insertion::Append), computed(Insertion::Computed);
  return declaration.position ? computed : appended;
}

} // namespace tulle::levels
