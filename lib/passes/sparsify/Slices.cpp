#include "passes/sparsify/Slices.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/sparsify/Statement.h"

namespace tulle::passes {
using namespace mlir;

bool isInPlace(const format::Encoding &encoding) {
  std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  if (!digits || format::isAllDense(encoding))
    return digits.has_value();
  for (auto [level, digit] : llvm::zip(encoding.levels, *digits)) {
    bool full =
        level.format.kind == format::LevelKind::Dense || level.format.kind == format::LevelKind::Batch;
    const std::optional<format::Slice> &slice = encoding.dims[digit.dim].slice;
    const bool isPart = slice && slice->stride == 1 && format::canBeCut(level.format);
    if (slice && ((!full && !isPart) || digit.stride != 1 || digit.modulus != 0))
      return false;
  }
  // What no loop over a dimension follows is traversed as it is stored, and then outside the slice, too.
  return llvm::all_of(encoding.levels, [](const format::Level &level) { return level.format.ordered; });
}

bool isInPlace(format::Encoding encoding, tensor::ExtractSliceOp slice) {
  for (auto [d, dimension] : llvm::enumerate(encoding.dims))
    if (!isWhole(slice, unsigned(d)))
      dimension.slice =
          format::Slice{std::nullopt, std::nullopt, getConstantIntValue(slice.getMixedStrides()[d])};
  return isInPlace(encoding);
}

} // namespace tulle::passes
