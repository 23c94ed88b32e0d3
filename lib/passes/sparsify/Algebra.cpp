// Simplification by rules and folds, memoized by value and presence. Why a value is a constant is kept apart
// from that it is one: only lack of entries annihilates.
#include "passes/sparsify/Algebra.h"
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <bit>

namespace tulle::passes {
using namespace mlir;

namespace {

Attribute attr(OpFoldResult x) { return dyn_cast<Attribute>(x); }

bool isZero(OpFoldResult x) {
  Attribute a = attr(x);
  if (auto pair = dyn_cast_or_null<ArrayAttr>(a))
    return llvm::all_of(pair, [](Attribute part) { return isZero(part); });
  return a && (matchPattern(a, m_AnyZeroFloat()) || matchPattern(a, m_Zero()));
}
bool isOne(OpFoldResult x) {
  Attribute a = attr(x);
  return a && (matchPattern(a, m_OneFloat()) || matchPattern(a, m_One()));
}
bool isAllOnes(OpFoldResult x) {
  auto i = dyn_cast_or_null<IntegerAttr>(attr(x));
  return i && i.getValue().isAllOnes();
}
/// The identity of min (`sign` > 0) or max in the type.
bool isExtreme(OpFoldResult x, int sign) {
  Attribute a = attr(x);
  if (auto i = dyn_cast_or_null<IntegerAttr>(a))
    return sign > 0 ? i.getValue().isMaxSignedValue() : i.getValue().isMinSignedValue();
  return a && (sign > 0 ? matchPattern(a, m_PosInfFloat()) : matchPattern(a, m_NegInfFloat()));
}

bool isInfinite(OpFoldResult x) { return isExtreme(x, 1) || isExtreme(x, -1); }

/// `identity (op) x` and `x (op) identity` are x; null when neither side is the identity.
OpFoldResult dropIdentity(ArrayRef<OpFoldResult> args, function_ref<bool(OpFoldResult)> identity) {
  if (identity(args[1]))
    return args[0];
  if (identity(args[0]))
    return args[1];
  return {};
}

bool preservesZero(Operation *op) {
  return isa<complex::NegOp, complex::ConjOp, complex::SqrtOp, complex::SinOp, complex::TanOp,
             complex::TanhOp, complex::Expm1Op, complex::Log1pOp, complex::AbsOp, complex::ReOp,
             complex::ImOp>(op) ||
         isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::CbrtOp, math::SinOp, math::AsinOp, math::SinhOp,
             math::AsinhOp, math::TanOp, math::AtanOp, math::TanhOp, math::AtanhOp, math::ErfOp,
             math::ExpM1Op, math::Log1pOp, math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
             math::TruncOp>(op) ||
         isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::BitcastOp,
             arith::IndexCastOp, arith::IndexCastUIOp>(op);
}

} // namespace

BodyAlgebra::BodyAlgebra(linalg::GenericOp generic) : generic(generic) {
  accumulatorValue = generic.getBody()->getArguments().back();
  yieldValue = generic.getBody()->getTerminator()->getOperand(0);
  auto narrow = yieldValue.getDefiningOp<arith::TruncFOp>();
  if (!narrow)
    return;
  if (!accumulatorValue.use_empty()) {
    if (!accumulatorValue.hasOneUse())
      return;
    auto widened = dyn_cast<arith::ExtFOp>(*accumulatorValue.user_begin());
    if (!widened || widened.getType() != narrow.getIn().getType())
      return;
    accumulatorValue = widened;
  }
  yieldValue = narrow.getIn();
}

void BodyAlgebra::setAccumulator(Attribute value) {
  auto number = dyn_cast<FloatAttr>(value);
  accumulator = number ? FloatAttr::get(yieldValue.getType(), number.getValueAsDouble()) : value;
}

OpFoldResult BodyAlgebra::simplify(Value value, Presence at) {
  if (value == accumulatorValue)
    return accumulator ? OpFoldResult(accumulator) : OpFoldResult(value);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg.getOwner() != generic.getBody())
      return value;
    unsigned k = arg.getArgNumber();
    return at.absent >> k & 1
               ? OpFoldResult(dialect::fillAttr(cast<RankedTensorType>(generic->getOperand(k).getType())))
               : OpFoldResult(value);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != generic.getBody()) {
    Attribute constant;
    return matchPattern(value, m_Constant(&constant)) ? OpFoldResult(constant) : OpFoldResult(value);
  }
  std::tuple key(value, at.absent, at.present);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  OpFoldResult result = compute(op, at);
  if (!result)
    result = value;
  return known[key] = result;
}

