// What the importer of the notation makes of Y(a,b,i,k) = X(i, p(a,b,0), k), of the dialect's op.
#include "passes/import_sparse_tensor/ImportGather.h"
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tulle::passes {
namespace {

/// The integers with 64 bits each where they are of type index.
LogicalResult widen(tensor::GatherOp op) {
  RankedTensorType type = op.getIndices().getType();
  if (!type.getElementType().isIndex())
    return llvm::is_contained({8u, 16u, 32u, 64u}, type.getElementTypeBitWidth())
               ? success()
               : LogicalResult(op.emitError("cannot import indices of type ")
                               << type.getElementType() << "; cast them to i8, i16, i32 or i64");
  auto arg = dyn_cast<BlockArgument>(op.getIndices());
  auto function = arg && arg.getOwner()->isEntryBlock()
                      ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp())
                      : func::FuncOp();
  if (!function)
    return op.emitError(
        "cannot import indices of type index unless they are an argument of the function; cast "
        "them to i64");
  for (Operation *user : arg.getUsers())
    if (!isa<tensor::GatherOp, tensor::DimOp>(user))
      return user->emitError("cannot import what else is done with indices of type index");
  arg.setType(
      RankedTensorType::get(type.getShape(), IntegerType::get(op.getContext(), 64), type.getEncoding()));
  function.setType(
      FunctionType::get(op.getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
  return success();
}

class Gather {
public:
  Gather(IRRewriter &b, tensor::GatherOp op)
      : b(b), op(op), loc(op.getLoc()), result(op.getResultType()), dims(op.getGatherDims()) {}

  Operation *build() {
    const int64_t loops = result.getRank() + int64_t(dims.size());
    SmallVector<Value> inputs{op.getSource()};
    SmallVector<AffineMap> maps{AffineMap::get(unsigned(loops), 0, subscripts(), b.getContext())};
    for (size_t k = 0; k < dims.size(); ++k) {
      inputs.push_back(selection(k));
      maps.push_back(AffineMap::get(unsigned(loops), 0, selected(k), b.getContext()));
    }
    SmallVector<AffineExpr> own;
    for (int64_t d = 0; d < result.getRank(); ++d)
      own.push_back(loop(d));
    maps.push_back(AffineMap::get(unsigned(loops), 0, own, b.getContext()));
    SmallVector<utils::IteratorType> kinds(size_t(result.getRank()), utils::IteratorType::parallel);
    kinds.resize(size_t(loops), utils::IteratorType::reduction);
    auto empty = tensor::EmptyOp::create(b, loc, sizes(), result.getElementType(), result.getEncoding());
    Value zero =
        dialect::materialize(b, loc, dialect::zeroAttr(result.getElementType()), result.getElementType());
    Value start = dialect::FillOp::create(b, loc, result, zero, empty);
    auto generic = linalg::GenericOp::create(
        b, loc, result, inputs, start, maps, kinds, [](OpBuilder &nested, Location at, ValueRange args) {
          Value value = args.front();
          for (Value each : args.drop_front().drop_back()) {
            Value stored = dialect::StoredOp::create(nested, at, nested.getI1Type(), each);
            value = arith::SelectOp::create(nested, at, stored, value, args.back());
          }
          linalg::YieldOp::create(nested, at, value);
        });
    b.replaceOp(op, generic.getResult(0));
    return empty;
  }

private:
  IRRewriter &b;
  tensor::GatherOp op;
  Location loc;
  RankedTensorType result;
  ArrayRef<int64_t> dims;

  int64_t batches() const { return tensor::GatherOp(op).getIndices().getType().getRank() - 1; }
  RankedTensorType source() const { return tensor::GatherOp(op).getSource().getType(); }
  AffineExpr loop(int64_t number) const { return getAffineDimExpr(unsigned(number), b.getContext()); }

  /// Of the source: what integers give, and the result's dimensions behind those of the integers.
  SmallVector<AffineExpr> subscripts() const {
    SmallVector<AffineExpr> all;
    for (int64_t d = 0, next = batches(); d < source().getRank(); ++d) {
      const auto *gathered = llvm::find(dims, d);
      all.push_back(gathered != dims.end() ? loop(result.getRank() + (gathered - dims.begin()))
                                           : loop(next++));
    }
    return all;
  }
  SmallVector<AffineExpr> selected(size_t k) const {
    SmallVector<AffineExpr> all;
    for (int64_t d = 0; d < batches(); ++d)
      all.push_back(loop(d));
    all.push_back(b.getAffineConstantExpr(int64_t(k)));
    all.push_back(loop(result.getRank() + int64_t(k)));
    return all;
  }

  Value selection(size_t k) {
    Value size = tensor::DimOp::create(b, loc, op.getSource(), dims[k]);
    SmallVector<int64_t> at(size_t(batches()), -1);
    at.push_back(int64_t(k));
    RankedTensorType type = op.getIndices().getType();
    Value bounded =
        dialect::BoundedIndicesOp::create(b, loc, type, op.getIndices(), size, dialect::Outside::Error,
                                          b.getStringAttr("indices"), 0, b.getDenseI64ArrayAttr(at));
    return dialect::OneHotOp::create(b, loc, dialect::selectionOf(type), bounded, size, /*total=*/true,
                                     /*distinct=*/false);
  }

  /// Of the result's dimensions that are not static.
  SmallVector<OpFoldResult> sizes() {
    SmallVector<OpFoldResult> all;
    SmallVector<int64_t> rest;
    for (int64_t d = 0; d < source().getRank(); ++d)
      if (!llvm::is_contained(dims, d))
        rest.push_back(d);
    for (int64_t d = 0; d < result.getRank(); ++d) {
      if (!result.isDynamicDim(d))
        all.push_back(b.getIndexAttr(result.getDimSize(d)));
      else if (d < batches())
        all.push_back(tensor::DimOp::create(b, loc, op.getIndices(), d).getResult());
      else
        all.push_back(tensor::DimOp::create(b, loc, op.getSource(), rest[size_t(d - batches())]).getResult());
    }
    return all;
  }
};

} // namespace

FailureOr<Operation *> importGather(IRRewriter &rewriter, tensor::GatherOp op) {
  const int64_t rank = op.getIndices().getType().getRank() - 1 + op.getSource().getType().getRank() -
                       int64_t(op.getGatherDims().size());
  if (op.getResultType().getRank() != rank)
    return op.emitError("cannot import a gather that keeps gathered dimensions, with size 1; leave them out");
  if (failed(widen(op)))
    return failure();
  return Gather(rewriter, op).build();
}

} // namespace tulle::passes
