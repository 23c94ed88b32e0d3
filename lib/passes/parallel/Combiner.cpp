#include "passes/parallel/Combiner.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Sums and products of floats may be reassociated only where their flags say so.
static bool isMonoid(Operation *op) {
  auto mayRegroup = [&](arith::FastMathFlags flags) {
    return arith::bitEnumContainsAll(flags, arith::FastMathFlags::reassoc);
  };
  if (isa<arith::AddFOp, arith::MulFOp>(op))
    return mayRegroup(cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue());
  if (isa<complex::AddOp, complex::MulOp>(op))
    return mayRegroup(cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue());
  return isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::MinimumFOp, arith::MaximumFOp,
             arith::MinNumFOp, arith::MaxNumFOp>(op);
}

namespace {

class Search {
public:
  Operation *found = nullptr;

  /// Whether `value` is `start`, or made from it by the one operation.
  bool follow(Value value, Value start) {
    if (!reach(value, start))
      return false;
    // Whatever else uses the running value depends on the order.
    return llvm::all_of(start.getUsers(), [&](Operation *user) { return steps.contains(user); });
  }

private:
  llvm::SmallPtrSet<Operation *, 8> steps;

  bool step(Operation *op) {
    steps.insert(op);
    return true;
  }

  bool reach(Value value, Value start) {
    if (value == start)
      return true;
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (isLoop(op)) {
      Value init = initsOf(op)[number].get();
      return reach(init, start) && step(op) && llvm::all_of(op->getRegions(), [&](Region &region) {
               Block &block = region.front();
               Value carried = block.getArgument(block.getNumArguments() - op->getNumResults() + number);
               return inRegion(region, number, carried) && follow(carried, carried);
             });
    }
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return !branch.getElseRegion().empty() && inRegion(branch.getThenRegion(), number, start) &&
             inRegion(branch.getElseRegion(), number, start);
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return step(op) && select.getCondition() != start && reach(select.getTrueValue(), start) &&
             reach(select.getFalseValue(), start);
    if (!isMonoid(op) || op->getOperand(0) == op->getOperand(1))
      return false;
    if (found &&
        (found->getName() != op->getName() || found->getAttrDictionary() != op->getAttrDictionary() ||
         found->getResult(0).getType() != value.getType()))
      return false;
    found = op;
    // Once: x + x is no sum of the tasks' x.
    return step(op) && reach(op->getOperand(0), start) != reach(op->getOperand(1), start);
  }

  bool inRegion(Region &region, unsigned number, Value start) {
    Operation *terminator = region.front().getTerminator();
    return step(terminator) && reach(terminator->getOperand(number), start);
  }
};

} // namespace

Operation *combinerOf(Value result, Value start) {
  Search search;
  return search.follow(result, start) ? search.found : nullptr;
}

/// The identity of a float or integer operation, for one part of a complex number.
static TypedAttr neutral(Operation *op, Type type) {
  OpBuilder b(type.getContext());
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &form = real.getFloatSemantics();
    if (isa<arith::AddFOp, complex::AddOp>(op))
      return b.getFloatAttr(real, APFloat::getZero(form, /*Negative=*/true));
    if (isa<arith::MulFOp>(op))
      return b.getFloatAttr(real, APFloat::getOne(form));
    return b.getFloatAttr(real, APFloat::getInf(form, isa<arith::MaximumFOp, arith::MaxNumFOp>(op)));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(bits); // add, or, xor, maxui
  if (isa<arith::MulIOp>(op))
    value = APInt(bits, 1);
  else if (isa<arith::AndIOp, arith::MinUIOp>(op))
    value = APInt::getAllOnes(bits);
  else if (isa<arith::MinSIOp>(op))
    value = APInt::getSignedMaxValue(bits);
  else if (isa<arith::MaxSIOp>(op))
    value = APInt::getSignedMinValue(bits);
  return b.getIntegerAttr(type, value);
}

std::optional<TypedAttr> identity(Operation *op) {
  Type type = op->getResult(0).getType();
  if (isa<FloatType, IntegerType>(type))
    return neutral(op, type);
  auto pair = dyn_cast<ComplexType>(type);
  if (!pair || !isa<FloatType>(pair.getElementType()))
    return std::nullopt;
  return TypedAttr(complex::NumberAttr::get(pair, isa<complex::MulOp>(op) ? 1.0 : 0.0, 0.0));
}

Value constant(OpBuilder &b, Location loc, TypedAttr value) {
  auto pair = dyn_cast<complex::NumberAttr>(value);
  if (!pair)
    return arith::ConstantOp::create(b, loc, value);
  auto type = cast<ComplexType>(pair.getType());
  auto part = cast<FloatType>(type.getElementType());
  return complex::ConstantOp::create(
      b, loc, type,
      b.getArrayAttr({b.getFloatAttr(part, pair.getReal()), b.getFloatAttr(part, pair.getImag())}));
}

Value combine(OpBuilder &b, Location loc, Operation *combiner, Value x, Value y) {
  Operation *copy = b.clone(*combiner);
  copy->setOperands({x, y});
  return copy->getResult(0);
}

} // namespace tulle::parallel
