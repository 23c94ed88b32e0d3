// Parses level expressions and their inverses.
#pragma once
#include "format/Expr.h"
#include "support/Lexer.h"

namespace tulle::format {

using support::Cursor;
using support::Token;

/// The signs of encodings, and of what is written like them (schedules, queries).
inline constexpr std::string_view signs[] = {"->", "<<", ">>", "(", ")", "[", "]", "{", "}",
                                             "<",  ">",  ",",  ":", ";", ".", "=", "+", "-",
                                             "*",  "/",  "%",  "&", "|", "^", "#", "?"};
inline constexpr support::Language encodingLanguage = {signs, "this character has no meaning in an encoding"};

struct Operator {
  std::string_view text;
  ExprKind kind;
  unsigned precedence; ///< larger ones bind tighter
};
/// Every spelling of every operator; of those of a kind the first is the canonical one.
inline constexpr Operator operators[] = {{"|", ExprKind::Or, 0},
                                         {"^", ExprKind::Xor, 1},
                                         {"&", ExprKind::And, 2},
                                         {"shl", ExprKind::Shl, 3},
                                         {"<<", ExprKind::Shl, 3},
                                         {"shr", ExprKind::Shr, 3},
                                         {">>", ExprKind::Shr, 3},
                                         {"+", ExprKind::Add, 4},
                                         {"-", ExprKind::Sub, 4},
                                         {"*", ExprKind::Mul, 5},
                                         {"floordiv", ExprKind::FloorDiv, 5},
                                         {"/", ExprKind::FloorDiv, 5},
                                         {"mod", ExprKind::Mod, 5},
                                         {"%", ExprKind::Mod, 5}};

/// The names an expression may use.
struct Names {
  std::vector<std::string> dims, symbols, levels;
  std::map<std::string, int64_t, std::less<>> values; ///< of symbols that have one
  std::vector<Expr> lets;                             ///< variables in scope
  std::vector<std::string> everLet;                   ///< every name a `let` has bound anywhere so far
  unsigned nodes = 0;                                 ///< operands and operators of all expressions so far

  /// Whether the name is bound, for "already used".
  bool has(std::string_view name) const;
};

/// The number of the name in the list.
std::optional<unsigned> indexOf(const std::vector<std::string> &names, std::string_view name);
/// Words of the language, which no variable may be called.
bool isKeyword(std::string_view word);
/// A counter that makes so many slices, which are its `value`; 0: as many as the entries need.
Expr counterOf(std::vector<unsigned> dims, int64_t slices);
/// Takes a name that is no word of the language.
std::string expectName(Cursor &cursor, std::string_view what);

/// An expression over dimensions and symbols. The names of leading `let`s stay bound for the levels that
/// follow.
Expr parseLevelExpr(Cursor &cursor, Names &names);
/// An expression over level variables and symbols.
Expr parseInverseExpr(Cursor &cursor, Names &names);

} // namespace tulle::format
