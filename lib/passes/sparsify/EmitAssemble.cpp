// Results whose pattern nobody has yet: the loops insert entries instead of storing values.
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "passes/sparsify/Emitter.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tulle::passes {
using namespace mlir;
using dialect::Combine;

Value LoopEmitter::assemble() {
  auto type = cast<RankedTensorType>(statement.init.getType());
  SmallVector<Value> dims;
  for (const iteration::Subscript &subscript : statement.result().subscripts)
    dims.push_back(sizes[subscript.terms[0].first]);
  std::optional<Combine> combine = combiner();
  if (!onceEach && !combine) {
    statement.generic.emitError(
        "several values meet at one coordinate of a sparse result, and nothing says what "
        "becomes of them: expected a sum, product, minimum, maximum, and, or, xor");
    return {};
  }
  AffineMap order = insertionOrder();
  auto scheduled = statement.generic->getAttrOfType<dialect::AssemblyPlanAttr>(dialect::kPlanAttr);
  auto op = dialect::AssembleOp::create(
      b, loc, type, dims, insertionBound(), entriesBound(),
      order.isEmpty() ? AffineMapAttr() : AffineMapAttr::get(order), onceEach, combine.value_or(Combine::Add),
      scheduled ? scheduled.getValue() : dialect::AssemblyPlan::Auto, dialect::AssemblyStrategyAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  loops(outermost(), 0);
  return failed ? Value() : op.getResult();
}

bool LoopEmitter::isIndexedBy(const SparseOperand &operand, unsigned index) const {
  return llvm::any_of(operand.subscripts, [&](const iteration::Subscript &s) {
    return s.isVariable() && s.terms[0].first == index;
  });
}

/// The numbers of stored entries of some operands, combined; null of none.
template <typename Op> Value LoopEmitter::storedCounts(ArrayRef<unsigned> operands) {
  Value result;
  for (unsigned o : operands) {
    Value count = dialect::StoredCountOp::create(b, loc, statement.operands[o].tensor);
    result = result ? Op::create(b, loc, result, count).getResult() : count;
  }
  return result;
}

/// At most as many inserts as entries of an operand without which nothing is inserted, or of several that are
/// not all missing at once, if each insert belongs to one of their entries; null when nothing is that cheap.
Value LoopEmitter::insertionBound() {
  uint64_t all = 0;
  SmallVector<unsigned> covering, enough;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    const SparseOperand &operand = statement.operands[o];
    bool covers = operand.sparse;
    for (unsigned i = 0; i < statement.reduction.size(); ++i) // one insert for all iterations of a reduction
      covers &= (onceEach && statement.reduction[i]) || isIndexedBy(operand, i);
    if (!covers)
      continue;
    all |= uint64_t(1) << o;
    covering.push_back(o);
    if (algebra.isNoOp({uint64_t(1) << o, 0}))
      enough.push_back(o);
  }
  if (!enough.empty())
    return storedCounts<arith::MinUIOp>(enough);
  return all && algebra.isNoOp({all, 0}) ? storedCounts<arith::AddIOp>(covering) : Value();
}

/// At most as many coordinates as entries of an operand without which nothing is inserted, where each entry
/// belongs to one of them: a mask. Null where inserts are bounded, or nothing is that cheap.
Value LoopEmitter::entriesBound() {
  if (onceEach)
    return {};
  SmallVector<unsigned> enough;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    const SparseOperand &operand = statement.operands[o];
    bool covers = operand.sparse && algebra.isNoOp({uint64_t(1) << o, 0});
    for (unsigned i = 0; i < statement.reduction.size(); ++i)
      covers &= statement.reduction[i] || isIndexedBy(operand, i);
    if (covers)
      enough.push_back(o);
  }
  return storedCounts<arith::MinUIOp>(enough);
}

