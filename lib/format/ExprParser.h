// Parses level expressions and their inverses.
#pragma once
#include "format/Expr.h"
#include "support/Cursor.h"

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
  std::vector<std::string> dims, symbols, levels, lets;
  /// Every name bound so far, for "already used" and guesses.
  bool has(const std::string &name) const;
};

/// Words of the language, which no variable may be called.
bool isKeyword(std::string_view word);

class ExprParser {
public:
  ExprParser(Cursor &cursor, Names &names) : cursor(cursor), names(names) {}

  /// An expression over dimensions and symbols. The names of leading `let`s stay bound for the levels that
  /// follow.
  Expr levelExpr();
  /// An expression over level variables and symbols.
  Expr inverseExpr();
  /// Every name a `let` has bound anywhere so far.
  const std::vector<std::string> &bound() const { return everBound; }

private:
  Expr expr();
  Expr letExpr();
  Expr binaryExpr(unsigned loosest);
  Expr unary();
  Expr primary();
  Expr counterExpr();
  Expr rankExpr();
  Expr name();
  Expr join(ExprKind kind, Expr lhs, Expr rhs, const Token &sign, size_t rhsBegin);
  unsigned dimension();
  void count(const Token &at);

  Cursor &cursor;
  Names &names;
  std::vector<std::string> everBound;
  bool inverse = false;
  unsigned depth = 0, nodes = 0;
};

} // namespace tulle::format
