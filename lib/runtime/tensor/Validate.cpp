// Buffers that come from outside are checked once here, so that kernels need not check anything.
#include "runtime/tensor/Decode.h"
#include "runtime/tensor/Memory.h"
#include "runtime/tensor/Walk.h"
#include "tulle/error.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::runtime {

using format::LevelKind;

namespace {

class Validator {
public:
  explicit Validator(const Tensor &tensor) : tensor(tensor) {}

  void run() {
    shapes = levelShapes(tensor.encoding, tensor.dims);
    batch = batches(shapes);
    checkFields();
    for (unsigned l = 0; l < shapes.size(); ++l)
      fields.push_back(levelFields(tensor, l));
    int64_t parents = 1;
    for (unsigned l = 0; l < shapes.size(); ++l)
      parents = checkLevel(l, parents);
    requireCount(tensor.layout.valuesField(), parents);
    checkWithinDims();
  }

private:
  std::string fieldName(unsigned f) const {
    const format::Field &field = tensor.layout.fields[f];
    if (field.kind == format::FieldKind::Values)
      return "values";
    return fmt::format("{}[{}]", field.kind == format::FieldKind::Positions ? "pos" : "crd", field.level);
  }

  void checkFields() const;
  void requireCount(unsigned field, int64_t count) const;
  int64_t checkLevel(unsigned l, int64_t parents);
  int64_t checkCompressed(unsigned l, int64_t parents);
  int64_t checkLoose(unsigned l, int64_t parents);
  void checkRange(unsigned l, int64_t positions) const;
  void checkSegment(unsigned l, int64_t begin, int64_t end) const;
  int compareRuns(unsigned l, int64_t p, int64_t q) const;
  std::string runText(unsigned l, int64_t p) const;
  void checkWithinDims() const;

