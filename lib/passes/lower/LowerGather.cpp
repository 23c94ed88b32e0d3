// Gathers and scatters of buffers as loops over the places of the indices, around loops over a slice.
#include "dialect/Dialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_LOWERGATHER
#include "passes/Passes.h.inc"

namespace {

/// The loops of one op; what is between them and memory is `scf` and `memref`.
class Loops {
public:
  Loops(OpBuilder &b, Location loc, Value whole, Value indices, SmallVector<int64_t> given,
        dialect::Outside outside)
      : b(b), loc(loc), whole(whole), indices(indices), given(std::move(given)), outside(outside) {}

  using Slice = function_ref<void(ValueRange place, ArrayRef<Value> coordinates)>;
  using Element = function_ref<void(ValueRange inPart, ValueRange inWhole)>;

  /// At each place of the indices, with the coordinates there.
  void forEachSlice(Slice slice) const {
    nest(leadingDims(indices, rank(indices) - 1), [&](ValueRange place) {
      Value inside;
      SmallVector<Value> coordinates;
      for (size_t k = 0; k < given.size(); ++k) {
        Value own;
        coordinates.push_back(coordinate(place, k, own));
        inside = inside ? arith::AndIOp::create(b, loc, inside, own).getResult() : own;
      }
      if (outside != dialect::Outside::Nothing || !inside)
        return slice(place, coordinates);
      auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      slice(place, coordinates);
    });
  }

  /// At each element of the slices, with the subscripts that part and whole have it at; `before` is at each
  /// slice.
  void forEachElement(Element element, Slice before = nullptr) const {
    forEachSlice([&](ValueRange place, ArrayRef<Value> coordinates) {
      if (before)
        before(place, coordinates);
      SmallVector<Value> sizes;
      for (int64_t d = 0; d < rank(whole); ++d)
        if (!llvm::is_contained(given, d))
          sizes.push_back(memref::DimOp::create(b, loc, whole, d));
      nest(sizes, [&](ValueRange slice) {
        SmallVector<Value> inPart(place), inWhole;
        llvm::append_range(inPart, slice);
        for (int64_t d = 0, next = 0; d < rank(whole); ++d) {
          const int64_t *column = llvm::find(given, d);
          inWhole.push_back(column != given.end() ? coordinates[size_t(column - given.begin())]
                                                  : slice[size_t(next++)]);
        }
        element(inPart, inWhole);
      });
    });
  }

  /// A flag, not yet set, for all the coordinates that integers may give.
  Value clearedFlags() const {
    SmallVector<Value> sizes;
    for (int64_t d : given)
      sizes.push_back(memref::DimOp::create(b, loc, whole, d));
    auto type = MemRefType::get(SmallVector<int64_t>(given.size(), ShapedType::kDynamic), b.getI1Type());
    Value flags = memref::AllocOp::create(b, loc, type, sizes);
    Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
    nest(sizes, [&](ValueRange at) { memref::StoreOp::create(b, loc, no, flags, at); });
    return flags;
  }

  /// The slice at these coordinates as a memref of its own.
  Value view(ArrayRef<Value> coordinates) const {
    auto type = cast<MemRefType>(whole.getType());
    SmallVector<OpFoldResult> offsets(size_t(type.getRank()), b.getIndexAttr(0)),
        strides(size_t(type.getRank()), b.getIndexAttr(1)), sizes;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      const int64_t *column = llvm::find(given, d);
      if (column != given.end())
        offsets[size_t(d)] = coordinates[size_t(column - given.begin())];
      sizes.push_back(column != given.end() ? OpFoldResult(b.getIndexAttr(1))
                                            : memref::getMixedSize(b, loc, whole, d));
    }
    return memref::SubViewOp::create(b, loc, dialect::sliceType(type, given), whole, offsets, sizes, strides);
  }

private:
  OpBuilder &b;
  Location loc;
  Value whole, indices;
  SmallVector<int64_t> given;
  dialect::Outside outside;

