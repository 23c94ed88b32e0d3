// #tulle.schedule and #tulle.directives: what they may say, and where its primitives stand in the user's
// text.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"

using namespace mlir;
using namespace tulle::dialect;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr reorder,
                                   DictionaryAttr strategy, DictionaryAttr loops, ArrayAttr place,
                                   AssemblyPlanAttr) {
  if (place && !llvm::all_of(place, llvm::IsaPred<StringAttr>))
    return emitError() << "expected names of loops in 'compute_at', got " << place;
  llvm::SmallDenseSet<Attribute> ordered;
  for (Attribute loop : reorder ? reorder.getValue() : ArrayRef<Attribute>()) {
    auto name = dyn_cast<StringAttr>(loop);
    if (!name || name.empty())
      return emitError() << "expected names of loops in 'reorder', got " << loop;
    if (!ordered.insert(loop).second)
      return emitError() << "loop " << loop << " stands twice in 'reorder'";
  }
  for (NamedAttribute named : strategy ? strategy.getValue() : ArrayRef<NamedAttribute>())
    if (!isa<StrategyAttr>(named.getValue()))
      return emitError() << "expected a #tulle<strategy …> for loop " << named.getName() << ", got "
                         << named.getValue();
  for (NamedAttribute named : loops ? loops.getValue() : ArrayRef<NamedAttribute>())
    if (!isa<DirectivesAttr>(named.getValue()))
      return emitError() << "expected a #tulle.directives<…> for loop " << named.getName() << ", got "
                         << named.getValue();
  return success();
}

LogicalResult DirectivesAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr place,
                                     ThreadsAttr, uint64_t vectorize, uint64_t unroll) {
  if (place && !llvm::all_of(place, llvm::IsaPred<StringAttr>))
    return emitError() << "expected names of loops in 'compute_at', got " << place;
  for (uint64_t count : {vectorize, unroll})
    if (count != 0 && !llvm::isPowerOf2_64(count))
      return emitError() << "expected a power of two, got " << count;
  return success();
}

DirectivesAttr DirectivesAttr::withThreads(Threads threads) const {
  return get(getContext(), getComputeAt(), ThreadsAttr::get(getContext(), threads), getVectorize(),
             getUnroll());
}

DirectivesAttr DirectivesAttr::withoutPlace() const {
  const bool empty = !getParallelize() && !getVectorize() && !getUnroll();
  return empty ? DirectivesAttr() : get(getContext(), {}, getParallelize(), getVectorize(), getUnroll());
}

DirectivesAttr DirectivesAttr::orElse(DirectivesAttr other) const {
  if (!other)
    return *this;
  return get(getContext(), getComputeAt() ? getComputeAt() : other.getComputeAt(),
             getParallelize() ? getParallelize() : other.getParallelize(),
             getVectorize() ? getVectorize() : other.getVectorize(),
             getUnroll() ? getUnroll() : other.getUnroll());
}

DirectivesAttr ScheduleAttr::directivesOf(StringRef loop) const {
  DirectivesAttr found = getLoops() ? getLoops().getAs<DirectivesAttr>(loop) : DirectivesAttr();
  if (!getComputeAt())
    return found;
  auto place = DirectivesAttr::get(getContext(), getComputeAt(), {}, 0, 0);
  return found ? found.orElse(place) : place;
}

std::optional<Strategy> ScheduleAttr::strategyOf(StringRef loop) const {
  auto named = getStrategy() ? getStrategy().getAs<StrategyAttr>(loop) : StrategyAttr();
  return named ? std::optional(named.getValue()) : std::nullopt;
}

ScheduleAttr tulle::dialect::scheduleOf(Operation *statement) {
  return statement->getAttrOfType<ScheduleAttr>(kScheduleAttr);
}

Location tulle::dialect::locationOf(Operation *statement, StringRef primitive) {
  if (auto fused = dyn_cast<FusedLoc>(statement->getLoc()))
    for (Location part : fused.getLocations())
      if (auto place = dyn_cast<FusedLoc>(part))
        if (auto name = dyn_cast_or_null<StringAttr>(place.getMetadata()); name && name == primitive)
          return place.getLocations().front();
  return statement->getLoc();
}

Location tulle::dialect::directiveLocation(Operation *statement, StringRef loop) {
  for (StringRef primitive : {"parallelize ", "vectorize ", "unroll "})
    if (Location found = locationOf(statement, (primitive + loop).str()); found != statement->getLoc())
      return found;
  return statement->getLoc();
}
