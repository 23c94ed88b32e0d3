// The text of MLIR's `sparse_tensor.print`, so that storage can be compared with its documentation and its
// output.
#include "format/LevelDeclaration.h"
#include "format/LevelKinds.h"
#include "runtime/tensor/Walk.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/printf.h>

namespace tulle::runtime {

namespace {

/// As vector.print prints: integers plain (bool 0 or 1), floats by %g, complex as a pair.
std::string valueText(ElementType type, const std::byte *value) {
  Scalar v = loadScalar(type, value);
  auto text = [](double x) { return std::isnan(x) ? "nan" : fmt::sprintf("%g", x); };
  if (isComplex(type))
    return fmt::format("( {}, {} )", text(v.f.real()), text(v.f.imag()));
  if (isFloat(type))
    return text(v.f.real());
  return std::to_string(v.i);
}

/// `( a, b, c )`; `( ( a )( b, c ) )` where batch levels of these sizes nest, one bracket per level. `start`
/// is the first element of an innermost run, behind which the next one starts; it moves on by what is
/// printed.
template <class Element>
std::string nested(std::span<const int64_t> sizes, const int64_t *&start, const Element &element) {
  std::string out = "( ";
  if (sizes.empty()) {
    for (int64_t i = start[0]; i < start[1]; ++i)
      out += (i > start[0] ? ", " : "") + element(i, start[0]);
    ++start;
  } else {
    for (int64_t i = 0; i < sizes[0]; ++i)
      out += nested(sizes.subspan(1), start, element);
  }
  return out + " )";
}

} // namespace

/// The number of elements of a buffer that does not have one for each position of its level, or for each
/// parent; nullopt for one that does.
static std::optional<int64_t> ownCount(const Tensor &tensor, const std::vector<LevelShape> &shapes,
                                       size_t f) {
  const format::Field &field = tensor.layout().fields[f];
  const LevelShape &s = shapes[field.level];
  const bool coordinates = field.kind == format::FieldKind::Coordinates;
  if (field.kind == format::FieldKind::Permutation)
    return tensor.buffers[f].count;
  if (field.kind == format::FieldKind::Bits)
    return batchStarts(tensor, shapes, field.level + 1).back();
  if (coordinates && s.kind == format::LevelKind::Squeezed)
    return s.n;
  if (coordinates && (s.kind == format::LevelKind::Banded ||
                      (s.kind == format::LevelKind::Declared && s.declaration->firstCoordinate)))
    return batchStarts(tensor, shapes, field.level).back();
  return std::nullopt;
}

/// Which coordinates of a level belong to a segment, where it keeps others in reserve; empty for other
/// levels.
static std::vector<bool> inSegments(const Tensor &tensor, const std::vector<LevelShape> &shapes, size_t f) {
  const format::Field &field = tensor.layout().fields[f];
  if (field.kind != format::FieldKind::Coordinates ||
      shapes[field.level].kind != format::LevelKind::LooseCompressed)
    return {};
  const LevelFields fields = levelFields(tensor, field.level);
  std::vector<bool> held(tensor.buffers[f].count);
  const int64_t bounds = tensor.buffers[*tensor.layout().positions[field.level]].count;
  const unsigned stride = tensor.layout().coordinates[field.level]->stride;
  for (int64_t p = 0; p + 1 < bounds; p += 2)
    std::fill(held.begin() + fields.position(p) * stride, held.begin() + fields.position(p + 1) * stride,
              true);
  return held;
}

/// Element `i` of a buffer, positions counted from `base`; `_` marks an empty slot.
static std::string elementText(const Tensor &tensor, const std::vector<LevelShape> &shapes, size_t f,
                               int64_t i, int64_t base) {
  const format::Field &field = tensor.layout().fields[f];
  LevelFields fields = levelFields(tensor, field.level);
  fields.stride = 1, fields.offset = 0; // a buffer of several levels is printed as it lies
  if (field.kind == format::FieldKind::Bits)
    return std::to_string(int(fields.bit(i)));
  if (field.kind != format::FieldKind::Coordinates)
    return std::to_string(loadIndex(tensor.buffers[f].data, field.width, i) - base);
  return shapes[field.level].marksEmpty() && fields.empty(i) ? "_" : std::to_string(fields.coordinate(i));
}

std::string printStorage(const Tensor &tensor) {
  const std::vector<LevelShape> shapes = levelShapes(tensor);
  const Batches batch = batches(shapes);
  std::vector<int64_t> levelSizes;
  for (const LevelShape &s : shapes)
    levelSizes.push_back(s.size);
  const auto batchSizes = std::span<const int64_t>(levelSizes).first(batch.levels);
  // Batches are contiguous in every buffer that lies below the batch levels and above any loose level.
  auto print = [&](unsigned level, int64_t scale, int64_t perBatch, const auto &element) {
    std::vector<int64_t> starts = batchStarts(tensor, shapes, level);
    for (size_t b = 0; b < starts.size(); ++b)
      starts[b] = starts[b] * scale + int64_t(b) * perBatch;
    const int64_t *start = starts.data();
    return nested(level < batch.levels ? std::span<const int64_t>() : batchSizes, start, element);
  };
  // With batches, upstream's nse is the capacity of one batch.
  int64_t nse = batch.levels ? 0 : tensor.storedCount();
  std::vector<int64_t> starts = batchStarts(tensor, shapes, shapes.size());
  for (size_t b = 1; batch.levels && b < starts.size(); ++b)
    nse = std::max(nse, starts[b] - starts[b - 1]);
  std::string out = fmt::format("---- Sparse Tensor ----\nnse = {}\n", nse);
  out += fmt::format("dim = ( {} )\n", fmt::join(tensor.dims, ", "));
  out += fmt::format("lvl = ( {} )\n", fmt::join(levelSizes, ", "));
  for (size_t f = 0; f + 1 < tensor.layout().fields.size(); ++f) {
    const format::Field &field = tensor.layout().fields[f];
    bool positions = field.kind == format::FieldKind::Positions;
    bool loose = format::storesEnds(shapes[field.level].kind);
    const std::vector<bool> held = inSegments(tensor, shapes, f);
    auto element = [&](int64_t i, int64_t first) {
      if (!held.empty() && !held[i])
        return std::string("_");
      // Upstream counts positions from the start of their batch.
      int64_t base =
          positions && !loose && batch.levels ? loadIndex(tensor.buffers[f].data, field.width, first) : 0;
      return elementText(tensor, shapes, f, i, base);
    };
    out += fmt::format("{}[{}] : ", fieldLabel(field.kind), field.level);
    if (field.kind == format::FieldKind::Sizes) {
      out += element(0, 0) + "\n";
      continue;
    }
    if (auto count = ownCount(tensor, shapes, f)) {
      const int64_t all[] = {0, *count}, *start = all;
      out += nested({}, start, element) + "\n";
      continue;
    }
    unsigned stride = positions ? 1 : tensor.layout().coordinates[field.level]->stride;
    out += (positions ? print(field.level, loose ? 2 : 1, loose ? 0 : 1, element)
                      : print(field.level + 1, stride, 0, element)) +
           "\n";
  }
  const StoredValues values(tensor);
  if (tensor.encoding->explicitVal)
    return out + fmt::format("explicitVal : {}\n----\n", valueText(tensor.type, values[0]));
  auto value = [&](int64_t i, int64_t) { return valueText(tensor.type, values[i]); };
  return out + fmt::format("values : {}\n----\n", print(shapes.size(), 1, 0, value));
}

} // namespace tulle::runtime
