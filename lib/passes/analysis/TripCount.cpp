#include "passes/analysis/TripCount.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {

namespace arith = mlir::arith;

static std::optional<int64_t> constantOf(mlir::Value value) {
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

std::optional<int64_t> blockBound(mlir::Value bound) {
  mlir::Operation *op = bound.getDefiningOp();
  if (!mlir::isa_and_nonnull<arith::MinUIOp, arith::MinSIOp>(op))
    return std::nullopt;
  if (std::optional<int64_t> constant = constantOf(op->getOperand(0)))
    return constant;
  return constantOf(op->getOperand(1));
}

std::optional<int64_t> constantIterations(mlir::scf::ForOp loop) {
  std::optional<int64_t> lower = constantOf(loop.getLowerBound()), upper = constantOf(loop.getUpperBound());
  if (!lower || !upper)
    return std::nullopt;
  return std::max<int64_t>(*upper - *lower, 0);
}

std::optional<int64_t> mostIterations(mlir::scf::ForOp loop) {
  if (std::optional<int64_t> exactly = constantIterations(loop))
    return exactly;
  if (std::optional<int64_t> block = blockBound(loop.getUpperBound()))
    if (std::optional<int64_t> lower = constantOf(loop.getLowerBound()))
      return std::max<int64_t>(*block - *lower, 0);
  auto sum = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
  if (sum && sum.getLhs() == loop.getLowerBound())
    return constantOf(sum.getRhs());
  if (sum && sum.getRhs() == loop.getLowerBound())
    return constantOf(sum.getLhs());
  return std::nullopt;
}

} // namespace tulle::passes
