// Gathers and scatters as what the importer of the notation makes of Y(a,b,i,k) = X(i, p(a,b,0), k) and of
// Z(i, p(a,b,0), k) = Y(a,b,i,k); index maps as tensors.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDGATHER
#define GEN_PASS_DEF_EXPANDINDEXMAP
#include "passes/Passes.h.inc"

namespace {

/// The integers with 64 bits each where they are of type index.
LogicalResult widen(Operation *op, Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (!type.getElementType().isIndex())
    return success();
  auto arg = dyn_cast<BlockArgument>(indices);
  auto function = arg && arg.getOwner()->isEntryBlock()
                      ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp())
                      : func::FuncOp();
  if (!function)
    return op->emitError(
        "cannot expand indices of type index unless they are an argument of the function; cast "
        "them to i64");
  for (Operation *user : arg.getUsers())
    if (!isa<dialect::GatherOp, dialect::ScatterOp, tensor::DimOp>(user))
      return user->emitError("cannot expand what else is done with indices of type index");
  arg.setType(
      RankedTensorType::get(type.getShape(), IntegerType::get(op->getContext(), 64), type.getEncoding()));
  function.setType(
      FunctionType::get(op->getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
  return success();
}

/// linalg.generic with a loop for each dimension of the part, behind them one for each that integers give.
class Expansion {
public:
  Expansion(OpBuilder &b, dialect::GatherOp op)
      : b(b), loc(op.getLoc()), whole(op.getSource()), part(op.getInit()), indices(op.getIndices()),
        given(op.getGiven()), outside(op.getOutside()) {}
  Expansion(OpBuilder &b, dialect::ScatterOp op)
      : b(b), loc(op.getLoc()), whole(op.getInit()), part(op.getSource()), indices(op.getIndices()),
        given(op.getGiven()), outside(op.getOutside()), unique(op.getUnique() && given.size() == 1) {
    if (op.getUnique() && given.size() > 1)
      indices = givenOnce();
  }

  Value gather() const {
    SmallVector<utils::IteratorType> kinds(size_t(rank(part)), utils::IteratorType::parallel);
    kinds.resize(size_t(loops()), utils::IteratorType::reduction);
    Value start = outside == dialect::Outside::Nothing ? part : cleared();
    return make(whole, start, wholeSubscripts(), partSubscripts(), kinds);
  }

  Value scatter() const {
    SmallVector<utils::IteratorType> kinds(size_t(rank(indices) - 1), utils::IteratorType::reduction);
    kinds.resize(size_t(loops()), utils::IteratorType::parallel);
    return make(part, whole, partSubscripts(), wholeSubscripts(), kinds);
  }

private:
  OpBuilder &b;
  Location loc;
  Value whole, part, indices;
  SmallVector<int64_t> given;
  dialect::Outside outside;
  bool unique = false;

  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  static int64_t rank(Value value) { return typeOf(value).getRank(); }
  int64_t loops() const { return rank(part) + int64_t(given.size()); }
  AffineExpr loop(int64_t number) const { return getAffineDimExpr(unsigned(number), b.getContext()); }

  Value make(Value from, Value into, ArrayRef<AffineExpr> read, ArrayRef<AffineExpr> written,
             ArrayRef<utils::IteratorType> kinds) const {
    auto mapOf = [&](ArrayRef<AffineExpr> all) {
      return AffineMap::get(unsigned(loops()), 0, all, b.getContext());
    };
    SmallVector<Value> inputs{from};
    SmallVector<AffineMap> maps{mapOf(read)};
    for (size_t k = 0; k < given.size(); ++k) {
      inputs.push_back(selection(k));
      maps.push_back(mapOf(selected(k)));
    }
    maps.push_back(mapOf(written));
    auto generic =
        linalg::GenericOp::create(b, loc, into.getType(), inputs, into, maps, kinds,
                                  [](OpBuilder &nested, Location at, ValueRange args) {
                                    Value value = args.front();
                                    for (Value each : args.drop_front().drop_back()) {
                                      Value stored =
                                          dialect::StoredOp::create(nested, at, nested.getI1Type(), each);
                                      value = arith::SelectOp::create(nested, at, stored, value, args.back());
                                    }
                                    linalg::YieldOp::create(nested, at, value);
                                  });
    return generic.getResult(0);
  }

  /// What the source stores nothing of is 0 in the result.
  Value cleared() const {
    const Type element = typeOf(part).getElementType();
    Value zero = dialect::materialize(b, loc, dialect::zeroAttr(element), element);
    return dialect::FillOp::create(b, loc, part.getType(), zero, part);
  }

  SmallVector<AffineExpr> partSubscripts() const {
    SmallVector<AffineExpr> all;
    for (int64_t d = 0; d < rank(part); ++d)
      all.push_back(loop(d));
    return all;
  }
  /// What integers give, and the part's dimensions behind those of the integers.
  SmallVector<AffineExpr> wholeSubscripts() const {
    SmallVector<AffineExpr> all;
    for (int64_t d = 0, next = rank(indices) - 1; d < rank(whole); ++d) {
      const int64_t *column = llvm::find(given, d);
      all.push_back(column != given.end() ? loop(rank(part) + (column - given.begin())) : loop(next++));
    }
    return all;
  }
  SmallVector<AffineExpr> selected(size_t k) const {
    SmallVector<AffineExpr> all;
    for (int64_t d = 0; d < rank(indices) - 1; ++d)
      all.push_back(loop(d));
    all.push_back(b.getAffineConstantExpr(int64_t(k)));
    all.push_back(loop(rank(part) + int64_t(k)));
    return all;
  }

  /// The integers, of which no two places give one element: neither coordinate alone is given once, so that
  /// selections are not distinct.
  Value givenOnce() const {
    SmallVector<Value> sizes;
    for (int64_t d : given)
      sizes.push_back(tensor::DimOp::create(b, loc, whole, d));
    return dialect::DistinctIndicesOp::create(b, loc, typeOf(indices), indices, sizes, nameOf(indices),
                                              DenseI64ArrayAttr());
  }
  /// What errors call the integers.
  StringAttr nameOf(Value integers) const {
    if (auto distinct = integers.getDefiningOp<dialect::DistinctIndicesOp>())
      integers = distinct.getSource();
    auto arg = dyn_cast<BlockArgument>(integers);
    auto function = arg ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()) : func::FuncOp();
    auto name = function ? function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), dialect::kNameAttr)
                         : StringAttr();
    return name ? name : b.getStringAttr("indices");
  }

  Value selection(size_t k) const {
    Value size = tensor::DimOp::create(b, loc, whole, given[k]);
    SmallVector<int64_t> at(size_t(rank(indices) - 1), -1);
    at.push_back(int64_t(k));
    RankedTensorType type = typeOf(indices);
    if (outside != dialect::Outside::Error)
      type = type.clone(b.getIntegerType(std::max(type.getElementTypeBitWidth(), 32u)));
    const StringAttr text = nameOf(indices);
    const auto places = b.getDenseI64ArrayAttr(at);
    Value bounded =
        dialect::BoundedIndicesOp::create(b, loc, type, indices, size, Value(), outside, text, 0, places);
    if (unique)
      bounded = dialect::DistinctIndicesOp::create(b, loc, type, bounded, size, text, places);
    return dialect::OneHotOp::create(b, loc, dialect::selectionOf(type), bounded, size,
                                     /*total=*/outside != dialect::Outside::Nothing, unique);
  }
};