/// Whether the value is a constant because operands are absent, by the rules of notation/Sparsity (vanishes):
/// only the fill 0 makes a 0 that annihilates inf and nan, as the maximum of -2 and 0 does not.
bool BodyAlgebra::vanishes(Value value, Presence at, Lack lack) {
  Attribute constant = attr(simplify(value, at));
  if (!constant)
    return false;
  // A body is a graph, not a tree: repeated squaring has as many paths as its result.
  std::tuple key(value, at.absent, at.present, unsigned(lack));
  if (auto found = vanishing.find(key); found != vanishing.end())
    return found->second;
  bool result = isEmptied(value, constant, at, lack);
  return vanishing[key] = result;
}

bool BodyAlgebra::isEmptied(Value value, Attribute constant, Presence at, Lack lack) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner() == generic.getBody() && value != accumulatorValue &&
           (lack == Lack::Fill || isZero(constant));
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != generic.getBody() || op->hasTrait<OpTrait::ConstantLike>())
    return isZero(constant);
  auto arg = [&](unsigned k) { return vanishes(op->getOperand(k), at, lack); };
  auto swallows = [&](unsigned k) {
    return annihilates(op->getOperand(k), at, lack) &&
           (!isa<arith::AddFOp>(op) || isInfinite(simplify(op->getOperand(k), at)));
  };
  if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp, arith::AndIOp, arith::AddFOp>(op) &&
      (swallows(0) || swallows(1)))
    return true;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, arith::RemFOp, complex::DivOp, arith::ShLIOp,
          arith::ShRSIOp, math::PowFOp, math::IPowIOp, complex::CreateOp>(op))
    return annihilates(op->getOperand(0), at, lack);
  if (isa<arith::AddFOp, arith::AddIOp, complex::AddOp, arith::SubFOp, arith::SubIOp, complex::SubOp,
          arith::OrIOp, arith::XOrIOp, arith::MinimumFOp, arith::MinSIOp, arith::MaximumFOp, arith::MaxSIOp>(
          op))
    return arg(0) && arg(1);
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return isZero(constant) && (arg(0) || arg(1));
  if (isa<arith::SelectOp>(op))
    return arg(2) && (arg(0) || arg(1));
  return preservesZero(op) && arg(0);
}

/// A factor that is written as 0 is a value like others.
bool BodyAlgebra::annihilates(Value factor, Presence at, Lack lack) {
  Operation *op = factor.getDefiningOp();
  return !(op && op->hasTrait<OpTrait::ConstantLike>()) && vanishes(factor, at, lack);
}

