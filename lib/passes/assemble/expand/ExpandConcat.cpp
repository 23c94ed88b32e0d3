// tulle-expand-concat: concatenations as walks over their parts.
#include "dialect/ScalarConversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_EXPANDCONCAT
#include "passes/Passes.h.inc"

namespace {

class Expansion {
public:
  Expansion(OpBuilder &b, ConcatOp op) : b(b), loc(op.getLoc()), op(op), parts(op.getParts()) {
    const auto order = unsigned(op.getResult().getType().getRank());
    for (unsigned d = 0; d < order; ++d)
      along.push_back(llvm::is_contained(op.getAlong(), d));
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one;
    SmallVector<Value> next(order, zero);
    for (Value part : parts) {
      const bool isSingle = cast<RankedTensorType>(part.getType()).getRank() < order;
      begins.push_back(next);
      sizesOf.emplace_back();
      dimsOf.emplace_back();
      for (unsigned d = 0; d < order; ++d) {
        Value size;
        if (isSingle && along[d]) {
          size = one = one ? one : arith::ConstantIndexOp::create(b, loc, 1).getResult();
        } else {
          size = b.createOrFold<tensor::DimOp>(loc, part, dimsOf.back().size());
          sizesOf.back().push_back(size);
          dimsOf.back().push_back(d);
        }
        if (along[d])
          next[d] = b.createOrFold<arith::AddIOp>(loc, next[d], size);
      }
    }
    sizes = next;
    for (auto [own, d] : llvm::enumerate(dimsOf[0]))
      if (!along[d])
        sizes[d] = sizesOf[0][own];
    isStack = llvm::all_of(dimsOf, [&](ArrayRef<unsigned> dims) { return dims.size() < order; });
  }

  FailureOr<Value> run() {
    for (Value part : parts) {
      const format::Encoding &encoding = encodingOf(part);
      inverses.push_back(format::inverseMap(encoding));
      if (!inverses.back())
        return op.emitError("cannot walk over ")
               << format::displayName(encoding)
               << ": the coordinates of its dimensions do not follow from those of its levels";
      if (format::hasSlices(encoding))
        return op.emitError("a part is a slice; convert it to a format without slices");
    }
    Value bound;
    for (Value part : parts) {
      Value stored = StoredCountOp::create(b, loc, part);
      bound = bound ? b.createOrFold<arith::AddIOp>(loc, bound, stored) : stored;
    }
    const bool once = llvm::all_of(parts, [](Value part) { return storesOnce(encodingOf(part)); });
    const size_t common = commonLevels();
    auto made = AssembleOp::create(b, loc, op.getResult().getType(), sizes, bound, Value(),
                                   AffineMapAttr::get(arrival(common)), once ? b.getUnitAttr() : UnitAttr(),
                                   CombineAttr(), AssemblyPlanAttr(), AssemblyStrategyAttr(), UnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&made.getBody());
    insertBelow(common);
    return made.getResult();
  }

private:
  OpBuilder &b;
  Location loc;
  mutable ConcatOp op; ///< accessors of operations are not const
  SmallVector<Value> parts;
  SmallVector<bool> along;                                        ///< by dimension
  SmallVector<SmallVector<Value>> begins;                         ///< by part, and dimension of the result
  SmallVector<SmallVector<Value>> sizesOf;                        ///< by part, and dimension of its own
  SmallVector<SmallVector<unsigned>> dimsOf;                      ///< the same: which it is of the result
  bool isStack = false;                                           ///< all parts are at a coordinate each
  SmallVector<Value> sizes;                                       ///< of the result
  SmallVector<std::optional<std::vector<format::Expr>>> inverses; ///< by part

  /// The dimension of the result whose coordinates a level of a part holds, all of them; nothing of other
  /// levels.
  std::optional<unsigned> denseDim(unsigned part, size_t level) const {
    const format::Encoding &encoding = encodingOf(parts[part]);
    if (level >= encoding.levels.size() || encoding.levels[level].format.kind != format::LevelKind::Dense ||
        encoding.levels[level].expr->kind != format::ExprKind::Dim)
      return std::nullopt;
    return dimsOf[part][size_t(encoding.levels[level].expr->value)];
  }

  /// How many levels one loop each can be over, for all parts: entries lie below the last of them.
  size_t commonLevels() const {
    const format::Encoding &first = encodingOf(parts.front());
    const size_t most = isStack ? levelsBefore(unsigned(op.getAlong()[0])) : first.levels.size();
    size_t levels = 0;
    auto isCommon = [&](unsigned part) {
      const std::optional<unsigned> dim = denseDim(part, levels);
      return dim && dim == denseDim(0, levels) && !along[*dim];
    };
    while (levels < most && levels + 1 < first.levels.size() &&
           llvm::all_of(llvm::seq<unsigned>(0, parts.size()), isCommon))
      ++levels;
    return levels;
  }

