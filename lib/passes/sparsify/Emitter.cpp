// The recursion over a statement's loops: operands follow the coordinates so far, the lattice says what the
// next loop visits, and each of its cases is a body with fewer operands. Operands follow by coordinates of
// their levels, iterators, and values.
#include "passes/sparsify/Emitter.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

namespace tulle::passes {
using namespace mlir;
using dialect::CoiterateOp;
using dialect::IterateOp;
using format::Digit;
using iteration::LevelMode;
using iteration::LoopVar;
using iteration::Subscript;

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
  if (!set.hasGaps() || !s.scalar || !isReduction(depth) ||
      !algebra.isIdempotentConstant(presence(s, who, 0)))
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

LoopEmitter::Carried LoopEmitter::body(LoopState &s) {
  DenseMap<Value, Value> done;
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
    results.push_back(add(count, constant(1)));
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

/// Where nothing is stored the accumulator meets one constant, and meeting it once is as good as often: visit
/// what is stored, count it, and add the constant if some coordinate was left out.
LoopEmitter::Carried LoopEmitter::remainder(LoopState s, unsigned depth, ArrayRef<unsigned> who,
                                            function_ref<Carried()> stored) {
  LoopState rest = withMinterm(s, who, 0);
  Value count = constant(0);
  if (stored) {
    rest.carried = stored();
    count = rest.carried.pop_back_val();
  }
  Value some = is(arith::CmpIPredicate::ult, count, extent(s, depth)), zero = constant(0);
  for (unsigned d = depth + 1; d < plan.order.size(); ++d)
    some = both(some, is(arith::CmpIPredicate::ugt, sizes[plan.order[d].index], zero));
  Carried once = body(rest);
  for (auto [with, without] : llvm::zip(once, rest.carried))
    with = select(some, with, without);
  return once;
}

//===--- How operands follow the loops ---===//

/// Index arithmetic that drops what is constant, so that unblocked tensors get plain coordinates.
namespace {
struct Arith : levels::IndicesAt {
  using IndicesAt::IndicesAt;
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, int64_t k) { return k == 1 ? x : b.createOrFold<arith::MulIOp>(loc, x, constant(k)); }
  Value div(Value x, int64_t k) { return k == 1 ? x : b.createOrFold<arith::DivUIOp>(loc, x, constant(k)); }
  Value mod(Value x, int64_t k) { return k == 0 ? x : b.createOrFold<arith::RemUIOp>(loc, x, constant(k)); }
};
} // namespace

/// Takes every operand as far as the bound coordinates lead: full levels are located, values of reached
/// leaves loaded. What leads others goes first.
void LoopEmitter::advance(LoopState &s) {
  for (bool led : {false, true})
    for (unsigned o = 0; o < statement.operands.size(); ++o)
      if (statement.operands[o].leader.has_value() == led)
        advance(s, o);
}

void LoopEmitter::advance(LoopState &s, unsigned o) {
  const SparseOperand &operand = statement.operands[o];
  OperandState &state = s.operands[o];
  if (operand.leader)
    follow(s, o);
  const bool isResult = o + 1 == statement.operands.size();
  if (state.absent || state.value || operand.extent || (isResult && statement.assembled))
    return;
  if (!isResult && !operand.leader && !isIterated(o))
    return;
  locateLevels(s, o);
  if (state.iterators.size() < operand.digits.size() || isResult || !readByBody[o])
    return;
  Value iterator = state.iterators.empty() ? Value() : state.iterators.back();
  Type type = getElementTypeOrSelf(operand.tensor.getType());
  auto load = [&] {
    return Carried{dialect::LoadOp::create(b, loc, type, operand.tensor, iterator).getResult()};
  };
  state.value = state.uncertain
                    ? levels::ifElse(b, loc, state.present, type, load, [&] { return fills(o); })[0]
                    : load()[0];
}

void LoopEmitter::locateLevels(LoopState &s, unsigned o) {
  const SparseOperand &operand = statement.operands[o];
  SmallVector<Value> &iterators = s.operands[o].iterators;
  const bool isResult = o + 1 == statement.operands.size();
  while (iterators.size() >= operand.led && iterators.size() < operand.digits.size()) {
    size_t level = iterators.size(), own = level;
    if (isResult && workspace && !statement.pattern) {
      // Levels that the workspace does not have have the iterator of the one above.
      if (workspace->fixed[level]) {
        iterators.push_back(level ? iterators.back() : Value());
        continue;
      }
      own -= size_t(
          llvm::count_if(ArrayRef(workspace->fixed).take_front(level), [](Value v) { return bool(v); }));
    }
    Value coordinate;
    if (plan.levels[o][level].mode != LevelMode::Locate || !coordinateOf(s, operand, level, coordinate))
      break;
    Value parent = own ? iterators.back() : Value();
    iterators.push_back(
        dialect::LocateOp::create(b, loc, iteratorType(o, own), operand.tensor, own, parent, coordinate));
  }
}

/// The operand is where its leader is, in the levels that both have, and where it was below these.
void LoopEmitter::follow(LoopState &s, unsigned o) {
  OperandState &state = s.operands[o];
  const OperandState &leader = s.operands[*statement.operands[o].leader];
  const size_t led = std::min(statement.operands[o].led, leader.iterators.size());
  const SmallVector<Value> below =
      llvm::to_vector(ArrayRef(state.iterators).drop_front(std::min(led, state.iterators.size())));
  const Value value = state.value;
  state = leader;
  state.iterators.truncate(led);
  llvm::append_range(state.iterators, below);
  state.value = value;
}

/// The coordinate at a level, if the loops so far fix it.
bool LoopEmitter::coordinateOf(const LoopState &s, const SparseOperand &operand, size_t level, Value &out) {
  const Digit &digit = operand.digits[level];
  const Subscript &subscript = operand.subscripts[digit.dim];
  if (subscript.isVariable())
    for (auto [d, v] : llvm::enumerate(plan.order))
      if (v == LoopVar{subscript.terms[0].first, digit.stride, digit.modulus} && s.coordinates[d]) {
        out = s.coordinates[d];
        return true;
      }
  for (auto [d, v] : llvm::enumerate(plan.order))
    for (auto [index, coefficient] : subscript.terms)
      if (v.index == index && !s.coordinates[d])
        return false;
  Arith a{b, loc};
  out = a.mod(a.div(subscriptValue(s, operand, digit.dim), digit.stride), digit.modulus);
  return true;
}

Value LoopEmitter::subscriptValue(const LoopState &s, const SparseOperand &operand, unsigned dim) {
  const Subscript &subscript = operand.subscripts[dim];
  Arith a{b, loc};
  Value sum = a.constant(subscript.constant);
  for (auto [index, coefficient] : subscript.terms)
    sum = a.add(a.mul(indexValue(s, index), coefficient), sum);
  return inWhole(operand, dim, a.mod(a.div(sum, subscript.divisor), subscript.modulus));
}

/// The coordinate of what a slice was cut from.
Value LoopEmitter::inWhole(const SparseOperand &operand, unsigned dim, Value coordinate) {
  if (!operand.subscripts[dim].isMoved)
    return coordinate;
  tensor::ExtractSliceOp slice = operand.slice;
  auto number = [&](OpFoldResult given) { return getValueOrCreateConstantIndexOp(b, loc, given); };
  Value distance = b.createOrFold<arith::MulIOp>(loc, coordinate, number(slice.getMixedStrides()[dim]));
  return b.createOrFold<arith::AddIOp>(loc, distance, number(slice.getMixedOffsets()[dim]));
}

/// The index's value so far: the sum of its bound digits.
Value LoopEmitter::indexValue(const LoopState &s, unsigned index) {
  Arith a{b, loc};
  Value sum;
  for (auto [d, v] : llvm::enumerate(plan.order))
    if (v.index == index && s.coordinates[d] && !v.isOverTiles) {
      Value digit = a.mul(s.coordinates[d], v.stride);
      sum = sum ? a.add(sum, digit) : digit;
    }
  return sum ? sum : a.constant(0);
}

/// How many coordinates loop `depth` has: the digit's modulus, less where the index would pass the end of its
/// dimension.
Value LoopEmitter::extent(LoopState &s, unsigned depth) {
  Arith a{b, loc};
  const LoopVar &v = plan.order[depth];
  if (statement.tiles.areOf(v.index)) {
    auto [lo, hi] = bounds(s, depth);
    return b.createOrFold<arith::SubIOp>(loc, hi, lo);
  }
  Value left = b.createOrFold<arith::SubIOp>(loc, sizes[v.index], indexValue(s, v.index));
  Value count = v.stride == 1 ? left : a.div(a.add(left, a.constant(v.stride - 1)), v.stride);
  return v.modulus == 0 ? count : b.createOrFold<arith::MinUIOp>(loc, count, a.constant(v.modulus));
}

/// Size of an index: what the schedule says, or that of any dimension it is the plain subscript of, a
/// statically known one first.
Value LoopEmitter::dimSize(unsigned index) {
  if (const dialect::ScheduleAttr schedule = dialect::scheduleOf(statement.generic))
    if (std::optional<int64_t> size = schedule.boundOf(nameOfIndices(statement.generic)[index]))
      return arith::ConstantIndexOp::create(b, loc, *size);
  const SparseOperand *found = nullptr;
  unsigned dim = 0;
  for (const SparseOperand &operand : statement.operands)
    for (auto [d, subscript] : llvm::enumerate(operand.subscripts)) {
      if (!subscript.isIndex() || subscript.terms[0].first != index)
        continue;
      tensor::ExtractSliceOp slice = operand.slice;
      bool fixed =
          !cast<RankedTensorType>(slice ? slice.getType() : operand.tensor.getType()).isDynamicDim(d);
      if (!found || fixed) {
        found = &operand;
        dim = d;
      }
    }
  if (tensor::ExtractSliceOp slice = found->slice)
    return getValueOrCreateConstantIndexOp(b, loc, slice.getMixedSizes()[dim]);
  Value tensor = found->tensor;
  // What is known of sizes is known of arguments.
  if (auto selection = tensor.getDefiningOp<dialect::OneHotOp>()) {
    if (dim + 1 == unsigned(selection.getResult().getType().getRank()))
      return selection.getSize();
    tensor = selection.getSource();
  }
  tensor = beforeChecks(tensor);
  if (auto type = cast<RankedTensorType>(tensor.getType()); !type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSize(dim);
  return tensor::DimOp::create(b, loc, tensor, dim);
}

Type LoopEmitter::iteratorType(unsigned operand, size_t level) const {
  return dialect::IteratorType::get(b.getContext(), statement.operands[operand].encoding, level);
}

Value LoopEmitter::space(const LoopState &s, unsigned operand) {
  const auto &iterators = s.operands[operand].iterators;
  const SparseOperand &o = statement.operands[operand];
  auto type = dialect::SpaceType::get(b.getContext(), o.encoding, iterators.size());
  Value parent = iterators.empty() ? Value() : iterators.back();
  Value all =
      dialect::SpaceOp::create(b, loc, type, o.tensor, iterators.size(), parent, condition(s, operand));
  if (o.digits.empty())
    return all;
  const unsigned dim = o.digits[iterators.size()].dim;
  return o.subscripts[dim].isPart ? partOf(all, o, dim) : all;
}

/// The coordinates that the index reaches, counted as it is.
Value LoopEmitter::partOf(Value space, const SparseOperand &operand, unsigned dim) {
  const Subscript &subscript = operand.subscripts[dim];
  Value begin = inWhole(operand, dim, constant(subscript.constant));
  Value end = b.createOrFold<arith::AddIOp>(loc, begin, sizes[subscript.terms[0].first]);
  Value range = dialect::RangeOp::create(b, loc, begin, end);
  Value part = dialect::RestrictOp::create(b, loc, space.getType(), space, range);
  // Also by 0: the level has coordinates that the loop has not.
  return dialect::ShiftOp::create(b, loc, part.getType(), part, begin);
}

/// The iterator of the last level; null when it was not reached.
Value LoopEmitter::iteratorOf(const LoopState &s, unsigned operand) const {
  const auto &iterators = s.operands[operand].iterators;
  bool reached = iterators.size() == plan.levels[operand].size() && !iterators.empty();
  return reached ? iterators.back() : Value();
}

std::optional<unsigned> LoopEmitter::nextSearch(const LoopState &s) const {
  for (unsigned o : openInputs(s))
    if (!statement.operands[o].extent && s.operands[o].iterators.size() < statement.operands[o].digits.size())
      return o;
  return std::nullopt;
}

} // namespace tulle::passes