/// The rules of the algebra for one operation; null when none applies.
OpFoldResult BodyAlgebra::rule(Operation *op, ArrayRef<OpFoldResult> args, Presence at) {
  Type type = op->getResult(0).getType();
  auto empties = [&](unsigned k) { return isZero(args[k]) && annihilates(op->getOperand(k), at); };
  if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(op))
    return empties(0) || empties(1) ? OpFoldResult(dialect::zeroAttr(type)) : dropIdentity(args, isOne);
  if (isa<arith::AndIOp>(op))
    return isZero(args[0]) || isZero(args[1]) ? OpFoldResult(dialect::zeroAttr(type))
                                              : dropIdentity(args, isAllOnes);
  if (isa<arith::OrIOp>(op) && (isAllOnes(args[0]) || isAllOnes(args[1])))
    return isAllOnes(args[0]) ? args[0] : args[1];
  if (isa<math::PowFOp, math::IPowIOp>(op) && isZero(args[1]))
    return OpFoldResult(dialect::scalarAttr(type, {1, 1.0}));
  // An infinite fill swallows what is added to it.
  if (isa<arith::AddFOp>(op))
    for (unsigned k : {0, 1})
      if (isInfinite(args[k]) && annihilates(op->getOperand(k), at, Lack::Fill))
        return args[k];
  if (isa<arith::AddFOp, arith::AddIOp, complex::AddOp, arith::OrIOp, arith::XOrIOp>(op))
    return dropIdentity(args, isZero);
  if (isa<arith::SubFOp, arith::SubIOp, complex::SubOp>(op))
    return isZero(args[1]) ? args[0] : OpFoldResult();
  if (isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, arith::RemFOp, complex::DivOp, arith::ShLIOp,
          arith::ShRSIOp>(op))
    return empties(0) ? OpFoldResult(dialect::zeroAttr(type)) : OpFoldResult();
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return dropIdentity(args, [](OpFoldResult x) { return isExtreme(x, 1); });
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return dropIdentity(args, [](OpFoldResult x) { return isExtreme(x, -1); });
  if (isa<arith::SelectOp>(op)) {
    if (auto condition = dyn_cast_or_null<IntegerAttr>(attr(args[0])))
      return condition.getValue().isZero() ? args[2] : args[1];
    return args[1] == args[2] ? args[1] : OpFoldResult();
  }
  if (isa<complex::CreateOp>(op) && attr(args[0]) && attr(args[1]))
    return OpFoldResult(ArrayAttr::get(op->getContext(), {attr(args[0]), attr(args[1])}));
  if (preservesZero(op) && isZero(args[0]))
    return dialect::zeroAttr(type);
  return {};
}

OpFoldResult BodyAlgebra::compute(Operation *op, Presence at) {
  if (auto stored = dyn_cast<dialect::StoredOp>(op)) {
    unsigned k = cast<BlockArgument>(stored.getValue()).getArgNumber();
    Builder b(op->getContext());
    if ((at.absent | at.present) >> k & 1)
      return OpFoldResult(b.getBoolAttr(at.present >> k & 1));
    return {};
  }
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant;
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumOperands() == 0)
    return {};
  SmallVector<OpFoldResult> args;
  SmallVector<Attribute> constants;
  for (Value operand : op->getOperands()) {
    args.push_back(simplify(operand, at));
    constants.push_back(attr(args.back()));
  }
  // What runs may be infinite or nan, which neither a 0 undoes in a product nor an infinity in a sum, in
  // whatever order they meet.
  OpFoldResult accumulated(accumulatorArg());
  bool runs = llvm::is_contained(args, accumulated);
  OpFoldResult result = runs && isa<arith::MulFOp, complex::MulOp>(op) ? dropIdentity(args, isOne)
                        : runs && isa<arith::AddFOp>(op)               ? dropIdentity(args, isZero)
                                                                       : rule(op, args, at);
  if (result)
    return result;
  // Folding with constants only: a fold with some values may rewrite the operation in place.
  SmallVector<OpFoldResult> folded;
  if (llvm::all_of(constants, [](Attribute a) { return bool(a); }) &&
      succeeded(op->fold(constants, folded)) && folded.size() == 1) {
    if (attr(folded[0]))
      return folded[0];
    // `min(x, x)` folds to x itself.
    for (auto [operand, constant] : llvm::zip(op->getOperands(), constants))
      if (folded[0] == OpFoldResult(operand))
        return OpFoldResult(constant);
  }
  return {};
}

