// The recursion over a statement's loops: operands follow the coordinates so far, the lattice says what the
// next loop visits, and each of its cases is a body with fewer operands.
#include "passes/sparsify/Emitter.h"
#include "dialect/Scalars.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

namespace tulle::passes {
using namespace mlir;
using dialect::CoiterateOp;
using dialect::IterateOp;
using iteration::LoopVar;

LoopEmitter::LoopEmitter(OpBuilder &builder, SparseStatement &statement, const iteration::Plan &plan,
                         dialect::Strategy strategy)
    : IndicesAt(builder, statement.generic.getLoc()), statement(statement), plan(plan), strategy(strategy),
      algebra(statement.generic) {
  for (BlockArgument arg : statement.generic.getRegionInputArgs()) {
    auto tests = [](Operation *user) { return isa<dialect::StoredOp>(user); };
    testedByBody.push_back(llvm::any_of(arg.getUsers(), tests));
    readByBody.push_back(!llvm::all_of(arg.getUsers(), tests));
  }
  for (unsigned index = 0; index < statement.reduction.size(); ++index) {
    givers.push_back(statement.giverOf(index));
    spread.push_back(statement.isSpread(index));
  }
  unsigned last = resultDepth();
  onceEach = true;
  for (unsigned d = 0; d < last; ++d)
    onceEach &= !repeats(d);
  // Without reductions every point is met once, so the accumulator is the start value wherever the body runs.
  bool reduces = false;
  for (unsigned d = 0; d < plan.order.size(); ++d)
    reduces |= repeats(d);
  bool increments =
      statement.assembled && last == plan.order.size(); // inserted one by one, each from the start
  if (statement.start && (!reduces || increments))
    algebra.setAccumulator(statement.start);
}

LoopState LoopEmitter::outermost() const {
  LoopState s;
  s.operands.resize(statement.operands.size());
  s.coordinates.resize(plan.order.size());
  return s;
}

Value LoopEmitter::emit() {
  for (unsigned i = 0; i < statement.reduction.size(); ++i)
    sizes.push_back(dimSize(i));
  LoopState s = outermost();
  useFlags(s, 0);
  if (statement.assembled)
    return assemble();
  s.carried = {statement.init};
  if (!statement.start || !writesEverySlot(s, 0))
    s.carried = {filledInit()};
  Value result = loops(s, 0)[0];
  return failed ? Value() : result;
}

/// The result's storage, filled with the start value if there is one.
Value LoopEmitter::filledInit() {
  Type type = statement.init.getType();
  auto fill = statement.generic.getDpsInits()[0].getDefiningOp<dialect::FillOp>();
  if (!statement.start && !fill)
    return statement.init;
  Value start = statement.start ? dialect::materialize(b, loc, statement.start, getElementTypeOrSelf(type))
                                : fill.getValue();
  return dialect::FillOp::create(b, loc, type, start, statement.init);
}

LoopEmitter::Carried LoopEmitter::loops(LoopState s, unsigned depth) {
  dropUnread(s);
  advance(s);
  if (!s.scalar && depth >= resultDepth())
    return statement.assembled ? newElement(s, depth) : element(s, depth);
  if (depth == plan.order.size())
    return leaf(s);
  if (!s.scalar && !workspace && sumsWide() && depth == workspaceDepth())
    return inWorkspace(s, [&](const LoopState &inner) { return loops(inner, depth); });
  VisitedSet set{participants(s, depth)};
  ArrayRef<unsigned> who = set.participants;
  if (usesFlags(s, depth, who))
    set.flags = flaggedSet(s, who);
  else
    set.minterms = visited(s, depth, who);
  if (set.empty())
    return s.carried;
  if (isGiven(depth, set))
    return atGiven(s, depth, set.participants[0]);
  if (!set.hasGaps() || !s.scalar || !isReduction(depth) || !areGapsAlike(s, depth, who))
    return loop(s, depth, set, /*counted=*/false);
  if (who.empty())
    return remainder(s, depth, who, nullptr);
  // Also what a mask forbids is counted: it is not left out.
  if (set.flags)
    set.flags = FlaggedSet{set.flags->required, /*oneOf=*/true, /*universe=*/false};
  else
    set.minterms = llvm::to_vector(llvm::seq(1u, 1u << who.size()));
  return remainder(s, depth, who, [&] { return loop(s, depth, set, /*counted=*/true); });
}

/// What the one coordinate contributes, where there is one: no loop.
LoopEmitter::Carried LoopEmitter::atGiven(LoopState s, unsigned depth, unsigned o) {
  SmallVector<Value> &iterators = s.operands[o].iterators;
  Value below = space(s, o);
  Value first = dialect::BoundsOp::create(b, loc, below).getBegin();
  auto at = dialect::IteratorAtOp::create(b, loc, below, first);
  s.coordinates[depth] = at.getCoordinate();
  iterators.push_back(at.getIterator());
  if (statement.operands[o].total)
    return loops(s, depth + 1);
  return levels::ifElse(
      b, loc, at.getEntry(), ValueRange(s.carried).getTypes(), [&] { return loops(s, depth + 1); },
      [&] { return s.carried; });
}

/// One element of the result: accumulated in a register by the loops left, then stored.
LoopEmitter::Carried LoopEmitter::element(LoopState s, unsigned depth) {
  Value iterator = iteratorOf(s, statement.operands.size() - 1);
  if (!iterator && !statement.result().encoding.getValue().levels.empty()) {
    if (!failed)
      mlir::emitError(
          dialect::locationOf(statement.generic, "reorder"),
          "a sparse result would be dense: something is written where the operand whose pattern it "
          "shares stores nothing; restrict it with `where`, or store the result in a dense format");
    failed = true;
    return s.carried;
  }
  return accumulate(s, iterator, [&](const LoopState &inner) { return loops(inner, depth); });
}

LoopEmitter::Carried LoopEmitter::accumulate(const LoopState &s, Value iterator,
                                             llvm::function_ref<Carried(const LoopState &)> contributions) {
  Value tensor = s.carried[0];
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  LoopState inner = s;
  inner.scalar = true;
  Value before = statement.start && onceEach
                     ? dialect::materialize(b, loc, statement.start, type)
                     : dialect::LoadOp::create(b, loc, type, tensor, iterator).getResult();
  inner.carried = {resized(before, algebra.yieldOperand().getType())};
  Value value = resized(contributions(inner)[0], type);
  return {dialect::StoreOp::create(b, loc, tensor.getType(), value, tensor, iterator)};
}

Value LoopEmitter::resized(Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return b.createOrFold<arith::ExtFOp>(loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

/// The body of the innermost loop. Operands off the loops' coordinates are searched first; each may or may
/// not have an entry.
LoopEmitter::Carried LoopEmitter::leaf(LoopState s) {
  if (flagged > plan.order.size() || isUncertain(s))
    return flaggedLeaf(s);
  advance(s);
  std::optional<unsigned> o = nextSearch(s);
  // What contributes nothing must not be inserted either: a search may have found what a mask forbids.
  if (!o)
    return statement.assembled && algebra.isNoOp(presence(s)) ? s.carried : body(s);
  LoopState found = s;
  Value isFound = searchNext(found, *o).getFound();
  return levels::ifElse(
      b, loc, isFound, ValueRange(s.carried).getTypes(), [&] { return leaf(found); },
      [&] {
        LoopState missing = s;
        missing.operands[*o].absent = true;
        return algebra.isNoOp(presence(missing)) ? s.carried : leaf(missing);
      });
}

/// Searches for the coordinate of the operand's next level, where the iterator is from then on.
dialect::SearchOp LoopEmitter::searchNext(LoopState &s, unsigned o) {
  SmallVector<Value> &iterators = s.operands[o].iterators;
  const size_t level = iterators.size();
  Value coordinate, parent = level ? iterators.back() : Value();
  coordinateOf(s, statement.operands[o], level, coordinate);
  auto search = dialect::SearchOp::create(b, loc, iteratorType(o, level), b.getI1Type(),
                                          statement.operands[o].tensor, level, parent, coordinate);
  iterators.push_back(search.getResult());
  return search;
}

LoopEmitter::Carried LoopEmitter::body(LoopState &s, DenseMap<Value, Value> done) {
  if (!statement.assembled)
    return {bodyValue(s, algebra.yieldOperand(), done)};
  Value changes = flags ? flags->changes() : Value();
  arith::SelectOp masked = contributionWhere(s);
  if (masked) {
    Value holds = bodyValue(s, masked.getCondition(), done);
    changes = changes ? both(changes, holds) : holds;
  }
  if (!s.scalar)
    return insertWhere(changes, s, [&] {
      return bodyValue(s, masked ? masked.getTrueValue() : algebra.yieldOperand(), done);
    });
  Value value = bodyValue(s, algebra.yieldOperand(), done);
  return {value, changes ? either(s.carried[1], changes) : boolean(true)};
}

/// What leaves the accumulator as it is unless some comparison of values is true; null where no value
/// decides.
arith::SelectOp LoopEmitter::contributionWhere(const LoopState &s) {
  auto value = dyn_cast<Value>(algebra.yielded(presence(s)));
  auto select = value ? value.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  return select && select.getFalseValue() == algebra.accumulatorArg() ? select : arith::SelectOp();
}

/// The body's expression for exactly the operands that are present.
Value LoopEmitter::bodyValue(LoopState &s, Value v, DenseMap<Value, Value> &done) {
  if (Value found = done.lookup(v))
    return found;
  OpFoldResult simple = v == algebra.accumulatorArg() ? OpFoldResult(v) : algebra.simplify(v, presence(s));
  if (auto constant = dyn_cast<Attribute>(simple))
    return dialect::materialize(b, loc, constant, v.getType());
  Value value = cast<Value>(simple);
  if (Value found = done.lookup(value))
    return found;
  if (value == algebra.accumulatorArg())
    return s.carried.empty() ? startValue() : s.carried[0];
  Block *block = statement.generic.getBody();
  if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == block)
    return s.operands[arg.getArgNumber()].value;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block)
    return value;
  if (auto stored = dyn_cast<dialect::StoredOp>(op))
    return s.operands[cast<BlockArgument>(stored.getValue()).getArgNumber()].present;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return done[value] = indexValue(s, index.getDim());
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, bodyValue(s, operand, done));
  Value copy = b.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  return done[value] = flags ? flags->corrected(value, copy) : copy;
}

