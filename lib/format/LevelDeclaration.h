// A level format that its user declares as text: how its entries are counted, how large its buffers are,
// where the entries of a parent are, and which coordinate is at a position.
#pragma once
#include "format/Encoding.h"
#include "support/Diagnostic.h"
#include <map>

namespace tulle::support {
class Cursor;
}

namespace tulle::format {

/// What is asked of the coordinates before the level is made.
struct LevelQuery {
  enum Kind : uint8_t {
    Count, ///< `select [p] -> count(c) as nz`: how many coordinates each parent has
    Max,   ///< `select [p] -> max(c) as last`: the largest below each parent; -1 without one
    Min,   ///< `select [p] -> min(c) as first`: the least below each parent; 0 without one
    Id     ///< `select [c] -> id() as used`: which coordinates occur at all
  } kind = Count;
  std::string name;
  bool operator==(const LevelQuery &) const = default;
};

/// The variables of a declaration's expressions: level variables of these numbers.
enum LevelVariable : uint8_t {
  kParent,                  ///< p
  kPosition,                ///< q
  kCoordinate,              ///< c
  kLevelSize,               ///< N: the number of coordinates that the level can have
  kStoredSize,              ///< K: what `size` says
  kBegin,                   ///< pos[p]
  kEnd,                     ///< pos[p + 1]
  kParentCoordinate,        ///< crd[p]
  kStoredCoordinate,        ///< crd[q]
  kSharedCoordinate,        ///< crd[q - p * K]
  kRank,                    ///< rank(used, c)
  kQuery,                   ///< nz[p], and of the second query one further
  kLargest = kQuery + 2,    ///< max(nz): of all parents
  kVariables = kLargest + 2 ///< how many there are
};
using LevelVariables = std::vector<int64_t>;

/// Where a declaration was written, and its parts in there: errors about what it stores point to them.
struct DeclarationSource {
  std::string name, text;
  std::map<std::string, support::SourceRange> parts;
};

struct LevelDeclaration {
  std::string name;
  std::string text; ///< `level mine { … }`, a blank between its tokens: what is printed, and compared
  std::vector<LevelQuery> queries; ///< at most two
  bool padded = false;             ///< positions without an entry hold a coordinate of all bits set
  bool storesCoordinates = false;  ///< crd[q] = c: entries take one position after the other
  Expr size;                       ///< of K; null without
  Expr length;                     ///< pos[p + 1] = pos[p] + length; null: parent p has p * slots …
  Expr slots;                      ///< … to p * slots + slots
  Expr firstCoordinate;            ///< of crd[p]; null without
  Expr coordinate;                 ///< at position q of parent p
  Expr position;                   ///< of coordinate c below parent p; null where it is the next one
  /// The built-in format that this is, part by part; its code is the same.
  std::optional<LevelKind> builtIn;
  DeclarationSource source;

  /// The level format of this name.
  static LevelFormat formatOf(const std::shared_ptr<const LevelDeclaration> &declaration);
  bool hasUnmarkedPadding() const { return position != nullptr; }
};

/// What the code that stores a tensor finds wrong with a declaration.
enum class DeclaredFault : uint8_t {
  Size,      ///< `size` gives K a value below 0, or one that no memory holds
  Length,    ///< `edges` gives a parent such a number of positions
  Slots,     ///< `positions` gives parents such a number
  Outside,   ///< `insert` gives a coordinate a position that is not its parent's
  Differs,   ///< `coordinate` is another one at the position that `insert` gives
  Unfilled,  ///< a parent has more positions than entries
  Unordered, ///< `coordinate` does not ascend along the positions of a parent, or leaves the level's size
};
/// Throws support::SyntaxError at the parts that contradict each other: `where` is what was stored, `value`
/// what was found below that parent.
[[noreturn]] void failDeclared(const LevelDeclaration &declaration, DeclaredFault fault,
                               const std::string &where, int64_t parent, int64_t value);

/// One declaration, `level NAME { … }`; `before` are those of the same text. Throws support::SyntaxError.
std::shared_ptr<const LevelDeclaration> parseLevel(support::Cursor &cursor, const Declarations &before);
/// Declarations, one after the other. Throws support::SyntaxError at the offending part.
Declarations parseLevels(std::string_view text, std::string_view name = "<levels>");
/// The declaration of that name; null without one.
std::shared_ptr<const LevelDeclaration> findLevel(const Declarations &levels, std::string_view name);

} // namespace tulle::format
