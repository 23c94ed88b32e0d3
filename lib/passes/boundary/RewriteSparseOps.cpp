// tulle-rewrite-sparse-ops: upstream's rewriting of sparse ops, where it can be relied on, and the ops that
// have a meaning outside of linalg as well.
#include "dialect/Scalars.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/boundary/BoundaryPasses.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_REWRITESPARSEOPS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

//===--- Scalars outside of linalg ---===//

/// What the region yields for these arguments, before the builder's insertion point; null where it yields
/// nothing.
Value inlined(ImplicitLocOpBuilder &b, Region &region, ValueRange arguments) {
  if (region.empty())
    return {};
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    b.clone(op, mapping);
  Operation *yield = region.front().getTerminator();
  return yield->getNumOperands() ? mapping.lookupOrDefault(yield->getOperand(0)) : Value();
}

/// An op on scalars that are there, because no tensor says that they are not; null for an op of another kind.
Value scalarOf(ImplicitLocOpBuilder &b, Operation *op) {
  Value value;
  const ValueRange operands = op->getOperands();
  if (auto unary = dyn_cast<sparse_tensor::UnaryOp>(op))
    value = inlined(b, unary.getPresentRegion(), operands);
  else if (auto binary = dyn_cast<sparse_tensor::BinaryOp>(op))
    value = inlined(b, binary.getOverlapRegion(), operands);
  else if (auto reduce = dyn_cast<sparse_tensor::ReduceOp>(op))
    return inlined(b, reduce.getRegion(), operands.drop_back());
  else if (!isa<sparse_tensor::SelectOp>(op))
    return {};
  if (value)
    return value;
  const Type type = op->getResult(0).getType();
  Value zero = dialect::materialize(b, b.getLoc(), dialect::zeroAttr(type), type);
  if (auto select = dyn_cast<sparse_tensor::SelectOp>(op))
    return arith::SelectOp::create(b, inlined(b, select.getRegion(), operands), operands.front(), zero);
  return zero;
}

void translate(sparse_tensor::CrdTranslateOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  const AffineMap map = op.getDirection() == sparse_tensor::CrdTransDirectionKind::dim2lvl
                            ? op.getEncoder().getDimToLvl()
                            : op.getEncoder().getLvlToDim();
  for (auto [k, result] : llvm::enumerate(op.getOutCrds()))
    result.replaceAllUsesWith(
        affine::AffineApplyOp::create(b, map.getSubMap(unsigned(k)), op.getInCrds()).getResult());
  op.erase();
}

/// Inputs that are no tensors are values from outside of the body.
void captureScalars(linalg::GenericOp generic) {
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  for (unsigned k = unsigned(generic.getNumDpsInputs()); k-- > 0;) {
    const Value input = generic.getInputs()[k];
    if (isa<ShapedType>(input.getType()))
      continue;
    generic.getBody()->getArgument(k).replaceAllUsesWith(input);
    generic.getBody()->eraseArgument(k);
    generic.getInputsMutable().erase(k);
    maps.erase(maps.begin() + k);
  }
  generic.setIndexingMapsAttr(Builder(generic.getContext()).getAffineMapArrayAttr(maps));
}

//===--- Upstream's patterns ---===//

constexpr StringRef fusion = "(anonymous namespace)::FuseSparseMultiplyOverAdd";

LogicalResult applyUpstream(ModuleOp module, ArrayRef<std::string> disabled) {
  RewritePatternSet patterns(module.getContext());
  populatePreSparsificationRewriting(patterns);
  return applyPatternsGreedily(module, FrozenRewritePatternSet(std::move(patterns), disabled));
}

/// Where the product's tensor is sampled to a dense one, the pattern asks for inits that alloc_tensor makes,
/// and does not look whether they are.
void prepareFusion(linalg::GenericOp sampling) {
  if (sampling.getNumDpsInputs() != 2 || sampling.getNumDpsInits() != 1 || sampling.getNumResults() != 1 ||
      sparse_tensor::getSparseTensorEncoding(sampling.getResult(0).getType()))
    return;
  for (OpOperand *input : sampling.getDpsInputOperands()) {
    auto product = input->get().getDefiningOp<linalg::GenericOp>();
    if (!product || product.getNumDpsInits() != 1 || !product.hasPureTensorSemantics() ||
        !product->getResult(0).hasOneUse())
      continue;
    OpOperand *first = product.getDpsInitOperand(0), *init = sampling.getDpsInitOperand(0);
    Operation *zeros = first->get().getDefiningOp();
    if (zeros && zeros->hasTrait<OpTrait::ConstantLike>()) {
      ImplicitLocOpBuilder b(product.getLoc(), product);
      first->set(bufferization::AllocTensorOp::create(b, cast<RankedTensorType>(first->get().getType()),
                                                      ValueRange(), first->get()));
    }
    if (auto empty = init->get().getDefiningOp<tensor::EmptyOp>()) {
      ImplicitLocOpBuilder b(sampling.getLoc(), sampling);
      init->set(bufferization::AllocTensorOp::create(b, empty.getType(), empty.getDynamicSizes()));
    }
  }
}

struct RewriteSparseOps : impl::RewriteSparseOpsBase<RewriteSparseOps> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (!op->getParentOfType<linalg::LinalgOp>())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (auto translation = dyn_cast<sparse_tensor::CrdTranslateOp>(op)) {
        translate(translation);
      } else {
        ImplicitLocOpBuilder b(op->getLoc(), op);
        if (Value value = scalarOf(b, op)) {
          op->replaceAllUsesWith(ValueRange(value));
          op->erase();
        }
      }
    module.walk([](linalg::GenericOp generic) {
      if (llvm::any_of(generic->getOperandTypes(),
                       [](Type type) { return bool(sparse_tensor::getSparseTensorEncoding(type)); }))
        captureScalars(generic);
    });
    if (failed(applyUpstream(module, fusion.str())))
      return signalPassFailure();
    module.walk(prepareFusion);
    if (failed(applyUpstream(module, {})))
      return signalPassFailure();
    module.walk([](bufferization::AllocTensorOp alloc) {
      if (alloc.use_empty())
        alloc.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
