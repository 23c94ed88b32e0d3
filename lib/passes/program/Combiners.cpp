// Which operation a loop reduces its values with.
#include "passes/program/Combiners.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "passes/program/TensorFlow.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::program {

// The operation by which iterations change a loop-carried value is found by following the value back to its
// start through loops, branches and one kind of operation, each of which uses the running value once.

/// Sums and products of floats may be reassociated only where their flags say so.
static bool isMonoid(Operation *op) {
  if (isa<arith::AddFOp, arith::MulFOp, complex::AddOp, complex::MulOp>(op))
    return arith::bitEnumContainsAll(
        cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue(),
        arith::FastMathFlags::reassoc);
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
               Value carried = carriedArgument(region, number);
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

Attribute identity(Operation *op) {
  Type type = op->getResult(0).getType();
  if (isa<complex::MulOp>(op))
    return scalarAttr(type, {1, 1.0});
  if (isa<complex::AddOp>(op))
    return zeroAttr(type);
  // 0 + -0 is 0: upstream's zero would lose the sign of a sum.
  if (isa<arith::AddFOp>(op))
    return FloatAttr::get(type, -0.0);
  if (!isa<FloatType, IntegerType>(type))
    return {};
  return arith::getNeutralElement(op).value_or(nullptr);
}

std::optional<Combiners> combinersOf(Operation *loop) {
  Combiners found;
  for (OpResult result : loop->getResults()) {
    if (isTensor(result)) {
      found.operations.push_back(nullptr);
      found.identities.push_back(nullptr);
      continue;
    }
    // The loop is all that must use its init in this way, so any value may stand for it.
    Operation *combiner = nullptr;
    for (Region &region : loop->getRegions()) {
      Value carried = carriedArgument(region, result.getResultNumber());
      Value yielded = region.front().getTerminator()->getOperand(result.getResultNumber());
      if (yielded == carried)
        continue;
      Operation *own = combinerOf(yielded, carried);
      if (!own || (combiner && combiner->getName() != own->getName()))
        return std::nullopt;
      combiner = own;
    }
    Attribute neutral = combiner ? identity(combiner) : Attribute();
    if (!neutral)
      return std::nullopt;
    found.operations.push_back(combiner);
    found.identities.push_back(neutral);
  }
  return found;
}

} // namespace tulle::program
