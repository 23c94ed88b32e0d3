// tulle-expand-constants: the entries of a sparse constant are stored as they are listed, zeros too.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/EntryLists.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDCONSTANTS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// A buffer of any size that only reads the elements.
Value bufferOf(ImplicitLocOpBuilder &b, DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  Value tensor = arith::ConstantOp::create(b, elements);
  Value buffer = bufferization::ToBufferOp::create(b, MemRefType::get(type.getShape(), type.getElementType()),
                                                   tensor, /*read_only=*/true);
  return memref::CastOp::create(b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), buffer);
}

Value listOf(ImplicitLocOpBuilder &b, SparseElementsAttr constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  const DenseIntElementsAttr indices = constant.getIndices();
  const int64_t rank = type.getRank(), count = indices.getNumElements() / rank;
  auto integers = [&](ArrayRef<int64_t> numbers) {
    return bufferOf(
        b, DenseElementsAttr::get(RankedTensorType::get({int64_t(numbers.size())}, b.getI64Type()), numbers));
  };
  SmallVector<int64_t> all = llvm::map_to_vector(indices.getValues<APInt>(),
                                                 [](const APInt &index) { return index.getSExtValue(); });
  SmallVector<Value> buffers{integers({0, count})};
  for (int64_t d = 0; d < rank; ++d) {
    SmallVector<int64_t> coordinates;
    for (int64_t k = 0; k < count; ++k)
      coordinates.push_back(all[size_t(k * rank + d)]);
    buffers.push_back(integers(coordinates));
  }
  SmallVector<Attribute> values(constant.getValues().getValues<Attribute>());
  auto valuesType = RankedTensorType::get({count}, type.getElementType());
  buffers.push_back(bufferOf(b, constant.getValues().isSplat()
                                    ? DenseElementsAttr::get(valuesType, values.front())
                                    : DenseElementsAttr::get(valuesType, values)));
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(arith::ConstantIndexOp::create(b, size));
  return boundary::listOf(b, type, buffers, sizes);
}

struct ExpandConstants : impl::ExpandConstantsBase<ExpandConstants> {
  void runOnOperation() override {
    getOperation().walk([](sparse_tensor::ConvertOp convert) {
      auto constant = convert.getSource().getDefiningOp<arith::ConstantOp>();
      auto entries = constant ? dyn_cast<SparseElementsAttr>(constant.getValue()) : SparseElementsAttr();
      if (!entries || !sparse_tensor::getSparseTensorEncoding(convert.getType()))
        return;
      const auto type = cast<RankedTensorType>(entries.getType());
      if (type.getRank() == 0 || entries.getIndices().empty() || type.getElementType().isInteger(1))
        return;
      ImplicitLocOpBuilder b(convert.getLoc(), convert);
      convert.getSourceMutable().assign(listOf(b, entries));
      if (constant->use_empty())
        constant->erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