/// One element: inserted where the body runs; or, where reductions run inside, accumulated in a register and
/// inserted if anything was.
LoopEmitter::Carried LoopEmitter::newElement(LoopState s, unsigned depth) {
  if (depth == plan.order.size())
    return leaf(s);
  LoopState inner = s;
  inner.scalar = true;
  inner.carried = {startValue(), boolean(false)};
  Carried result = loops(inner, depth);
  return insertWhere(result[1], s, result[0]);
}

/// Inserts where the condition holds, everywhere without one.
LoopEmitter::Carried LoopEmitter::insertWhere(Value condition, const LoopState &s, Value value) {
  OpBuilder::InsertionGuard guard(b);
  if (condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false).thenBlock());
  insert(s, value);
  return {};
}

void LoopEmitter::insert(const LoopState &s, Value value) {
  auto type = cast<RankedTensorType>(statement.init.getType());
  value = resized(value, type.getElementType());
  SmallVector<Value> coordinates;
  for (const iteration::Subscript &subscript : statement.result().subscripts)
    coordinates.push_back(indexValue(s, subscript.terms[0].first));
  OpBuilder::InsertionGuard guard(b);
  if (statement.generic->hasAttr(dialect::kDropAttr)) {
    Value fill = dialect::materialize(b, loc, dialect::fillAttr(type), type.getElementType());
    Value kept = isNot(value, fill);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, kept, /*withElseRegion=*/false).thenBlock());
  }
  dialect::InsertOp::create(b, loc, value, coordinates);
}

Value LoopEmitter::isNot(Value x, Value y) {
  if (isa<ComplexType>(x.getType()))
    return complex::NotEqualOp::create(b, loc, x, y);
  if (isa<FloatType>(x.getType()))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, y);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, y);
}

/// What an element is before anything was accumulated, as wide as it is accumulated.
Value LoopEmitter::startValue() {
  Type type = getElementTypeOrSelf(statement.init.getType());
  return resized(dialect::materialize(b, loc, statement.start, type), algebra.yieldOperand().getType());
}

/// The result's coordinates by which entries are inserted in ascending order: the digits of the outer loops,
/// as far as these are iterated in order, up to the first reduction, which starts everything inside it again.
AffineMap LoopEmitter::insertionOrder() const {
  MLIRContext *context = b.getContext();
  const std::vector<iteration::Subscript> &subscripts = statement.result().subscripts;
  auto ascending = [&](unsigned depth) {
    for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
      for (auto [l, level] : llvm::enumerate(plan.levels[o]))
        if (level.mode == iteration::LevelMode::Drive && level.loop == depth &&
            !statement.operands[o].encoding.getValue().levels[l].format.ordered)
          return false;
    return true;
  };
  SmallVector<AffineExpr> digits;
  for (unsigned depth = 0; depth < plan.order.size() && !isReduction(depth) && ascending(depth); ++depth) {
    const iteration::LoopVar &v = plan.order[depth];
    unsigned dim =
        llvm::find_if(subscripts, [&](auto &s) { return s.terms[0].first == v.index; }) - subscripts.begin();
    AffineExpr digit = getAffineDimExpr(dim, context).floorDiv(v.stride);
    digits.push_back(v.modulus == 0 ? digit : digit % v.modulus);
  }
  return AffineMap::get(subscripts.size(), 0, digits, context);
}

/// The monoid of the body's reduction.
std::optional<Combine> LoopEmitter::combiner() const {
  using Found = std::optional<Combine>;
  for (Operation *user : algebra.accumulatorArg().getUsers())
    if (Found found =
            llvm::TypeSwitch<Operation *, Found>(user)
                .Case<arith::AddFOp, arith::AddIOp, complex::AddOp>([](auto) { return Combine::Add; })
                .Case<arith::MulFOp, arith::MulIOp, complex::MulOp>([](auto) { return Combine::Mul; })
                .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return Combine::Min; })
                .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return Combine::Max; })
                .Case([](arith::AndIOp) { return Combine::And; })
                .Case([](arith::OrIOp) { return Combine::Or; })
                .Case([](arith::XOrIOp) { return Combine::Xor; })
                .Default(Found()))
      return found;
  return std::nullopt;
}

} // namespace tulle::passes
