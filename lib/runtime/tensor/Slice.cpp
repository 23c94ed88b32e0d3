// Parts of tensors over the buffers of the whole.
#include "runtime/tensor/LevelShapes.h"
#include "support/Errors.h"

namespace tulle::runtime {

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
  Tensor part = tensor;
  if (part.wholeDims.empty())
    part.wholeDims = tensor.dims;
  std::optional<format::Slice> &own = part.encoding.dims[dimension].slice;
  // A slice of a slice: neither product leaves the dimension that was cut first.
  if (own)
    own = format::Slice{*own->offset + *own->stride * offset, size, size > 1 ? *own->stride * stride : 1};
  else
    own = format::Slice{offset, size, stride};
  part.dims[dimension] = size;
  return part;
}

Tensor cut(const Tensor &tensor, const format::Encoding &encoding) {
  if (std::string why = format::whyNotResolved(encoding); !why.empty())
    throw Error(why);
  Tensor part = tensor;
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (const std::optional<format::Slice> &s = encoding.dims[d].slice)
      part = slice(part, d, *s->offset, *s->size, *s->stride);
  return part;
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
    if (const std::optional<format::Slice> &s = tensor.encoding.dims[d].slice) {
      const int64_t distance = coords[d] - *s->offset;
      if (distance < 0 || distance % *s->stride != 0 || distance / *s->stride >= *s->size)
        return false;
      coords[d] = distance / *s->stride;
    }
  return true;
}

} // namespace tulle::runtime
