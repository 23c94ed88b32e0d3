// tulle-export-sparse-tensor: stage 1 in upstream's spelling.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "passes/Passes.h"
#include "passes/export_sparse_tensor/ExportEncodings.h"
#include "passes/export_sparse_tensor/ExportSemiring.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPORTSPARSETENSOR
#include "passes/Passes.h.inc"

namespace {

//===--- Results in place ---===//

/// A body that keeps what the result has where its last input stores nothing: the value where it does, which
/// a result in place keeps anyway; null for another body.
Value valueInPlace(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  auto select = body->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto stored = select ? select.getCondition().getDefiningOp<dialect::StoredOp>() : dialect::StoredOp();
  const bool isIt = stored && stored.getValue() == body->getArgument(generic.getNumDpsInputs() - 1) &&
                    llvm::hasSingleElement(stored.getValue().getUses()) &&
                    select.getFalseValue() == body->getArguments().back();
  return isIt ? select.getTrueValue() : Value();
}

/// Undoes importInPlace: the pattern is what is written, and the last argument of the function is gone.
LogicalResult exportInPlace(linalg::GenericOp generic) {
  auto like = generic.getDpsInitOperand(0)->get().getDefiningOp<dialect::LikeOp>();
  if (!like)
    return success();
  auto pattern = dyn_cast<BlockArgument>(like.getPattern()),
       storage = dyn_cast<BlockArgument>(like.getTensor());
  const unsigned last = generic.getNumDpsInputs() - 1;
  Value value = generic.getNumDpsInputs() > 0 && generic.getInputs().back() == pattern ? valueInPlace(generic)
                                                                                       : Value();
  if (!value || !storage || !storage.hasOneUse() || pattern.getType() != storage.getType())
    return like.emitError(
        "expected a result that is written in place of its pattern: the sparse_tensor dialect "
        "has no other one with the pattern of an operand; give it a pattern of its own");
  auto func = cast<func::FuncOp>(generic->getParentOp());
  generic.getBody()->getTerminator()->setOperand(0, value);
  SmallVector<Attribute> maps(generic.getIndexingMaps().getValue());
  maps.erase(maps.begin() + last);
  generic.getDpsInitOperand(0)->set(pattern);
  Operation *select = nullptr, *stored = nullptr;
  for (Operation &op : *generic.getBody())
    if (auto bit = dyn_cast<dialect::StoredOp>(op);
        bit && bit.getValue() == generic.getBody()->getArgument(last)) {
      stored = bit;
      select = *bit->getUsers().begin();
    }
  select->erase();
  stored->erase();
  generic.getBody()->eraseArgument(last);
  generic.getInputsMutable().erase(last);
  generic.setIndexingMapsAttr(ArrayAttr::get(generic.getContext(), maps));
  like.erase();
  return func.eraseArgument(storage.getArgNumber());
}

//===--- Ops ---===//

LogicalResult refuse(Operation *op, const Twine &what) {
  return op->emitError("expected ") << what << ": the sparse_tensor dialect has no other '" << op->getName()
                                    << "'";
}

/// A concatenation of the tensor dialect stores what its parts do, one of upstream's what is not 0.
LogicalResult exportConcat(IRRewriter &rewriter, dialect::ConcatOp op) {
  const auto type = cast<RankedTensorType>(op.getResult().getType());
  auto rankOf = [](Value part) { return cast<RankedTensorType>(part.getType()).getRank(); };
  auto elementOf = [](Value part) { return cast<RankedTensorType>(part.getType()).getElementType(); };
  if (op.getAlong().size() != 1 || !llvm::all_of(op.getParts(), [&](Value part) {
        return rankOf(part) == type.getRank() && elementOf(part) == type.getElementType();
      }))
    return refuse(op, "parts of the result's rank and elements, one behind the other in one dimension");
  auto user = op->hasOneUse() ? dyn_cast<linalg::GenericOp>(*op->getUsers().begin()) : linalg::GenericOp();
  const bool drops = user && user->hasAttr(dialect::kDropAttr);
  auto storesPadding = [](Value part) {
    const format::Encoding &encoding =
        dialect::getEncoding(cast<RankedTensorType>(part.getType())).getValue();
    using enum format::LevelKind;
    return !llvm::is_contained({Compressed, LooseCompressed, Singleton}, encoding.levels.back().format.kind);
  };
  if (!drops && llvm::any_of(op.getParts(), storesPadding)) {
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, type, rewriter.getI64IntegerAttr(op.getAlong()[0]),
                                                  op.getParts());
    return success();
  }
  rewriter.replaceOpWithNewOp<sparse_tensor::ConcatenateOp>(op, type, op.getParts(),
                                                            rewriter.getIndexAttr(op.getAlong()[0]));
  if (drops)
    rewriter.replaceOp(user, user.getInputs().front());
  return success();
}

