// Tensors whose format says what every stored value is.
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <fmt/ranges.h>

namespace tulle::runtime {

StoredValues::StoredValues(const Tensor &tensor) {
  if (std::optional<Scalar> value = format::explicitValue(tensor.encoding, tensor.type)) {
    storeScalar(tensor.type, same, *value);
    first = same;
    step = 0;
  } else {
    first = static_cast<const std::byte *>(tensor.values());
    step = byteWidth(tensor.type);
  }
}

static Tensor inEncoding(const Tensor &tensor, const format::Encoding &encoding) {
  Tensor made = tensor;
  made.encoding = encoding;
  made.layout = format::layout(encoding);
  return made;
}

Tensor withStoredValues(const Tensor &tensor) {
  std::optional<Scalar> value = format::explicitValue(tensor.encoding, tensor.type);
  if (!value)
    return tensor;
  Tensor made = inEncoding(tensor, format::withStoredValues(tensor.encoding));
  const size_t width = byteWidth(tensor.type);
  const int64_t count = tensor.storedCount();
  std::string what =
      fmt::format("the values of a {} tensor of type {}", shapeText(made.dims), name(made.type));
  std::vector<std::byte> element(width);
  storeScalar(made.type, element.data(), *value);
  made.buffers.back() = Buffer::allocate(count, checkedMul(count, int64_t(width), what), false, what);
  fillBuffer(made.values(), count, element);
  return made;
}

Tensor withExplicitValue(const Tensor &tensor, const format::Encoding &encoding) {
  Tensor made = inEncoding(tensor, encoding);
  made.buffers.back() = Buffer::borrow(nullptr, tensor.storedCount(), 0);
  const StoredValues have(tensor), want(made);
  const size_t width = byteWidth(tensor.type);
  auto differs = [&](int64_t position) { return std::memcmp(have[position], want[0], width) != 0; };
  // All are equal where the first is, and each equals the next: comparing memory is as fast as reading it.
  const int64_t count = tensor.storedCount();
  if (count == 0 || (!differs(0) && std::memcmp(have[0], have[1], size_t(count - 1) * width) == 0))
    return made;
  // Padding holds the fill, and does not count.
  forEachStored(tensor, [&](std::span<const int64_t> at, int64_t entry) {
    if (differs(entry))
      throwError("cannot store the tensor as {}: the entry at ({}), counted from 0, is {}, and every entry "
                 "must be {}; leave explicitVal out, or set all values to it first",
                 format::displayName(encoding), fmt::join(at, ", "),
                 scalarText(tensor.type, loadScalar(tensor.type, have[entry])),
                 scalarText(tensor.type, loadScalar(tensor.type, want[0])));
  });
  return made;
}

} // namespace tulle::runtime
