// #tulle.schedule and #tulle.directives: what they may say, and where its primitives stand in the user's
// text.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"

using namespace mlir;
using namespace tulle::dialect;

/// Whether the dictionary has numbers of at least so much.
static LogicalResult verifyNumbers(function_ref<InFlightDiagnostic()> emitError, DictionaryAttr numbers,
                                   StringRef of, int64_t least) {
  for (NamedAttribute named : numbers ? numbers.getValue() : ArrayRef<NamedAttribute>()) {
    auto number = dyn_cast<IntegerAttr>(named.getValue());
    if (!number || !number.getType().isSignlessInteger(64) || number.getInt() < least)
      return emitError() << "expected an i64 of " << least << " or more for " << named.getName() << " in '"
                         << of << "', got " << named.getValue();
  }
  return success();
}

/// The loops that an element of `derived` takes, and those that it makes; nothing of other attributes.
static std::optional<std::pair<SmallVector<StringAttr>, SmallVector<StringAttr>>> loopsOf(Attribute derived) {
  using Loops = std::pair<SmallVector<StringAttr>, SmallVector<StringAttr>>;
  if (auto split = dyn_cast<SplitAttr>(derived))
    return Loops{{split.getLoop()}, {split.getOuter(), split.getInner()}};
  if (auto position = dyn_cast<PositionAttr>(derived))
    return Loops{{position.getLoop()}, {position.getPosition()}};
  if (auto fuse = dyn_cast<FuseAttr>(derived))
    return Loops{{fuse.getOuter(), fuse.getInner()}, {fuse.getFused()}};
  return std::nullopt;
}

static LogicalResult verifyDerived(function_ref<InFlightDiagnostic()> emitError, ArrayAttr derived) {
  llvm::SmallDenseSet<Attribute> gone;
  for (Attribute attr : derived ? derived.getValue() : ArrayRef<Attribute>()) {
    const auto loops = loopsOf(attr);
    if (!loops)
      return emitError()
             << "expected a #tulle.split<…>, a #tulle.position<…> or a #tulle.fuse<…> in 'derived', got "
             << attr;
    for (StringAttr loop : loops->first)
      if (!gone.insert(loop).second)
        return emitError() << "loop " << loop << " has become others already";
    for (StringAttr made : loops->second)
      if (gone.contains(made))
        return emitError() << "loop " << made << " has become others already";
  }
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, DictionaryAttr bound,
                                   ArrayAttr derived, ArrayAttr reorder, DictionaryAttr strategy,
                                   DictionaryAttr loops, ArrayAttr place, AssemblyPlanAttr,
                                   AssemblyStrategyAttr workspace, UnitAttr ifPossible) {
  if (ifPossible && !place)
    return emitError() << "expected a 'compute_at' that is there if possible";
  if (workspace && workspace.getValue() != AssemblyStrategy::Bitmap &&
      workspace.getValue() != AssemblyStrategy::Hashed)
    return emitError() << "expected bitmap or hashed in 'workspace', got " << workspace;
  if (failed(verifyNumbers(emitError, bound, "bound", 1)) || failed(verifyDerived(emitError, derived)))
    return failure();
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

LogicalResult SplitAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr loop,
                                StringAttr outer, StringAttr inner, int64_t size, bool) {
  if (loop.empty() || outer.empty() || inner.empty())
    return emitError() << "expected names of loops";
  if (loop == outer || loop == inner || outer == inner)
    return emitError() << "expected three names, got " << loop << ", " << outer << " and " << inner;
  if (size < 1)
    return emitError() << "expected a size of 1 or more, got " << size;
  return success();
}

LogicalResult PositionAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr loop,
                                   StringAttr position, StringAttr operand) {
  if (loop.empty() || position.empty() || operand.empty())
    return emitError() << "expected the names of two loops and of an operand";
  if (loop == position)
    return emitError() << "expected two names of loops, got " << loop << " twice";
  return success();
}

LogicalResult FuseAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr outer,
                               StringAttr inner, StringAttr fused) {
  if (outer.empty() || inner.empty() || fused.empty())
    return emitError() << "expected names of loops";
  if (outer == inner || outer == fused || inner == fused)
    return emitError() << "expected three names, got " << outer << ", " << inner << " and " << fused;
  return success();
}

LogicalResult DirectivesAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr place,
                                     ThreadsAttr, uint64_t vectorize, uint64_t unroll, uint64_t,
                                     DictionaryAttr prefetch, DictionaryAttr cache, StringAttr,
                                     UnitAttr ifPossible) {
  if (ifPossible && !place)
    return emitError() << "expected a 'compute_at' that is there if possible";
  for (NamedAttribute named : cache ? cache.getValue() : ArrayRef<NamedAttribute>())
    if (!isa<CachePlaceAttr>(named.getValue()))
      return emitError() << "expected a #tulle<cache_place …> for " << named.getName() << " in 'cache', got "
                         << named.getValue();
  if (place && !llvm::all_of(place, llvm::IsaPred<StringAttr>))
    return emitError() << "expected names of loops in 'compute_at', got " << place;
  for (uint64_t count : {vectorize, unroll})
    if (count != 0 && !llvm::isPowerOf2_64(count))
      return emitError() << "expected a power of two, got " << count;
  return verifyNumbers(emitError, prefetch, "prefetch", 0);
}