/// The dimensions of the larger type that each one of the smaller is made of; nothing where digits are not in
/// order, or sizes of all but the first are not known.
std::optional<SmallVector<ReassociationIndices>> groupsOf(dialect::ReshapeOp op) {
  const auto larger =
      cast<RankedTensorType>(op.getExpand() ? op.getResult().getType() : op.getSource().getType());
  const auto smaller =
      cast<RankedTensorType>(op.getExpand() ? op.getSource().getType() : op.getResult().getType());
  const std::vector<format::Digit> digits = op.getDigits();
  SmallVector<ReassociationIndices> groups(size_t(smaller.getRank()));
  for (auto [d, digit] : llvm::enumerate(digits))
    groups[digit.dim].push_back(int64_t(d));
  int64_t next = 0;
  for (const ReassociationIndices &group : groups) {
    int64_t stride = 1;
    if (group.empty() || group.front() != next)
      return std::nullopt;
    next = group.back() + 1;
    if (next - group.front() != int64_t(group.size()))
      return std::nullopt;
    for (int64_t d : llvm::reverse(group)) {
      const format::Digit &digit = digits[size_t(d)];
      const int64_t wanted = d == group.front() ? 0 : larger.getDimSize(unsigned(d));
      if (digit.stride != stride || digit.modulus != wanted || ShapedType::isDynamic(wanted))
        return std::nullopt;
      stride *= wanted;
    }
  }
  return next == larger.getRank() ? std::optional(groups) : std::nullopt;
}

LogicalResult exportReshape(IRRewriter &rewriter, dialect::ReshapeOp op) {
  const std::optional<SmallVector<ReassociationIndices>> groups = groupsOf(op);
  if (!groups)
    return refuse(
        op, "dimensions that are groups of the other side's, all but the first of each of a static size");
  auto make = [&](Type type) -> Value {
    if (!op.getExpand())
      return tensor::CollapseShapeOp::create(rewriter, op.getLoc(), type, op.getSource(), *groups);
    SmallVector<OpFoldResult> sizes;
    for (auto [d, size] : llvm::enumerate(op.getSizes()))
      sizes.push_back(cast<RankedTensorType>(type).isDynamicDim(unsigned(d))
                          ? OpFoldResult(size)
                          : rewriter.getIndexAttr(cast<RankedTensorType>(type).getDimSize(unsigned(d))));
    return tensor::ExpandShapeOp::create(rewriter, op.getLoc(), cast<RankedTensorType>(type), op.getSource(),
                                         *groups, sizes);
  };
  // The import reads a reshape as a view and a conversion of it.
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (auto convert = dyn_cast<dialect::ConvertOp>(user))
      rewriter.replaceOp(convert, make(convert.getResult().getType()));
  if (op->use_empty())
    rewriter.eraseOp(op);
  else
    rewriter.replaceOp(op, make(op.getResult().getType()));
  return success();
}

/// Upstream's op makes its result: what would be written is not needed.
LogicalResult exportGather(IRRewriter &rewriter, dialect::GatherOp op) {
  if (!op.getResult() || op.getOutside() != dialect::Outside::Error)
    return refuse(op, "tensors, and integers that are all coordinates");
  auto storage = dyn_cast<BlockArgument>(op.getInit());
  if (storage ? !storage.hasOneUse() : !op.getInit().getDefiningOp<tensor::EmptyOp>())
    return refuse(op, "a result that nothing else reads before");
  Operation *empty = op.getInit().getDefiningOp();
  rewriter.replaceOpWithNewOp<tensor::GatherOp>(op, cast<RankedTensorType>(op.getResult().getType()),
                                                cast<TypedValue<RankedTensorType>>(op.getSource()),
                                                cast<TypedValue<RankedTensorType>>(op.getIndices()),
                                                op.getGiven());
  if (empty && empty->use_empty())
    rewriter.eraseOp(empty);
  auto func = storage ? dyn_cast<func::FuncOp>(storage.getOwner()->getParentOp()) : func::FuncOp();
  return func ? func.eraseArgument(storage.getArgNumber()) : success();
}

