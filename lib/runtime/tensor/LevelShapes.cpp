// Levels with the sizes that the dimensions, or buffers of sizes, give them; batches are counted level by
// level from the positions that those above store.
#include "runtime/tensor/LevelShapes.h"
#include "format/LevelKinds.h"
#include "runtime/tensor/DeclaredLevel.h"
#include "runtime/tensor/MemoryLimits.h"
#include "tulle/error.h"
#include <algorithm>
#include <bit>
#include <fmt/ranges.h>

namespace tulle::runtime {

using format::LevelKind;

std::string shapeText(const std::vector<int64_t> &dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, " x "));
}

std::string_view fieldLabel(format::FieldKind kind) {
  using K = format::FieldKind;
  return kind == K::Sizes         ? "size"
         : kind == K::Permutation ? "perm"
         : kind == K::Positions   ? "pos"
         : kind == K::Coordinates ? "crd"
         : kind == K::Bits        ? "bits"
                                  : "values";
}

static std::string levelText(const format::Encoding &encoding, unsigned l, const format::Digit *digit) {
  std::string format = format::print(encoding.levels[l].format);
  if (!digit)
    return fmt::format("level {} ({})", l, format);
  std::string expr = encoding.dims[digit->dim].name;
  if (digit->stride != 1)
    expr += fmt::format(" floordiv {}", digit->stride);
  if (digit->modulus)
    expr += fmt::format(" mod {}", digit->modulus);
  return fmt::format("level {} ({} : {})", l, expr, format);
}

std::vector<LevelShape> levelShapes(const format::Encoding &encoding, const std::vector<int64_t> &dims) {
  if (std::string why = format::whyNotExecutable(encoding); !why.empty())
    throw Error(why);
  if (std::string why = format::whyNotSizes(encoding, dims); !why.empty())
    throw Error(why);
  auto digits = format::digits(encoding);
  std::vector<LevelShape> shapes;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const format::LevelFormat &f = encoding.levels[l].format;
    LevelShape s;
    s.kind = f.kind;
    s.n = f.n, s.m = f.m, s.unique = f.unique, s.ordered = f.ordered, s.padded = f.padded;
    s.declaration = f.declaration;
    if (digits) {
      s.digit = (*digits)[l];
      s.size = format::levelSize(s.digit, dims);
    } else {
      format::CoordinateRange range = *format::levelRange(encoding, l, dims);
      s.digit.stride = 0; // none
      s.low = range.low;
      s.size = range.size();
    }
    s.runEnd = l;
    s.text = levelText(encoding, l, digits ? &s.digit : nullptr);
    shapes.push_back(std::move(s));
  }
  for (LevelShape &s : shapes) {
    bool starts = s.kind == LevelKind::Compressed || s.kind == LevelKind::LooseCompressed ||
                  s.kind == LevelKind::Structured;
    while (starts && !shapes[s.runEnd].unique && s.runEnd + 1 < shapes.size() &&
           shapes[s.runEnd + 1].kind == LevelKind::Singleton)
      ++s.runEnd;
  }
  return shapes;
}

void takeStoredSizes(std::vector<LevelShape> &shapes, const Tensor &tensor) {
  for (unsigned l = 0; l < shapes.size(); ++l)
    if (auto field = tensor.layout().sizes[l]) {
      int64_t size = loadIndex(tensor.buffers[*field].data, 64, 0);
      (shapes[l].kind == LevelKind::Dense ? shapes[l].size : shapes[l].n) = size;
    }
}

std::vector<LevelShape> levelShapes(const Tensor &tensor) {
  const bool isSlice = !tensor.wholeDims.empty();
  std::vector<LevelShape> shapes = levelShapes(tensor.encoding, isSlice ? tensor.wholeDims : tensor.dims);
  takeStoredSizes(shapes, tensor);
  return shapes;
}

