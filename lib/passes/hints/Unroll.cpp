// tulle-unroll: so many iterations in a loop's body as its schedule says.
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_UNROLL
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

void unroll(scf::ForOp loop, unsigned count) {
  splitGroups(loop, count, [&](levels::IndicesAt at, Value first, ValueRange carried) {
    levels::Values values(carried);
    for (unsigned k = 0; k < count; ++k) {
      IRMapping map;
      map.map(loop.getInductionVar(), at.add(first, at.constant(int64_t(k))));
      map.map(loop.getRegionIterArgs(), values);
      for (Operation &op : loop.getBody()->without_terminator())
        at.b.clone(op, map);
      for (auto [value, yielded] : llvm::zip_equal(values, loop.getYieldedValues()))
        value = map.lookupOrDefault(yielded);
    }
    return values;
  });
}

struct UnrollPass : impl::UnrollBase<UnrollPass> {
  void runOnOperation() override {
    bool changed = false;
    // Inner loops first: copies of them are unrolled already.
    for (scf::ForOp loop : loopsIn(getOperation()))
      if (const unsigned count = scheduledUnroll(loop); count != 0 && hasUnitStep(loop)) {
        unroll(loop, count);
        dropDirectives(loop);
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
