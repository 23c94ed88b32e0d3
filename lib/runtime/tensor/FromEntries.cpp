// Entries as a tensor: coordinates stay where they are, and what is true of their order becomes part of the
// format.
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Tensor.h"
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

/// Whether entries ascend by the dimensions in that order. Stops at the first part that does not.
Sorted sortedBy(const Entries &entries, const std::vector<unsigned> &dims) {
  constexpr int64_t part = 2048;
  std::array<uint8_t, part> relation; // to the entry before: 0 smaller, 1 equal, 2 larger
  Sorted found = Sorted::Strictly;
  for (int64_t begin = 1; begin < entries.count(); begin += part) {
    int64_t count = std::min(part, entries.count() - begin);
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

} // namespace tulle::runtime
