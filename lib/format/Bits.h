// Maps that permute bits (Morton curves, masks, shifts): where each bit of a level's coordinate comes from.
#pragma once
#include "format/Encoding.h"
#include <array>

namespace tulle::format {

/// One bit of a coordinate.
struct BitSource {
  enum Kind : uint8_t { Zero, FromDim, Mixed } kind = Zero;
  unsigned dim = 0, bit = 0;
  bool operator==(const BitSource &) const = default;
};
using BitSources = std::array<BitSource, 63>; ///< coordinates are not negative

/// The sources of an expression's bits where the coordinates of dimension d have `dimBits[d]` bits; nullopt
/// where it does more than that.
std::optional<BitSources> bitSources(const Expr &e, const std::vector<unsigned> &dimBits);
/// The same where the coordinates of every dimension have `bits` bits.
std::optional<BitSources> bitSources(const Expr &e, unsigned bits);

/// The dimension's coordinate put together from the bits of the levels; null where one of its `bits` bits has
/// no level, or the bits of a level are not in order.
Expr invertBits(const std::vector<std::optional<BitSources>> &levels, unsigned dim, unsigned bits);

} // namespace tulle::format
