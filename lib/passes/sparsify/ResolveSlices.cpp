// tulle-resolve-slices: operands that are slices become slices of arguments, where these can be read in
// place.
#include "dialect/Attributes.h"
#include "dialect/SliceArguments.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/sparsify/Slices.h"
#include "passes/sparsify/Statement.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_RESOLVESLICES
#include "passes/Passes.h.inc"

namespace {

bool isSliced(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && format::hasSlices(dialect::getEncoding(tensor).getValue());
}

/// A dense level of the first of several dimensions, and compressed ones of the others: parts of each are
/// read in place.
format::Encoding inOrder(const format::Encoding &encoding) {
  using enum format::LevelKind;
  format::Encoding own = format::withoutSlices(encoding);
  for (format::Dimension &dimension : own.dims)
    dimension.inverse = nullptr;
  own.levels = format::denseEncoding(own.order()).levels;
  for (unsigned l = own.order() == 2 ? 1 : 0; l < own.order() && !format::isAllDense(encoding); ++l)
    own.levels[l].format.kind = Compressed;
  own.posWidth = own.posWidth ? std::max(own.posWidth, 32u) : 0; // narrow ones may do only for its own levels
  own.crdWidth = own.crdWidth ? std::max(own.crdWidth, 32u) : 0;
  return own;
}

/// What a copy of the slice is stored in: as the whole is, but not where that stores coordinates without an
/// entry: the slice has them at other coordinates than a copy would.
format::Encoding copyOf(const format::Encoding &encoding) {
  using enum format::LevelKind;
  std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  auto isPlain = [](const format::Level &level) {
    return !level.format.padded &&
           llvm::is_contained({Dense, Batch, Compressed, LooseCompressed, Singleton, Bitmap, Hashed},
                              level.format.kind);
  };
  const bool isKept =
      digits && llvm::all_of(encoding.levels, isPlain) &&
      llvm::none_of(*digits, [](const format::Digit &digit) { return digit.modulus || digit.stride != 1; });
  return isKept ? format::withoutSlices(encoding) : inOrder(encoding);
}

struct ResolveSlices : impl::ResolveSlicesBase<ResolveSlices> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (llvm::any_of(function.getResultTypes(), isSliced)) {
      function.emitError(
          "a result is a slice: a result has storage of its own; write its format without slices");
      return signalPassFailure();
    }
    if (function.isExternal())
      return;
    for (BlockArgument arg : llvm::to_vector(function.getArguments()))
      if (isSliced(arg.getType()) && failed(resolve(arg)))
        return signalPassFailure();
    function.walk(readFromCopy);
  }

  static LogicalResult resolve(BlockArgument arg) {
    bool inPlace = isInPlace(dialect::getEncoding(cast<RankedTensorType>(arg.getType())).getValue());
    for (OpOperand &use : arg.getUses()) {
      Operation *user = use.getOwner();
      if (isa<dialect::ConvertOp, tensor::ExtractSliceOp>(user)) {
        inPlace = false;
        continue;
      }
      auto generic = dyn_cast<linalg::GenericOp>(user);
      if (!isa<tensor::DimOp>(user) && (!generic || generic.isDpsInit(&use)))
        return user->emitError("a slice can only be read: copy it, or give the tensor it was cut from");
    }
    inPlace ? cutWhole(arg) : copy(arg);
    return success();
  }

  /// Statements read a slice of the whole.
  static void cutWhole(BlockArgument arg) {
    const dialect::Slices slices = dialect::replaceSliceByWhole(arg);
    auto isStatement = [](OpOperand &use) { return isa<linalg::GenericOp>(use.getOwner()); };
    if (llvm::none_of(arg.getUses(), isStatement))
      return;
    auto type = cast<RankedTensorType>(arg.getType());
    OpBuilder b = OpBuilder::atBlockBegin(arg.getOwner());
    SmallVector<OpFoldResult> offsets, sizes, strides;
    SmallVector<int64_t> shape;
    for (auto [d, slice] : llvm::enumerate(slices)) {
      offsets.push_back(slice ? slice->offset : b.getIndexAttr(0));
      strides.push_back(slice ? slice->stride : b.getIndexAttr(1));
      sizes.push_back(slice ? slice->size : tensor::getMixedSize(b, arg.getLoc(), arg, int64_t(d)));
      shape.push_back(getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
    }
    auto own = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
    auto slice = tensor::ExtractSliceOp::create(b, arg.getLoc(), own, arg, offsets, sizes, strides);
    arg.replaceUsesWithIf(slice, isStatement);
  }

  /// The caller copies what the slice shows: loops that follow its levels would visit all of the whole.
  static void copy(BlockArgument arg) {
    auto type = cast<RankedTensorType>(arg.getType());
    RankedTensorType target = dialect::withEncoding(type, copyOf(dialect::getEncoding(type).getValue()));
    for (OpOperand &use : llvm::make_early_inc_range(arg.getUses())) {
      Operation *user = use.getOwner();
      if (auto generic = dyn_cast<linalg::GenericOp>(user))
        sayCopied(generic, use);
      else if (!isa<tensor::ExtractSliceOp>(user))
        continue;
      OpBuilder b(user);
      use.set(dialect::ConvertOp::create(b, user->getLoc(), target, arg));
    }
  }

  static void sayCopied(linalg::GenericOp generic, OpOperand &use) {
    generic.emitRemark()
        << nameOfOperand(generic, use.getOperandNumber())
        << " is copied before the loops: its slices are of dimensions whose levels neither store "
           "every coordinate nor an interval of them side by side";
  }

  /// A slice that the function makes is one of a copy of the whole, where it cannot be read in place.
  static void readFromCopy(tensor::ExtractSliceOp slice) {
    auto type = dyn_cast<RankedTensorType>(slice.getSource().getType());
    auto convert = slice.getSource().getDefiningOp<dialect::ConvertOp>();
    Value whole = convert ? convert.getSource() : slice.getSource();
    if (!type || !isa<BlockArgument>(whole) || slice.getType().getRank() != type.getRank())
      return;
    const format::Encoding &own = dialect::getEncoding(type).getValue();
    if (isInPlace(own, slice))
      return;
    for (OpOperand &use : slice->getUses())
      if (auto generic = dyn_cast<linalg::GenericOp>(use.getOwner()))
        sayCopied(generic, use);
    OpBuilder b(slice);
    const format::Encoding readable = inOrder(own);
    RankedTensorType target = dialect::withEncoding(type, readable);
    slice.getSourceMutable().assign(dialect::ConvertOp::create(b, slice.getLoc(), target, whole));
    slice.getResult().setType(dialect::withEncoding(slice.getType(), readable));
  }
};

} // namespace
} // namespace tulle::passes