bool BodyAlgebra::isNoOp(Presence at) {
  OpFoldResult y = yielded(at);
  if (!accumulator)
    return y == OpFoldResult(accumulatorArg());
  // Zeros are equal, of whatever sign.
  return attr(y) == accumulator || (attr(y) && isZero(y) && isZero(accumulator));
}

bool BodyAlgebra::isIdempotentConstant(Presence at) {
  // `acc & 0`: the accumulator is gone, however often.
  if (attr(yielded(at)) && !accumulator)
    return true;
  auto value = dyn_cast<Value>(yielded(at));
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (!op || op->getBlock() != generic.getBody() || op->getNumOperands() != 2)
    return false;
  OpFoldResult x = simplify(op->getOperand(0), at), y = simplify(op->getOperand(1), at);
  OpFoldResult acc(accumulatorArg());
  Attribute constant = x == acc ? attr(y) : y == acc ? attr(x) : Attribute();
  if (isa<arith::MulFOp, complex::MulOp>(op))
    return constant && isZero(constant);
  if (isa<arith::AddFOp>(op))
    return constant && isInfinite(constant);
  return constant && isa<arith::MinimumFOp, arith::MaximumFOp, arith::MinSIOp, arith::MaxSIOp, arith::AndIOp,
                         arith::OrIOp>(op);
}

Value BodyAlgebra::addend(Presence at) {
  auto value = dyn_cast<Value>(yielded(at));
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (!op || op->getBlock() != generic.getBody() || !isa<arith::AddFOp, arith::AddIOp>(op))
    return {};
  // The sum of n equal numbers in another order; a narrow type has no room for n.
  if (auto sum = dyn_cast<arith::AddFOp>(op))
    if (!bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc) ||
        getElementTypeOrSelf(value).getIntOrFloatBitWidth() < 32)
      return {};
  for (unsigned k : {0, 1})
    if (simplify(op->getOperand(k), at) == OpFoldResult(accumulatorArg()) &&
        !reads(op->getOperand(1 - k), at).accumulator)
      return op->getOperand(1 - k);
  return {};
}

BodyAlgebra::Reads BodyAlgebra::reads(Value value, Presence at) {
  Reads result;
  llvm::SetVector<Value> reached;
  auto reach = [&](Value v) {
    if (auto simple = dyn_cast<Value>(v == accumulatorValue ? OpFoldResult(v) : simplify(v, at)))
      reached.insert(simple);
  };
  reach(value);
  for (size_t k = 0; k < reached.size(); ++k) {
    Value v = reached[k];
    Operation *op = v.getDefiningOp();
    if (auto arg = dyn_cast<BlockArgument>(v); arg && arg.getOwner() == generic.getBody())
      result.inputs |= uint64_t(1) << arg.getArgNumber();
    else if (isa_and_nonnull<dialect::StoredOp>(op))
      result.inputs |= uint64_t(1) << cast<BlockArgument>(op->getOperand(0)).getArgNumber();
    else if (auto index = dyn_cast_or_null<linalg::IndexOp>(op))
      result.indices.insert(unsigned(index.getDim()));
    else if (op && op->getBlock() == generic.getBody() && v != accumulatorValue)
      llvm::for_each(op->getOperands(), reach);
  }
  result.accumulator = reached.contains(accumulatorValue);
  result.values = unsigned(reached.size());
  return result;
}