  static int64_t rank(Value value) { return cast<MemRefType>(value.getType()).getRank(); }
  Value constant(int64_t value) const { return arith::ConstantIndexOp::create(b, loc, value); }
  Value compare(arith::CmpIPredicate is, Value x, Value y) const {
    return arith::CmpIOp::create(b, loc, is, x, y);
  }

  SmallVector<Value> leadingDims(Value buffer, int64_t count) const {
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < count; ++d)
      sizes.push_back(memref::DimOp::create(b, loc, buffer, d));
    return sizes;
  }

  void nest(ArrayRef<Value> sizes, function_ref<void(ValueRange)> body) const {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Value> places;
    for (Value size : sizes) {
      auto loop = scf::ForOp::create(b, loc, constant(0), size, constant(1));
      places.push_back(loop.getInductionVar());
      b.setInsertionPointToStart(loop.getBody());
    }
    body(places);
  }

  /// The integer at this place as a coordinate; `inside` says whether it was one.
  Value coordinate(ValueRange place, size_t k, Value &inside) const {
    SmallVector<Value> subscripts(place);
    subscripts.push_back(constant(int64_t(k)));
    Value integer = memref::LoadOp::create(b, loc, indices, subscripts);
    if (!integer.getType().isIndex())
      integer = arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
    Value size = memref::DimOp::create(b, loc, whole, given[k]);
    if (outside == dialect::Outside::Nearest) {
      cf::AssertOp::create(b, loc, compare(arith::CmpIPredicate::ne, size, constant(0)),
                           "there is no coordinate nearest to an integer of the indices");
      Value last = arith::SubIOp::create(b, loc, size, constant(1));
      return arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, integer, last), constant(0));
    }
    inside = compare(arith::CmpIPredicate::ult, integer, size);
    if (outside == dialect::Outside::Error)
      cf::AssertOp::create(b, loc, inside,
                           "an integer of the indices is no coordinate of dimension " +
                               std::to_string(given[k]));
    return integer;
  }
};

void lower(OpBuilder &b, dialect::GatherOp op) {
  const Location loc = op.getLoc();
  const Loops loops(b, loc, op.getSource(), op.getIndices(), op.getGiven(), op.getOutside());
  if (op.getView())
    return loops.forEachSlice([&](ValueRange place, ArrayRef<Value> coordinates) {
      memref::StoreOp::create(b, loc, loops.view(coordinates), op.getInit(), place);
    });
  loops.forEachElement([&](ValueRange inPart, ValueRange inWhole) {
    Value value = memref::LoadOp::create(b, loc, op.getSource(), inWhole);
    memref::StoreOp::create(b, loc, value, op.getInit(), inPart);
  });
}

void lower(OpBuilder &b, dialect::ScatterOp op) {
  const Location loc = op.getLoc();
  const Loops loops(b, loc, op.getInit(), op.getIndices(), op.getGiven(), op.getOutside());
  auto store = [&](ValueRange inPart, ValueRange inWhole) {
    Value value = memref::LoadOp::create(b, loc, op.getSource(), inPart);
    memref::StoreOp::create(b, loc, value, op.getInit(), inWhole);
  };
  if (!op.getUnique())
    return loops.forEachElement(store);
  Value met = loops.clearedFlags();
  loops.forEachElement(store, [&](ValueRange, ArrayRef<Value> coordinates) {
    Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value before = memref::LoadOp::create(b, loc, met, coordinates);
    cf::AssertOp::create(b, loc, arith::XOrIOp::create(b, loc, before, yes),
                         "the indices give a coordinate twice, which `unique` says they do not");
    memref::StoreOp::create(b, loc, yes, met, coordinates);
  });
  memref::DeallocOp::create(b, loc, met);
}

struct LowerGather : impl::LowerGatherBase<LowerGather> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (op->getNumResults() != 0 || !isa<dialect::GatherOp, dialect::ScatterOp>(op))
        return;
      OpBuilder b(op);
      if (auto gather = dyn_cast<dialect::GatherOp>(op))
        lower(b, gather);
      else
        lower(b, cast<dialect::ScatterOp>(op));
      op->erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
