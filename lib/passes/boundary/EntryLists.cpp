#include "passes/boundary/EntryLists.h"
#include "dialect/Dialect.h"
#include "passes/boundary/SparseValues.h"

using namespace mlir;

namespace tulle::boundary {

sparse_tensor::SparseTensorEncodingAttr listEncoding(MLIRContext *context, int64_t rank, bool ordered) {
  return listEncoding(AffineMap::getMultiDimIdentityMap(unsigned(rank), context), ordered);
}

sparse_tensor::SparseTensorEncodingAttr listEncoding(AffineMap order, bool ordered) {
  const unsigned rank = order.getNumResults();
  using sparse_tensor::LevelFormat;
  using Property = sparse_tensor::LevelPropNonDefault;
  SmallVector<sparse_tensor::LevelType> levels;
  for (unsigned d = 0; d < rank; ++d) {
    std::vector<Property> properties;
    if (d + 1 < rank)
      properties.push_back(Property::Nonunique);
    if (!ordered)
      properties.push_back(Property::Nonordered);
    if (d > 0)
      properties.push_back(Property::SoA);
    levels.push_back(*sparse_tensor::buildLevelType(d == 0 ? LevelFormat::Compressed : LevelFormat::Singleton,
                                                    properties));
  }
  return sparse_tensor::SparseTensorEncodingAttr::get(order.getContext(), levels, order,
                                                      inversePermutation(order), /*posWidth=*/64,
                                                      /*crdWidth=*/64);
}

Value listOf(ImplicitLocOpBuilder &b, RankedTensorType type, ValueRange buffers, ValueRange sizes) {
  const RankedTensorType listed =
      type.cloneWithEncoding(listEncoding(b.getContext(), type.getRank(), /*ordered=*/false));
  return dialect::StorageOp::create(b, dialect::withEncoding(type, *encodingOf(listed)), buffers, sizes);
}

} // namespace tulle::boundary
