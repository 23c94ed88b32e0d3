// Dense tensors, and tensors over the buffers of others: copies of a pattern, values that the format says,
// and slices, which only change the encoding.
#include "runtime/tensor/Tensor.h"
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <cmath>
#include <fmt/ranges.h>

namespace tulle::runtime {

SharedEncoding::SharedEncoding(format::Encoding encoding) {
  format::Layout layout = format::layout(encoding);
  held = std::make_shared<const Parts>(Parts{std::move(encoding), std::move(layout)});
}

SharedEncoding::SharedEncoding() {
  static const SharedEncoding none{format::Encoding()};
  held = none.held;
}

int64_t Tensor::bytes() const {
  int64_t total = 0;
  for (const Buffer &b : buffers)
    total += b.bytes;
  return total;
}

namespace {

/// What errors call a dense tensor of these sizes.
std::string denseText(ElementType type, const std::vector<int64_t> &dims) {
  return fmt::format("a dense tensor of shape {} and type {}", shapeText(dims), name(type));
}

/// Row-major tensors without type and sizes, by order: calls of kernels make one for each array that they are
/// given.
const Tensor &rowMajor(size_t order) {
  auto make = [](size_t order) {
    return Tensor(format::resolveWidths(format::denseEncoding(unsigned(order)), 0, 0), ElementType::F64, {});
  };
  static const std::vector<Tensor> few = [&] {
    std::vector<Tensor> made;
    for (size_t order = 0; order < 8; ++order)
      made.push_back(make(order));
    return made;
  }();
  if (order < few.size())
    return few[order];
  static thread_local Tensor large;
  return large = make(order);
}

/// A dense tensor without its buffer, and what that must hold.
struct DenseShell {
  DenseShell(ElementType type, std::vector<int64_t> dims) : tensor(rowMajor(dims.size())) {
    tensor.type = type;
    tensor.dims = std::move(dims);
    for (int64_t size : tensor.dims)
      if (size < 0)
        throwError("size {} in {}: sizes must not be negative", size, shapeText(tensor.dims));
    count = 1;
    bool fits = true;
    for (int64_t size : tensor.dims)
      fits &= !__builtin_mul_overflow(count, size, &count);
    if (!fits || __builtin_mul_overflow(count, int64_t(byteWidth(type)), &bytes)) {
      count = checkedProduct(tensor.dims, fmt::format("a dense tensor of shape {}", shapeText(tensor.dims)));
      bytes = checkedMul(count, byteWidth(type), denseText(type, tensor.dims));
    }
  }

