// Maps that permute bits (Morton curves, masks, shifts): where each bit of a level's coordinate comes
// from.
#pragma once
#include "format/Encoding.h"
#include <array>

namespace tulle::format {

/// Whether an expression of this kind occurs in `e`, which may be null.
bool contains(const Expr &e, ExprKind kind);

/// What each `let` variable stands for.
using Lets = std::map<std::string, Expr>;
/// The body below the leading `let`s, which are recorded.
const Expr &enterLets(const Expr &e, Lets &lets);
/// The body of a level's expression; `lets` gets those of the levels above, too.
const Expr &enterLets(const Encoding &encoding, unsigned level, Lets &lets);

/// One bit of a coordinate.
struct BitSource {
  enum Kind : uint8_t { Zero, FromDim, Mixed } kind = Zero;
  unsigned dim = 0, bit = 0;
  bool operator==(const BitSource &) const = default;
};
using BitSources = std::array<BitSource, 63>; ///< coordinates are not negative

/// The sources of an expression's bits where the coordinates of dimension d have `dimBits[d]` bits; nullopt
/// where it does more than that.
std::optional<BitSources> bitSources(const Expr &e, const Lets &lets, const std::vector<unsigned> &dimBits);

/// The dimension's coordinate put together from the bits of the levels; null where one of its `bits` bits has
/// no level, or the bits of a level are not in order.
Expr invertBits(const std::vector<std::optional<BitSources>> &levels, unsigned dim, unsigned bits);

} // namespace tulle::format
