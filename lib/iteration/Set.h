// Sets of coordinates as Boolean functions of "operand k has this coordinate": plain values, used by the
// coiterate op and by the sparsifier.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::iteration {

/// A minterm: bit k is set when operand k has the coordinate.
using Minterm = uint32_t;

/// The set of minterms that are visited, over `operands` operands. The coordinate set itself.
class CoordinateSet {
public:
  CoordinateSet() = default;
  CoordinateSet(unsigned operands, std::vector<Minterm> minterms);
  /// Parses `a & b`, `a | b`, `a \ b`, `~a`, parentheses; operands are the letters a, b, c, … in order; `1`
  /// is everything.
  static std::optional<CoordinateSet> parse(std::string_view text, unsigned operands,
                                            std::string *error = nullptr);
  /// A text parse() gives the same set for, as short as the usual laws make it: `a & b`, `a | b | c`, `a
  /// \ b`, `1`, or a union of minterms where nothing shorter is known.
  std::string print() const;

  unsigned operands() const { return count; }
  const std::vector<Minterm> &minterms() const { return sorted; } ///< ascending
  bool contains(Minterm m) const;
  /// Some coordinate outside all operands is visited: the whole dimension must be walked.
  bool needsUniverse() const { return contains(0); }
  /// Operands every visited minterm has.
  Minterm required() const;
  bool operator==(const CoordinateSet &) const = default;

private:
  unsigned count = 0;
  std::vector<Minterm> sorted;
};

} // namespace tulle::iteration