  Tensor tensor;
  int64_t count, bytes;
};

Buffer newValues(const Tensor &tensor, int64_t count, bool zeroed) {
  std::string what =
      fmt::format("the values of a {} tensor of type {}", shapeText(tensor.dims), name(tensor.type));
  return Buffer::allocate(count, checkedMul(count, byteWidth(tensor.type), what), zeroed, what);
}

} // namespace

Tensor makeDense(ElementType type, std::vector<int64_t> dims, bool zeroed) {
  DenseShell made(type, std::move(dims));
  made.tensor.buffers = {
      Buffer::allocate(made.count, made.bytes, zeroed, [&] { return denseText(type, made.tensor.dims); })};
  return std::move(made.tensor);
}

Tensor borrowDense(ElementType type, std::vector<int64_t> dims, void *data, std::shared_ptr<void> keepAlive) {
  DenseShell made(type, std::move(dims));
  if (!data && made.count > 0)
    throwError("{} was given no memory to borrow", denseText(type, made.tensor.dims));
  made.tensor.buffers = {Buffer::borrow(data, made.count, made.bytes, std::move(keepAlive))};
  return std::move(made.tensor);
}

Tensor copyOf(const Tensor &tensor) {
  Tensor copy = tensor;
  for (Buffer &buffer : copy.buffers)
    buffer = Buffer::copyOf(buffer, "a copy of a tensor");
  return copy;
}

Tensor likePattern(const Tensor &pattern, ElementType type) {
  return likePattern(pattern, type, format::withStoredValues(pattern.encoding), pattern.dims);
}

Tensor likePattern(const Tensor &pattern, ElementType type, const format::Encoding &encoding,
                   std::vector<int64_t> dims, bool zeroed) {
  Tensor t(encoding, type, std::move(dims));
  t.wholeDims = pattern.wholeDims;
  t.buffers.assign(pattern.buffers.begin(),
                   pattern.buffers.begin() + std::ptrdiff_t(t.layout().fields.size()));
  t.buffers.back() = newValues(t, likeCount(pattern, t.dims), zeroed);
  return t;
}

int64_t likeCount(const Tensor &pattern, const std::vector<int64_t> &dims) {
  if (dims.size() < pattern.dims.size()) {
    const size_t levels = format::outerLevels(pattern.encoding, unsigned(dims.size())).value();
    return batchStarts(pattern, levelShapes(pattern), unsigned(levels)).back();
  }
  std::vector<int64_t> counts(dims.begin() + std::ptrdiff_t(pattern.dims.size()), dims.end());
  counts.push_back(pattern.storedCount());
  return checkedProduct(counts, fmt::format("the values of a {} tensor", shapeText(dims)));
}

//===--- Values that the format says ---===//

StoredValues::StoredValues(const Tensor &tensor) : first(tensor.value(0)), step(byteWidth(tensor.type)) {
  if (std::optional<Scalar> value = format::explicitValue(tensor.encoding, tensor.type)) {
    storeScalar(tensor.type, same, *value);
    first = same;
    step = 0;
  }
}

/// Over the same buffers.
static Tensor inEncoding(const Tensor &tensor, const format::Encoding &encoding) {
  Tensor made = tensor;
  made.encoding = encoding;
  return made;
}

Tensor withStoredValues(const Tensor &tensor) {
  std::optional<Scalar> value = format::explicitValue(tensor.encoding, tensor.type);
  if (!value)
    return tensor;
  Tensor made = inEncoding(tensor, format::withStoredValues(tensor.encoding));
  std::vector<std::byte> element(byteWidth(tensor.type));
  storeScalar(made.type, element.data(), *value);
  made.buffers.back() = newValues(tensor, tensor.storedCount(), /*zeroed=*/false);
  fillBuffer(made.values(), made.storedCount(), element);
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

//===--- Slices ---===//

/// What reaches beyond the dimension, if anything.
static void checkSlice(const Tensor &tensor, unsigned dimension, int64_t offset, int64_t size,
                       int64_t stride) {
  if (dimension >= tensor.dims.size())
    throwError("dimension {} of a tensor with {} dimensions cannot be cut; they are counted from 0",
               dimension, tensor.dims.size());
  if (offset < 0 || size < 1 || stride < 1)
    throwError("slice({}, {}, {}) of dimension {}: offset is at least 0, size and stride are at least 1",
               offset, size, stride, dimension);
  // No product that may overflow: offset + (size - 1) * stride < length.
  const int64_t length = tensor.dims[dimension];
  if (offset >= length || (size - 1) > (length - 1 - offset) / stride)
    throwError(
        "slice({}, {}, {}) of dimension {} reaches beyond it: its size is {}; at most {} coordinates fit",
        offset, size, stride, dimension, length, offset < length ? (length - 1 - offset) / stride + 1 : 0);
}

Tensor slice(const Tensor &tensor, unsigned dimension, int64_t offset, int64_t size, int64_t stride) {
  checkSlice(tensor, dimension, offset, size, stride);
  Tensor view = tensor;
  if (view.wholeDims.empty())
    view.wholeDims = tensor.dims;
  format::Encoding encoding = *view.encoding;
  std::optional<format::Slice> &own = encoding.dims[dimension].slice;
  // A slice of a slice: neither product leaves the dimension that was cut first.
  if (own)
    own = format::Slice{*own->offset + *own->stride * offset, size, size > 1 ? *own->stride * stride : 1};
  else
    own = format::Slice{offset, size, stride};
  view.encoding = std::move(encoding);
  view.dims[dimension] = size;
  return view;
}

Tensor cut(const Tensor &tensor, const format::Encoding &encoding) {
  if (std::string why = format::whyNotResolved(encoding); !why.empty())
    throw Error(why);
  Tensor view = tensor;
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (const std::optional<format::Slice> &s = encoding.dims[d].slice)
      view = slice(view, d, *s->offset, *s->size, *s->stride);
  return view;
}

Tensor whole(const Tensor &tensor) {
  if (tensor.wholeDims.empty())
    return tensor;
  Tensor all = tensor;
  all.encoding = format::withoutSlices(tensor.encoding);
  all.dims = std::move(all.wholeDims);
  all.wholeDims.clear();
  return all;
}

bool toSlice(const Tensor &tensor, std::vector<int64_t> &coords) {
  for (size_t d = 0; d < coords.size(); ++d)
    if (const std::optional<format::Slice> &s = tensor.encoding->dims[d].slice) {
      const int64_t distance = coords[d] - *s->offset;
      if (distance < 0 || distance % *s->stride != 0 || distance / *s->stride >= *s->size)
        return false;
      coords[d] = distance / *s->stride;
    }
  return true;
}

//===--- Elements ---===//

static double unsignedNan(double value) { return std::isnan(value) ? std::fabs(value) : value; }

std::string scalarText(ElementType type, const Scalar &value) {
  const double real = unsignedNan(value.f.real());
  if (isComplex(type))
    return fmt::format("{}{:+}i", real, unsignedNan(value.f.imag()));
  return isFloat(type) ? fmt::format("{}", real) : fmt::format("{}", value.i);
}

static bool isFinite(const Scalar &value) {
  return std::isfinite(value.f.real()) && std::isfinite(value.f.imag());
}

/// Why `value` cannot become `made`, and what can hold it; empty when it can.
static std::string whyLost(const Scalar &value, ElementType from, const Scalar &made, ElementType to) {
  if (to == ElementType::Bool)
    return "";
  if (isComplex(from) && !isComplex(to) && !(value.f.imag() == 0))
    return "has an imaginary part; use c128 or c64";
  if (!isInteger(to)) // the other member of an integer's Scalar is 0
    return isFinite(value) && !isFinite(made) ? "is beyond the range; use a wider type, such as f64" : "";
  if (from < ElementType::BF16)
    return made.i == value.i ? "" : "is beyond the range; use a wider type, such as i64";
  const double real = value.f.real();
  if (!(std::floor(real) == real) || std::isinf(real))
    return "is no whole number; use f64 or f32";
  // double(made.i) rounds up to 2^63 what saturated there.
  return double(made.i) == real && real < 0x1p63
             ? ""
             : "is beyond the range; use a wider type, such as i64 or f64";
}

void convertElements(ElementType from, const std::byte *source, ElementType to, std::byte *target,
                     int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    std::byte *made = target + k * byteWidth(to);
    const Scalar value = loadScalar(from, source + k * byteWidth(from));
    storeScalar(to, made, convertScalar(value, from, to));
    if (std::string why = whyLost(value, from, loadScalar(to, made), to); !why.empty())
      throwError("the value {} as {}: it {}", scalarText(from, value), name(to), why);
  }
}

} // namespace tulle::runtime
