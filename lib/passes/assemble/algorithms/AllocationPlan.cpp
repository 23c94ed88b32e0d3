// Bounds are counted by copies of the loops that compute no values; whether memory holds them is known at run
// time.
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/choose/InsertLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Value boundInserts(const levels::Emitter &e, const Stream &stream) {
  if (stream.bound)
    return stream.bound;
  Phase phase(e.builder, "analysis: number of entries");
  Register inserts(e, e.constant(0));
  cloneCounting(e.builder, stream, nullptr, [&](ValueRange) { inserts.increment(); });
  return inserts.get();
}

Value boundEntries(const Target &target, const Stream &stream) {
  Value bound = stream.leastBound(target.builder, target.loc);
  return bound ? bound : countEntries(target, stream);
}

Value countEntries(const Target &target, const Stream &stream, const parallel::Chunk *chunk) {
  Phase phase(target.builder, "analysis: number of entries");
  const unsigned last = target.storedLevels() - 1;
  const bool byFiber = FiberAnalysis::oneIterationEach(stream, last);
  Register inserts(target, target.constant(0)), entries(target, target.constant(0));
  Value size = target.levelSize(last);
  auto insert = [&](ValueRange, Value) { inserts.increment(); };
  auto complete = [&](ValueRange) {
    if (!byFiber)
      return;
    entries.set(target.add(entries.get(), target.umin(inserts.get(), size)));
    inserts.set(target.constant(0));
  };
  cloneFibers(target, stream, byFiber ? last : 0, chunk, insert, complete, /*counting=*/true);
  return byFiber ? entries.get() : inserts.get();
}

Value saturated(const levels::Emitter &e, Value count) { return e.umin(count, int64_t(1) << 40); }

Value fitBytes(const levels::Emitter &e, Value bytes) {
  return call(e, "tulle_fits", bytes, e.builder.getI1Type())->getResult(0);
}

Value fitEntries(const Target &target, Value count, Value block) {
  Value each = target.add(target.mul(block, target.valueBytes()), 8 * target.storedLevels());
  return fitBytes(target, target.mul(count, each));
}

Values planPositions(const Target &target, Value entries, Value block, function_ref<Values()> count) {
  if (!entries || target.plan == AssemblyPlan::Count)
    return count();
  const auto groups =
      size_t(llvm::count_if(target.storage.layout.positions, [](auto &field) { return bool(field); }));
  Values bounds(groups, entries);
  if (target.plan == AssemblyPlan::Bound)
    return bounds;
  return either(
      target, fitEntries(target, saturated(target, entries), block),
      SmallVector<Type>(groups, target.builder.getIndexType()), [&] { return bounds; }, count);
}

} // namespace tulle::assemble
