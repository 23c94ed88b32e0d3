// What a sweep says of whole buffers is what looking at each element says.
#include "runtime/tensor/Sweep.h"
#include <gtest/gtest.h>
#include <random>

using namespace tulle::runtime;

namespace {

/// Buffers of one width, and levels that read them.
template <class T> struct Run {
  std::vector<T> coordinates, positions;
  std::vector<LevelFields> levels;
  LevelFields bounds;

  Run(unsigned count, unsigned width, bool interleaved, int64_t entries) {
    coordinates.resize(size_t(count) * size_t(entries));
    for (unsigned k = 0; k < count; ++k) {
      LevelFields level;
      level.crd = coordinates.data();
      level.crdWidth = width;
      level.crdCount = int64_t(coordinates.size());
      level.isSigned = std::is_signed_v<T>;
      level.stride = interleaved ? count : 1;
      level.offset = interleaved ? int64_t(k) : int64_t(k) * entries;
      levels.push_back(level);
    }
    bounds.posWidth = width;
  }
  bool ascends(int64_t p, bool unique) const {
    for (const LevelFields &level : levels) {
      const int64_t before = level.coordinate(p - 1), here = level.coordinate(p);
      if (before != here)
        return before < here;
    }
    return !unique;
  }
};

template <class T> void compareWithLoops(unsigned width, uint32_t seed) {
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const unsigned count = 1 + random() % 3;
    const int64_t entries = random() % 4 ? int64_t(random() % 12) : int64_t(4090 + random() % 20);
    Run<T> run(count, width, random() % 2, std::min<int64_t>(entries, width == 8 ? 100 : 1 << 14));
    const int64_t stored = int64_t(run.coordinates.size()) / count;
    // Mostly ascending, so that both answers occur.
    const unsigned step = 1 + random() % 3;
    for (int64_t p = 0; p < stored; ++p)
      for (unsigned k = 0; k < count; ++k)
        const_cast<T *>(
            static_cast<const T *>(run.levels[k].crd))[p * run.levels[k].stride + run.levels[k].offset] =
            T(k + 1 < count ? p / 7 : p * step / (random() % 40 ? 1 : 2));
    run.positions = {0};
    while (int64_t(run.positions.back()) < stored)
      run.positions.push_back(T(std::min<int64_t>(stored, int64_t(run.positions.back()) + random() % 9)));
    run.bounds.pos = run.positions.data();
    const auto slots = int64_t(run.positions.size());
    for (bool unique : {true, false}) {
      bool expected = true;
      for (int64_t i = 0; i + 1 < slots; ++i)
        for (int64_t p = run.bounds.position(i) + 1; p < run.bounds.position(i + 1); ++p)
          expected &= run.ascends(p, unique);
      EXPECT_EQ(segmentsAscend(run.levels, run.bounds, slots, unique), expected) << seed << " " << round;
    }
    const int64_t low = int64_t(random() % 3), size = int64_t(random() % (2 * step * unsigned(stored) + 2));
    bool inside = true;
    for (int64_t p = 0; p < stored; ++p)
      inside &= run.levels[0].coordinate(p) >= low && run.levels[0].coordinate(p) < low + size;
    EXPECT_EQ(coordinatesHold(run.levels[0], stored, low, size), inside);
    EXPECT_TRUE(positionsHold(run.bounds, slots, stored));
    EXPECT_EQ(positionsHold(run.bounds, slots, stored - 1),
              stored > 0 ? false : int64_t(run.positions[0]) <= -1);
    if (slots > 2 && stored > 0) {
      std::swap(run.positions[0], run.positions.back());
      EXPECT_FALSE(positionsHold(run.bounds, slots, stored));
    }
  }
}

TEST(Sweep, AgreesWithLoopsOverElements) {
  compareWithLoops<uint8_t>(8, 1);
  compareWithLoops<uint16_t>(16, 2);
  compareWithLoops<int32_t>(32, 3);
  compareWithLoops<uint32_t>(32, 4);
  compareWithLoops<int64_t>(64, 5);
}

} // namespace
