#include "runtime/tensor/Tensor.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"

namespace tulle::runtime {

int64_t Tensor::bytes() const {
  int64_t total = 0;
  for (const Buffer &b : buffers)
    total += b.bytes;
  return total;
}

/// A dense tensor without its buffer, and the buffer's number of elements.
static std::pair<Tensor, int64_t> denseShell(ElementType type, std::vector<int64_t> dims) {
  Tensor t;
  t.encoding = format::resolveWidths(format::denseEncoding(dims.size()), 0, 0);
  t.type = type;
  t.layout = format::layout(t.encoding);
  for (int64_t size : dims)
    if (size < 0)
      throwError("size {} in {}: sizes must not be negative", size, shapeText(dims));
  const int64_t count = checkedProduct(dims, fmt::format("a dense tensor of shape {}", shapeText(dims)));
  t.dims = std::move(dims);
  return {std::move(t), count};
}

Tensor makeDense(ElementType type, std::vector<int64_t> dims, bool zeroed) {
  auto [t, count] = denseShell(type, std::move(dims));
  std::string what = fmt::format("a dense tensor of shape {} and type {}", shapeText(t.dims), name(type));
  t.buffers = {Buffer::allocate(count, checkedMul(count, byteWidth(type), what), zeroed, what)};
  return std::move(t);
}

Tensor borrowDense(ElementType type, std::vector<int64_t> dims, void *data, std::shared_ptr<void> keepAlive) {
  auto [t, count] = denseShell(type, std::move(dims));
  std::string what = fmt::format("a dense tensor of shape {} and type {}", shapeText(t.dims), name(type));
  if (!data && count > 0)
    throwError("{} was given no memory to borrow", what);
  t.buffers = {Buffer::borrow(data, count, checkedMul(count, byteWidth(type), what), std::move(keepAlive))};
  return std::move(t);
}

Tensor copyOf(const Tensor &tensor) {
  Tensor copy = tensor;
  for (Buffer &buffer : copy.buffers)
    buffer = Buffer::copyOf(buffer, "a copy of a tensor");
  return copy;
}

Tensor likePattern(const Tensor &pattern, ElementType type) {
  Tensor t = pattern;
  t.type = type;
  std::string what = fmt::format("the values of a {} tensor of type {}", shapeText(t.dims), name(type));
  int64_t count = pattern.storedCount();
  t.buffers.back() = Buffer::allocate(count, checkedMul(count, byteWidth(type), what), true, what);
  return t;
}

} // namespace tulle::runtime
