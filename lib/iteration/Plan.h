// Which loops a statement becomes, and how each operand's levels are reached in them: plain values, no IR.
#pragma once
#include "format/Encoding.h"
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tulle::iteration {

/// One dimension's subscript: sum of coefficient * index variable, plus a constant; or a digit of it.
struct Subscript {
  std::vector<std::pair<unsigned, int64_t>> terms;
  int64_t constant = 0;
  int64_t divisor = 1, modulus = 0; ///< (sum / divisor) % modulus, without the `%` where modulus is 0
  /// From the constant on, as far as the index goes: all coordinates of a part of the dimension.
  bool isInterval = false;
  /// An interval that is followed: the operand stores the coordinates in order (format::storesInOrder).
  bool isPart = false;
  /// The coordinates are those of a slice, which are others of the operand's.
  bool isMoved = false;
  /// Whether it is an index.
  bool isIndex() const { return isShifted() && constant == 0; }
  bool isVariable() const { return isIndex() && !isMoved; }
  /// Whether loops can follow the operand's coordinates.
  bool isFollowed() const { return isVariable() || (isShifted() && isPart); }
  /// A variable and a constant.
  bool isShifted() const { return terms.size() == 1 && terms[0].second == 1 && divisor == 1 && modulus == 0; }
};

/// One operand of a statement (the result is the last one).
struct Operand {
  format::Encoding encoding;         ///< its map is made of digits
  std::vector<Subscript> subscripts; ///< per dimension
  bool keep = false;                 ///< must not be converted: the result's pattern
  bool fixed = false;                ///< has no other encoding: its buffers are another tensor's
  bool split = false;                ///< is a reshape or a slice: its indices can have no blocks of their own
  bool exact = false; ///< a conversion may not pad it: padding is stored, which masks and 0 * inf see
  /// Result only: a new tensor (its levels given as dense ones). It is best inserted into in the order of its
  /// levels, and all but the last of these outside the reductions, so that one row after the other is
  /// finished.
  bool assembled = false;
  int follows = -1;     ///< the operand whose pattern it shares, which is traversed for both
  int64_t entries = -1; ///< stored, where known
};

/// A loop: one digit of an index variable. An index of unblocked operands has the one digit (stride 1,
/// modulus 0).
struct LoopVar {
  unsigned index = 0;
  int64_t stride = 1, modulus = 0;
  bool isOverTiles = false; ///< of the index's coordinates: it fixes none (Tiles.h)
  bool operator==(const LoopVar &) const = default;
};

enum class LevelMode : uint8_t {
  Drive,  ///< the loop iterates this level's stored coordinates
  Locate, ///< every coordinate exists: address arithmetic
  Search, ///< binary search at a coordinate known from elsewhere
};

struct LevelPlan {
  LevelMode mode = LevelMode::Locate;
  unsigned loop = 0; ///< Drive: position in Plan::order
};

struct Plan {
  std::vector<LoopVar> order;                 ///< outermost first
  std::vector<std::vector<LevelPlan>> levels; ///< [operand][level]
  std::vector<std::string> names = {};        ///< of the loops, where tiles have been added
};

/// An operand whose levels do not fit the loops of the others, and the cheapest encoding that does.
struct Conversion {
  unsigned operand = 0;
  format::Encoding target;
  std::string reason;
  std::string figures; ///< what it costs against the alternatives, where entries are known
};

/// Loops as a schedule names them, outermost first: those over one digit of an index, or, with stride 0, over
/// all digits of it. Other loops stand anywhere.
using WantedOrder = std::vector<LoopVar>;

/// Chooses the loops: a topological order of the digits that respects every operand's level order; loops over
/// stored coordinates (and what they need) outside pure dense loops, reductions inside, the stride-1 dense
/// digit innermost, the rows of a block of one column outside of these where each has a row of the result.
/// Operands are considered by decreasing order, the result's pattern first; the first one that does not fit
/// is returned for conversion. The one to begin with is that for which conversions and a result inserted out
/// of order cost least (`CostModel`), where the entries of some sparse operand are not known as if all had as
/// many. A conversion to the encoding that the operand has means that there is no order. `reduction[i]`:
/// index i does not occur in the result. A wanted order holds, whatever it costs.
std::variant<Plan, Conversion> plan(const std::vector<bool> &reduction, const std::vector<Operand> &operands,
                                    const WantedOrder &wanted = {});

/// Whether the loop is (one of those) meant by the name.
bool isMeant(const LoopVar &loop, const LoopVar &name);
/// An index, or the digit of it that a loop runs over: `i/4` for blocks, `i%4` within them.
std::string nameOf(const LoopVar &loop, const std::vector<std::string> &indices);
/// The same of a loop of a plan.
std::string nameOfLoop(const Plan &plan, size_t depth, const std::vector<std::string> &indices);
/// What `nameOf` has printed, or the name of an index for all loops over it; nullopt for other texts.
std::optional<LoopVar> loopNamed(std::string_view name, const std::vector<std::string> &indices);

/// One line: the loops, and what made them so. Names are those of the indices and of the operands.
std::string explainOrder(const Plan &plan, const std::vector<Operand> &operands,
                         const std::vector<std::string> &indices, const std::vector<std::string> &names);

/// Whether a level's entries can be found by a table of their positions: each belongs to one parent, and the
/// coordinates below a parent differ.
bool hasTables(const format::LevelFormat &level);

} // namespace tulle::iteration
