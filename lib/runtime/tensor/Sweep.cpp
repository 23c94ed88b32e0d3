#include "runtime/tensor/Sweep.h"
#include <algorithm>

namespace tulle::runtime {

/// Calls f with a null pointer to the integer type of a buffer's elements; false where they are packed.
template <class F> static bool withType(unsigned width, bool isSigned, F f) {
  switch (width) {
  case 8:
    return isSigned ? f(static_cast<const int8_t *>(nullptr)) : f(static_cast<const uint8_t *>(nullptr));
  case 16:
    return isSigned ? f(static_cast<const int16_t *>(nullptr)) : f(static_cast<const uint16_t *>(nullptr));
  case 32:
    return isSigned ? f(static_cast<const int32_t *>(nullptr)) : f(static_cast<const uint32_t *>(nullptr));
  case 64:
    return f(static_cast<const int64_t *>(nullptr));
  default:
    return false;
  }
}

bool positionsHold(const LevelFields &level, int64_t slots, int64_t limit) {
  return withType(level.posWidth, false, [&]<class T>(const T *) {
    const auto *pos = static_cast<const T *>(level.pos);
    bool decreases = false;
    for (int64_t i = 1; i < slots; ++i)
      decreases |= pos[i] < pos[i - 1];
    return !decreases && (slots == 0 || (pos[0] == 0 && int64_t(pos[slots - 1]) <= limit));
  });
}

/// The least and the largest of `count` elements, one or more.
template <class T> static std::pair<T, T> range(const T *first, int64_t stride, int64_t count) {
  T least = *first, largest = *first;
  for (int64_t p = 1; p < count; ++p) {
    least = std::min(least, first[p * stride]);
    largest = std::max(largest, first[p * stride]);
  }
  return {least, largest};
}

bool coordinatesHold(const LevelFields &level, int64_t count, int64_t low, int64_t size) {
  return withType(level.crdWidth, level.isSigned, [&]<class T>(const T *) {
    if (count == 0)
      return true;
    const auto *crd = static_cast<const T *>(level.crd) + level.offset;
    // The stride as a constant is what makes the loop one of vectors.
    const auto [least, largest] = level.stride == 1 ? range(crd, 1, count) : range(crd, level.stride, count);
    return int64_t(least) >= low && int64_t(largest) - low < size;
  });
}

namespace {

/// How often the coordinates of a run do not ascend from one position to the next.
class Descents {
public:
  Descents(std::span<const LevelFields> run, bool unique) : run(run), unique(unique) {}

  /// Between first - 1 and first, …, last - 2 and last - 1.
  int64_t count(int64_t first, int64_t last) const {
    if (run.size() == 1 && run[0].stride == 1)
      return ofOneLevel(first, last);
    int64_t found = 0;
    for (int64_t p = first; p < last; p += kBlock)
      found += block(p, std::min(kBlock, last - p));
    return found;
  }
  bool isOneAt(int64_t p) const { return count(p, p + 1) != 0; }

private:
  static constexpr int64_t kBlock = 4096;

  int64_t ofOneLevel(int64_t first, int64_t last) const {
    int64_t found = 0;
    withType(run[0].crdWidth, run[0].isSigned, [&]<class T>(const T *) {
      const auto *crd = static_cast<const T *>(run[0].crd) + run[0].offset;
      if (unique)
        for (int64_t p = first; p < last; ++p)
          found += crd[p] <= crd[p - 1];
      else
        for (int64_t p = first; p < last; ++p)
          found += crd[p] < crd[p - 1];
      return true;
    });
    return found;
  }

  int64_t block(int64_t first, int64_t count) const {
    uint8_t ascends[kBlock], equal[kBlock];
    std::fill_n(ascends, count, uint8_t(0));
    std::fill_n(equal, count, uint8_t(1));
    for (const LevelFields &level : run)
      withType(level.crdWidth, level.isSigned, [&]<class T>(const T *) {
        const auto *crd = static_cast<const T *>(level.crd) + level.offset;
        if (level.stride == 1)
          compare(crd + first, 1, count, ascends, equal);
        else
          compare(crd + first * level.stride, level.stride, count, ascends, equal);
        return true;
      });
    int64_t found = 0;
    for (int64_t k = 0; k < count; ++k)
      found += !(ascends[k] | (equal[k] & uint8_t(!unique)));
    return found;
  }

  template <class T>
  static void compare(const T *crd, int64_t stride, int64_t count, uint8_t *ascends, uint8_t *equal) {
    for (int64_t k = 0; k < count; ++k) {
      const T before = crd[(k - 1) * stride], here = crd[k * stride];
      ascends[k] |= equal[k] & uint8_t(before < here);
      equal[k] &= uint8_t(before == here);
    }
  }

  std::span<const LevelFields> run;
  bool unique;
};

} // namespace

// Where one segment ends and the next one begins coordinates may do what they want. So they are counted in
// all, and those at the beginnings of segments once more: in short segments that is much faster than one loop
// for each.
bool segmentsAscend(std::span<const LevelFields> run, const LevelFields &bounds, int64_t slots, bool unique) {
  for (const LevelFields &level : run)
    if (level.crdWidth < 8)
      return false;
  return withType(bounds.posWidth, false, [&]<class T>(const T *) {
    if (slots == 0)
      return true;
    const Descents descents(run, unique);
    const auto *pos = static_cast<const T *>(bounds.pos);
    int64_t atStarts = 0;
    for (int64_t i = 1; i + 1 < slots; ++i)
      if (pos[i] < pos[i + 1] && pos[i] > 0)
        atStarts += descents.isOneAt(int64_t(pos[i]));
    return descents.count(1, int64_t(pos[slots - 1])) == atStarts;
  });
}

} // namespace tulle::runtime
