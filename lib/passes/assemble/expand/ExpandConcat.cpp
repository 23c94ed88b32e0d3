// tulle-expand-concat: concatenations as walks over their parts.
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
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    SmallVector<Value> next(order, zero);
    for (Value part : parts) {
      begins.push_back(next);
      sizesOf.emplace_back();
      for (unsigned d = 0; d < order; ++d) {
        sizesOf.back().push_back(b.createOrFold<tensor::DimOp>(loc, part, d));
        if (along[d])
          next[d] = b.createOrFold<arith::AddIOp>(loc, next[d], sizesOf.back()[d]);
      }
    }
    for (unsigned d = 0; d < order; ++d)
      sizes.push_back(along[d] ? next[d] : sizesOf[0][d]);
  }

  FailureOr<Value> run() {
    for (Value part : parts) {
      const format::Encoding &encoding = encodingOf(part);
      inverses.push_back(format::inverseMap(encoding));
      if (!inverses.back())
        return op.emitError("cannot walk over ")
               << format::displayName(encoding)
               << ": the coordinates of its dimensions do not follow from those of its levels";
      if (std::string unknown = format::whyNotResolved(encoding); !unknown.empty())
        return op.emitError() << unknown;
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
  ConcatOp op;
  SmallVector<Value> parts;
  SmallVector<bool> along;                                        ///< by dimension
  SmallVector<SmallVector<Value>> begins, sizesOf;                ///< by part and dimension
  SmallVector<Value> sizes;                                       ///< of the result
  SmallVector<std::optional<std::vector<format::Expr>>> inverses; ///< by part

  /// The dimension whose coordinates a level holds, all of them; nothing of other levels.
  static std::optional<unsigned> denseDim(const format::Encoding &encoding, size_t level) {
    if (level >= encoding.levels.size() || encoding.levels[level].format.kind != format::LevelKind::Dense ||
        encoding.levels[level].expr->kind != format::ExprKind::Dim)
      return std::nullopt;
    return unsigned(encoding.levels[level].expr->value);
  }

  /// How many levels one loop each can be over, for all parts: entries lie below the last of them.
  size_t commonLevels() const {
    const format::Encoding &first = encodingOf(parts.front());
    size_t levels = 0;
    auto isCommon = [&](Value part) {
      const std::optional<unsigned> dim = denseDim(encodingOf(part), levels);
      return dim && dim == denseDim(first, levels) && !along[*dim];
    };
    while (levels + 1 < first.levels.size() && llvm::all_of(parts, isCommon))
      ++levels;
    return levels;
  }

  /// The order in which entries arrive: parts follow on each other where that is by a dimension along which
  /// they do, and coordinates below that are of one part.
  AffineMap arrival(size_t common) const {
    SmallVector<AffineExpr> keys;
    const auto order = unsigned(sizes.size());
    SmallVector<AffineMap> orders;
    for (Value part : parts)
      orders.push_back(storageOrder(encodingOf(part), b.getContext()));
    for (unsigned k = 0; k < orders[0].getNumResults(); ++k) {
      auto key = dyn_cast<AffineDimExpr>(orders[0].getResult(k));
      auto has = [&](AffineMap other) { return k < other.getNumResults() && other.getResult(k) == key; };
      if (!key || !llvm::all_of(orders, has) ||
          (k == common && orders.size() > 1 && !along[key.getPosition()]))
        break;
      keys.push_back(key);
    }
    return AffineMap::get(order, 0, keys, b.getContext());
  }

  void insertBelow(size_t common) {
    SmallVector<Value> coordinates;
    for (size_t l = 0; l < common; ++l) {
      Value lo = arith::ConstantIndexOp::create(b, loc, 0);
      Value range = RangeOp::create(b, loc, lo, sizes[*denseDim(encodingOf(parts[0]), l)]);
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
    Surroundings surroundings{llvm::to_vector(coordinates), Value(), begins[p]};
    for (auto [l, coordinate] : llvm::enumerate(coordinates))
      surroundings.iterator = LocateOp::create(b, loc, IteratorType::get(b.getContext(), attr, l), part, l,
                                               surroundings.iterator, coordinate);
    traverseStored(
        b, loc, part, sizesOf[p], *inverses[p], {},
        [&](ValueRange dims, Value value) { InsertOp::create(b, loc, value, dims); }, surroundings);
  }
};

struct ExpandConcat : impl::ExpandConcatBase<ExpandConcat> {
  void runOnOperation() override {
    SmallVector<ConcatOp> concats;
    getOperation()->walk([&](ConcatOp op) { concats.push_back(op); });
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
