// tulle-expand-explicit-values: a conversion to a format that says its values makes them, and checks them.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Kernels.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDEXPLICITVALUES
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

Value isEqual(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y);
  if (isa<ComplexType>(x.getType()))
    return complex::EqualOp::create(b, x, y);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

void expand(sparse_tensor::ConvertOp op, sparse_tensor::SparseTensorEncodingAttr encoding, ModuleOp module) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getDest().getType());
  Value stored = sparse_tensor::ConvertOp::create(b, type.cloneWithEncoding(encoding.withoutExplicitVal()),
                                                  op.getSource());
  Value values = sparse_tensor::ToValuesOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), stored);
  Value said = arith::ConstantOp::create(b, cast<TypedAttr>(encoding.getExplicitVal()));
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value count = memref::DimOp::create(b, values, zero);
  auto loop = scf::ForOp::create(b, zero, count, one);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value value = memref::LoadOp::create(b, values, loop.getInductionVar());
    boundary::require(b, isEqual(b, value, said), module, boundary::kExplicitError);
  }
  op.replaceAllUsesWith(tensor::CastOp::create(b, type, stored).getResult());
  op.erase();
}

struct ExpandExplicitValues : impl::ExpandExplicitValuesBase<ExpandExplicitValues> {
  void runOnOperation() override {
    getOperation().walk([&](sparse_tensor::ConvertOp op) {
      auto encoding = sparse_tensor::getSparseTensorEncoding(op.getDest().getType());
      if (encoding && encoding.getExplicitVal() && isa<FloatAttr, IntegerAttr>(encoding.getExplicitVal()))
        expand(op, encoding, getOperation());
    });
  }
};

} // namespace
} // namespace tulle::passes
