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

/// A set expression as it is written: `a & (b | c)`. It grows with its text only, unlike a set of minterms,
/// so that it may name any number of operands: `a` to `z`, then `a1` to `z1`, and so on.
struct SetExpression {
  enum class Kind : uint8_t { Operand, Everything, Nothing, And, Or, Not };
  Kind kind = Kind::Nothing;
  unsigned operand = 0;               ///< of Operand
  std::vector<SetExpression> parts{}; ///< of And, Or and Not (one)

  static std::optional<SetExpression> parse(std::string_view text, unsigned operands,
                                            std::string *error = nullptr);
  /// Whether the set holds a coordinate that no operand has: the whole dimension must be iterated.
  bool needsUniverse() const;
  /// Whether each coordinate of the set is one that the operand has, as far as the expression shows it.
  bool isWithin(unsigned operand) const;
  /// Whether each coordinate of one operand or several is in the set, as far as the expression shows it.
  bool isUnion(unsigned operands) const;
};

/// The name of an operand in set expressions.
std::string operandName(unsigned operand);

/// Those that contain no other one: a loop that visits these minterms may end when each of the minimal ones
/// has an operand that has ended.
std::vector<Minterm> minimalOf(const std::vector<Minterm> &minterms);
/// Operands whose presence tells the minterm from all others, none that the ones before it make needless.
Minterm distinguish(Minterm minterm, std::vector<Minterm> others);

/// The set of minterms that are visited, over `operands` operands. The coordinate set itself.
class CoordinateSet {
public:
  /// Every minterm is enumerated, so the number of operands is bounded.
  static constexpr unsigned mostOperands = 16;
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
  /// Some coordinate outside all operands is visited: the whole dimension must be iterated.
  bool needsUniverse() const { return contains(0); }
  bool operator==(const CoordinateSet &) const = default;

private:
  unsigned count = 0;
  std::vector<Minterm> sorted;
};

} // namespace tulle::iteration
