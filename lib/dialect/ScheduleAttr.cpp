// #tulle.schedule: what it may say, and where its primitives stand in the user's text.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"

using namespace mlir;
using namespace tulle::dialect;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr reorder,
                                   DictionaryAttr strategy, AssemblyPlanAttr) {
  llvm::SmallDenseSet<Attribute> loops;
  for (Attribute loop : reorder ? reorder.getValue() : ArrayRef<Attribute>()) {
    auto name = dyn_cast<StringAttr>(loop);
    if (!name || name.empty())
      return emitError() << "expected names of loops in 'reorder', got " << loop;
    if (!loops.insert(loop).second)
      return emitError() << "loop " << loop << " stands twice in 'reorder'";
  }
  for (NamedAttribute named : strategy ? strategy.getValue() : ArrayRef<NamedAttribute>())
    if (!isa<StrategyAttr>(named.getValue()))
      return emitError() << "expected a #tulle<strategy …> for loop " << named.getName() << ", got "
                         << named.getValue();
  return success();
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
