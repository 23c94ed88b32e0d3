#include "runtime/tensor/Decode.h"
#include <fmt/format.h>

namespace tulle::runtime {

using format::LevelKind;

/// The segment that holds position `p`, in a buffer whose entries `index(s)`, s = 0.., are non-decreasing.
template <class Index> static int64_t segmentOf(int64_t segments, int64_t p, Index index) {
  int64_t low = 0, high = segments; // the last s with index(s) <= p
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (index(middle) <= p ? low : high) = middle;
  }
  return low;
}

std::vector<int64_t> decodeParent(const Tensor &tensor, const std::vector<LevelShape> &shapes, unsigned level,
                                  int64_t parent) {
  std::vector<int64_t> coords(level, 0);
  int64_t p = parent;
  for (int l = int(level) - 1; l >= 0; --l) {
    const LevelShape &s = shapes[l];
    if (s.full()) {
      coords[l] = s.size ? p % s.size : 0;
      p = s.size ? p / s.size : 0;
      continue;
    }
    LevelFields fields = levelFields(tensor, l);
    coords[l] = fields.coordinate(p);
    if (s.kind == LevelKind::Structured) {
      p /= s.n;
    } else if (s.kind == LevelKind::LooseCompressed) {
      p = segmentOf(fields.posCount / 2, p, [&](int64_t i) { return fields.position(2 * i); });
    } else if (s.kind == LevelKind::Compressed) {
      int64_t segment = segmentOf(fields.posCount - 1, p, [&](int64_t i) { return fields.position(i); });
      // Every batch owns one entry more than it has parents, which shifts the segment numbers of batch b by
      // b.
      std::vector<int64_t> starts = batchStarts(tensor, shapes, l);
      int64_t b = 0;
      while (b + 2 < int64_t(starts.size()) && starts[b + 1] + b + 1 <= segment)
        ++b;
      p = segment - b;
    }
  }
  return coords;
}

std::string placeText(const Tensor &tensor, const std::vector<LevelShape> &shapes,
                      const std::vector<int64_t> &coords) {
  const size_t order = tensor.dims.size();
  std::vector<int64_t> low(order, 0), span(tensor.dims);
  for (unsigned l = 0; l < coords.size(); ++l) {
    low[shapes[l].digit.dim] += coords[l] * shapes[l].digit.stride;
    span[shapes[l].digit.dim] = std::min(span[shapes[l].digit.dim], shapes[l].digit.stride);
  }
  std::string text;
  for (size_t d = 0; d < order; ++d) {
    int64_t last = std::min(low[d] + span[d], std::max(tensor.dims[d], low[d] + 1)) - 1;
    text += fmt::format("{}{} = {}", d ? ", " : "", tensor.encoding.dims[d].name, low[d]);
    if (last > low[d])
      text += fmt::format("..{}", last);
  }
  return "(" + text + ")";
}

bool beyondTensor(const Tensor &tensor, const std::vector<LevelShape> &shapes,
                  const std::vector<int64_t> &coords) {
  std::vector<int64_t> low(tensor.dims.size(), 0);
  for (unsigned l = 0; l < coords.size(); ++l)
    low[shapes[l].digit.dim] += coords[l] * shapes[l].digit.stride;
  for (size_t d = 0; d < low.size(); ++d)
    if (low[d] >= tensor.dims[d] && low[d] > 0)
      return true;
  return false;
}

} // namespace tulle::runtime
