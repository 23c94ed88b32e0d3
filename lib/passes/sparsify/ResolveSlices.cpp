// Operands that are slices, as subscripts of the tensors they are slices of.
#include "dialect/SliceArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/sparsify/Statement.h"
#include <map>

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_RESOLVESLICES
#include "passes/Passes.h.inc"

namespace {

bool isSliced(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && format::hasSlices(dialect::getEncoding(tensor).getValue());
}

/// Every coordinate of a sliced dimension is stored, and by one level where others are iterated: reaching it
/// is arithmetic.
bool isLocated(const format::Encoding &encoding) {
  std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  if (!digits || format::isAllDense(encoding))
    return digits.has_value();
  for (auto [level, digit] : llvm::zip(encoding.levels, *digits)) {
    bool full =
        level.format.kind == format::LevelKind::Dense || level.format.kind == format::LevelKind::Batch;
    if (encoding.dims[digit.dim].slice && (!full || digit.stride != 1 || digit.modulus != 0))
      return false;
  }
  // What no loop over a dimension follows is traversed as it is stored, and then outside the slice, too.
  return llvm::all_of(encoding.levels, [](const format::Level &level) { return level.format.ordered; });
}

/// What a copy of the slice is stored in: as the whole is, but not where that stores coordinates without an
/// entry: the slice has them at other coordinates than a copy would.
format::Encoding copyOf(const format::Encoding &encoding) {
  using enum format::LevelKind;
  format::Encoding own = format::withoutSlices(encoding);
  std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  auto isPlain = [](const format::Level &level) {
    return !level.format.padded &&
           llvm::is_contained({Dense, Batch, Compressed, LooseCompressed, Singleton, Bitmap, Hashed},
                              level.format.kind);
  };
  if (digits && llvm::all_of(own.levels, isPlain) &&
      llvm::none_of(*digits, [](const format::Digit &digit) { return digit.modulus || digit.stride != 1; }))
    return own;
  for (format::Dimension &dimension : own.dims)
    dimension.inverse = nullptr;
  own.levels = format::denseEncoding(own.order()).levels;
  for (unsigned l = own.order() == 2 ? 1 : 0; l < own.order() && !format::isAllDense(encoding); ++l)
    own.levels[l].format.kind = Compressed;
  own.posWidth = own.posWidth ? std::max(own.posWidth, 32u) : 0; // narrow ones may do only for its own levels
  own.crdWidth = own.crdWidth ? std::max(own.crdWidth, 32u) : 0;
  return own;
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
    for (BlockArgument arg : function.getArguments())
      if (isSliced(arg.getType()) && failed(resolve(arg)))
        return signalPassFailure();
  }

  LogicalResult resolve(BlockArgument arg) {
    const format::Encoding &encoding = dialect::getEncoding(cast<RankedTensorType>(arg.getType())).getValue();
    if (std::string unknown = format::whyNotResolved(encoding); !unknown.empty())
      return getOperation().emitError("argument ") << arg.getArgNumber() << ": " << unknown;
    bool located = isLocated(encoding);
    for (OpOperand &use : arg.getUses()) {
      Operation *user = use.getOwner();
      if (isa<dialect::ConvertOp>(user)) {
        located = false;
        continue;
      }
      auto generic = dyn_cast<linalg::GenericOp>(user);
      if (!isa<tensor::DimOp>(user) && (!generic || generic.isDpsInit(&use)))
        return user->emitError("a slice can only be read: copy it, or give the tensor it was cut from");
    }
    located ? subscriptWhole(arg) : copy(arg);
    return success();
  }

  /// Entry c of a slice is entry offset + stride * c of the whole.
  static void subscriptWhole(BlockArgument arg) {
    const SmallVector<std::optional<format::Slice>> slices =
        dialect::slicesOf(cast<RankedTensorType>(arg.getType()));
    dialect::replaceSliceByWhole(arg);
    SmallVector<linalg::GenericOp> users;
    for (Operation *user : arg.getUsers())
      if (auto generic = dyn_cast<linalg::GenericOp>(user); generic && !llvm::is_contained(users, generic))
        users.push_back(generic);
    for (linalg::GenericOp generic : users)
      subscriptWhole(generic, arg, slices);
  }

  static void subscriptWhole(linalg::GenericOp generic, BlockArgument arg,
                             ArrayRef<std::optional<format::Slice>> slices) {
    MLIRContext *context = generic.getContext();
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    std::map<unsigned, int64_t> sizes; // of indices that had plain subscripts there
    for (auto [k, use] : llvm::enumerate(generic->getOpOperands())) {
      if (use.get() != arg)
        continue;
      SmallVector<AffineExpr> subscripts(maps[k].getResults());
      for (auto [d, slice] : llvm::enumerate(slices)) {
        if (!slice)
          continue;
        if (auto index = dyn_cast<AffineDimExpr>(subscripts[d]))
          sizes[index.getPosition()] = *slice->size;
        subscripts[d] = subscripts[d] * *slice->stride + *slice->offset;
      }
      maps[k] = AffineMap::get(maps[k].getNumDims(), 0, subscripts, context);
    }
    generic.setIndexingMapsAttr(Builder(context).getAffineMapArrayAttr(maps));
    for (auto [index, size] : sizes)
      addExtent(generic, index, size);
  }

  /// An operand that is never read and says how far an index runs: no other may have it for itself, and a
  /// slice from 0 on has it in a dimension that is longer.
  static void addExtent(linalg::GenericOp generic, unsigned index, int64_t size) {
    OpBuilder b(generic);
    Value extent = tensor::EmptyOp::create(b, generic.getLoc(), {size}, b.getI1Type());
    const unsigned at = generic.getNumDpsInputs();
    generic.getInputsMutable().append(extent);
    generic.getBody()->insertArgument(at, b.getI1Type(), generic.getLoc());
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    maps.insert(maps.begin() + at, AffineMap::get(generic.getNumLoops(), 0, b.getAffineDimExpr(index)));
    generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }

  /// The caller copies what the slice shows: loops that follow its levels would visit all of the whole.
  static void copy(BlockArgument arg) {
    auto type = cast<RankedTensorType>(arg.getType());
    RankedTensorType target = dialect::withEncoding(type, copyOf(dialect::getEncoding(type).getValue()));
    for (OpOperand &use : llvm::make_early_inc_range(arg.getUses())) {
      auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!generic)
        continue;
      generic.emitRemark()
          << nameOfOperand(generic, use.getOperandNumber())
          << " is copied before the loops: its slices are of dimensions that dense levels alone "
             "do not reach";
      OpBuilder b(generic);
      use.set(dialect::ConvertOp::create(b, generic.getLoc(), target, arg));
    }
  }
};

} // namespace
} // namespace tulle::passes
