#include "passes/analysis/TripCount.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/analysis/LoopMatchers.h"
#include "llvm/Support/MathExtras.h"

namespace tulle::passes {

using namespace mlir;

std::optional<int64_t> minWithConstant(Value bound) {
  Operation *op = bound.getDefiningOp();
  if (!isa_and_nonnull<arith::MinUIOp, arith::MinSIOp>(op))
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(op->getOperand(0)))
    return constant;
  return getConstantIntValue(op->getOperand(1));
}

std::optional<int64_t> exactTripCount(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step)
    return std::nullopt;
  return std::max<int64_t>(llvm::divideCeilSigned(*upper - *lower, *step), 0);
}

std::optional<int64_t> maxTripCount(scf::ForOp loop) {
  if (std::optional<int64_t> exactly = exactTripCount(loop))
    return exactly;
  if (std::optional<int64_t> tile = minWithConstant(loop.getUpperBound()))
    if (std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()))
      return std::max<int64_t>(*tile - *lower, 0);
  Value length = otherOperand<arith::AddIOp>(loop.getUpperBound(), loop.getLowerBound());
  return length ? getConstantIntValue(length) : std::nullopt;
}

} // namespace tulle::passes
