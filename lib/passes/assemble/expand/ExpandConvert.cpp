// tulle-expand-convert: conversions as walks over their source.
#include "dialect/Scalars.h"
#include "dialect/SliceArguments.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/SourceTraversal.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDCONVERT
#include "passes/Passes.h.inc"

namespace {

using namespace dialect;

struct ExpandConvert : impl::ExpandConvertBase<ExpandConvert> {
  void runOnOperation() override {
    SmallVector<ConvertOp> converts;
    getOperation()->walk([&](ConvertOp op) {
      if (!op->use_empty() &&
          llvm::all_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
        converts.push_back(op);
    });
    for (ConvertOp op : converts)
      if (failed(expand(op)))
        return signalPassFailure();
  }

  static LogicalResult expand(ConvertOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    RankedTensorType type = op.getResult().getType();
    const SmallVector<std::optional<format::Slice>> slices = slicesOf(op.getSource().getType());
    const format::Encoding &source = getEncoding(op.getSource().getType()).getValue();
    const bool sliced = format::hasSlices(source);
    const format::Encoding &target = getEncoding(type).getValue();
    if (target.explicitVal)
      return op.emitError("cannot check here that every value is ")
             << *target.explicitVal << "; convert to the format without explicitVal";
    std::optional<std::vector<format::Expr>> inverse = format::inverseMap(source);
    if (!inverse)
      return op.emitError("cannot walk over ")
             << format::displayName(source)
             << ": the coordinates of its dimensions do not follow from those of its levels";
    if (std::string unknown = format::whyNotResolved(source); !unknown.empty())
      return op.emitError() << unknown;
    if (sliced && !isa<BlockArgument>(op.getSource()))
      return op.emitError("only an argument of the function can be a slice");
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(slices[d] ? arith::ConstantIndexOp::create(b, loc, *slices[d]->size).getResult()
                                : b.createOrFold<tensor::DimOp>(loc, op.getSource(), d));
    auto order = AffineMapAttr::get(assemble::storageOrder(source, op.getContext()));
    UnitAttr unique = assemble::storesOnce(source) ? b.getUnitAttr() : UnitAttr();
    const bool drop = format::isAllDense(source) && !format::isAllDense(target);
    // A dense source may hold far fewer entries than slots, and a slice than what it was cut from.
    Value bound = drop || sliced ? Value() : StoredCountOp::create(b, loc, op.getSource());
    auto made = AssembleOp::create(b, loc, type, sizes, bound, Value(), order, unique, CombineAttr(),
                                   AssemblyPlanAttr(), AssemblyStrategyAttr(), op.getShareAttr());
    b.createBlock(&made.getBody());
    if (sliced)
      replaceSliceByWhole(cast<BlockArgument>(op.getSource()));
    assemble::traverseStored(
        b, loc, op.getSource(), sizes, *inverse, slices, [&](ValueRange dims, Value value) {
          if (drop) {
            auto differs = scf::IfOp::create(b, loc, differsFromFill(b, loc, target, value), false);
            b.setInsertionPointToStart(differs.thenBlock());
          }
          InsertOp::create(b, loc, value, dims);
        });
    op.getResult().replaceAllUsesWith(made.getResult());
    op.erase();
    return success();
  }

  /// Signed zeros are equal, and nothing equals a nan.
  static Value differsFromFill(OpBuilder &b, Location loc, const format::Encoding &encoding, Value value) {
    Type type = value.getType();
    ElementType wide = isa<ComplexType>(type) ? ElementType::C128
                       : isa<FloatType>(type) ? ElementType::F64
                       : type.isInteger(1)    ? ElementType::Bool
                                              : ElementType::I64;
    Value fill = materialize(b, loc, scalarAttr(type, format::fillValue(encoding, wide)), type);
    if (isa<ComplexType>(type))
      return complex::NotEqualOp::create(b, loc, value, fill);
    if (isa<FloatType>(type))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, fill);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, fill);
  }
};

} // namespace
} // namespace tulle::passes
