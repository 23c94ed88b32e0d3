// One pass over the entries sorted by row; blocks are counted row by row of blocks.
#include "engine/MatrixProfile.h"
#include "support/Errors.h"
#include <algorithm>
#include <numeric>

namespace tulle::engine {
namespace {

/// Columns of each row.
struct Rows {
  std::vector<int64_t> begins, columns;

  explicit Rows(const runtime::Entries &matrix) : begins(size_t(matrix.dims[0]) + 1, 0) {
    for (int64_t i : matrix.coords[0])
      ++begins[size_t(i) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    columns.resize(size_t(matrix.count()));
    std::vector<int64_t> next(begins.begin(), begins.end() - 1);
    for (size_t e = 0; e < columns.size(); ++e)
      columns[size_t(next[size_t(matrix.coords[0][e])]++)] = matrix.coords[1][e];
  }
  int64_t count() const { return int64_t(begins.size()) - 1; }
  int64_t length(int64_t i) const { return begins[size_t(i) + 1] - begins[size_t(i)]; }

  /// Blocks of that many rows and columns that have an entry.
  int64_t blocks(int64_t size) const {
    int64_t sum = 0;
    std::vector<int64_t> seen;
    for (int64_t i = 0; i < count(); i += size) {
      const int64_t end = std::min(i + size, count());
      seen.assign(columns.begin() + begins[size_t(i)], columns.begin() + begins[size_t(end)]);
      for (int64_t &column : seen)
        column /= size;
      std::ranges::sort(seen);
      sum += std::unique(seen.begin(), seen.end()) - seen.begin();
    }
    return sum;
  }
};

void countSlices(MatrixProfile &made, const Rows &rows) {
  constexpr int64_t window = 64, height = 8;
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < rows.count(); i += window) {
    lengths.clear();
    for (int64_t k = i; k < std::min(i + window, rows.count()); ++k)
      lengths.push_back(rows.length(k));
    std::ranges::sort(lengths, std::greater<>());
    for (size_t k = 0; k < lengths.size(); k += size_t(height))
      made.sellSlots += height * lengths[k];
  }
}

void countDiagonals(MatrixProfile &made, const runtime::Entries &matrix) {
  for (size_t e = 0; e < matrix.coords[0].size(); ++e)
    ++made.diagonals[matrix.coords[1][e] - matrix.coords[0][e]];
  std::vector<int64_t> others(size_t(made.rows), 0);
  for (auto [offset, count] : made.diagonals)
    if (2 * count >= made.rows) {
      made.fullDiagonals.push_back(offset);
      made.fullEntries += count;
    }
  for (size_t e = 0; e < matrix.coords[0].size(); ++e)
    others[size_t(matrix.coords[0][e])] +=
        !std::ranges::binary_search(made.fullDiagonals, matrix.coords[1][e] - matrix.coords[0][e]);
  for (size_t i = 1; i < others.size(); ++i)
    made.otherChanges += others[i] != others[i - 1];
}

} // namespace

MatrixProfile profile(const runtime::Entries &matrix) {
  if (matrix.dims.size() != 2)
    throwError("formats are suggested for matrices; this tensor has {} dimensions", matrix.dims.size());
  const Rows rows(matrix);
  MatrixProfile made;
  made.rows = matrix.dims[0];
  made.columns = matrix.dims[1];
  made.entries = matrix.count();
  for (int64_t i = 0; i < rows.count(); ++i) {
    const int64_t length = rows.length(i);
    made.filledRows += length > 0;
    made.longestRow = std::max(made.longestRow, length);
    made.lengthChanges += i > 0 && length != rows.length(i - 1);
    size_t bucket = 0;
    while (bucket < 4 && length > int64_t(1) << bucket)
      ++bucket;
    made.bucketRows[bucket] += length > 0;
    made.bucketEntries[bucket] += length;
  }
  countSlices(made, rows);
  countDiagonals(made, matrix);
  for (int64_t size : {2, 3, 4, 6, 8})
    made.blocks[size] = rows.blocks(size);
  return made;
}

} // namespace tulle::engine
