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

/// The loops of a tulle.assemble or a tulle.entries, and what is known of the entries that they insert.
struct Stream {
  mlir::Region *loops = nullptr;
  mlir::Value bound;    ///< at most so many inserts; null where not known
  mlir::Value distinct; ///< at most so many coordinates that they are made at; null where not known
  Order order;
  int64_t alignment = 1; ///< chunks of the outermost loop begin at multiples

  /// The lesser of the bounds: of entries, where repeats are combined. Null without one.
  mlir::Value leastBound(mlir::OpBuilder &b, mlir::Location loc) const;
};

const format::Encoding &encodingOf(mlir::Value tensor);

/// Dimensions as expressions.
std::vector<format::Expr> dimensionsOf(const std::vector<unsigned> &dims);

Stream streamOf(dialect::AssembleOp op);
/// For a tensor in the target's encoding.
Stream streamOf(dialect::EntriesOp op, const format::Encoding &target);
Order makeOrder(std::vector<format::Expr> keys, const format::Encoding &target, bool unique);

} // namespace tulle::assemble
