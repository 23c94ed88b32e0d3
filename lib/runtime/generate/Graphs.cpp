// Random matrices: uniform (the same number of entries in every row), nm (in every group of columns) and rmat
// (power-law graphs).
#include "runtime/generate/Families.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <array>

namespace tulle::runtime {

// Rows with few entries are drawn and redrawn; longer ones by Floyd's algorithm, which needs a mark per
// column.
constexpr int64_t kShortRow = 64;

std::vector<int64_t> uniformDims(const GeneratorSpec &spec) {
  int64_t columns = spec.integer(1, "cols", 0, INT64_MAX);
  spec.integer(2, "nnz-per-row", 0, columns);
  return {spec.integer(0, "rows", 0, INT64_MAX), columns};
}

namespace {

/// `count` distinct columns of 0..columns-1, ascending.
void drawRow(std::vector<int64_t> &row, int64_t columns, int64_t count, Random &random,
             std::vector<bool> &marks) {
  row.clear();
  if (count <= kShortRow && count * 2 <= columns) {
    while (int64_t(row.size()) < count) {
      int64_t c = random.below(columns);
      auto at = std::lower_bound(row.begin(), row.end(), c);
      if (at == row.end() || *at != c)
        row.insert(at, c);
    }
    return;
  }
  marks.resize(columns, false);
  for (int64_t last = columns - count; last < columns; ++last) {
    int64_t c = random.below(last + 1);
    if (marks[c])
      c = last;
    marks[c] = true;
    row.push_back(c);
  }
  std::sort(row.begin(), row.end());
  for (int64_t c : row)
    marks[c] = false;
}

} // namespace

FileContents generateUniform(const GeneratorSpec &spec, ElementType type) {
  std::vector<int64_t> dims = uniformDims(spec);
  const int64_t perRow = spec.integer(2, "nnz-per-row", 0, dims[1]);
  const int64_t count = checkedMul(dims[0], perRow, spec.text);
  FileContents contents;
  contents.suggested = "CSR";
  Entries &entries = contents.entries = reserveEntries(type, dims, count, spec.text);
  if (perRow > kShortRow)
    requireMemory(dims[1] / 8, spec.text);
  Random random(1);
  std::vector<int64_t> row;
  std::vector<bool> marks;
  for (int64_t i = 0; perRow > 0 && i < dims[0]; ++i) {
    drawRow(row, dims[1], perRow, random, marks);
    for (int64_t column : row)
      appendRandom(entries, std::array{i, column}, random);
  }
  return contents;
}

/// Columns of a group: what formats of them number in a byte.
constexpr int64_t kLargestGroup = 256;

std::vector<int64_t> groupedDims(const GeneratorSpec &spec) {
  const int64_t columns = spec.integer(1, "cols", 0, INT64_MAX);
  const int64_t group = spec.integer(3, "m", 1, kLargestGroup);
  spec.integer(2, "n", 0, group);
  if (columns % group != 0)
    throwError("'{}': cols must be a multiple of m, {}", spec.text, group);
  return {spec.integer(0, "rows", 0, INT64_MAX), columns};
}

FileContents generateGrouped(const GeneratorSpec &spec, ElementType type) {
  std::vector<int64_t> dims = groupedDims(spec);
  const int64_t n = spec.integer(2, "n", 0, kLargestGroup), m = spec.integer(3, "m", 1, kLargestGroup);
  const int64_t groups = checkedMul(dims[0], dims[1] / m, spec.text);
  const int64_t count = checkedMul(groups, n, spec.text);
  FileContents contents;
  contents.suggested = n == 2 && m == 4 ? "NV24" : n > 0 ? fmt::format("NM({},{})", n, m) : "CSR";
  Entries &entries = contents.entries = reserveEntries(type, dims, count, spec.text);
  Random random(1);
  std::vector<int64_t> chosen;
  std::vector<bool> marks;
  for (int64_t i = 0; count > 0 && i < dims[0]; ++i)
    for (int64_t first = 0; first < dims[1]; first += m) {
      drawRow(chosen, m, n, random, marks);
      for (int64_t c : chosen)
        appendRandom(entries, std::array{i, first + c}, random);
    }
  return contents;
}

constexpr int64_t kLargestScale = 40;

std::vector<int64_t> rmatDims(const GeneratorSpec &spec) {
  int64_t vertices = int64_t(1) << spec.integer(0, "scale", 0, kLargestScale);
  spec.integer(1, "degree", 0, INT64_MAX >> kLargestScale);
  return {vertices, vertices};
}

/// R-MAT (Chakrabarti, Zhan, Faloutsos 2004) with Graph500's a = 0.57, b = c = 0.19; edges that repeat are
/// summed later.
FileContents generateRmat(const GeneratorSpec &spec, ElementType type) {
  std::vector<int64_t> dims = rmatDims(spec);
  const int64_t scale = spec.integer(0, "scale", 0, kLargestScale);
  const int64_t count =
      checkedMul(dims[0], spec.integer(1, "degree", 0, INT64_MAX >> kLargestScale), spec.text);
  FileContents contents;
  contents.suggested = "CSR";
  Entries &entries = contents.entries = reserveEntries(type, dims, count, spec.text);
  Random random(1);
  for (int64_t e = 0; e < count; ++e) {
    int64_t row = 0, column = 0;
    for (int64_t level = 0; level < scale; ++level) {
      uint64_t draw = random.below(100);
      row = row << 1 | (draw >= 76);                                    // c or d
      column = column << 1 | ((draw >= 57 && draw < 76) || draw >= 95); // b or d
    }
    appendRandom(entries, std::array{row, column}, random);
  }
  return contents;
}

} // namespace tulle::runtime
