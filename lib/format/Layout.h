// The buffers a tensor of an encoding is made of, in the order in which runtime and generated code pass them.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

enum class FieldKind : uint8_t { Positions, Coordinates, Values };

/// One buffer. `level` is the level that owns it (for interleaved coordinates: the first level of the run).
struct Field {
  FieldKind kind;
  unsigned level = 0;
  unsigned width =
      0; ///< bits of one element: 8..64, or 2 (packed four to a byte, low bits first); 0 for Values
};

/// Where a level's coordinates are: element `position * stride + offset` of field `field`.
/// Stride > 1: the interleaved coordinates of a COO run without `soa`.
struct CoordinateRef {
  unsigned field = 0, stride = 1, offset = 0;
};

struct Layout {
  std::vector<Field> fields;                      ///< level by level (positions, coordinates), values last
  std::vector<std::optional<unsigned>> positions; ///< per level: its positions field
  std::vector<std::optional<CoordinateRef>> coordinates; ///< per level
  unsigned valuesField() const { return fields.size() - 1; }
};

/// The layout of an executable encoding whose widths are resolved (see resolveWidths); a width still 0 counts
/// as 64.
///
/// Positions of the levels, for a parent position p (the root is the single position 0):
///  dense, batch        p * size + coordinate
///  compressed          pos[q] .. pos[q+1] with q = p + (linear coordinate of the enclosing batch levels):
///  each batch owns
///                      its own run of (parents + 1) entries; values in pos are absolute offsets
///  loose_compressed    pos[2p] .. pos[2p+1]
///  singleton           the parent's position itself; under a nonunique parent, every position of the
///  parent's segment structured[n,m]     p*n .. p*n+n
/// A level that is compressed or loose_compressed, nonunique, and followed by singletons without `soa` starts
/// a run whose coordinates are interleaved in one buffer.
Layout layout(const Encoding &encoding);

/// The encoding with 0-widths replaced: 32 where `maxCoordinate` / `maxPosition` fit a signed 32-bit integer,
/// else 64.
Encoding resolveWidths(const Encoding &encoding, int64_t maxCoordinate, int64_t maxPosition);

/// Size of level `l` for the given dimension sizes: ceil(dim / stride) or the modulus.
int64_t levelSize(const Digit &digit, const std::vector<int64_t> &dims);

} // namespace tulle::format
