// Lengths are read from dense tensors, or from the positions of ragged levels.
#include "runtime/tensor/Lengths.h"
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/LevelShapes.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>

namespace tulle::runtime {
namespace {

/// The elements within lengths, one dimension after the other.
class Within {
public:
  Within(const Tensor &padded, const std::vector<std::optional<Tensor>> &lengths)
      : padded(padded), lengths(lengths), at(padded.dims.size()) {
    out.type = padded.type;
    out.dims = padded.dims;
    out.coords.resize(padded.dims.size());
  }

  Entries run() {
    for (unsigned d = 0; d < padded.dims.size(); ++d)
      if (lengths[d]) {
        checkSizes(d);
        lengths[d] = asIntegers(*lengths[d]);
      }
    descend(0, 0);
    return std::move(out);
  }

private:
  const Tensor &padded;
  std::vector<std::optional<Tensor>> lengths; ///< dense, of i64
  std::vector<int64_t> at;
  Entries out;

  static Tensor asIntegers(const Tensor &tensor) {
    const Tensor dense = toDense(tensor);
    Tensor made = makeDense(ElementType::I64, dense.dims);
    if (dense.storedCount() > 0)
      convertElements(dense.type, dense.value(0), made.type, made.value(0), dense.storedCount());
    return made;
  }

  void checkSizes(unsigned dim) const {
    const std::vector<int64_t> &have = lengths[dim]->dims, &dims = padded.dims;
    if (have.empty() || have.size() > dim || !std::equal(have.begin(), have.end(), dims.begin()))
      throwError(
          "the lengths of dimension {} have sizes {}, expected those of the first dimensions before it, "
          "of {}",
          dim + 1, shapeText(have), fmt::join(dims.begin(), dims.begin() + dim, " x "));
  }

  int64_t lengthOf(unsigned dim) const {
    if (!lengths[dim])
      return padded.dims[dim];
    const Tensor &own = *lengths[dim];
    int64_t element = 0;
    for (size_t d = 0; d < own.dims.size(); ++d)
      element = element * own.dims[d] + at[d];
    int64_t length = 0;
    std::memcpy(&length, own.value(element), sizeof length);
    if (length < 0 || length > padded.dims[dim])
      throwError("the length of dimension {} below ({}), counted from 0, is {}; the dimension has size {}",
                 dim + 1, fmt::join(at.begin(), at.begin() + std::ptrdiff_t(own.dims.size()), ", "), length,
                 padded.dims[dim]);
    return length;
  }

  void descend(unsigned dim, int64_t element) {
    if (dim == at.size()) {
      for (size_t d = 0; d < at.size(); ++d)
        out.coords[d].push_back(at[d]);
      const std::byte *value = padded.value(element);
      out.values.insert(out.values.end(), value, value + byteWidth(padded.type));
      return;
    }
    const int64_t length = lengthOf(dim);
    for (at[dim] = 0; at[dim] < length; ++at[dim])
      descend(dim + 1, element * padded.dims[dim] + at[dim]);
  }
};

} // namespace

Entries withinLengths(const Tensor &padded, const std::vector<std::optional<Tensor>> &lengths) {
  return Within(padded, lengths).run();
}

format::Encoding raggedEncoding(const std::vector<bool> &hasLengths) {
  format::Encoding encoding = format::denseEncoding(unsigned(hasLengths.size()));
  for (size_t d = 0; d < hasLengths.size(); ++d)
    if (hasLengths[d])
      encoding.levels[d].format.kind = format::LevelKind::Ragged;
  return encoding;
}

static bool isNest(const format::Encoding &encoding, unsigned dim) {
  using enum format::LevelKind;
  if (encoding.levels.size() <= dim || format::hasSlices(encoding) ||
      encoding.levels[dim].format.kind != Ragged)
    return false;
  for (unsigned l = 0; l <= dim; ++l) {
    const format::Level &level = encoding.levels[l];
    if ((level.format.kind != Dense && level.format.kind != Ragged) || level.format.padded ||
        level.expr->kind != format::ExprKind::Dim || level.expr->value != int64_t(l))
      return false;
  }
  return true;
}

std::vector<Length> lengthsOf(const Tensor &tensor, unsigned dim) {
  if (!isNest(tensor.encoding, dim))
    return {};
  std::vector<Length> parents{{{}, 0}}; // of the level that comes next; `length` is where its positions begin
  for (unsigned l = 0; l <= dim; ++l) {
    const bool ragged = tensor.encoding.levels[l].format.kind == format::LevelKind::Ragged;
    const LevelFields fields = levelFields(tensor, l);
    std::vector<Length> next;
    for (size_t p = 0; p < parents.size(); ++p) {
      const int64_t length =
          ragged ? fields.position(int64_t(p) + 1) - fields.position(int64_t(p)) : tensor.dims[l];
      if (l == dim) {
        next.push_back({parents[p].parent, length});
        continue;
      }
      for (int64_t c = 0; c < length; ++c) {
        next.push_back(parents[p]);
        next.back().parent.push_back(c);
      }
    }
    parents = std::move(next);
  }
  return parents;
}

} // namespace tulle::runtime
