// Attribute queries: statistics of where a tensor stores entries.
//
//   select [i] -> count(j) as n, max(j - i) as upper, id() as some
//   select [j - i] -> id() as nz
//
// For every coordinate of the selected dimensions: over the entries there, how many different coordinates the
// counted dimensions have, the largest or smallest value of an expression, and whether there is an entry at
// all. What is selected and counted may also be coordinates that are computed at each entry, as those of a
// format's levels are.
#pragma once
#include "format/Encoding.h"
#include "support/Lexer.h"

namespace tulle::notation {

enum class AggregateKind : uint8_t { Count, Max, Min, Id };

struct Aggregate {
  AggregateKind kind = AggregateKind::Id;
  std::vector<unsigned> counted; ///< coordinates of `count`, distinct and none of the selected ones
  format::Expr value;            ///< of `max` and `min`, over the coordinates; else null
  std::string name;
  support::SourceRange range;
};

/// A coordinate is the number of a dimension, or that of a computed one behind them.
struct Query {
  std::vector<unsigned> select; ///< coordinates, distinct
  std::vector<Aggregate> aggregates;
  /// Over the dimensions; a counter stands alone. Each is found once.
  std::vector<format::Expr> computed;
};

/// Parses a query over a tensor in this format. Dimensions are called i, j, …; levels that are no dimension
/// have their names in the map, or else the letters behind those of the dimensions, in their order. Throws
/// SyntaxError at the offending character.
Query parseQuery(std::string_view text, const format::Encoding &encoding, std::string_view name = "<query>");

/// Throws SyntaxError unless a coordinate alone decides the expression, in sums and products with integers:
/// counters and ranks depend on other entries.
void requireArithmetic(const support::Cursor &cursor, const format::Expr &e, support::SourceRange range);

/// The smallest and largest value an expression can have over dimensions of these sizes (at least 1). Throws
/// Error where it does not fit 64 bits.
std::pair<int64_t, int64_t> valueRange(const format::Expr &expr, const std::vector<int64_t> &sizes);

} // namespace tulle::notation
