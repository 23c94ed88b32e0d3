// Where entries are: counts in a grid of bins, and the grid as characters.
#include "runtime/picture/Picture.h"
#include "runtime/tensor/Walk.h"
#include "support/Errors.h"
#include <cmath>

namespace tulle::runtime {

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

Bins binned(const Tensor &tensor, int64_t mostRows, int64_t mostColumns) {
  const size_t order = tensor.dims.size();
  const int64_t rows = order >= 2 ? tensor.dims[0] : 1, columns = order ? tensor.dims[order >= 2 ? 1 : 0] : 1;
  Bins bins;
  bins.rowSize = std::max<int64_t>(1, ceilDiv(rows, mostRows));
  bins.columnSize = std::max<int64_t>(1, ceilDiv(columns, mostColumns));
  bins.rows = ceilDiv(rows, bins.rowSize);
  bins.columns = ceilDiv(columns, bins.columnSize);
  bins.counts.assign(size_t(bins.rows * bins.columns), 0);
  const std::vector<std::byte> fill = fillBytes(tensor.encoding, tensor.type);
  const StoredValues values(tensor);
  walk(tensor, false, [&](const std::vector<int64_t> &coords, int64_t position) {
    if (std::memcmp(values[position], fill.data(), fill.size()) == 0)
      return;
    const int64_t row = order >= 2 ? coords[0] / bins.rowSize : 0;
    const int64_t column = order ? coords[order >= 2 ? 1 : 0] / bins.columnSize : 0;
    const int64_t count = ++bins.counts[size_t(row * bins.columns + column)];
    bins.most = std::max(bins.most, count);
    ++bins.total;
  });
  return bins;
}

std::string spyText(const Tensor &tensor, int64_t columns) {
  static constexpr const char *shades[] = {" ", "·", "░", "▒", "▓", "█"};
  // A character is about twice as high as wide.
  const Bins bins = binned(tensor, std::max<int64_t>(1, columns / 2), std::max<int64_t>(1, columns));
  std::string text =
      fmt::format("{}: {} entries; a character stands for {} x {} coordinates, and up to {} entries\n",
                  shapeText(tensor.dims), bins.total, bins.rowSize, bins.columnSize, bins.most);
  std::string edge;
  for (int64_t c = 0; c < bins.columns; ++c)
    edge += "─";
  text += "┌" + edge + "┐\n";
  for (int64_t r = 0; r < bins.rows; ++r) {
    text += "│";
    for (int64_t c = 0; c < bins.columns; ++c) {
      const int64_t count = bins.at(r, c);
      // By the logarithm: one entry is seen beside a full bin.
      const double share = bins.most > 1 ? std::log1p(double(count)) / std::log1p(double(bins.most)) : 1;
      text += shades[count ? 1 + std::min<int>(4, int(share * 4.999)) : 0];
    }
    text += "│\n";
  }
  return text + "└" + edge + "┘\n";
}

} // namespace tulle::runtime
