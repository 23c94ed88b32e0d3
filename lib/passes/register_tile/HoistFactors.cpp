#include "passes/register_tile/HoistFactors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tulle::passes {

using namespace mlir;

static bool mayReassociate(arith::ArithFastMathInterface op) {
  return arith::bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
}

/// Whether the value depends on the loop's index, or on an operation of its body outside of `inner`: that is
/// cloned as it is. Every value is visited once, however many paths lead to it.
static bool variesIn(Value value, scf::ForOp loop, scf::ForOp inner) {
  SmallVector<Value> open{value};
  SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == loop.getInductionVar())
      return true;
    Operation *op = next.getDefiningOp();
    if (!op || !loop->isProperAncestor(op) || !seen.insert(op).second)
      continue;
    if (op->getNumRegions() != 0 || !inner->isProperAncestor(op))
      return true;
    llvm::append_range(open, op->getOperands());
  }
  return false;
}

static void collectFactors(Value value, scf::ForOp inner, SmallVectorImpl<Value> &factors) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != inner.getBody() || !product->hasOneUse() ||
      !mayReassociate(product)) {
    factors.push_back(value);
    return;
  }
  collectFactors(product.getLhs(), inner, factors);
  collectFactors(product.getRhs(), inner, factors);
}

/// The factors of what is added to the element; none where it is no such sum.
static SmallVector<Value> summedFactors(const ReductionNest &nest, arith::AddFOp sum) {
  scf::ForOp inner = nest.inner;
  memref::LoadOp element = nest.load;
  if (!sum || sum->getBlock() != inner.getBody() || !sum->hasOneUse() || !mayReassociate(sum) ||
      !element->hasOneUse())
    return {};
  const bool onTheLeft = sum.getLhs() == element.getResult();
  if (!onTheLeft && sum.getRhs() != element.getResult())
    return {};
  SmallVector<Value> factors;
  collectFactors(onTheLeft ? sum.getRhs() : sum.getLhs(), inner, factors);
  return factors;
}

std::optional<HoistFactors> hoistableFactors(const ReductionNest &nest, size_t tree) {
  memref::StoreOp store = nest.store;
  auto sum = store.getValueToStore().getDefiningOp<arith::AddFOp>();
  const size_t loops = nest.outers.size();
  HoistFactors found;
  found.of.resize(loops);
  for (Value factor : summedFactors(nest, sum)) {
    size_t depth = loops - 1;
    while (depth > 0 && !variesIn(factor, nest.outers[depth], nest.inner))
      --depth;
    found.of[depth].push_back(factor);
  }
  bool any = false;
  for (size_t depth = 0; depth + 1 < loops; ++depth) {
    SmallVector<Value> &own = found.of[depth];
    if (depth >= tree &&
        llvm::any_of(own, [&](Value factor) { return variesIn(factor, nest.inner, nest.inner); })) {
      any = true;
      continue;
    }
    // A scalar alone costs less with each entry than a sum of its own.
    llvm::append_range(found.of[depth + 1], own);
    own.clear();
  }
  if (!any || found.of.back().empty())
    return std::nullopt;
  found.flags = sum.getFastmathAttr();
  return found;
}

} // namespace tulle::passes
