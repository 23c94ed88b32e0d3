// Parses level expressions and their inverses.
#pragma once
#include "format/Cursor.h"
#include "format/Expr.h"

namespace tulle::format {

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
  Expr binaryExpr(unsigned precedence);
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