LogicalResult exportScatter(IRRewriter &rewriter, dialect::ScatterOp op) {
  if (!op.getResult() || op.getOutside() != dialect::Outside::Error || !op.getUnique())
    return refuse(op, "tensors, and integers that are coordinates, each once ('unique')");
  rewriter.replaceOpWithNewOp<tensor::ScatterOp>(
      op, cast<RankedTensorType>(op.getResult().getType()),
      cast<TypedValue<RankedTensorType>>(op.getSource()), cast<TypedValue<RankedTensorType>>(op.getInit()),
      cast<TypedValue<RankedTensorType>>(op.getIndices()), op.getGiven(),
      /*unique=*/true);
  return success();
}

LogicalResult exportOp(IRRewriter &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto convert = dyn_cast<dialect::ConvertOp>(op))
    rewriter.replaceOpWithNewOp<sparse_tensor::ConvertOp>(convert, convert.getResult().getType(),
                                                          convert.getSource());
  else if (auto fill = dyn_cast<dialect::FillOp>(op))
    rewriter.replaceOpWithNewOp<linalg::FillOp>(fill, fill.getValue(), fill.getTensor());
  else if (auto concat = dyn_cast<dialect::ConcatOp>(op))
    return exportConcat(rewriter, concat);
  else if (auto gather = dyn_cast<dialect::GatherOp>(op))
    return exportGather(rewriter, gather);
  else if (auto scatter = dyn_cast<dialect::ScatterOp>(op))
    return exportScatter(rewriter, scatter);
  return success();
}

LogicalResult exportFunction(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  SmallVector<linalg::GenericOp> generics;
  SmallVector<dialect::ReshapeOp> reshapes;
  SmallVector<Operation *> others;
  func.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp generic : generics)
    if (generic.getNumDpsInits() == 1 && generic.getNumResults() == 1 &&
        (failed(exportInPlace(generic)) || failed(exportSemiring(generic))))
      return failure();
  func.walk([&](dialect::ReshapeOp op) { reshapes.push_back(op); });
  for (dialect::ReshapeOp reshape : reshapes) { // with the conversions behind them
    rewriter.setInsertionPoint(reshape);
    if (failed(exportReshape(rewriter, reshape)))
      return failure();
  }
  func.walk([&](Operation *op) {
    if (isa_and_nonnull<dialect::TulleDialect>(op->getDialect()))
      others.push_back(op);
  });
  for (Operation *op : others)
    if (failed(exportOp(rewriter, op)))
      return failure();
  return success();
}

//===--- What is left ---===//

/// Ops of ours, and attributes that change what a program means. Those that only say how to compile it are
/// taken off.
LogicalResult checkRest(ModuleOp module) {
  const StringLiteral hints[] = {dialect::kCpuAttr, dialect::kScheduleAttr, dialect::kScheduledAttr};
  const StringLiteral meanings[] = {dialect::kSourceAttr, dialect::kWholeAttr, dialect::kLoopsAttr,
                                    dialect::kDropAttr};
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa_and_nonnull<dialect::TulleDialect>(op->getDialect())) {
      op->emitError("expected ops that the sparse_tensor dialect has a counterpart of, got '")
          << op->getName() << "'";
      return WalkResult::interrupt();
    }
    for (StringLiteral hint : hints)
      op->removeDiscardableAttr(hint);
    auto func = dyn_cast<func::FuncOp>(op);
    for (StringLiteral meaning : meanings) {
      bool has = op->hasAttr(meaning);
      for (unsigned k = 0; func && k < func.getNumArguments(); ++k)
        has |= bool(func.getArgAttr(k, meaning));
      if (has) {
        op->emitError("expected a program without '")
            << meaning << "', which the sparse_tensor dialect cannot say";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult exportTypes(ModuleOp module) {
  bool ok = true;
  DenseMap<Type, Type> translated;
  auto visit = [&](Type type, Location loc) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isa_and_nonnull<dialect::EncodingAttr>(tensor.getEncoding()) || translated.count(tensor))
      return;
    translated[tensor] = exportType(tensor, [&] { return emitError(loc); });
    ok &= bool(translated[tensor]);
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      for (Type type : func.getFunctionType().getInputs())
        visit(type, op->getLoc());
      for (Type type : func.getFunctionType().getResults())
        visit(type, op->getLoc());
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          visit(arg.getType(), arg.getLoc());
    for (Type type : op->getResultTypes())
      visit(type, op->getLoc());
  });
  if (!ok)
    return failure();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<std::pair<Type, WalkResult>> {
    auto found = translated.find(type);
    if (found == translated.end())
      return std::nullopt;
    return std::make_pair(found->second, WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return success();
}

struct ExportSparseTensor : impl::ExportSparseTensorBase<ExportSparseTensor> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal() && failed(exportFunction(func)))
        return signalPassFailure();
    if (failed(checkRest(module)) || failed(exportTypes(module)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