void LoopEmitter::fillBody(Block &block, LoopState s, unsigned depth, const VisitedSet &set, unsigned minterm,
                           bool counted) {
  OpBuilder::InsertionGuard guard(b);
  if (!set.flags)
    s = withMinterm(s, set.participants, minterm);
  s.coordinates[depth] = block.addArgument(b.getIndexType(), loc);
  for (auto [k, o] : llvm::enumerate(set.participants))
    if (set.flags || minterm >> k & 1) {
      Type type = iteratorType(o, s.operands[o].iterators.size());
      s.operands[o].iterators.push_back(block.addArgument(type, loc));
      s.operands[o].uncertain = set.flags && !set.flags->required[k];
    }
  if (set.flags)
    for (unsigned o : set.participants)
      s.operands[o].present = block.addArgument(b.getI1Type(), loc);
  for (Value &carried : s.carried)
    carried = block.addArgument(carried.getType(), loc);
  Value count = counted ? Value(block.addArgument(b.getIndexType(), loc)) : Value();
  b.setInsertionPointToStart(&block);
  Carried results = loops(s, depth + 1);
  if (counted)
    results.push_back(add(count, countsCoordinates(depth)
                                     ? extent(s, *digitsFrom(plan.order[depth].index, depth + 1))
                                     : constant(1)));
  dialect::YieldOp::create(b, loc, results);
}

