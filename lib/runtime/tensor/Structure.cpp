// Tensors that have another's structure: its positions and coordinates, and values of their own for each
// entry. What they stored before is compared with it, buffer by buffer first, else entry by entry.
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Tensor.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>
#include <map>

namespace tulle::runtime {

bool hasBuffersOf(const Tensor &tensor, const Tensor &pattern) {
  if (tensor.buffers.size() > pattern.buffers.size())
    return false;
  for (size_t k = 0; k + 1 < tensor.buffers.size(); ++k)
    if (tensor.buffers[k].data != pattern.buffers[k].data)
      return false;
  return true;
}

namespace {

using Coordinates = std::vector<int64_t>;

/// Whether the buffers hold the same numbers, so that the pattern's can stand for the tensor's.
bool storesAlike(const Tensor &tensor, const Tensor &pattern) {
  if (tensor.buffers.size() > pattern.buffers.size() ||
      tensor.storedCount() != likeCount(pattern, tensor.dims))
    return false;
  for (size_t k = 0; k + 1 < tensor.buffers.size(); ++k) {
    const Buffer &a = tensor.buffers[k], &b = pattern.buffers[k];
    if (a.bytes != b.bytes ||
        (a.bytes > 0 && a.data != b.data && std::memcmp(a.data, b.data, size_t(a.bytes)) != 0))
      return false;
  }
  return true;
}

/// The tensor's values at the coordinates that the pattern stores, whatever order they are in.
Tensor placeEntries(const Tensor &tensor, const Tensor &pattern) {
  std::map<Coordinates, int64_t> entries;
  forEachStored(tensor, [&](std::span<const int64_t> at, int64_t p) {
    entries.emplace(Coordinates(at.begin(), at.end()), p);
  });
  Tensor made = likePattern(pattern, tensor.type, tensor.encoding, tensor.dims);
  const size_t width = byteWidth(tensor.type);
  forEachStored(made, [&](std::span<const int64_t> at, int64_t p) {
    const auto found = entries.find(Coordinates(at.begin(), at.end()));
    if (found == entries.end())
      throwError("it stores no entry at ({}), counted from 0, where the other does", fmt::join(at, ", "));
    std::memcpy(made.value(p), tensor.value(found->second), width);
    entries.erase(found);
  });
  if (!entries.empty())
    throwError("it stores an entry at ({}), counted from 0, where the other does not",
               fmt::join(entries.begin()->first, ", "));
  return made;
}

} // namespace

Tensor shareStructure(const Tensor &tensor, const Tensor &pattern) {
  if (hasBuffersOf(tensor, pattern))
    return tensor;
  if (!storesAlike(tensor, pattern))
    return placeEntries(tensor, pattern);
  Tensor shared = tensor;
  std::copy_n(pattern.buffers.begin(), shared.buffers.size() - 1, shared.buffers.begin());
  return shared;
}

/// The values of a dense tensor of all dimensions where the pattern stores an entry.
static void takeElements(Tensor &made, const Tensor &values) {
  const size_t width = byteWidth(made.type);
  auto isUnset = [&](const std::byte *value) {
    return std::all_of(value, value + width, [](std::byte b) { return b == std::byte(0); });
  };
  std::vector<bool> taken(size_t(values.storedCount()));
  forEachStored(made, [&](std::span<const int64_t> at, int64_t p) {
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d)
      element = element * made.dims[d] + at[d];
    std::memcpy(made.value(p), values.value(element), width);
    taken[size_t(element)] = true;
  });
  for (int64_t element = 0; element < values.storedCount(); ++element)
    if (!taken[size_t(element)] && !isUnset(values.value(element))) {
      Coordinates at(made.dims.size());
      for (size_t d = at.size(); d-- > 0; element /= made.dims[d])
        at[d] = element % made.dims[d];
      throwError("it has a value at ({}), counted from 0, where the other stores no entry",
                 fmt::join(at, ", "));
    }
}

Tensor valuesInStructure(const Tensor &values, const Tensor &pattern, const format::Encoding &encoding,
                         std::vector<int64_t> dims) {
  Tensor made = likePattern(pattern, values.type, encoding, std::move(dims));
  const size_t own = std::min(pattern.dims.size(), made.dims.size());
  std::vector<int64_t> rows{
      likeCount(pattern, std::vector(made.dims.begin(), made.dims.begin() + std::ptrdiff_t(own)))};
  rows.insert(rows.end(), made.dims.begin() + std::ptrdiff_t(own), made.dims.end());
  if (values.dims == rows) {
    if (made.storedCount() > 0)
      std::memcpy(made.values(), values.values(), size_t(made.storedCount()) * byteWidth(made.type));
    return made;
  }
  if (values.dims != made.dims)
    throwError("it has sizes {}, expected those of the tensor, {}, or the values of each of the {} stored "
               "entries in turn, {}",
               fmt::join(values.dims, "x"), fmt::join(made.dims, "x"), rows[0], fmt::join(rows, "x"));
  takeElements(made, values);
  return made;
}

} // namespace tulle::runtime
