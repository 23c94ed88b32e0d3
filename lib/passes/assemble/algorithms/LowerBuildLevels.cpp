// tulle-lower-build-levels: level-by-level construction as traversals of the sorted entries.
#include "format/Encoding.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Phase.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/assemble/algorithms/Target.h"
#include <limits>

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERBUILDLEVELS
#include "passes/Passes.h.inc"

using assemble::Target;
using assemble::Values;
using levels::LevelBuild;

namespace {

class LevelByLevel {
public:
  LevelByLevel(OpBuilder &b, Target &target, Value entries)
      : b(b), target(target), entries(entries), inverse(*format::inverseMap(target.encoding())) {}

  Value run() {
    Value count = StoredCountOp::create(b, target.loc, entries);
    positions = target.zeros(b.getI64Type(), count);
    parents = target.constant(1);
    for (unsigned l = 0; l < target.levels(); ++l)
      make(l);
    for (LevelBuild &build : builds)
      format(build.level).finish(target, build);
    store();
    target.freeScratch();
    return target.finish();
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l).kind); }

  void make(unsigned l);
  void store();
  void forEach(function_ref<void(Value number, ValueRange coordinates, Value value)> body);
  void forEachNew(unsigned l, bool insert);

  OpBuilder &b;
  Target &target;
  Value entries;
  std::vector<format::Expr> inverse;
  SmallVector<LevelBuild> builds;
  Value positions; ///< of each entry at the level made last
  Value parents, batches;
};

/// Visits the entries in storage order, numbered, at the target's level coordinates.
void LevelByLevel::forEach(function_ref<void(Value, ValueRange, Value)> body) {
  Value next = target.cell(target.constant(0));
  assemble::traverseStored(b, target.loc, entries, target.storage.dims, inverse, {},
                           [&](ValueRange dims, Value value) {
                             Value number = target.increment(next, target.constant(0));
                             body(number, target.levelCoordinates(dims), value);
                           });
}

/// Visits the entries that are the first at their parent's coordinates of level `l`: they follow each other.
/// Queries the level for each, or inserts it there and notes the position of all.
void LevelByLevel::forEachNew(unsigned l, bool insert) {
  LevelBuild &build = builds[l];
  unsigned end = target.positionsEnd(l);
  Value none = target.constant(std::numeric_limits<int64_t>::min()), zero = target.constant(0);
  Values last;
  for (unsigned k = l; k <= end; ++k) // the parent, and the coordinates
    last.push_back(target.cell(none));
  Value newest = target.cell(zero);
  forEach([&](Value number, ValueRange coordinates, Value) {
    Value parent = target.read(positions, number);
    Values at{parent};
    llvm::append_range(at, coordinates.slice(l, end - l));
    Value isNew;
    for (auto [now, before] : llvm::zip(at, last)) {
      Value differs = target.compare(arith::CmpIPredicate::ne, now, target.read(before, zero));
      isNew = isNew ? assemble::make<arith::OrIOp>(target, isNew, differs) : differs;
    }
    assemble::when(target, isNew, [&] {
      for (auto [now, before] : llvm::zip(at, last))
        target.write(before, zero, now);
      if (insert)
        target.write(newest, zero, format(l).insert(target, build, parent, coordinates[l]));
      else
        format(l).query(target, build, parent, coordinates[l], coordinates.take_front(l));
    });
    if (insert)
      target.write(positions, number, target.read(newest, zero));
  });
}

void LevelByLevel::make(unsigned l) {
  std::string text = "level " + std::to_string(l) + " (" + format::printLevel(target.encoding(), l) + ")";
  LevelBuild &build = builds.emplace_back();
  build.level = l;
  build.parents = parents;
  build.batches = batches;
  if (format(l).needsQuery(target.encoding().levels[l])) {
    assemble::Phase phase(b, "analysis: for " + text);
    format(l).startQuery(target, build);
    forEachNew(l, /*insert=*/false);
  }
  assemble::Phase phase(b, "assembly: " + text);
  parents = format(l).size(target, build);
  if (format(l).separatesBatches())
    batches = parents;
  forEachNew(l, /*insert=*/true);
}

void LevelByLevel::store() {
  assemble::Phase phase(b, "assembly: values");
  target.allocate(target.storage.layout.valuesField(), parents);
  target.fillValues(target.constant(0), parents);
  forEach([&](Value number, ValueRange, Value value) {
    target.storeValue(target.read(positions, number), value);
  });
}

struct LowerBuildLevels : impl::LowerBuildLevelsBase<LowerBuildLevels> {
  void runOnOperation() override {
    assemble::lowerEach<BuildLevelsOp>(getOperation(), [](OpBuilder &b, BuildLevelsOp op) -> Values {
      Target target(b, op.getLoc(), op.getResult().getType(), op.getSizes());
      return {LevelByLevel(b, target, op.getSorted()).run()};
    });
  }
};

} // namespace
} // namespace tulle::passes
