// What the order in which entries arrive means for the levels of a new tensor, as plain values.
#pragma once
#include "dialect/Dialect.h"
#include "format/Encoding.h"

namespace tulle::assemble {

/// A stream of entries and the levels it is for.
struct Order {
  /// The stream is ascending, lexicographically, by these expressions of the dimensions' coordinates.
  std::vector<format::Expr> keys;
  std::vector<format::Expr> levels; ///< the target's level expressions, `let` variables written out
  bool unique = false;              ///< no coordinates arrive twice

  /// How many levels behind the first `fixed` ones arrive in ascending lexicographic order within each
  /// combination of the fixed levels' coordinates, in whatever order those arrive. `fixed` 0: of the stream
  /// as it is. CSR to CSC: sortedLevels() = 0, but sortedLevels(1) = 1, since each column's rows ascend.
  unsigned sortedLevels(unsigned fixed = 0) const;
  /// The whole stream is in storage order.
  bool sorted() const { return sortedLevels() == levels.size(); }
};

/// The facts of an op and its tensor's encoding.
Order orderOf(dialect::AssembleOp op);
Order makeOrder(std::vector<format::Expr> keys, const format::Encoding &target, bool unique);

} // namespace tulle::assemble
