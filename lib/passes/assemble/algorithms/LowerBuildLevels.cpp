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

using namespace assemble;
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
      makeLevel(l);
    for (LevelBuild &build : builds)
      format(build.level).finish(target, build);
    store();
    target.freeScratch();
    return target.finish();
  }

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l)); }

  void makeLevel(unsigned l) {
    const std::string text = target.levelText(l);
    LevelBuild &build = builds.emplace_back();
    build.level = l;
    build.parents = parents;
    build.batches = batches;
    if (format(l).needsQuery(target.encoding().levels[l])) {
      Phase phase(b, "analysis: for " + text);
      format(l).startQuery(target, build);
      forEachNew(l, /*insert=*/false);
    }
    Phase phase(b, "assembly: " + text);
    parents = format(l).size(target, build);
    if (format(l).separatesBatches())
      batches = parents;
    forEachNew(l, /*insert=*/true);
  }

  void store() {
    Phase phase(b, "assembly: values");
    target.allocate(target.storage.layout.valuesField(), parents);
    target.fillValues(target.constant(0), parents);
    forEntries([&](Value number, ValueRange, Value value) {
      target.storeValue(target.read(positions, number), value);
    });
  }

  /// Visits the entries in storage order, numbered, at the target's level coordinates.
  void forEntries(function_ref<void(Value, ValueRange, Value)> body) {
    Register next(target, target.constant(0));
    traverseStored(b, target.loc, entries, target.storage.dims, inverse, {},
                   [&](ValueRange dims, Value value) {
                     Value number = next.get();
                     next.increment();
                     body(number, target.levelCoordinates(dims), value);
                   });
  }

  /// Visits the entries that are the first at their parent's coordinates of level `l`: they follow each
  /// other. Queries the level for each, or inserts it there and notes the position of all.
  void forEachNew(unsigned l, bool insert) {
    LevelBuild &build = builds[l];
    unsigned end = target.positionsEnd(l);
    Value none = target.constant(std::numeric_limits<int64_t>::min());
    std::vector<Register> last;
    for (unsigned k = l; k <= end; ++k) // the parent, and the coordinates
      last.emplace_back(target, none);
    Register newest(target, target.constant(0));
    forEntries([&](Value number, ValueRange coordinates, Value) {
      Value parent = target.read(positions, number);
      Values at{parent};
      llvm::append_range(at, coordinates.slice(l, end - l));
      when(target, anyDiffers(target, at, last), [&] {
        for (auto [now, before] : llvm::zip(at, last))
          before.set(now);
        if (insert)
          newest.set(format(l).insert(target, build, parent, coordinates[l]));
        else
          format(l).query(target, build, parent, coordinates[l], coordinates.take_front(l));
      });
      if (insert)
        target.write(positions, number, newest.get());
    });
  }

  OpBuilder &b;
  Target &target;
  Value entries;
  std::vector<format::Expr> inverse;
  SmallVector<LevelBuild> builds;
  Value positions; ///< of each entry at the level made last
  Value parents, batches;
};

struct LowerBuildLevels : impl::LowerBuildLevelsBase<LowerBuildLevels> {
  void runOnOperation() override {
    auto lower = [](OpBuilder &b, BuildLevelsOp op) -> Values {
      Target target(b, op.getLoc(), op.getResult().getType(), op.getSizes());
      return {LevelByLevel(b, target, op.getSorted()).run()};
    };
    if (!lowerEach<BuildLevelsOp>(getOperation(), lower))
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
