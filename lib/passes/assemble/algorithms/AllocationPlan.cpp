// Bounds are counted by copies of the loops that compute no values; whether memory holds them is known at run
// time.
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Value boundInserts(const levels::Emitter &e, const Stream &stream) {
  if (stream.bound)
    return stream.bound;
  Register inserts(e, e.constant(0));
  cloneCounting(e.builder, stream, nullptr, [&](ValueRange) { inserts.increment(); });
  return inserts.get();
}

Value boundEntries(const Target &target, const Stream &stream) {
  Value bound = stream.leastBound(target.builder, target.loc);
  return bound ? bound : countEntries(target, stream);
}

Value countEntries(const Target &target, const Stream &stream, const parallel::Chunk *chunk) {
  const unsigned last = target.storedLevels() - 1;
  const bool byFiber = FiberAnalysis::oneIterationEach(stream, last);
  Register inserts(target, target.constant(0)), entries(target, target.constant(0));
  FiberBoundaries fibers(target, stream.order, byFiber ? last : 0);
  Value size = target.levelSize(last);
  cloneCounting(target.builder, stream, chunk, [&](ValueRange dims) {
    fibers.atInsert(dims);
    inserts.increment();
  });
  if (!byFiber)
    return inserts.get();
  fibers.finish([&](ValueRange) {
    Value own = make<arith::MinUIOp>(target, inserts.get(), size);
    entries.set(target.add(entries.get(), own));
    inserts.set(target.constant(0));
  });
  return entries.get();
}

Value saturated(const levels::Emitter &e, Value count) {
  return make<arith::MinUIOp>(e, count, e.constant(int64_t(1) << 40));
}

Value fitBytes(const levels::Emitter &e, Value bytes) {
  return call(e, "tulle_fits", bytes, e.builder.getI1Type())->getResult(0);
}

Value fitEntries(const Target &target, Value count, Value block) {
  Type element = target.storage.element;
  int64_t value = isa<ComplexType>(element) ? 16 : std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  Value each =
      target.add(target.mul(block, target.constant(value)), target.constant(8 * target.storedLevels()));
  return fitBytes(target, target.mul(count, each));
}

Values planPositions(const Target &target, Value entries, size_t runs, Value block,
                     function_ref<Values()> count) {
  if (!entries || target.plan == AssemblyPlan::Count)
    return count();
  Values bounds(runs, entries);
  if (target.plan == AssemblyPlan::Bound)
    return bounds;
  return either(
      target, fitEntries(target, saturated(target, entries), block),
      SmallVector<Type>(runs, target.builder.getIndexType()), [&] { return bounds; }, count);
}

} // namespace tulle::assemble
