// What every storage algorithm of this folder needs to know of a level, with the encoding's spellings
// resolved.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <cstring>

namespace tulle::runtime {

struct LevelShape {
  format::LevelKind kind; ///< `compressed(high)` is LooseCompressed here
  int64_t n = 0, m = 0;   ///< of structured[n,m]; n: the slots of a parent in a fixed or squeezed level
  bool unique = true, ordered = true, padded = false;
  format::Digit digit; ///< where the map is made of digits
  int64_t low = 0;     ///< the least coordinate
  int64_t size = 0;    ///< number of coordinates
  unsigned runEnd = 0; ///< the last of the singletons that follow and share this level's positions
  std::shared_ptr<const format::LevelDeclaration> declaration; ///< of a declared level, else null
  std::string text;                                            ///< `level 1 (j : compressed)`, for errors

  /// Slots without an entry hold coordinates with all bits set.
  bool marksEmpty() const {
    using enum format::LevelKind;
    return kind == Fixed || kind == Hashed || ((kind == Singleton || kind == Declared) && padded);
  }
  bool full() const { return kind == format::LevelKind::Dense || kind == format::LevelKind::Batch; }
  bool contains(int64_t c) const { return c >= low && c - low < size; }
  int64_t coordinate(int64_t dimCoordinate) const {
    int64_t c = digit.stride == 1 ? dimCoordinate : dimCoordinate / digit.stride;
    return digit.modulus ? c % digit.modulus : c;
  }
};

/// Throws Error when the encoding cannot hold data, or none of these sizes (format::whyNotSizes).
std::vector<LevelShape> levelShapes(const format::Encoding &encoding, const std::vector<int64_t> &dims);
/// Gives shapes the sizes that the tensor itself stores, those of counters, `fixed` and `squeezed` levels.
/// Its size buffers must be there.
void takeStoredSizes(std::vector<LevelShape> &shapes, const Tensor &tensor);
/// Both.
std::vector<LevelShape> levelShapes(const Tensor &tensor);

/// Turns coordinates of the tensor that was cut into those of the slice; false where they are none of its.
bool toSlice(const Tensor &tensor, std::vector<int64_t> &coords);

/// Linear index over the batch levels: how many levels lead with `batch`, and the product of their sizes.
struct Batches {
  unsigned levels = 0;
  int64_t count = 1;
};
Batches batches(const std::vector<LevelShape> &shapes);

/// The bytes of one element where nothing is stored.
std::vector<std::byte> fillBytes(const format::Encoding &encoding, ElementType type);
/// Fills `count` elements; zero bytes by memset.
void fillBuffer(void *data, int64_t count, const std::vector<std::byte> &element);

/// Element `i` of a positions or coordinates buffer.
inline int64_t loadIndex(const void *data, unsigned width, int64_t i) {
  switch (width) {
  case 2:
    return (static_cast<const uint8_t *>(data)[i >> 2] >> ((i & 3) * 2)) & 3;
  case 8:
    return static_cast<const uint8_t *>(data)[i];
  case 16:
    return static_cast<const uint16_t *>(data)[i];
  case 32:
    return static_cast<const uint32_t *>(data)[i];
  default:
    return static_cast<const int64_t *>(data)[i];
  }
}

/// Read access to the fields of one level.
struct LevelFields {
  const void *pos = nullptr, *crd = nullptr, *bits = nullptr;
  unsigned posWidth = 64, crdWidth = 64;
  bool isSigned = false;
  int64_t crdCount = 0, stride = 1, offset = 0; ///< counted in elements of the buffer

  int64_t position(int64_t i) const { return loadIndex(pos, posWidth, i); }
  int64_t coordinate(int64_t p) const {
    int64_t value = loadIndex(crd, crdWidth, p * stride + offset);
    unsigned above = isSigned ? 64 - crdWidth : 0;
    return int64_t(uint64_t(value) << above) >> above;
  }
  /// All bits set: the slot holds no entry.
  bool empty(int64_t p) const {
    int64_t all = crdWidth >= 64 ? -1 : (int64_t(1) << crdWidth) - 1;
    return loadIndex(crd, crdWidth, p * stride + offset) == all;
  }
  bool bit(int64_t p) const { return static_cast<const uint8_t *>(bits)[p >> 3] >> (p & 7) & 1; }
};
LevelFields levelFields(const Tensor &tensor, unsigned level);

/// Where the probes for a coordinate begin in a hash table of `slots`, a power of two above 1.
int64_t firstSlot(int64_t coordinate, int64_t slots);

/// For each batch (and once past the last): the first position, among the parents of `level`, that belongs to
/// it. The buffers of the levels above must be filled and valid.
std::vector<int64_t> batchStarts(const Tensor &tensor, const std::vector<LevelShape> &shapes, unsigned level);

/// `pos`, `crd`, … as buffers are called in texts.
std::string_view fieldLabel(format::FieldKind kind);

/// `3 x 4 x 5`.
std::string shapeText(const std::vector<int64_t> &dims);

} // namespace tulle::runtime