dialect::LoopAttr LoopEmitter::loopAttr(unsigned depth) {
  const std::string loop = iteration::nameOfLoop(plan, depth, nameOfIndices(statement.generic));
  return loopAttr(repeats(depth) ? dialect::LoopKind::Reduction : dialect::LoopKind::Parallel,
                  b.getStringAttr(loop));
}

dialect::LoopAttr LoopEmitter::loopAttr(dialect::LoopKind kind, StringAttr index) {
  linalg::GenericOp generic = statement.generic;
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(generic);
  auto name = generic->getAttrOfType<StringAttr>(dialect::kNameAttr);
  if (index)
    madeLoops.insert(index);
  return dialect::LoopAttr::get(b.getContext(), kind, index, name ? b.getArrayAttr(name) : ArrayAttr(),
                                schedule ? schedule.directivesOf(index ? index.getValue() : StringRef())
                                         : dialect::DirectivesAttr());
}

/// What the schedule says of the loop, else what was asked of all loops; code over the budget has few copies
/// of what two lists have in common.
dialect::Strategy LoopEmitter::strategyOf(unsigned depth, const VisitedSet &set) {
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(statement.generic);
  const std::string loop = iteration::nameOfLoop(plan, depth, nameOfIndices(statement.generic));
  if (std::optional<dialect::Strategy> scheduled = schedule ? schedule.strategyOf(loop) : std::nullopt) {
    const bool intersects =
        !set.flags && set.minterms == ArrayRef<unsigned>{(1u << set.participants.size()) - 1};
    if (intersects || llvm::is_contained({dialect::Strategy::Auto, dialect::Strategy::Merge}, *scheduled))
      scheduledLoops.insert(loop);
    return *scheduled;
  }
  const bool pair = !set.flags && set.participants.size() == 2 && set.minterms == ArrayRef<unsigned>{3};
  const bool few = compact && pair && strategy == dialect::Strategy::Auto;
  return few ? dialect::Strategy::MergeOrGallop : strategy;
}

