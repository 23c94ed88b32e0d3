// The buffers a tensor of an encoding is made of, in the order in which runtime and generated code pass them.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

enum class FieldKind : uint8_t {
  Sizes,       ///< one element: the size of a level whose size depends on the data
  Permutation, ///< the ranked dimension's coordinate at each rank
  Positions,
  Coordinates,
  Bits, ///< one bit per coordinate, eight to a byte, low bit first; the bytes are padded to a multiple of 8
  Values
};

/// One buffer. `level` is the level that owns it (for interleaved coordinates: the first level of the run).
struct Field {
  FieldKind kind;
  unsigned level = 0;
  unsigned width =
      0; ///< bits of one element: 8..64, or 2 (packed four to a byte, low bits first); 0 for Values
  bool isSigned = false; ///< coordinates of an expression that can be negative: sign-extended when read
  bool implied = false;  ///< values that `explicitVal` says: they are counted, and take no memory
};

/// Where a level's coordinates are: element `position * stride + offset` of field `field`.
/// Stride > 1: the interleaved coordinates of a COO run without `soa`.
struct CoordinateRef {
  unsigned field = 0, stride = 1, offset = 0;
};

struct Layout {
  std::vector<Field> fields;                  ///< level by level (in the order of FieldKind), values last
  std::vector<std::optional<unsigned>> sizes; ///< per level: its sizes field
  std::vector<std::optional<unsigned>> permutation; ///< per level: the field of the rank its expression reads
  std::vector<std::optional<unsigned>> positions;   ///< per level: its positions field
  std::vector<std::optional<CoordinateRef>> coordinates; ///< per level
  std::vector<std::optional<unsigned>> bits;             ///< per level: its bits field
  unsigned valuesField() const { return fields.size() - 1; }
};

/// The layout of an executable encoding whose widths are resolved (see resolveWidths); a width still 0 counts
/// as 64.
///
// clang-format off
/// Positions of the levels, for a parent position p of P (the root is the single position 0), level size N:
///
/// | level            | positions below p                  | coordinate at position q | fields          |
/// |------------------|------------------------------------|--------------------------|-----------------|
/// | dense, batch     | p*N .. p*N+N                       | q - p*N                  | sizes (counter) |
/// | compressed       | pos[r] .. pos[r+1]                 | crd[q]                   | pos, crd        |
/// | loose_compressed | pos[2p] .. pos[2p+1]               | crd[q]                   | pos, crd        |
/// | singleton        | p (nonunique parent: its segment)  | crd[q]                   | crd             |
/// | structured[n,m]  | p*n .. p*n+n                       | crd[q]                   | crd             |
/// | ragged           | pos[p] .. pos[p+1]                 | q - pos[p]               | pos             |
/// | fixed[n]         | p*n .. p*n+n                       | crd[q]                   | sizes, crd      |
/// | squeezed         | p*K .. p*K+K                       | crd[q - p*K]             | sizes, crd      |
/// | banded           | pos[p] .. pos[p+1]                 | crd[p] + q - pos[p]      | pos, crd        |
/// | offset           | p                                  | from the levels above    |                 |
/// | hashed           | pos[p] .. pos[p+1]                 | crd[q]                   | pos, crd        |
/// | bitmap           | p*N .. p*N+N, where bit q is set   | q - p*N                  | bits            |
// clang-format on
///
/// - compressed: r = p + (linear coordinate of the enclosing batch levels): each batch has its own run of
///   (parents + 1) elements; values in pos are absolute offsets. With loose_compressed between, a batch
///   begins where its first segment does.
/// - A level that is compressed or loose_compressed, nonunique, and followed by singletons without `soa`
///   starts a run whose coordinates are interleaved in one buffer.
/// - Size fields (64 bits, one element): the size of a counter level `#i` (the longest count), the n of a
///   `fixed` that names none (the longest segment), the K of `squeezed`.
/// - Padding (padded singletons, fixed, hashed) has the coordinate with all bits set, and the fill as value.
///   In `fixed` and padded levels it comes last.
/// - squeezed: crd holds, ascending, the K coordinates that occur at all, the same for all parents.
/// - banded: the run of parent p starts at its first entry, and ends at its last one or at the coordinate of
///   the level above, whichever is further (clamped to the level's size). A parent without entries has no
///   run, and crd[p] = 0.
/// - offset: the level's coordinate follows from its expression and those of the levels above (`k = j - i`,
///   i: j = i + k); where that lies outside the dimension the position is padding.
/// - hashed: open addressing. A parent with c > 0 entries has a table of the smallest power of two >= 2c
///   slots, one with none has none; coordinate x starts at slot (x * 0x9E3779B97F4A7C15 mod 2^64) >> (64 -
///   log2(slots)) and takes the next free one, cyclically. Conversions insert in ascending order of
///   coordinates.
/// - rank(i by count(j) within s): the coordinates of i, s at a time (without `within`: all), sorted stably
///   by decreasing number of stored j; Permutation[rank] = i, 64 bits, owned by the first level that reads
///   it. The last window may be shorter; where levels round its size up, the missing ranks are empty.
/// - `explicitVal`: every entry has that value, so that no values are stored; the field says how many there
///   would be.
/// - A counter `#(…)` numbers the entries that agree in its dimensions in ascending order of their
///   coordinates, dimension by dimension: the storage of a tensor does not depend on the order in which
///   entries came.
/// - Conversions store an entry once, duplicates combined, also where a level is nonunique, and in ascending
///   order, also where it is nonordered. Segments of loose_compressed follow each other, and an empty one
///   starts and ends where the one before it ended; loose_compressed[n] leaves n positions in reserve behind
///   each, whose coordinates have all bits set, whose values are the fill, and below which nothing is stored.
/// - structured: a group of fewer than n entries has its lowest free coordinates, too, at the fill; those of
///   a group at the tensor's edge may lie beyond it.
/// - ragged: the coordinates of a parent are 0 .. the last one that is stored; with `padded` likewise, and
///   positions without an entry below are padding.
Layout layout(const Encoding &encoding);

