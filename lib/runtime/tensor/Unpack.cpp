// A tensor's stored slots as a list of entries in storage order, and as a dense array.
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Walk.h"
#include "tulle/error.h"
#include <fmt/format.h>

namespace tulle::runtime {

void forEachStored(const Tensor &tensor,
                   const std::function<void(std::span<const int64_t>, int64_t)> &visit) {
  walk(tensor, false, [&](const std::vector<int64_t> &coords, int64_t p) { visit(coords, p); });
}

/// Positions are followed by the copy of one value; byte-wise, so that no value changes.
static void copyValue(std::byte *to, const std::byte *from, size_t width) {
  switch (width) {
  case 1:
    *to = *from;
    break;
  case 2:
    std::memcpy(to, from, 2);
    break;
  case 4:
    std::memcpy(to, from, 4);
    break;
  case 8:
    std::memcpy(to, from, 8);
    break;
  default:
    std::memcpy(to, from, width);
  }
}

Entries unpack(const Tensor &tensor) {
  Entries entries;
  entries.type = tensor.type;
  entries.dims = tensor.dims;
  const size_t order = tensor.dims.size(), width = byteWidth(tensor.type);
  entries.coords.resize(order);
  const StoredValues values(tensor);
  const int64_t capacity = tensor.storedCount();
  requireMemory(checkedMul(capacity, 8 * int64_t(order) + int64_t(width), "a list of entries"),
                "a list of entries");
  for (auto &column : entries.coords)
    column.reserve(capacity);
  entries.values.resize(capacity * width);
  int64_t count = 0;
  walk(tensor, false, [&](const std::vector<int64_t> &coords, int64_t p) {
    for (size_t d = 0; d < order; ++d)
      entries.coords[d].push_back(coords[d]);
    if (size_t(count + 1) * width > entries.values.size()) // segments that share positions
      entries.values.resize(2 * size_t(count + 1) * width);
    copyValue(entries.values.data() + count++ * width, values[p], width);
  });
  entries.values.resize(count * width);
  return entries;
}

/// Row-major without blocking: the storage already is the dense array.
static bool isRowMajor(const Tensor &tensor, const std::vector<LevelShape> &shapes) {
  if (format::hasSlices(tensor.encoding))
    return false;
  for (unsigned l = 0; l < shapes.size(); ++l)
    if (!shapes[l].full() || shapes[l].digit != format::Digit{l, 1, 0})
      return false;
  return shapes.size() == tensor.dims.size();
}

/// Whether the same coordinates may be stored several times.
static bool mayRepeat(const std::vector<LevelShape> &shapes) {
  for (unsigned l = 0; l < shapes.size(); ++l)
    if (!shapes[l].unique && shapes[l].runEnd == l)
      if (l + 1 == shapes.size() || shapes[l + 1].kind != format::LevelKind::Singleton)
        return true;
  return false;
}

Tensor toDense(const Tensor &tensor) {
  const std::vector<LevelShape> shapes = levelShapes(tensor);
  Tensor dense = makeDense(tensor.type, tensor.dims, false);
  const size_t width = byteWidth(tensor.type);
  auto *out = static_cast<std::byte *>(dense.values());
  const StoredValues values(tensor);
  if (isRowMajor(tensor, shapes)) {
    if (dense.storedCount() > 0)
      std::memcpy(out, values[0], dense.storedCount() * width);
    return dense;
  }
  fillBuffer(out, dense.storedCount(), fillBytes(tensor.encoding, tensor.type));
  const bool repeats = mayRepeat(shapes);
  std::vector<bool> seen(repeats ? size_t(dense.storedCount()) : 0);
  walk(tensor, false, [&](const std::vector<int64_t> &coords, int64_t p) {
    int64_t at = 0;
    for (size_t d = 0; d < coords.size(); ++d)
      at = at * tensor.dims[d] + coords[d];
    // The first of several is copied: adding to a fill would change -0.0.
    if (repeats && seen[size_t(at)])
      return addScalar(tensor.type, out + at * width, values[p]);
    if (repeats)
      seen[size_t(at)] = true;
    copyValue(out + at * width, values[p], width);
  });
  return dense;
}

} // namespace tulle::runtime