LogicalResult LoopEmitter::checkSchedule() const {
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(statement.generic);
  auto entries = [](DictionaryAttr of) { return of ? of.getValue() : ArrayRef<NamedAttribute>(); };
  for (NamedAttribute named : entries(schedule ? schedule.getLoops() : DictionaryAttr()))
    if (mlir::failed(checkDirectives(named.getName(), cast<dialect::DirectivesAttr>(named.getValue()))))
      return failure();
  for (NamedAttribute named : entries(schedule ? schedule.getStrategy() : DictionaryAttr()))
    if (StringRef loop = named.getName(); !scheduledLoops.contains(loop))
      return mlir::emitError(dialect::locationOf(statement.generic, ("strategy " + loop).str()))
             << "no loop over " << loop << " is a co-iteration to which this strategy applies: "
             << "merge is for several sparse operands, the others for intersections of them";
  return success();
}

void LoopEmitter::listSchedule() const {
  Operation *statement = this->statement.generic, *function = statement->getParentOfType<func::FuncOp>();
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(statement);
  if (!schedule || !schedule.getLoops() || !function)
    return;
  llvm::SetVector<Attribute> all;
  if (auto known = function->getAttrOfType<ArrayAttr>(dialect::kScheduledAttr))
    all.insert_range(known);
  for (NamedAttribute named : schedule.getLoops())
    for (auto [name, says] : dialect::primitivesOf(cast<dialect::DirectivesAttr>(named.getValue())))
      all.insert(dialect::ScheduledAttr::get(
          b.getContext(), named.getName(), statement->getAttrOfType<StringAttr>(dialect::kNameAttr), says,
          dialect::locationOf(statement, (name + " " + named.getName().getValue()).str())));
  if (!all.empty())
    function->setAttr(dialect::kScheduledAttr, b.getArrayAttr(all.getArrayRef()));
}

/// What is known of a loop as soon as it is there.
LogicalResult LoopEmitter::checkDirectives(StringAttr loop, dialect::DirectivesAttr said) const {
  auto names = [](auto loops) {
    return llvm::join(llvm::map_range(loops, [](StringAttr each) { return each.getValue(); }), ", ");
  };
  const StringRef name = loop.getValue();
  auto refuse = [&](StringRef primitive) {
    return mlir::emitError(dialect::locationOf(statement.generic, (primitive + name).str()));
  };
  if (!madeLoops.contains(loop))
    return mlir::emitError(dialect::directiveLocation(statement.generic, name))
           << "no loop " << name << ": the loops are " << names(madeLoops);
  if (said.getRfactor() && statement.assembled)
    return refuse("rfactor ")
           << "partial results are of a dense result; a new tensor is assembled from its entries";
  if (said.getParallelize() && statement.assembled)
    return refuse("parallelize ") << "a new tensor is assembled in parallel as its algorithm allows";
  if (coiterations.contains(loop)) {
    const std::string steps =
        ("the loop over " + name +
         " is a co-iteration, each step of which depends on the one before; strategy(" + name + ", blocks) ")
            .str();
    if (said.getVectorize())
      return refuse("vectorize ") << steps << "compares vectors of coordinates";
    if (said.getUnroll())
      return refuse("unroll ") << steps << "takes several coordinates at a time";
    if (said.getJam())
      return refuse("jam ") << steps << "takes several coordinates at a time";
    if (said.getPrefetch())
      return refuse("prefetch ") << steps << "reads its coordinates in order";
    if (said.getCache())
      return refuse("cache ") << steps << "has no loop that a copy could be made in";
  }
  if (said.getVectorize() && loop != madeLoops.back())
    return refuse("vectorize ") << "vectors are iterations of the innermost loop, which is over "
                                << madeLoops.back().getValue();
  return success();
}