struct ExpandGather : impl::ExpandGatherBase<ExpandGather> {
  void runOnOperation() override {
    SmallVector<Operation *> all;
    getOperation().walk([&](Operation *op) {
      if (isa<dialect::GatherOp, dialect::ScatterOp>(op) && op->getNumResults() == 1)
        all.push_back(op);
    });
    if (all.empty())
      return markAllAnalysesPreserved();
    for (Operation *op : all) {
      OpBuilder b(op);
      auto gather = dyn_cast<dialect::GatherOp>(op);
      auto scatter = dyn_cast<dialect::ScatterOp>(op);
      if (failed(widen(op, gather ? gather.getIndices() : scatter.getIndices())))
        return signalPassFailure();
      op->getResult(0).replaceAllUsesWith(gather ? Expansion(b, gather).gather()
                                                 : Expansion(b, scatter).scatter());
      op->erase();
    }
  }
};

//===--- Index maps ---===//

struct ExpandIndexMap : impl::ExpandIndexMapBase<ExpandIndexMap> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](dialect::IndexMapOp op) { expand(rewriter, op); });
  }

  /// The last block argument of tensor.generate says which of the yielded coordinates is asked for.
  static void expand(IRRewriter &rewriter, dialect::IndexMapOp op) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto generate = tensor::GenerateOp::create(rewriter, loc, op.getResult().getType(), op.getSizes());
    rewriter.inlineRegionBefore(op.getBody(), generate.getBody(), generate.getBody().end());
    Block &body = generate.getBody().front();
    Value which = body.addArgument(rewriter.getIndexType(), loc);
    auto yield = cast<dialect::YieldOp>(body.getTerminator());
    rewriter.setInsertionPoint(yield);
    SmallVector<Value> coordinates(yield.getValues());
    if (coordinates.empty())
      coordinates.push_back(arith::ConstantIndexOp::create(rewriter, loc, 0));
    Value value = coordinates.back();
    for (size_t c = coordinates.size() - 1; c-- > 0;) {
      Value number = arith::ConstantIndexOp::create(rewriter, loc, int64_t(c));
      Value is = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, which, number);
      value = arith::SelectOp::create(rewriter, loc, is, coordinates[c], value);
    }
    rewriter.replaceOpWithNewOp<tensor::YieldOp>(yield, value);
    rewriter.replaceOp(op, generate);
  }
};

} // namespace
} // namespace tulle::passes
