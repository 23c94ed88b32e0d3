// tulle-rewrite-sparse-ops: upstream's rewriting of sparse ops, where it can be relied on, and the ops that
// have a meaning outside of linalg as well.
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/import_sparse_tensor/ImportSemiring.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_REWRITESPARSEOPS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

//===--- Scalars outside of linalg ---===//

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

//===--- Upstream's patterns, and ours among them ---===//

bool isProduct(Operation *op) { return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(op); }

Operation *yielded(linalg::GenericOp op) {
  return op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
}

/// Whether the op multiplies its two inputs, element by element.
bool isSampling(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumResults() != 1)
    return false;
  Operation *product = yielded(op);
  const Block::BlockArgListType inputs = op.getBody()->getArguments().drop_back();
  return isProduct(product) &&
         llvm::all_of(inputs, [&](Value input) { return llvm::is_contained(product->getOperands(), input); });
}

/// Whether the op sums up products of its inputs.
bool isSumOfProducts(linalg::GenericOp op) {
  Operation *sum = yielded(op);
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  const Value output = op.getBody()->getArguments().back();
  return llvm::is_contained(sum->getOperands(), output) &&
         llvm::any_of(sum->getOperands(), [](Value term) { return isProduct(term.getDefiningOp()); });
}

/// Where a tensor of products is sampled to a dense one, upstream's fusion asks for inits that alloc_tensor
/// makes, and does not look whether they are: at each op this is tried before.
struct AllocateInits : OpRewritePattern<linalg::GenericOp> {
  explicit AllocateInits(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(linalg::GenericOp sampling, PatternRewriter &rewriter) const override {
    if (!isSampling(sampling) || sparse_tensor::getSparseTensorEncoding(sampling.getResult(0).getType()))
      return failure();
    bool changed = false;
    for (OpOperand *input : sampling.getDpsInputOperands()) {
      auto product = input->get().getDefiningOp<linalg::GenericOp>();
      if (!product || product.getNumDpsInits() != 1 || !product.hasPureTensorSemantics() ||
          !product->getResult(0).hasOneUse() || !isSumOfProducts(product))
        continue;
      Value zeros = product.getDpsInitOperand(0)->get();
      if (zeros.getDefiningOp() && zeros.getDefiningOp()->hasTrait<OpTrait::ConstantLike>()) {
        allocate(rewriter, product, {}, zeros);
        changed = true;
      }
      if (auto empty = sampling.getDpsInitOperand(0)->get().getDefiningOp<tensor::EmptyOp>()) {
        allocate(rewriter, sampling, empty.getDynamicSizes(), {});
        changed = true;
      }
    }
    return success(changed);
  }

private:
  static void allocate(PatternRewriter &rewriter, linalg::GenericOp op, ValueRange sizes, Value copy) {
    OpOperand *init = op.getDpsInitOperand(0);
    rewriter.setInsertionPoint(op);
    Value made = bufferization::AllocTensorOp::create(
        rewriter, op.getLoc(), cast<RankedTensorType>(init->get().getType()), sizes, copy);
    rewriter.modifyOpInPlace(op, [&] { init->set(made); });
  }
};

/// A cast between encodings is a conversion, for ours as for upstream's.
struct ConvertCast : OpRewritePattern<tensor::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CastOp op, PatternRewriter &rewriter) const override {
    auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto result = dyn_cast<RankedTensorType>(op.getType());
    if (!source || !result || source.getEncoding() == result.getEncoding() ||
        !(isa_and_nonnull<dialect::EncodingAttr>(source.getEncoding()) ||
          isa_and_nonnull<dialect::EncodingAttr>(result.getEncoding())))
      return failure();
    rewriter.replaceOpWithNewOp<sparse_tensor::ConvertOp>(op, result, op.getSource());
    return success();
  }
};

LogicalResult applyPatterns(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populatePreSparsificationRewriting(patterns);
  patterns.add<AllocateInits, ConvertCast>(module.getContext());
  return applyPatternsGreedily(module, std::move(patterns));
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
    if (failed(applyPatterns(module)))
      return signalPassFailure();
    module.walk([](bufferization::AllocTensorOp alloc) {
      if (alloc.use_empty())
        alloc.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