  /// How many levels the result has before that of a dimension; 0 where none is.
  size_t levelsBefore(unsigned dim) const {
    const AffineMap order = storageOrder(encodingOf(op.getResult()), b.getContext());
    const auto *found = llvm::find(order.getResults(), getAffineDimExpr(dim, b.getContext()));
    return found == order.getResults().end() ? 0 : size_t(found - order.getResults().begin());
  }

  /// The order in which entries arrive: parts follow on each other where that is by a dimension along which
  /// they do, and coordinates below that are of one part.
  AffineMap arrival(size_t common) const {
    SmallVector<AffineExpr> keys;
    const auto order = unsigned(sizes.size());
    SmallVector<AffineMap> orders;
    for (auto [part, dims] : llvm::zip(parts, dimsOf)) {
      SmallVector<AffineExpr> own;
      for (unsigned d : dims)
        own.push_back(b.getAffineDimExpr(d));
      orders.push_back(
          storageOrder(encodingOf(part), b.getContext()).replaceDimsAndSymbols(own, {}, order, 0));
    }
    for (unsigned k = 0; k < orders[0].getNumResults(); ++k) {
      auto key = dyn_cast<AffineDimExpr>(orders[0].getResult(k));
      auto has = [&](AffineMap other) { return k < other.getNumResults() && other.getResult(k) == key; };
      if (k == common && isStack)
        keys.push_back(b.getAffineDimExpr(unsigned(op.getAlong()[0])));
      if (!key || !llvm::all_of(orders, has) ||
          (k == common && orders.size() > 1 && !isStack && !along[key.getPosition()]))
        break;
      keys.push_back(key);
    }
    return AffineMap::get(order, 0, keys, b.getContext());
  }

  void insertBelow(size_t common) {
    SmallVector<Value> coordinates;
    for (size_t l = 0; l < common; ++l) {
      Value lo = arith::ConstantIndexOp::create(b, loc, 0);
      Value range = RangeOp::create(b, loc, lo, sizes[*denseDim(0, l)]);
      auto loop = IterateOp::create(b, loc, TypeRange(), range, ValueRange(),
                                    LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/false);
      Block *body = b.createBlock(&loop.getBody(), {}, {b.getIndexType()}, {loc});
      YieldOp::create(b, loc);
      b.setInsertionPointToStart(body);
      coordinates.push_back(body->getArgument(0));
    }
    for (unsigned p = 0; p < parts.size(); ++p)
      insert(p, coordinates);
  }

  void insert(unsigned p, ArrayRef<Value> coordinates) {
    Value part = parts[p];
    auto attr = getEncoding(cast<RankedTensorType>(part.getType()));
    SmallVector<Value> origin;
    for (unsigned d : dimsOf[p])
      origin.push_back(begins[p][d]);
    Surroundings surroundings{llvm::to_vector(coordinates), Value(), origin};
    for (auto [l, coordinate] : llvm::enumerate(coordinates))
      surroundings.iterator = LocateOp::create(b, loc, IteratorType::get(b.getContext(), attr, l), part, l,
                                               surroundings.iterator, coordinate);
    traverseStored(
        b, loc, part, sizesOf[p], *inverses[p], {},
        [&](ValueRange dims, Value value) {
          SmallVector<Value> all(begins[p]);
          for (auto [own, d] : llvm::enumerate(dimsOf[p]))
            all[d] = dims[own];
          InsertOp::create(b, loc, converted(value), all);
        },
        surroundings);
  }

  /// As a number of the result's type. Numbers of 16 bits are computed in 32.
  Value converted(Value value) {
    const ElementType from = *elementType(value.getType());
    const ElementType to = *elementType(op.getResult().getType().getElementType());
    if (from == to)
      return value;
    const ElementType through = to == ElementType::F16 || to == ElementType::BF16 ? ElementType::F32 : to;
    return convertScalar(b, loc, convertScalar(b, loc, value, from, through), through, to);
  }
};

struct ExpandConcat : impl::ExpandConcatBase<ExpandConcat> {
  void runOnOperation() override {
    SmallVector<ConcatOp> concats;
    getOperation()->walk([&](ConcatOp op) { concats.push_back(op); });
    if (concats.empty())
      return markAllAnalysesPreserved();
    for (ConcatOp op : concats) {
      OpBuilder b(op);
      FailureOr<Value> made = Expansion(b, op).run();
      if (failed(made))
        return signalPassFailure();
      op.getResult().replaceAllUsesWith(*made);
      op.erase();
    }
  }
};

} // namespace
} // namespace tulle::passes