/// Results: what is carried, then, if counted, how many coordinates there were.
LoopEmitter::Carried LoopEmitter::loop(LoopState &s, unsigned depth, const VisitedSet &set, bool counted) {
  ArrayRef<unsigned> who = set.participants;
  Carried inits = s.carried;
  if (counted)
    inits.push_back(constant(0));
  TypeRange types = ValueRange(inits).getTypes();
  auto [range, spaces] = visitedSpaces(s, depth, set);
  if (!set.flags && (who.empty() || (who.size() == 1 && set.minterms[0] == 1))) {
    auto op = IterateOp::create(b, loc, types, who.empty() ? range : spaces[0], inits, loopAttr(depth),
                                !counted && visitsEach(s, depth, who));
    fillBody(op.getBody().emplaceBlock(), s, depth, set, set.minterms[0], counted);
    return Carried(op.getResults());
  }
  SmallVector<int64_t> cases(set.minterms.begin(), set.minterms.end());
  coiterations.insert(loopAttr(depth).getIndex());
  std::string text = set.flags ? set.flags->print()
                               : iteration::CoordinateSet(who.size(), {cases.begin(), cases.end()}).print();
  auto op = CoiterateOp::create(b, loc, types, text, cases, spaces, range, inits, loopAttr(depth),
                                strategyOf(depth, set), set.flags.has_value(), set.flags ? 1 : cases.size());
  for (auto [k, region] : llvm::enumerate(op.getCaseRegions()))
    fillBody(region.emplaceBlock(), s, depth, set, set.flags ? 0 : set.minterms[k], counted);
  return Carried(op.getResults());
}

/// Whether all coordinates that the loop's participants lack do the same to the accumulator, so that it is
/// enough to know how many there are: it meets a constant, once being as good as often, or what is added to
/// it depends on nothing that the loops from here on change.
bool LoopEmitter::areGapsAlike(const LoopState &s, unsigned depth, ArrayRef<unsigned> who) {
  const LoopState gap = withMinterm(s, who, 0);
  if (algebra.isIdempotentConstant(presence(gap)))
    return true;
  Value added = algebra.addend(presence(gap));
  if (!added || isUncertain(gap))
    return false;
  const BodyAlgebra::Reads reads = algebra.reads(added, presence(gap));
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    if (reads.inputs >> o & 1 && !gap.operands[o].value)
      return false;
  return countsCoordinates(depth) &&
         llvm::all_of(ArrayRef(plan.order).drop_front(depth), [&](const LoopVar &loop) {
           return digitsFrom(loop.index, depth) && !reads.indices.contains(loop.index);
         });
}

/// Whether a loop that counts what it visits counts coordinates of its index, of which each of its own may be
/// several; else its own.
bool LoopEmitter::countsCoordinates(unsigned depth) const {
  const unsigned index = plan.order[depth].index;
  return digitsFrom(index, depth) && digitsFrom(index, depth + 1);
}

/// Visits what is stored, counts its coordinates, and lets the accumulator meet what those without an entry
/// contribute: once, or as often as there are some.
LoopEmitter::Carried LoopEmitter::remainder(LoopState s, unsigned depth, ArrayRef<unsigned> who,
                                            function_ref<Carried()> stored) {
  LoopState rest = withMinterm(s, who, 0);
  Value count = constant(0);
  if (stored) {
    rest.carried = stored();
    count = rest.carried.pop_back_val();
  }
  const unsigned index = plan.order[depth].index;
  Value all = countsCoordinates(depth) ? extent(s, *digitsFrom(index, depth)) : extent(s, depth);
  Value some = is(arith::CmpIPredicate::ult, count, all), zero = constant(0);
  llvm::SmallSetVector<unsigned, 4> inner;
  for (const LoopVar &loop : ArrayRef(plan.order).drop_front(depth + 1))
    if (loop.index != index && inner.insert(loop.index))
      some = both(some, is(arith::CmpIPredicate::ugt, sizes[loop.index], zero));
  DenseMap<Value, Value> done;
  if (!algebra.isIdempotentConstant(presence(rest))) {
    Value added = algebra.addend(presence(rest));
    Value each = bodyValue(rest, added, done);
    Value sum = times(each, b.createOrFold<arith::SubIOp>(loc, all, count));
    for (unsigned other : inner)
      sum = times(sum, extent(s, *digitsFrom(other, depth + 1)));
    done = {{added, sum}};
  }
  Carried met = body(rest, std::move(done));
  for (auto [with, without] : llvm::zip(met, rest.carried))
    with = select(some, with, without);
  return met;
}

/// The sum of `count` equal values.
Value LoopEmitter::times(Value value, Value count) {
  Type type = value.getType();
  if (isa<IntegerType>(type))
    return arith::MulIOp::create(b, loc, value, b.createOrFold<arith::IndexCastOp>(loc, type, count));
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  return arith::MulFOp::create(b, loc, value, arith::SIToFPOp::create(b, loc, type, number));
}

} // namespace tulle::passes