  const Tensor &tensor;
  std::vector<LevelShape> shapes;
  std::vector<LevelFields> fields; ///< per level
  Batches batch;
};

void Validator::checkFields() const {
  const format::Layout expected = format::layout(tensor.encoding);
  if (tensor.layout.fields.size() != expected.fields.size() ||
      tensor.buffers.size() != expected.fields.size())
    throw Error(fmt::format("a {} tensor has {} buffers, got {}", format::displayName(tensor.encoding),
                            expected.fields.size(), tensor.buffers.size()));
  for (unsigned f = 0; f < expected.fields.size(); ++f) {
    const format::Field &want = expected.fields[f], &have = tensor.layout.fields[f];
    if (want.kind != have.kind || want.level != have.level || want.width != have.width)
      throw Error(fmt::format("{}: the tensor's layout is not that of its format {}", fieldName(f),
                              format::displayName(tensor.encoding)));
    const Buffer &b = tensor.buffers[f];
    if (b.count < 0 || b.bytes < 0 || (b.count > 0 && !b.data))
      throw Error(fmt::format("{}: count {}, {} bytes at address {} is not a buffer", fieldName(f), b.count,
                              b.bytes, b.data));
    bool values = want.kind == format::FieldKind::Values;
    int64_t bytes = values ? checkedMul(b.count, byteWidth(tensor.type), fieldName(f))
                           : fieldBytes(b.count, want.width, fieldName(f));
    if (b.bytes < bytes)
      throw Error(fmt::format("{}: {} elements need {} bytes, the buffer has {}", fieldName(f), b.count,
                              bytes, b.bytes));
    int64_t alignment =
        values ? byteWidth(tensor.type) / (isComplex(tensor.type) ? 2 : 1) : std::max(want.width / 8, 1u);
    if (reinterpret_cast<uintptr_t>(b.data) % alignment)
      throw Error(fmt::format("{}: address {} is not aligned to {} bytes", fieldName(f), b.data, alignment));
  }
}

void Validator::requireCount(unsigned field, int64_t count) const {
  if (tensor.buffers[field].count < count)
    throw Error(fmt::format("{}: the buffer has {} elements, the levels above it need {}", fieldName(field),
                            tensor.buffers[field].count, count));
}

/// Returns the number of positions at level l.
int64_t Validator::checkLevel(unsigned l, int64_t parents) {
  const LevelShape &s = shapes[l];
  switch (s.kind) {
  case LevelKind::Compressed:
    return checkCompressed(l, parents);
  case LevelKind::LooseCompressed:
    return checkLoose(l, parents);
  case LevelKind::Singleton:
    return parents; // checked with the level that starts its run
  case LevelKind::Structured: {
    int64_t positions = checkedMul(parents, s.n, s.text);
    for (unsigned k = l; k <= s.runEnd; ++k)
      checkRange(k, positions);
    for (int64_t p = 0; p < parents; ++p)
      checkSegment(l, p * s.n, p * s.n + s.n);
    return positions;
  }
  default:
    return checkedMul(parents, s.size, s.text);
  }
}

int64_t Validator::checkCompressed(unsigned l, int64_t parents) {
  unsigned f = *tensor.layout.positions[l];
  int64_t slots = checkedAdd(parents, batch.count, shapes[l].text);
  requireCount(f, slots);
  const LevelFields &here = fields[l];
  for (int64_t i = 0; i < slots; ++i) {
    int64_t value = here.position(i), before = i ? here.position(i - 1) : 0;
    if (i == 0 && value != 0)
      throw Error(fmt::format("pos[{}][0] = {}: positions must start at 0", l, value));
    if (value < before)
      throw Error(fmt::format("pos[{}][{}] = {} is less than pos[{}][{}] = {}: positions must not decrease",
                              l, i, value, l, i - 1, before));
    if (value > here.crdCount / here.stride)
      throw Error(fmt::format("pos[{}][{}] = {} exceeds the number of coordinates, {}", l, i, value,
                              here.crdCount / here.stride));
  }
  int64_t positions = slots ? here.position(slots - 1) : 0;
  std::vector<int64_t> starts = batchStarts(tensor, shapes, l);
  for (size_t b = 1; b + 1 < starts.size(); ++b)
    if (int64_t i = starts[b] + b; here.position(i) != here.position(i - 1))
      throw Error(fmt::format("pos[{}][{}] = {}: batch {} must start where batch {} ends, at {}", l, i,
                              here.position(i), b, b - 1, here.position(i - 1)));
  for (unsigned k = l; k <= shapes[l].runEnd; ++k)
    checkRange(k, positions);
  for (int64_t i = 0; i + 1 < slots; ++i)
    checkSegment(l, here.position(i), here.position(i + 1));
  return positions;
}

int64_t Validator::checkLoose(unsigned l, int64_t parents) {
  unsigned f = *tensor.layout.positions[l];
  requireCount(f, checkedMul(parents, 2, shapes[l].text));
  const LevelFields &here = fields[l];
  const int64_t capacity = here.crdCount / here.stride;
  for (unsigned k = l; k <= shapes[l].runEnd; ++k) {
    const format::CoordinateRef ref = *tensor.layout.coordinates[k];
    requireCount(ref.field, checkedMul(capacity, ref.stride, shapes[k].text));
  }
  std::vector<std::pair<int64_t, int64_t>> segments;
  for (int64_t p = 0; p < parents; ++p) {
    int64_t low = here.position(2 * p), high = here.position(2 * p + 1);
    if (low < 0 || high < low)
      throw Error(fmt::format(
          "pos[{}][{}] = {} is less than pos[{}][{}] = {}: a segment must not end before it starts", l,
          2 * p + 1, high, l, 2 * p, low));
    if (high > capacity)
      throw Error(fmt::format("pos[{}][{}] = {} exceeds the number of coordinates, {}", l, 2 * p + 1, high,
                              capacity));
    if (low < high)
      segments.push_back({low, high});
  }
  std::sort(segments.begin(), segments.end());
  for (size_t i = 1; i < segments.size(); ++i)
    if (segments[i].first < segments[i - 1].second)
      throw Error(fmt::format("pos[{}]: the segments {}..{} and {}..{} overlap", l, segments[i - 1].first,
                              segments[i - 1].second, segments[i].first, segments[i].second));
  for (auto [low, high] : segments) {
    for (unsigned k = l; k <= shapes[l].runEnd; ++k)
      for (int64_t q = low; q < high; ++q)
        if (int64_t c = fields[k].coordinate(q); c < 0 || c >= shapes[k].size)
          throw Error(fmt::format("crd[{}][{}] = {} is outside 0..{}", k, q, c, shapes[k].size - 1));
    checkSegment(l, low, high);
  }
  return capacity;
}

void Validator::checkRange(unsigned l, int64_t positions) const {
  const format::CoordinateRef ref = *tensor.layout.coordinates[l];
  requireCount(ref.field, checkedMul(positions, ref.stride, shapes[l].text));
  const LevelFields &here = fields[l];
  for (int64_t p = 0; p < positions; ++p)
    if (int64_t c = here.coordinate(p); c < 0 || c >= shapes[l].size)
      throw Error(fmt::format("crd[{}][{}] = {} is outside the level's coordinates, 0..{}", l, p, c,
                              shapes[l].size - 1));
}

/// Lexicographic comparison of the coordinates at positions p and q over level l and the run it starts.
int Validator::compareRuns(unsigned l, int64_t p, int64_t q) const {
  for (unsigned k = l; k <= shapes[l].runEnd; ++k) {
    int64_t a = fields[k].coordinate(p), b = fields[k].coordinate(q);
    if (a != b)
      return a < b ? -1 : 1;
  }
  return 0;
}

std::string Validator::runText(unsigned l, int64_t p) const {
  std::string text;
  for (unsigned k = l; k <= shapes[l].runEnd; ++k)
    text += (k > l ? ", " : "") + std::to_string(fields[k].coordinate(p));
  return text;
}

void Validator::checkSegment(unsigned l, int64_t begin, int64_t end) const {
  const bool unique = shapes[shapes[l].runEnd].unique;
  for (int64_t p = begin + 1; p < end; ++p) {
    int order = compareRuns(l, p - 1, p);
    if (order > 0 || (order == 0 && unique))
      throw Error(fmt::format(
          "crd[{}][{}] = {} follows {}: coordinates must {}", l, p, runText(l, p), runText(l, p - 1),
          order == 0 ? "be unique within their segment" : "increase within their segment"));
  }
}

/// Dense levels pad blocks beyond a dimension's end; coordinates that are stored must lie inside it.
void Validator::checkWithinDims() const {
  std::vector<bool> checked(tensor.dims.size(), false);
  bool any = false;
  for (const LevelShape &s : shapes)
    if (!s.full() && s.digit.stride == 1 && s.digit.modulus && tensor.dims[s.digit.dim] % s.digit.modulus)
      any = checked[s.digit.dim] = true;
  if (!any)
    return;
  walk(tensor, true, [&](const std::vector<int64_t> &coords, int64_t p) {
    for (size_t d = 0; d < coords.size(); ++d)
      if (checked[d] && coords[d] >= tensor.dims[d])
        throw Error(fmt::format("value {} lies at coordinate {} of dimension {}, which has size {}", p,
                                coords[d], d, tensor.dims[d]));
  });
}

} // namespace

void validate(const Tensor &tensor) { Validator(tensor).run(); }

} // namespace tulle::runtime