/// The encoding with 0-widths replaced: 32 where `maxCoordinate` / `maxPosition` fit a signed 32-bit integer,
/// else 64.
Encoding resolveWidths(const Encoding &encoding, int64_t maxCoordinate, int64_t maxPosition);
/// The same for the dimensions' sizes: coordinates are those that the dimensions and the levels can have. A
/// level whose coordinates are larger than its range tells shows while it is stored.
Encoding resolveWidths(const Encoding &encoding, const std::vector<int64_t> &dims, int64_t maxPosition);

/// Size of level `l` for the given dimension sizes: ceil(dim / stride) or the modulus.
int64_t levelSize(const Digit &digit, const std::vector<int64_t> &dims);

/// The coordinates a level can have, `low` <= c <= `high`, as expressions in which a dimension variable
/// stands for the dimension's size.
struct LevelBounds {
  Expr low, high;
};
/// Bounds by interval arithmetic; a counter is below the product of the sizes of the dimensions it does not
/// name. Nullopt where the expression has a symbol, or divides by something that is not a positive integer.
std::optional<LevelBounds> levelBounds(const Encoding &encoding, unsigned level);

/// The same for given sizes.
struct CoordinateRange {
  int64_t low = 0, high = -1;
  int64_t size() const { return high < low ? 0 : high - low + 1; }
};
/// Those of an expression over dimensions of these sizes; nullopt where one that is computed may leave 64
/// bits.
std::optional<CoordinateRange> valueRange(const Expr &expr, const std::vector<int64_t> &sizes);
std::optional<CoordinateRange> levelRange(const Encoding &encoding, unsigned level,
                                          const std::vector<int64_t> &dims);

using Large = unsigned __int128;

/// What a tensor stores for positions of a level and those below, and the lowest level that has several for
/// each parent, parents * each in all.
struct Capacity {
  size_t level;
  Large parents, each;
  Large bytes = 0;
  bool exact = true; ///< else there are levels below whose positions do not follow from the sizes

  /// No more than a signed 64-bit integer holds, which is beyond any memory.
  Large positions() const;
};

/// Of `parents * each` positions of a level, where a value takes `valueBytes`. The encoding is executable,
/// its widths resolved; `dims`: the dimensions' sizes.
Capacity capacityFor(const Encoding &encoding, const std::vector<int64_t> &dims, unsigned valueBytes,
                     size_t level, int64_t parents, int64_t each);

} // namespace tulle::format
