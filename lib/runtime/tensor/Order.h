// Entries in storage order: the level coordinates of every entry, sorted lexicographically.
#pragma once
#include "runtime/tensor/Levels.h"
#include <array>

namespace tulle::runtime {

/// The level coordinates of all entries, bit-packed (level 0 in the high bits) into as few 64-bit words as
/// they need, in storage order: sorted by the levels up to the last one that stores something; below it order
/// does not matter.
class OrderedEntries {
public:
  /// Checks every coordinate against its dimension. Time O(entries); memory 28 bytes per entry (and 8 more
  /// per further word) while sorting, 1 where the entries are sorted already. `entries` must outlive this.
  OrderedEntries(const Entries &entries, const std::vector<LevelShape> &shapes);

  int64_t count() const { return entryCount; }
  int64_t coordinate(unsigned level, int64_t e) const {
    const Place &p = places[level];
    if (p.column)
      return p.column[e];
    return (word(p.word)[e] >> p.shift) & p.mask;
  }
  /// The entry of the input that is number `e` in storage order.
  int64_t source(int64_t e) const {
    if (identity)
      return e;
    return wide ? static_cast<const uint64_t *>(permutation.data)[e]
                : static_cast<const uint32_t *>(permutation.data)[e];
  }
  bool isIdentity() const { return identity; }
  /// First level at which entry `e` differs from the one before it: 0 for the first entry, the number of
  /// levels for a duplicate.
  const uint8_t *firstDifference() const { return static_cast<const uint8_t *>(differences.data); }

private:
  struct Place {
    unsigned word = 0, shift = 0, bits = 0;
    uint64_t mask = 0;
    const int64_t *column =
        nullptr; ///< the entries' own coordinates, where they are the level's and in order
  };
  void place(const std::vector<LevelShape> &shapes);
  bool scanSorted(const Entries &entries, const std::vector<LevelShape> &shapes);
  void addDifferences(unsigned word, const uint64_t *keys, int64_t begin, int64_t end);
  void fillWords(const Entries &entries, const std::vector<LevelShape> &shapes);
  void sort();
  int startBit() const;
  template <class Index> void sortWords();
  uint64_t *word(unsigned w) const { return static_cast<uint64_t *>(words[w].data); }

  int64_t entryCount = 0;
  std::vector<Place> places;
  std::vector<Buffer> words;
  std::vector<unsigned> lowBit, topBit;         ///< per word: the bits that order it
  std::vector<std::array<uint8_t, 64>> levelOf; ///< [word][bit]: the level that owns it
  Buffer permutation, differences;
  bool identity = true, wide = false;
};

} // namespace tulle::runtime
