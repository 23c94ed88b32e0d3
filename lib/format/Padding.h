// Where formats have padding: positions without an entry.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

/// Whether padding may lie beyond the end of the dimension: its inverse reads levels whose
/// coordinates are implied (padded blocks, windows of ranks, diagonals) and which are not the dimension
/// itself. `inverse` is the dimension's, without an outermost `unrank`.
bool mayLieOutside(const Encoding &encoding, unsigned dim, const Expr &inverse);

/// Whether the level may have positions in reserve, which no entry has: those of a
/// `loose_compressed[n]`, and what lies below them.
bool hasReserve(const Encoding &encoding, unsigned level);

/// The dimension whose coordinates differ wherever those of the level do: the level is a digit of it, or of
/// its rank.
std::optional<unsigned> separatedDimension(const Encoding &encoding, unsigned level);

} // namespace tulle::format
