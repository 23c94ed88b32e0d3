// Results whose pattern nobody has yet: the loops insert entries instead of storing values.
#include "dialect/Attributes.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/sparsify/Emitter.h"

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

/// At most as many inserts as entries of an operand without which nothing is inserted, or of several that are
/// not all missing at once, if each insert belongs to one of their entries; null when nothing is that cheap.
Value LoopEmitter::insertionBound() {
  auto covers = [&](const SparseOperand &operand) {
    for (unsigned i = 0; i < statement.reduction.size(); ++i) {
      bool inside = onceEach && statement.reduction[i]; // one insert for all of them
      if (!inside && llvm::none_of(operand.subscripts, [&](const iteration::Subscript &s) {
            return s.isVariable() && s.terms[0].first == i;
          }))
        return false;
    }
    return operand.sparse;
  };
  uint64_t all = 0;
  SmallVector<unsigned> enough;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    if (covers(statement.operands[o])) {
      all |= uint64_t(1) << o;
      if (algebra.isNoOp({uint64_t(1) << o, 0}))
        enough.push_back(o);
    }
  if (!enough.empty()) {
    Value bound;
    for (unsigned o : enough) {
      Value count = dialect::StoredCountOp::create(b, loc, statement.operands[o].tensor);
      bound = bound ? arith::MinUIOp::create(b, loc, bound, count).getResult() : count;
    }
    return bound;
  }
  if (!all || !algebra.isNoOp({all, 0}))
    return {};
  Value bound;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    if (all >> o & 1) {
      Value count = dialect::StoredCountOp::create(b, loc, statement.operands[o].tensor);
      bound = bound ? arith::AddIOp::create(b, loc, bound, count).getResult() : count;
    }
  return bound;
}

/// At most as many coordinates as entries of an operand without which nothing is inserted, where each entry
/// belongs to one of them: a mask. Null where inserts are bounded, or nothing is that cheap.
Value LoopEmitter::entriesBound() {
  if (onceEach)
    return {};
  Value bound;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    const SparseOperand &operand = statement.operands[o];
    bool covers = operand.sparse && algebra.isNoOp({uint64_t(1) << o, 0});
    for (unsigned i = 0; covers && i < statement.reduction.size(); ++i)
      covers = statement.reduction[i] || llvm::any_of(operand.subscripts, [&](const iteration::Subscript &s) {
                 return s.isVariable() && s.terms[0].first == i;
               });
    if (!covers)
      continue;
    Value count = dialect::StoredCountOp::create(b, loc, operand.tensor);
    bound = bound ? arith::MinUIOp::create(b, loc, bound, count).getResult() : count;
  }
  return bound;
}

/// One element: inserted where the body runs; or, where reductions run inside, accumulated in a register and
/// inserted if anything was.
LoopEmitter::Carried LoopEmitter::newElement(LoopState s, unsigned depth) {
  if (depth == plan.order.size())
    return leaf(s);
  LoopState inner = s;
  inner.scalar = true;
  inner.carried = {startValue(), arith::ConstantIntOp::create(b, loc, 0, 1)};
  Carried result = loops(inner, depth);
  auto branch = scf::IfOp::create(b, loc, result[1], /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  insert(s, result[0]);
  return {};
}

void LoopEmitter::insert(const LoopState &s, Value value) {
  Type type = cast<RankedTensorType>(statement.init.getType()).getElementType();
  if (value.getType() != type)
    value = arith::TruncFOp::create(b, loc, type, value);
  SmallVector<Value> coordinates;
  for (const iteration::Subscript &subscript : statement.result().subscripts)
    coordinates.push_back(indexValue(s, subscript.terms[0].first));
  OpBuilder::InsertionGuard guard(b);
  if (statement.generic->hasAttr(dialect::kDropAttr)) {
    Value kept =
        isNot(value, dialect::materialize(
                         b, loc, dialect::fillAttr(cast<RankedTensorType>(statement.init.getType())), type));
    auto branch = scf::IfOp::create(b, loc, kept, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
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
  Type type = cast<RankedTensorType>(statement.init.getType()).getElementType();
  Type wide = algebra.yieldOperand().getType();
  Value start = dialect::materialize(b, loc, statement.start, type);
  return wide == type ? start : b.createOrFold<arith::ExtFOp>(loc, wide, start);
}

/// The result's coordinates by which entries arrive in ascending order: the digits of the outer loops, as far
/// as these are walked in order, up to the first reduction, which starts everything inside it again.
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
  for (Operation *user : algebra.accumulatorArg().getUsers()) {
    if (isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(user))
      return Combine::Add;
    if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(user))
      return Combine::Mul;
    if (isa<arith::MinimumFOp, arith::MinSIOp>(user))
      return Combine::Min;
    if (isa<arith::MaximumFOp, arith::MaxSIOp>(user))
      return Combine::Max;
    if (isa<arith::AndIOp>(user))
      return Combine::And;
    if (isa<arith::OrIOp>(user))
      return Combine::Or;
    if (isa<arith::XOrIOp>(user))
      return Combine::Xor;
  }
  return std::nullopt;
}

} // namespace tulle::passes