DirectivesAttr DirectivesAttr::get(MLIRContext *context, const Directives &all) {
  return get(context, all.computeAt, all.parallelize, all.vectorize, all.unroll, all.jam, all.prefetch,
             all.cache, all.rfactor, all.ifPossible);
}

Directives DirectivesAttr::all() const {
  return {getComputeAt(), getParallelize(), getVectorize(), getUnroll(),    getJam(),
          getPrefetch(),  getCache(),       getRfactor(),   getIfPossible()};
}

DirectivesAttr DirectivesAttr::withThreads(Threads threads) const {
  Directives said = all();
  said.parallelize = ThreadsAttr::get(getContext(), threads);
  return get(getContext(), said);
}

/// Null where nothing is said.
static DirectivesAttr orNull(DirectivesAttr said) {
  return said == DirectivesAttr::get(said.getContext(), Directives()) ? DirectivesAttr() : said;
}

DirectivesAttr DirectivesAttr::withoutPlace() const {
  Directives said = all();
  said.computeAt = {};
  said.ifPossible = {};
  return orNull(get(getContext(), said));
}

DirectivesAttr DirectivesAttr::withoutRfactor() const {
  Directives said = all();
  said.rfactor = {};
  return orNull(get(getContext(), said));
}

DirectivesAttr DirectivesAttr::orElse(DirectivesAttr other) const {
  if (!other)
    return *this;
  Directives said = all(), others = other.all();
  auto take = [](auto &own, auto fallback) { own = own ? own : fallback; };
  if (!said.computeAt)
    said.ifPossible = others.ifPossible;
  take(said.computeAt, others.computeAt);
  take(said.parallelize, others.parallelize);
  take(said.vectorize, others.vectorize);
  take(said.unroll, others.unroll);
  take(said.jam, others.jam);
  take(said.rfactor, others.rfactor);
  auto takeByName = [&](DictionaryAttr &own, DictionaryAttr fallback) {
    NamedAttrList both(fallback);
    for (NamedAttribute named : own ? own.getValue() : ArrayRef<NamedAttribute>())
      both.set(named.getName(), named.getValue());
    own = own || fallback ? both.getDictionary(getContext()) : DictionaryAttr();
  };
  takeByName(said.prefetch, others.prefetch);
  takeByName(said.cache, others.cache);
  return get(getContext(), said);
}

std::optional<int64_t> DirectivesAttr::prefetchOf(StringRef operand) const {
  auto distance = getPrefetch() ? getPrefetch().getAs<IntegerAttr>(operand) : IntegerAttr();
  return distance ? std::optional(distance.getInt()) : std::nullopt;
}

SmallVector<StringAttr> DirectivesAttr::cachedIn(CachePlace place) const {
  SmallVector<StringAttr> names;
  for (NamedAttribute named : getCache() ? getCache().getValue() : ArrayRef<NamedAttribute>())
    if (cast<CachePlaceAttr>(named.getValue()).getValue() == place)
      names.push_back(named.getName());
  return names;
}

DirectivesAttr DirectivesAttr::withoutCache(CachePlace place) const {
  Directives said = all();
  NamedAttrList left(said.cache);
  for (StringAttr name : cachedIn(place))
    left.erase(name);
  said.cache = left.empty() ? DictionaryAttr() : left.getDictionary(getContext());
  auto rest = get(getContext(), said);
  return rest == get(getContext(), Directives()) ? DirectivesAttr() : rest;
}

ScheduleAttr ScheduleAttr::get(MLIRContext *context, const SchedulePrimitives &all) {
  return get(context, all.bound, all.derived, all.reorder, all.strategy, all.loops, all.computeAt,
             all.assemble, all.workspace, all.ifPossible);
}

SchedulePrimitives ScheduleAttr::all() const {
  return {getBound(),     getDerived(),  getReorder(),   getStrategy(),  getLoops(),
          getComputeAt(), getAssemble(), getWorkspace(), getIfPossible()};
}

DirectivesAttr ScheduleAttr::directivesOf(StringRef loop) const {
  DirectivesAttr found = getLoops() ? getLoops().getAs<DirectivesAttr>(loop) : DirectivesAttr();
  if (!getComputeAt())
    return found;
  Directives said;
  said.computeAt = getComputeAt();
  said.ifPossible = getIfPossible();
  auto place = DirectivesAttr::get(getContext(), said);
  return found ? found.orElse(place) : place;
}

std::optional<int64_t> ScheduleAttr::boundOf(StringRef index) const {
  auto size = getBound() ? getBound().getAs<IntegerAttr>(index) : IntegerAttr();
  return size ? std::optional(size.getInt()) : std::nullopt;
}

std::optional<Strategy> ScheduleAttr::strategyOf(StringRef loop) const {
  auto named = getStrategy() ? getStrategy().getAs<StrategyAttr>(loop) : StrategyAttr();
  return named ? std::optional(named.getValue()) : std::nullopt;
}

