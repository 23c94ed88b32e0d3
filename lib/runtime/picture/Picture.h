// Tensors as pictures: where entries are, and what a format stores of them.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <string>

namespace tulle::runtime {

/// Entries other than the fill, counted in a grid of bins: rows of the first dimension, columns of the
/// second; of a vector, one row. Further dimensions are projected.
struct Bins {
  int64_t rows = 0, columns = 0;       ///< of the grid
  int64_t rowSize = 1, columnSize = 1; ///< coordinates of a bin, but of the last one
  std::vector<int64_t> counts;         ///< row by row
  int64_t total = 0, most = 0;
  int64_t at(int64_t row, int64_t column) const { return counts[size_t(row * columns + column)]; }
};
Bins binned(const Tensor &tensor, int64_t mostRows, int64_t mostColumns);

/// A level of a tensor in memory.
struct LevelUse {
  std::string text;      ///< "j floordiv 4 : compressed"
  int64_t size = 0;      ///< coordinates
  int64_t positions = 0; ///< slots, of all parents together
  std::string buffers;   ///< "pos 5 x 32 bits, crd 9 x 32 bits"
  int64_t bytes = 0;     ///< of them
};
struct StorageUse {
  std::vector<LevelUse> levels;
  int64_t slots = 0, entries = 0; ///< values in memory, and those that are not the fill
  int64_t valueBytes = 0, bytes = 0;
};
StorageUse storageUse(const Tensor &tensor);

/// A spy plot of at most `columns` characters a line: darker where more entries are.
std::string spyText(const Tensor &tensor, int64_t columns);
/// The levels as a table, and the share of the values that are padding or zeros.
std::string storageText(const Tensor &tensor);

/// An SVG document: the spy plot, with `storage` also the levels, and below them the tree of coordinates
/// where the tensor is small enough to be read.
std::string pictureSvg(const Tensor &tensor, bool storage);

} // namespace tulle::runtime
