// tulle-import-sparse-tensor: linalg on tensors with upstream's #sparse_tensor.encoding, as stage 1.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "passes/Passes.h"
#include "passes/import_sparse_tensor/Encodings.h"
#include "passes/import_sparse_tensor/ImportConvert.h"
#include "passes/import_sparse_tensor/ImportGather.h"
#include "passes/import_sparse_tensor/ImportInPlace.h"
#include "passes/import_sparse_tensor/ImportPad.h"
#include "passes/import_sparse_tensor/ImportReshape.h"
#include "passes/import_sparse_tensor/ImportSemiring.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

namespace tulle::passes {
#define GEN_PASS_DEF_IMPORTSPARSETENSOR
#include "passes/Passes.h.inc"
} // namespace tulle::passes

namespace {

using UpstreamEncoding = sparse_tensor::SparseTensorEncodingAttr;

/// Upstream's ops next to linalg.generic that have no counterpart here.
LogicalResult checkOps(ModuleOp module) {
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!isa_and_nonnull<sparse_tensor::SparseTensorDialect>(op->getDialect()) ||
            isa<sparse_tensor::ConvertOp, sparse_tensor::ConcatenateOp>(op))
          return WalkResult::advance();
        if (isa<linalg::GenericOp>(op->getParentOp()) && passes::isSemiringOp(op))
          return WalkResult::skip();
        op->emitError("cannot import '")
            << op->getName()
            << "'; of the sparse_tensor dialect, convert and concatenate are read, and in "
               "linalg.generic unary, binary, select and reduce";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

LogicalResult translateTypes(ModuleOp module) {
  bool ok = true;
  DenseMap<Attribute, Attribute> translated;
  auto visit = [&](Type type, Location loc) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto upstream = tensor ? dyn_cast_or_null<UpstreamEncoding>(tensor.getEncoding()) : UpstreamEncoding();
    if (!upstream || translated.count(upstream))
      return;
    translated[upstream] = passes::translateEncoding(upstream, [&] { return emitError(loc); });
    ok &= bool(translated[upstream]);
  };
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      visit(type, op->getLoc());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          visit(arg.getType(), arg.getLoc());
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      for (Type type : func.getFunctionType().getInputs())
        visit(type, op->getLoc());
      for (Type type : func.getFunctionType().getResults())
        visit(type, op->getLoc());
    }
  });
  if (!ok)
    return failure();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](UpstreamEncoding upstream) -> std::optional<std::pair<Attribute, WalkResult>> {
    auto found = translated.find(upstream);
    if (found == translated.end())
      return std::nullopt;
    return std::make_pair(found->second, WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return success();
}

/// A dense tensor made here becomes an argument: the caller owns its storage. A sparse one is made by the op
/// that stores it.
LogicalResult importEmpty(func::FuncOp func, Operation *made) {
  auto type = cast<RankedTensorType>(made->getResult(0).getType());
  OpBuilder b(made);
  Value storage;
  if (!format::isAllDense(getEncoding(type).getValue())) {
    auto alloc = dyn_cast<bufferization::AllocTensorOp>(made);
    if (!alloc)
      return success();
    storage = tensor::EmptyOp::create(b, made->getLoc(), type, alloc.getDynamicSizes());
  } else {
    if (failed(func.insertArgument(func.getNumArguments(), type, {}, made->getLoc())))
      return failure();
    storage = func.getArguments().back();
  }
  made->getResult(0).replaceAllUsesWith(storage);
  made->erase();
  return success();
}

bool isSparse(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && !format::isAllDense(getEncoding(type).getValue());
}

/// Both spellings of a concatenation; one of dense tensors alone is left as it is.
bool isConcatenation(Operation *op) {
  return isa<tensor::ConcatOp, sparse_tensor::ConcatenateOp>(op) &&
         (isSparse(op->getResult(0)) || llvm::any_of(op->getOperands(), isSparse));
}

/// Whether entries may be stored only because others are.
bool storesPadding(Value tensor) {
  using format::LevelKind;
  const format::Encoding &encoding = getEncoding(cast<RankedTensorType>(tensor.getType())).getValue();
  return !llvm::is_contained({LevelKind::Compressed, LevelKind::LooseCompressed, LevelKind::Singleton},
                             encoding.levels.back().format.kind);
}

void importConcatenation(IRRewriter &rewriter, Operation *op) {
  auto upstream = dyn_cast<sparse_tensor::ConcatenateOp>(op);
  const int64_t along =
      upstream ? int64_t(upstream.getDimension()) : int64_t(cast<tensor::ConcatOp>(op).getDim());
  // Parts are joined sparse: into a dense result they are converted.
  const auto type = cast<RankedTensorType>(op->getResult(0).getType());

  RankedTensorType joined = type;
  if (!isSparse(op->getResult(0))) {
    const Value part = *llvm::find_if(op->getOperands(), isSparse);
    joined = withEncoding(type, getEncoding(cast<RankedTensorType>(part.getType())).getValue());
  }
  Value result = ConcatOp::create(rewriter, op->getLoc(), joined, op->getOperands(), along);
  // Upstream concatenates what is not zero.
  if (upstream && joined == type && llvm::any_of(op->getOperands(), storesPadding)) {
    linalg::GenericOp copy = passes::mapEntries(rewriter, op->getLoc(), result, type,
                                                [](OpBuilder &, Location, Value value) { return value; });
    copy->setAttr(kDropAttr, rewriter.getUnitAttr());
    result = copy.getResult(0);
  }
  if (joined != type)
    result = ConvertOp::create(rewriter, op->getLoc(), type, result);
  rewriter.replaceOp(op, result);
}

LogicalResult importFunction(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  SmallVector<Operation *> replaced, made;
  func.walk([&](Operation *op) {
    if (isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op))
      made.push_back(op);
    else if ((isa<linalg::LinalgOp, sparse_tensor::ConvertOp>(op) && !isa<linalg::GenericOp>(op)) ||
             isConcatenation(op) || passes::isReshape(op) || passes::isSparsePad(op) ||
             isa<tensor::GatherOp, tensor::ScatterOp>(op))
      replaced.push_back(op);
  });
  for (Operation *op : replaced) {
    rewriter.setInsertionPoint(op);
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      auto type = dyn_cast<RankedTensorType>(fill.output().getType());
      if (!type || fill.value().getType() != type.getElementType())
        return fill.emitError("expected a fill of a tensor with a value of its element type");
      rewriter.replaceOpWithNewOp<FillOp>(fill, fill.value(), fill.output());
    } else if (isConcatenation(op)) {
      importConcatenation(rewriter, op);
    } else if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
      FailureOr<Operation *> empty = passes::importGather(rewriter, gather);
      if (failed(empty))
        return failure();
      if (!isSparse((*empty)->getResult(0)))
        made.push_back(*empty);
    } else if (auto scatter = dyn_cast<tensor::ScatterOp>(op)) {
      if (failed(passes::importScatter(rewriter, scatter)))
        return failure();
    } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      if (failed(passes::importPad(rewriter, pad)))
        return failure();
    } else if (passes::isReshape(op)) {
      if (failed(passes::importReshape(rewriter, op)))
        return failure();
    } else if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op)) {
      if (failed(passes::importConvert(rewriter, convert)))
        return failure();
    } else if (failed(linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op)))) {
      return op->emitError("cannot write '") << op->getName() << "' as linalg.generic";
    }
  }
  SmallVector<linalg::GenericOp> generics;
  func.walk([&](linalg::GenericOp generic) { generics.push_back(generic); });
  for (linalg::GenericOp generic : generics)
    if (failed(passes::importSemiring(generic)) || failed(passes::importInPlace(func, generic)))
      return failure();
  for (Operation *op : made) {
    if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op); alloc && alloc.getCopy())
      return op->emitError("cannot import a copy of a tensor");
    if (failed(importEmpty(func, op)))
      return failure();
  }
  return success();
}

/// Upstream's ops say nothing of the order of floating-point sums, which its vectors change where they are
/// asked for.
void allowReassociation(ModuleOp module) {
  module.walk([](linalg::GenericOp generic) {
    generic.walk([](arith::ArithFastMathInterface op) {
      // Conversions have no flags unless they are written.
      if (const arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr())
        op->setAttr(op.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(op.getContext(), flags.getValue() |
                                                                       arith::FastMathFlags::reassoc |
                                                                       arith::FastMathFlags::contract));
    });
  });
}

struct ImportSparseTensor : passes::impl::ImportSparseTensorBase<ImportSparseTensor> {
  using ImportSparseTensorBase::ImportSparseTensorBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOps(module)) || failed(translateTypes(module)))
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal() && failed(importFunction(func)))
        return signalPassFailure();
    if (reassociate)
      allowReassociation(module);
  }
};

} // namespace