ScheduleAttr tulle::dialect::scheduleOf(Operation *statement) {
  return statement->getAttrOfType<ScheduleAttr>(kScheduleAttr);
}

/// The place of the first primitive whose name is so. A loop that was several has the places of all.
static Location findPlace(Operation *statement, function_ref<bool(StringRef)> isSought) {
  Location found = statement->getLoc();
  statement->getLoc()->walk([&](Location part) {
    auto place = dyn_cast<FusedLoc>(part);
    auto name = place ? dyn_cast_or_null<StringAttr>(place.getMetadata()) : StringAttr();
    if (!name || !isSought(name))
      return WalkResult::advance();
    found = place.getLocations().front();
    return WalkResult::interrupt();
  });
  return found;
}

Location tulle::dialect::locationOf(Operation *statement, StringRef primitive) {
  return findPlace(statement, [&](StringRef name) { return name == primitive; });
}

Location tulle::dialect::derivedLocation(Operation *statement) {
  return findPlace(statement, [](StringRef name) { return name.starts_with("derived "); });
}

Location tulle::dialect::directiveLocation(Operation *statement, StringRef loop) {
  for (StringRef primitive :
       {"parallelize ", "vectorize ", "unroll ", "jam ", "prefetch ", "cache ", "rfactor "})
    if (Location found = locationOf(statement, (primitive + loop).str()); found != statement->getLoc())
      return found;
  return statement->getLoc();
}

SmallVector<std::pair<StringRef, DirectivesAttr>> tulle::dialect::primitivesOf(DirectivesAttr said) {
  SmallVector<std::pair<StringRef, DirectivesAttr>> found;
  MLIRContext *context = said.getContext();
  auto add = [&](StringRef primitive, const Directives &one) {
    if (auto attr = DirectivesAttr::get(context, one); attr != DirectivesAttr::get(context, Directives()))
      found.emplace_back(primitive, attr);
  };
  auto addEach = [&](StringRef primitive, DictionaryAttr byName, DictionaryAttr Directives::*member) {
    for (NamedAttribute named : byName ? byName.getValue() : ArrayRef<NamedAttribute>()) {
      Directives one;
      one.*member = DictionaryAttr::get(context, named);
      add(primitive, one);
    }
  };
  add("parallelize", {.parallelize = said.getParallelize()});
  add("vectorize", {.vectorize = said.getVectorize()});
  add("unroll", {.unroll = said.getUnroll()});
  add("jam", {.jam = said.getJam()});
  addEach("prefetch", said.getPrefetch(), &Directives::prefetch);
  addEach("cache", said.getCache(), &Directives::cache);
  add("rfactor", {.rfactor = said.getRfactor()});
  return found;
}

/// The function around with a list of what is to be done; null without one.
static Operation *withList(Operation *op) {
  while (op && !op->hasAttr(kScheduledAttr))
    op = op->getParentOp();
  return op;
}

/// Whether it is said of the loop.
static bool isOf(ScheduledAttr scheduled, LoopAttr loop) {
  return scheduled.getLoop().getValue() == loop.visitedIndex() &&
         (!scheduled.getOf() || !loop.getOf() || llvm::is_contained(loop.getOf(), scheduled.getOf()));
}

void tulle::dialect::noteDone(Operation *op, LoopAttr loop, const Directives &done) {
  Operation *function = withList(op);
  if (!function)
    return;
  SmallVector<Attribute> left(function->getAttrOfType<ArrayAttr>(kScheduledAttr).getValue());
  for (const auto &[name, says] : primitivesOf(DirectivesAttr::get(op->getContext(), done)))
    llvm::erase_if(left, [&, says = says](Attribute attr) {
      auto scheduled = cast<ScheduledAttr>(attr);
      return isOf(scheduled, loop) && scheduled.getSays() == says;
    });
  if (left.empty())
    function->removeAttr(kScheduledAttr);
  else
    function->setAttr(kScheduledAttr, ArrayAttr::get(op->getContext(), left));
}

void tulle::dialect::renameScheduled(Operation *op, LoopAttr loop, StringAttr index) {
  Operation *function = withList(op);
  if (!function || !index || loop.getIndex() == index)
    return;
  SmallVector<Attribute> all;
  for (Attribute attr : function->getAttrOfType<ArrayAttr>(kScheduledAttr)) {
    auto scheduled = cast<ScheduledAttr>(attr);
    all.push_back(isOf(scheduled, loop) ? ScheduledAttr::get(op->getContext(), index, scheduled.getOf(),
                                                             scheduled.getSays(), scheduled.getAt())
                                        : scheduled);
  }
  function->setAttr(kScheduledAttr, ArrayAttr::get(op->getContext(), all));
}

void tulle::dialect::noteCached(Operation *loop, StringAttr tensor) {
  const LoopAttr attr = loopOf(loop);
  const NamedAttribute cached(tensor, attr.getDirectives().getCache().get(tensor));
  noteDone(loop, attr, {.cache = DictionaryAttr::get(loop->getContext(), cached)});
}
