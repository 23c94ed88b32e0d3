#include "passes/assemble/Layers.h"
#include "format/PrintEncoding.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/assemble/Appender.h"
#include "passes/assemble/Phase.h"
#include "passes/assemble/Queries.h"
#include "passes/assemble/SourceTraversal.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;
using format::LevelKind;
using levels::Insertion;
using levels::LevelBuild;

static bool dependsOnOthers(const format::Expr &e) {
  return e && (e->kind == ExprKind::Counter || e->kind == ExprKind::Rank || dependsOnOthers(e->lhs) ||
               dependsOnOthers(e->rhs));
}

bool fitsLayers(const Target &target, AssembleOp, const Order &order) {
  // What can be appended is sorted and appended.
  if (target.levels() == 0 || Appender::supports(target) || llvm::any_of(order.levels, dependsOnOthers))
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

/// The target's levels as those of a COO tensor: its storage order is the target's.
static format::Encoding entriesEncoding(const format::Encoding &target) {
  format::Encoding entries = target;
  entries.posWidth = entries.crdWidth = 64;
  for (unsigned l = 0; l < entries.levels.size(); ++l) {
    format::LevelFormat &format = entries.levels[l].format;
    format = {};
    format.kind = l == 0 ? LevelKind::Compressed : LevelKind::Singleton;
    format.unique = l + 1 == entries.levels.size();
    format.soa = l > 0;
  }
  return entries;
}

namespace {

class Layers {
public:
  Layers(OpBuilder &b, Target &target, Value entries)
      : b(b), target(target), entries(entries), assembly(b, target),
        inverse(*format::inverseMap(target.encoding())) {}

  Value run() {
    Value count = StoredCountOp::create(b, target.loc, entries);
    positions = assembly.zeros(b.getI64Type(), count);
    parents = assembly.constant(1);
    for (unsigned l = 0; l < target.levels(); ++l)
      make(l);
    for (LevelBuild &build : builds)
      format(build.level).finish(assembly, build);
    store();
    assembly.freeScratch();
    return target.finish(b);
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l).kind); }

  void make(unsigned l);
  void store();
  void forEach(function_ref<void(Value number, ValueRange coordinates, Value value)> body);
  void forEachNew(unsigned l, bool place);
  unsigned runEnd(unsigned l) const;

  OpBuilder &b;
  Target &target;
  Value entries;
  TargetAssembly assembly;
  std::vector<format::Expr> inverse;
  SmallVector<LevelBuild> builds;
  Value positions; ///< of each entry at the level made last
  Value parents, batches;
};

/// Visits the entries in storage order, numbered, at the target's level coordinates.
void Layers::forEach(function_ref<void(Value, ValueRange, Value)> body) {
  Value next = assembly.cell(assembly.constant(0));
  walkStored(b, target.loc, entries, target.storage.dims, inverse, {}, [&](ValueRange dims, Value value) {
    Value number = assembly.increment(next, assembly.constant(0));
    body(number, target.levelCoordinates(b, dims), value);
  });
}

/// The levels from `l` whose coordinates one position holds together.
unsigned Layers::runEnd(unsigned l) const {
  unsigned end = l + 1;
  while (!target.format(end - 1).unique && end < target.levels() &&
         target.format(end).kind == LevelKind::Singleton)
    ++end;
  return end;
}

/// Visits the entries that are the first at their parent's coordinates of level `l`: they follow each other.
/// Asks the level for each, or places it and notes the position of all.
void Layers::forEachNew(unsigned l, bool place) {
  LevelBuild &build = builds[l];
  unsigned end = runEnd(l);
  Value none = assembly.constant(std::numeric_limits<int64_t>::min()), zero = assembly.constant(0);
  Values last;
  for (unsigned k = l; k <= end; ++k) // the parent, and the coordinates
    last.push_back(assembly.cell(none));
  Value newest = assembly.cell(zero);
  forEach([&](Value number, ValueRange coordinates, Value) {
    Value parent = assembly.read(positions, number);
    Values at{parent};
    llvm::append_range(at, coordinates.slice(l, end - l));
    Value fresh;
    for (auto [now, before] : llvm::zip(at, last)) {
      Value differs = assembly.compare(CmpIPredicate::ne, now, assembly.read(before, zero));
      fresh = fresh ? Value(arith::OrIOp::create(b, target.loc, fresh, differs)) : differs;
    }
    assembly.when(fresh, [&] {
      for (auto [now, before] : llvm::zip(at, last))
        assembly.write(before, zero, now);
      if (place)
        assembly.write(newest, zero, format(l).insert(assembly, build, parent, coordinates[l]));
      else
        format(l).query(assembly, build, parent, coordinates[l], coordinates.take_front(l));
    });
    if (place)
      assembly.write(positions, number, assembly.read(newest, zero));
  });
}

void Layers::make(unsigned l) {
  std::string text = "level " + std::to_string(l) + " (" + format::printLevel(target.encoding(), l) + ")";
  LevelBuild &build = builds.emplace_back();
  build.level = l;
  build.parents = parents;
  build.batches = batches;
  if (format(l).needsQuery(target.encoding().levels[l])) {
    Phase phase(b, "analysis: for " + text);
    format(l).startQuery(assembly, build);
    forEachNew(l, /*place=*/false);
  }
  Phase phase(b, "assembly: " + text);
  parents = format(l).size(assembly, build);
  if (format(l).separatesBatches())
    batches = parents;
  forEachNew(l, /*place=*/true);
}

void Layers::store() {
  Phase phase(b, "assembly: values");
  target.allocate(b, target.storage.layout.valuesField(), parents);
  target.fillValues(b, assembly.constant(0), parents);
  forEach([&](Value number, ValueRange, Value value) {
    target.storeValue(b, assembly.read(positions, number), value);
  });
}

} // namespace

FailureOr<Value> lowerByLayers(OpBuilder &b, Target &target, AssembleOp op, const Order &) {
  auto sorted =
      AssembleOp::create(b, op.getLoc(), withEncoding(target.type(), entriesEncoding(target.encoding())),
                         op.getSizes(), op.getBound(), op.getEntries(), op.getOrderAttr(), op.getUniqueAttr(),
                         op.getCombineAttr(), op.getPlanAttr());
  sorted.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  return Layers(b, target, sorted.getResult()).run();
}

} // namespace tulle::assemble
