#include "passes/sparsify/Emitter.h"
#include "dialect/Scalars.h"
#include "iteration/Set.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tulle::passes {
using namespace mlir;
using dialect::CoiterateOp;
using dialect::IterateOp;

LoopEmitter::LoopEmitter(OpBuilder &builder, SparseStatement &statement, const iteration::Plan &plan,
                         dialect::Strategy strategy)
    : b(builder), loc(statement.generic.getLoc()), statement(statement), plan(plan), strategy(strategy),
      algebra(statement.generic) {
  for (BlockArgument arg : statement.generic.getRegionInputArgs()) {
    auto tests = [](Operation *user) { return isa<dialect::StoredOp>(user); };
    testedByBody.push_back(llvm::any_of(arg.getUsers(), tests));
    readByBody.push_back(!llvm::all_of(arg.getUsers(), tests));
  }
  unsigned last = resultDepth();
  onceEach = true;
  for (unsigned d = 0; d < last; ++d)
    onceEach &= !isReduction(d);
  // Without reductions every point is met once, so the accumulator is the start value wherever the body runs.
  bool reduces = llvm::any_of(statement.reduction, [](bool r) { return r; });
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
  if (statement.start && !writesEverySlot(s, 0)) {
    Value start =
        dialect::materialize(b, loc, statement.start, getElementTypeOrSelf(statement.init.getType()));
    s.carried[0] = dialect::FillOp::create(b, loc, statement.init.getType(), start, statement.init);
  } else if (auto fill = statement.generic.getDpsInits()[0].getDefiningOp<dialect::FillOp>();
             fill && !statement.start) {
    s.carried[0] = dialect::FillOp::create(b, loc, statement.init.getType(), fill.getValue(), statement.init);
  }
  Value result = loops(s, 0)[0];
  return failed ? Value() : result;
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
  SmallVector<unsigned> who = participants(s, depth);
  if (usesFlags(s, depth, who))
    return flaggedLoops(s, depth, who);
  SmallVector<unsigned> minterms = visited(s, depth, who);
  if (minterms.empty())
    return s.carried;
  if (minterms[0] == 0 && s.scalar && isReduction(depth) &&
      algebra.isIdempotentConstant(presence(s, who, 0))) {
    // Also what a mask forbids is counted: it is not left out.
    auto stored = llvm::to_vector(llvm::seq(1u, 1u << who.size()));
    if (stored.empty())
      return remainder(s, depth, who, nullptr);
    return remainder(s, depth, who, [&] { return loop(s, depth, who, stored, /*counted=*/true); });
  }
  return loop(s, depth, who, minterms, /*counted=*/false);
}

