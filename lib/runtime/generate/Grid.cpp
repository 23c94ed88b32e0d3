// Finite-difference Laplacians: grid2d (5-point) and grid3d27 (27-point), rows and columns in grid order.
#include "runtime/generate/Families.h"

namespace tulle::runtime {

// N^3 rows must fit an index; entries beyond memory are refused later, by need.
constexpr int64_t kLargest2d = 3037000499, kLargest3d = 2097151;

std::vector<int64_t> gridDims(const GeneratorSpec &spec) {
  bool flat = spec.name == "grid2d";
  int64_t n = spec.integer(0, "N", 1, flat ? kLargest2d : kLargest3d);
  int64_t points = flat ? n * n : n * n * n;
  return {points, points};
}

FileContents generateGrid(const GeneratorSpec &spec, ElementType type) {
  std::vector<int64_t> dims = gridDims(spec);
  const bool flat = spec.name == "grid2d";
  const int64_t n = spec.integer(0, "N", 1, flat ? kLargest2d : kLargest3d);
  FileContents contents;
  contents.suggested = "CSR";
  // Every neighbour pair along a line of n points: 3n - 2 of them, ends included.
  long double estimate = flat ? 5.0L * n * n : (3.0L * n - 2) * (3.0L * n - 2) * (3.0L * n - 2);
  int64_t count = estimate > 0x1p62L ? INT64_MAX / 64 : flat ? 5 * n * n - 4 * n : int64_t(estimate);
  Entries &entries = contents.entries = reserveEntries(type, dims, count, spec.text);
  std::byte one[16], centre[16];
  const size_t width = byteWidth(type);
  storeValue(type, one, -1);
  storeValue(type, centre, flat ? 4 : 26);
  auto append = [&](int64_t row, int64_t column) {
    entries.coords[0].push_back(row);
    entries.coords[1].push_back(column);
    const std::byte *value = row == column ? centre : one;
    entries.values.insert(entries.values.end(), value, value + width);
  };
  for (int64_t z = 0; z < (flat ? 1 : n); ++z)
    for (int64_t y = 0; y < n; ++y)
      for (int64_t x = 0; x < n; ++x)
        for (int64_t dz = flat ? 0 : -1; dz <= (flat ? 0 : 1); ++dz)
          for (int64_t dy = -1; dy <= 1; ++dy)
            for (int64_t dx = -1; dx <= 1; ++dx) {
              bool inside = x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n && z + dz >= 0 &&
                            z + dz < (flat ? 1 : n);
              if (inside && (!flat || dx == 0 || dy == 0))
                append((z * n + y) * n + x, ((z + dz) * n + y + dy) * n + x + dx);
            }
  return contents;
}

} // namespace tulle::runtime