unsigned BodyAlgebra::residual(Value value, Presence at, DenseMap<Value, unsigned> &done) {
  if (auto found = done.find(value); found != done.end())
    return found->second;
  OpFoldResult simple = value == accumulatorValue ? OpFoldResult(value) : simplify(value, at);
  std::vector<uintptr_t> key;
  auto with = [&](const void *what) { key.push_back(reinterpret_cast<uintptr_t>(what)); };
  if (Attribute constant = attr(simple)) {
    // Whether it annihilates depends on why it is this constant.
    with(constant.getAsOpaquePointer());
    key.push_back(vanishes(value, at, Lack::Zero));
    key.push_back(vanishes(value, at, Lack::Fill));
  } else if (Value other = cast<Value>(simple); other != value) {
    return done[value] = residual(other, at, done);
  } else {
    with(value.getAsOpaquePointer());
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == generic.getBody() && value != accumulatorValue)
      for (Value operand : op->getOperands())
        key.push_back(residual(operand, at, done));
  }
  unsigned next = unsigned(residuals.size());
  return done[value] = residuals.try_emplace(std::move(key), next).first->second;
}

//===--- Presence flags ---===//

unsigned FlagAlgebra::leaf(Attribute attribute) {
  for (auto [n, node] : llvm::enumerate(nodes))
    if (node.known && node.attribute == attribute)
      return unsigned(n);
  nodes.push_back({0, 0, 0, true, attribute});
  return unsigned(nodes.size() - 1);
}

unsigned FlagAlgebra::decide(Value root, Known known, Presence now, DenseMap<unsigned, unsigned> &done) {
  if (Attribute attribute = known(now))
    return leaf(attribute);
  const uint64_t open = algebra.reads(root, now).inputs & uncertain & ~(now.absent | now.present);
  // The value of an operand that is present is anything. So nothing more becomes known than where all are
  // absent, unless presence itself is read.
  if (!open || (!(open & tested) && !known({now.absent | open, now.present})))
    return leaf({});
  const unsigned id = algebra.residual(root, now);
  if (auto found = done.find(id); found != done.end())
    return found->second;
  const unsigned input = unsigned(std::countr_zero(open & tested ? open & tested : open));
  const uint64_t bit = uint64_t(1) << input;
  const unsigned with = decide(root, known, {now.absent, now.present | bit}, done);
  const unsigned without = decide(root, known, {now.absent | bit, now.present}, done);
  if (with == without)
    return done[id] = with;
  nodes.push_back({input, with, without, false, {}});
  return done[id] = unsigned(nodes.size() - 1);
}

Value FlagAlgebra::emit(unsigned n, Value plain, DenseMap<unsigned, Value> &done) {
  if (Value found = done.lookup(n))
    return found;
  const Node node = nodes[n];
  if (node.known)
    return done[n] = node.attribute ? dialect::materialize(b, loc, node.attribute, plain.getType()) : plain;
  Value with = emit(node.with, plain, done), without = emit(node.without, plain, done);
  return done[n] = b.createOrFold<arith::SelectOp>(loc, flags[node.input], with, without);
}

Value FlagAlgebra::changes() {
  DenseMap<unsigned, unsigned> decided;
  auto noOp = [&](Presence now) {
    return algebra.isNoOp(now) ? Attribute(b.getBoolAttr(false)) : Attribute();
  };
  const unsigned root = decide(algebra.yieldOperand(), noOp, at, decided);
  if (nodes[root].known && !nodes[root].attribute)
    return {};
  DenseMap<unsigned, Value> emitted;
  return emit(root, arith::ConstantIntOp::create(b, loc, 1, 1), emitted);
}

Value FlagAlgebra::corrected(Value value, Value plain) {
  Operation *op = value.getDefiningOp();
  if (!isa<arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::AddFOp, complex::MulOp, complex::DivOp>(op))
    return plain;
  // A sum differs only where an infinite fill is added to.
  const bool sum = isa<arith::AddFOp>(op);
  auto known = [&](Presence now) {
    auto constant = dyn_cast<Attribute>(algebra.simplify(value, now));
    auto number = dyn_cast_or_null<FloatAttr>(constant);
    return !sum || (number && number.getValue().isInfinity()) ? constant : Attribute();
  };
  DenseMap<unsigned, unsigned> decided;
  DenseMap<unsigned, Value> emitted;
  return emit(decide(value, known, at, decided), plain, emitted);
}

} // namespace tulle::passes
