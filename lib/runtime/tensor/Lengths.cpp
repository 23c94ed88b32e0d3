// Lengths are read from dense tensors, or from the positions of ragged levels.
#include "runtime/tensor/Lengths.h"
#include "format/LevelKinds.h"
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

bool hasLengths(const Tensor &tensor, unsigned dim) {
  using enum format::LevelKind;
  const format::Encoding &encoding = tensor.encoding;
  if (encoding.levels.size() <= dim || format::hasSlices(encoding) ||
      !format::isOneOf(encoding.levels[dim].format.kind, {Ragged, Jagged}))
    return false;
  for (unsigned l = 0; l <= dim; ++l) {
    const format::Level &level = encoding.levels[l];
    if (!format::isOneOf(level.format.kind, {Dense, Ragged, Jagged}) || level.format.padded ||
        level.expr->kind != format::ExprKind::Dim || level.expr->value != int64_t(l))
      return false;
  }
  return true;
}

Lengths lengthsOf(const Tensor &tensor, unsigned dim) {
  Lengths parents; // of the level that comes next, which are at `positions`
  std::vector<int64_t> positions{0};
  for (unsigned l = 0; l <= dim; ++l) {
    const LevelFields fields = levelFields(tensor, l);
    const int64_t step = format::storesEnds(tensor.encoding->levels[l].format.kind) ? 2 : 1;
    parents.lengths.clear();
    std::vector<int64_t> begins;
    for (int64_t p : positions) {
      const int64_t begin = fields.pos ? fields.position(p * step) : p * tensor.dims[l];
      begins.push_back(begin);
      parents.lengths.push_back(fields.pos ? fields.position(p * step + 1) - begin : tensor.dims[l]);
    }
    if (l == dim)
      break;
    Lengths next{l + 1, {}, {}};
    positions.clear();
    for (size_t k = 0; k < begins.size(); ++k)
      for (int64_t c = 0; c < parents.lengths[k]; ++c) {
        const std::span<const int64_t> above = parents.parent(k);
        next.parents.insert(next.parents.end(), above.begin(), above.end());
        next.parents.push_back(c);
        positions.push_back(begins[k] + c);
      }
    parents = std::move(next);
  }
  return parents;
}

} // namespace tulle::runtime