int64_t firstSlot(int64_t coordinate, int64_t slots) {
  uint64_t product = uint64_t(coordinate) * 0x9E3779B97F4A7C15u;
  return int64_t(product >> (64 - std::countr_zero(uint64_t(slots))));
}

Batches batches(const std::vector<LevelShape> &shapes) {
  Batches b;
  for (; b.levels < shapes.size() && shapes[b.levels].kind == LevelKind::Batch; ++b.levels)
    b.count = checkedMul(b.count, shapes[b.levels].size, "the batch levels");
  return b;
}

std::vector<std::byte> fillBytes(const format::Encoding &encoding, ElementType type) {
  std::vector<std::byte> bytes(byteWidth(type));
  storeScalar(type, bytes.data(), format::fillValue(encoding, type));
  return bytes;
}

void fillBuffer(void *data, int64_t count, const std::vector<std::byte> &element) {
  int64_t width = element.size();
  if (count == 0)
    return;
  if (std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; })) {
    std::memset(data, 0, count * width);
    return;
  }
  auto *out = static_cast<std::byte *>(data);
  std::memcpy(out, element.data(), width);
  // Doubling what is filled already keeps every copy a plain block copy.
  for (int64_t done = 1; done < count; done *= 2)
    std::memcpy(out + done * width, out, std::min(done, count - done) * width);
}

LevelFields levelFields(const Tensor &tensor, unsigned level) {
  LevelFields f;
  if (auto field = tensor.layout().positions[level]) {
    f.pos = tensor.buffers[*field].data;
    f.posWidth = tensor.layout().fields[*field].width;
  }
  if (auto ref = tensor.layout().coordinates[level]) {
    f.crd = tensor.buffers[ref->field].data;
    f.crdWidth = tensor.layout().fields[ref->field].width;
    f.crdCount = tensor.buffers[ref->field].count;
    f.stride = ref->stride;
    f.offset = ref->offset;
    f.isSigned = tensor.layout().fields[ref->field].isSigned;
  }
  if (auto field = tensor.layout().bits[level])
    f.bits = tensor.buffers[*field].data;
  return f;
}

/// Behind the last position of a level whose segments lie anywhere.
static int64_t lastEnd(const LevelFields &fields, int64_t parents) {
  if (fields.crd)
    return fields.crdCount / fields.stride;
  int64_t end = 0;
  for (int64_t p = 0; p < parents; ++p)
    end = std::max(end, fields.position(2 * p + 1));
  return end;
}

std::vector<int64_t> batchStarts(const Tensor &tensor, const std::vector<LevelShape> &shapes,
                                 unsigned level) {
  Batches batch = batches(shapes);
  std::vector<int64_t> starts;
  if (level < batch.levels) // among the batch levels themselves there is only one
    return {0, 1};
  for (int64_t b = 0; b <= batch.count; ++b)
    starts.push_back(b);
  for (unsigned l = batch.levels; l < level; ++l) {
    LevelFields fields = levelFields(tensor, l);
    const int64_t parents = starts.back();
    for (int64_t b = 0; b <= batch.count; ++b) {
      int64_t &start = starts[b];
      const LevelKind kind = shapes[l].kind;
      if (kind == LevelKind::Declared)
        start = DeclaredLevel(shapes[l], fields).begin(start);
      else if (shapes[l].full() || kind == LevelKind::Bitmap)
        start *= shapes[l].size;
      else if (kind == LevelKind::Structured || kind == LevelKind::Fixed || kind == LevelKind::Squeezed)
        start *= shapes[l].n;
      else if (kind == LevelKind::Compressed)
        // The slot past the last batch does not exist; its value is that of the slot before it.
        start = batch.count == 0 ? 0 : fields.position(start + b - (b == batch.count));
      else if (format::storesEnds(kind)) // where its first segment does, empty or not
        start = b == 0 ? 0 : start < parents ? fields.position(2 * start) : lastEnd(fields, parents);
      else if (fields.pos)
        start = fields.position(start);
    }
  }
  return starts;
}

} // namespace tulle::runtime