/// One element of the result: accumulated in a register by the loops left, then stored.
LoopEmitter::Carried LoopEmitter::element(LoopState s, unsigned depth) {
  Value iterator = iteratorOf(s, statement.operands.size() - 1);
  if (!iterator && !statement.result().encoding.getValue().levels.empty()) {
    if (!failed)
      statement.generic.emitError(
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
  Type wide = algebra.yieldOperand().getType();
  inner.carried = {wide == type ? before : b.createOrFold<arith::ExtFOp>(loc, wide, before)};
  Value value = contributions(inner)[0];
  if (wide != type)
    value = arith::TruncFOp::create(b, loc, type, value);
  return {dialect::StoreOp::create(b, loc, tensor.getType(), value, tensor, iterator)};
}

/// The innermost place. Operands off the loops' coordinates are searched first; each may or may not have an
/// entry.
LoopEmitter::Carried LoopEmitter::leaf(LoopState s) {
  if (flagged > plan.order.size() || isUncertain(s))
    return flaggedLeaf(s);
  advance(s);
  std::optional<unsigned> o = nextSearch(s);
  // What contributes nothing must not be inserted either: a search may have found what a mask forbids.
  if (!o)
    return statement.assembled && algebra.isNoOp(presence(s)) ? s.carried : body(s);
  const SparseOperand &operand = statement.operands[*o];
  size_t level = s.operands[*o].iterators.size();
  Value coordinate;
  coordinateOf(s, operand, level, coordinate);
  Value parent = level ? s.operands[*o].iterators.back() : Value();
  auto search = dialect::SearchOp::create(b, loc, iteratorType(*o, level), b.getI1Type(), operand.tensor,
                                          b.getI64IntegerAttr(level), parent, coordinate);
  SmallVector<Type> types(ValueRange(s.carried).getTypes());
  auto branch = scf::IfOp::create(b, loc, types, search.getFound(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto yield = [&](const Carried &values) {
    if (!values.empty()) // else the terminator is there already
      scf::YieldOp::create(b, loc, values);
  };
  b.setInsertionPointToStart(branch.thenBlock());
  LoopState found = s;
  found.operands[*o].iterators.push_back(search.getResult());
  yield(leaf(found));
  b.setInsertionPointToStart(branch.elseBlock());
  LoopState missing = s;
  missing.operands[*o].absent = true;
  bool nothing = algebra.isNoOp(presence(missing));
  yield(nothing ? s.carried : leaf(missing));
  return Carried(branch.getResults());
}

LoopEmitter::Carried LoopEmitter::body(LoopState &s) {
  DenseMap<Value, Value> done;
  Value value = bodyValue(s, algebra.yieldOperand(), done);
  Value changes = flags && statement.assembled ? flags->changes() : Value();
  if (statement.assembled && !s.scalar) {
    if (!changes)
      insert(s, value);
    else
      branch(
          changes, {},
          [&] {
            insert(s, value);
            return Carried();
          },
          nullptr);
    return {};
  }
  Carried result{value};
  if (statement.assembled)
    result.push_back(changes ? Value(arith::OrIOp::create(b, loc, s.carried[1], changes))
                             : arith::ConstantIntOp::create(b, loc, 1, 1));
  return result;
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

void LoopEmitter::fillBody(Block *block, LoopState s, unsigned depth, ArrayRef<unsigned> who,
                           unsigned minterm, bool counted) {
  OpBuilder::InsertionGuard guard(b);
  Location at = loc;
  s = withMinterm(s, who, minterm);
  s.coordinates[depth] = block->addArgument(b.getIndexType(), at);
  for (auto [k, o] : llvm::enumerate(who))
    if (minterm >> k & 1) {
      Type type = iteratorType(o, s.operands[o].iterators.size());
      s.operands[o].iterators.push_back(block->addArgument(type, at));
      s.operands[o].uncertain = false;
    }
  for (Value &carried : s.carried)
    carried = block->addArgument(carried.getType(), at);
  Value count = counted ? Value(block->addArgument(b.getIndexType(), at)) : Value();
  b.setInsertionPointToStart(block);
  Carried results = loops(s, depth + 1);
  if (counted)
    results.push_back(arith::AddIOp::create(b, loc, count, arith::ConstantIndexOp::create(b, loc, 1)));
  dialect::YieldOp::create(b, loc, results);
}

dialect::LoopAttr LoopEmitter::loopAttr(unsigned depth) const {
  return dialect::LoopAttr::get(
      b.getContext(), isReduction(depth) ? dialect::LoopKind::Reduction : dialect::LoopKind::Parallel,
      b.getStringAttr(iteration::nameOf(plan.order[depth], nameOfIndices(statement.generic))));
}

/// The loop over the coordinates of `minterms`. Results: what is carried, then, if counted, how many
/// coordinates there were.
LoopEmitter::Carried LoopEmitter::loop(const LoopState &s, unsigned depth, ArrayRef<unsigned> who,
                                       ArrayRef<unsigned> minterms, bool counted) {
  Carried inits = s.carried;
  if (counted)
    inits.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  SmallVector<Type> types(ValueRange(inits).getTypes());
  Value range;
  if (minterms[0] == 0) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    range = dialect::RangeOp::create(b, loc, dialect::RangeType::get(b.getContext()), zero, extent(s, depth));
  }
  SmallVector<Value> spaces;
  for (unsigned o : who)
    spaces.push_back(space(s, o));
  bool alone = who.empty() || (who.size() == 1 && minterms[0] == 1);
  if (alone) {
    auto op = IterateOp::create(b, loc, types, who.empty() ? range : spaces[0], inits, loopAttr(depth),
                                !counted && visitsEach(s, depth, who));
    fillBody(&op.getBody().emplaceBlock(), s, depth, who, minterms[0], counted);
    return Carried(op.getResults());
  }
  iteration::CoordinateSet set(who.size(), std::vector<iteration::Minterm>(minterms.begin(), minterms.end()));
  SmallVector<int64_t> cases(minterms.begin(), minterms.end());
  auto op =
      CoiterateOp::create(b, loc, types, set.print(), cases, spaces, range, inits, loopAttr(depth), strategy,
                          /*flags=*/false, cases.size());
  for (auto [region, minterm] : llvm::zip(op.getCaseRegions(), minterms))
    fillBody(&region.emplaceBlock(), s, depth, who, minterm, counted);
  return Carried(op.getResults());
}

/// Where nothing is stored the accumulator meets one constant, and meeting it once is as good as often: walk
/// what is stored, count it, and add the constant if some coordinate was left out.
LoopEmitter::Carried LoopEmitter::remainder(LoopState s, unsigned depth, ArrayRef<unsigned> who,
                                            function_ref<Carried()> walk) {
  LoopState rest = withMinterm(s, who, 0);
  Value count = arith::ConstantIndexOp::create(b, loc, 0);
  if (walk) {
    rest.carried = walk();
    count = rest.carried.pop_back_val();
  }
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, count, extent(s, depth));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (unsigned d = depth + 1; d < plan.order.size(); ++d) {
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, sizes[plan.order[d].index], zero);
    some = arith::AndIOp::create(b, loc, some, inside);
  }
  Carried once = body(rest);
  for (auto [with, without] : llvm::zip(once, rest.carried))
    with = arith::SelectOp::create(b, loc, some, with, without);
  return once;
}

} // namespace tulle::passes
