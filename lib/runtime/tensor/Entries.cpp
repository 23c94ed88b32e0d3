// Entries as a tensor over their own arrays, where what is true of their order becomes part of the format;
// and a tensor's stored slots as entries in storage order, or as a dense array.
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Walk.h"
#include "support/Errors.h"
#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <numeric>

namespace tulle::runtime {

namespace {

void checkCounts(const Entries &entries) {
  if (entries.coords.size() != entries.dims.size())
    throwError("entries have coordinates for {} dimensions, their tensor has {}", entries.coords.size(),
               entries.dims.size());
  for (size_t d = 0; d < entries.coords.size(); ++d)
    if (entries.coords[d].size() != entries.coords[0].size())
      throwError("entries have {} coordinates for dimension 0 and {} for dimension {}",
                 entries.coords[0].size(), entries.coords[d].size(), d);
  if (entries.values.size() != size_t(entries.count()) * byteWidth(entries.type))
    throwError("{} entries of type {} need {} bytes of values, got {}", entries.count(), name(entries.type),
               entries.count() * byteWidth(entries.type), entries.values.size());
  for (size_t d = 0; d < entries.dims.size(); ++d)
    if (entries.dims[d] < 0)
      throwError("dimension {} has size {}; sizes must not be negative", d, entries.dims[d]);
}

void checkCoordinates(const Entries &entries) {
  for (size_t d = 0; d < entries.dims.size(); ++d) {
    const std::vector<int64_t> &coords = entries.coords[d];
    uint64_t size = entries.dims[d], bad = 0;
    for (int64_t c : coords)
      bad |= uint64_t(c) >= size;
    if (!bad) // known without a branch for each
      continue;
    const size_t e =
        std::ranges::find_if(coords, [&](int64_t c) { return uint64_t(c) >= size; }) - coords.begin();
    std::vector<int64_t> at;
    for (const auto &column : entries.coords)
      at.push_back(column[e]);
    throwError("entry {} at ({}) lies outside the tensor: coordinate {} of dimension {}, which has size {} "
               "(coordinates count from 0)",
               e, fmt::join(at, ", "), coords[e], d, size);
  }
}

enum class Sorted : uint8_t { No, WithDuplicates, Strictly };

/// Whether entries ascend by the dimensions in that order. Stops at the first chunk that does not.
Sorted sortedBy(const Entries &entries, const std::vector<unsigned> &dims) {
  constexpr int64_t chunk = 2048;
  std::array<uint8_t, chunk> relation; // to the entry before: 0 smaller, 1 equal, 2 larger
  Sorted found = Sorted::Strictly;
  for (int64_t begin = 1; begin < entries.count(); begin += chunk) {
    int64_t count = std::min(chunk, entries.count() - begin);
    relation.fill(1);
    for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
      const int64_t *c = entries.coords[*d].data() + begin;
      for (int64_t k = 0; k < count; ++k)
        relation[size_t(k)] = c[k] == c[k - 1] ? relation[size_t(k)] : (c[k] > c[k - 1] ? 2 : 0);
    }
    uint8_t lowest = 2;
    for (int64_t k = 0; k < count; ++k)
      lowest = std::min(lowest, relation[size_t(k)]);
    if (lowest == 0)
      return Sorted::No;
    if (lowest == 1)
      found = Sorted::WithDuplicates;
  }
  return found;
}

/// `(i,j) -> (j : compressed(nonunique), i : singleton(soa))` and the like.
format::Encoding encodingOf(const std::vector<unsigned> &dims, Sorted sorted) {
  std::vector<std::string> names = format::dimensionNames(unsigned(dims.size()));
  std::string levels;
  for (size_t l = 0; l < dims.size(); ++l) {
    std::vector<std::string> properties;
    if (l + 1 < dims.size() || sorted != Sorted::Strictly)
      properties.push_back("nonunique");
    if (sorted == Sorted::No)
      properties.push_back("nonordered");
    if (l > 0)
      properties.push_back("soa");
    levels += fmt::format("{}{} : {}", l ? ", " : "", names[dims[l]], l ? "singleton" : "compressed");
    if (!properties.empty())
      levels += fmt::format("({})", fmt::join(properties, ", "));
  }
  return format::parseEncoding(
      fmt::format("{{ map = ({}) -> ({}), posWidth = 64, crdWidth = 64 }}", fmt::join(names, ", "), levels));
}

} // namespace

Tensor borrowEntries(std::shared_ptr<const Entries> entries) {
  checkCounts(*entries);
  checkCoordinates(*entries);
  std::vector<unsigned> dims(entries->dims.size());
  std::iota(dims.begin(), dims.end(), 0u);
  Sorted sorted = sortedBy(*entries, dims);
  if (sorted == Sorted::No && dims.size() > 1) {
    std::vector<unsigned> reversed(dims.rbegin(), dims.rend()); // by columns, as most files are
    if (Sorted columns = sortedBy(*entries, reversed); columns != Sorted::No) {
      sorted = columns;
      dims = reversed;
    }
  }
  Tensor tensor(encodingOf(dims, sorted), entries->type, entries->dims);
  const int64_t count = entries->count();
  Buffer positions = Buffer::allocate(2, 16, true, "positions of entries");
  static_cast<int64_t *>(positions.data)[1] = count;
  tensor.buffers.push_back(positions);
  std::shared_ptr<void> owner = std::const_pointer_cast<Entries>(entries);
  for (unsigned d : dims)
    tensor.buffers.push_back(
        Buffer::borrow(const_cast<int64_t *>(entries->coords[d].data()), count, 8 * count, owner));
  tensor.buffers.push_back(Buffer::borrow(const_cast<std::byte *>(entries->values.data()), count,
                                          int64_t(entries->values.size()), owner));
  return tensor;
}

//===--- Entries of a tensor ---===//

void forEachStored(const Tensor &tensor,
                   const std::function<void(std::span<const int64_t>, int64_t)> &visit) {
  walk(tensor, false, [&](const std::vector<int64_t> &coords, int64_t p) { visit(coords, p); });
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
    std::memcpy(entries.values.data() + count++ * width, values[p], width);
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
    std::memcpy(out + at * width, values[p], width);
  });
  return dense;
}

} // namespace tulle::runtime
