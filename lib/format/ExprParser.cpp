// Precedence climbing over one table of operators. What is not affine is refused where it is read, at the
// operand that would have to be fixed.
#include "format/ExprParser.h"
#include "support/Suggest.h"
#include <fmt/format.h>

namespace tulle::format {
namespace {

// Bounds on what one encoding may hold: recursion over an expression must never exhaust the stack.
constexpr unsigned maxDepth = 100, maxNodes = 2000;

constexpr std::string_view keywords[] = {"floordiv", "mod", "shl",    "shr",   "let",
                                         "in",       "by",  "within", "count", "rank"};

/// Affine in symbols alone: nothing in it varies with the entry.
bool isFixed(const Expr &e) {
  if (e->kind >= ExprKind::Add && e->kind <= ExprKind::Mod)
    return isFixed(e->lhs) && isFixed(e->rhs);
  return e->kind == ExprKind::Constant || e->kind == ExprKind::Symbol;
}

class ExprParser {
public:
  ExprParser(Cursor &cursor, Names &names, bool inverse) : cursor(cursor), names(names), inverse(inverse) {}

  Expr expr() { return cursor.next("let") ? letExpr() : binaryExpr(0); }

private:
  void count(const Token &at) {
    if (++names.nodes > maxNodes)
      cursor.fail(at.range, fmt::format("this encoding's expressions are too long: at most {} operands and "
                                        "operators are read",
                                        maxNodes));
  }

  /// What `parse` reads one level deeper.
  Expr nested(const Token &at, Expr (ExprParser::*parse)()) {
    if (++depth > maxDepth)
      cursor.fail(at.range, "expressions nest too deeply here");
    Expr inner = (this->*parse)();
    --depth;
    return inner;
  }

  /// An expression whose `let`s hold in it only.
  Expr scoped() {
    const size_t bound = names.lets.size();
    Expr inner = expr();
    names.lets.resize(bound);
    return inner;
  }

  Expr letExpr() {
    Token keyword = cursor.take();
    count(keyword);
    return nested(keyword, &ExprParser::restOfLet);
  }

  Expr restOfLet() {
    const Token token = cursor.peek();
    const std::string name = expectName(cursor, "a variable's name after 'let'");
    if (names.has(name))
      cursor.fail(token.range, "'" + name + "' already names something here; choose another name");
    cursor.expect("=", "after the variable of 'let'");
    Expr value = scoped();
    cursor.expect("in", "after the value of '" + name + "'");
    names.lets.push_back(variable(name, value));
    names.everLet.push_back(name);
    return let(name, value, expr());
  }

  /// Operators that bind less tightly than `loosest` are left to the caller.
  Expr binaryExpr(unsigned loosest) {
    Expr lhs = unary();
    for (;;) {
      const Token sign = cursor.peek();
      const auto *op = std::ranges::find_if(operators, [&](const Operator &o) { return sign.is(o.text); });
      if (op == std::end(operators) || op->precedence < loosest)
        return lhs;
      count(cursor.take());
      const size_t begin = cursor.peek().range.begin;
      Expr rhs = binaryExpr(op->precedence + 1);
      checkAffine(op->kind, lhs, rhs, sign, begin);
      lhs = binary(op->kind, lhs, rhs);
    }
  }

  void checkAffine(ExprKind kind, const Expr &lhs, const Expr &rhs, const Token &sign, size_t rhsBegin) {
    const bool isConstant = rhs->kind == ExprKind::Constant;
    if (kind == ExprKind::Mul && !isFixed(lhs) && !isFixed(rhs))
      cursor.fail(sign.range, "a product of two variables is not affine; one side must be an integer");
    const bool divides = kind == ExprKind::FloorDiv || kind == ExprKind::Mod;
    if (divides && (!isFixed(rhs) || (isConstant && rhs->value <= 0)))
      cursor.fail(cursor.since(rhsBegin), fmt::format("expected a positive integer after '{}'", sign.text));
    const bool shifts = kind == ExprKind::Shl || kind == ExprKind::Shr;
    if (shifts && (!isConstant || rhs->value < 0 || rhs->value > 63))
      cursor.fail(cursor.since(rhsBegin),
                  fmt::format("expected a number of bits from 0 to 63 after '{}'", sign.text));
  }

  Expr unary() {
    const Token token = cursor.peek();
    if (!cursor.accept("-"))
      return primary();
    count(token);
    Expr operand = nested(token, &ExprParser::unary);
    return operand->kind == ExprKind::Constant ? constant(-operand->value)
                                               : binary(ExprKind::Mul, constant(-1), operand);
  }

  Expr primary() {
    const Token token = cursor.peek();
    count(token);
    if (token.kind == Token::Integer)
      return constant(cursor.expectInteger("an integer"));
    if (token.is("#"))
      return counterExpr();
    if (token.is("rank") && cursor.peek(1).is("("))
      return rankExpr();
    if (token.kind == Token::Word)
      return name();
    if (!cursor.accept("("))
      cursor.failExpected("a variable, an integer, '#' or '('");
    Expr inner = nested(token, &ExprParser::scoped);
    cursor.expect(")", "to close the parenthesis");
    return inner;
  }

  unsigned dimension() {
    const Token token = cursor.expectWord("a dimension");
    if (std::optional<unsigned> index = indexOf(names.dims, token.text))
      return *index;
    cursor.fail(token.range, fmt::format("expected one of the tensor's dimensions, got '{}'{}", token.text,
                                         support::didYouMean(token.text, names.dims)));
  }

  /// `#i`, or `#i[n]`, which counts to n at most.
  Expr counterExpr() {
    const Token sign = cursor.take();
    if (inverse)
      cursor.fail(sign.range, "a counter belongs to a level's expression, not to an inverse map");
    std::vector<unsigned> dims;
    auto counted = [&] {
      const Token token = cursor.peek();
      dims.push_back(dimension());
      if (std::ranges::count(dims, dims.back()) > 1)
        cursor.fail(token.range, "this dimension is counted twice");
    };
    if (cursor.accept("("))
      cursor.list(")", "after the counted dimensions", counted);
    else
      counted();
    if (!cursor.accept("["))
      return counter(std::move(dims));
    const Token slices = cursor.peek();
    const int64_t most = cursor.expectInteger("the number of slices that the counter makes");
    if (most == 0)
      cursor.fail(slices.range, "a counter makes at least one slice");
    cursor.expect("]", "after the number of slices");
    return counterOf(std::move(dims), most);
  }

  Expr rankExpr() {
    const Token word = cursor.take();
    if (inverse)
      cursor.fail(word.range, "'rank' belongs to a level's expression, not to an inverse map");
    cursor.expect("(", "after 'rank'");
    const unsigned ranked = dimension();
    cursor.expect("by", "after the ranked dimension");
    cursor.expect("count", "after 'by'");
    cursor.expect("(", "after 'count'");
    const Token token = cursor.peek();
    const unsigned counted = dimension();
    if (counted == ranked)
      cursor.fail(token.range, "a dimension is ranked by the entries along another one");
    cursor.expect(")", "after the counted dimension");
    int64_t within = -1;
    if (cursor.accept("within")) {
      const Token size = cursor.peek();
      within = cursor.expectInteger("the number of coordinates ranked together");
      if (within == 0)
        cursor.fail(size.range, "at least one coordinate is ranked together");
    }
    cursor.expect(")", "to close 'rank('");
    return rank(ranked, counted, within);
  }

  Expr name() {
    const Token token = cursor.take();
    const auto variable = std::ranges::find(names.lets, token.text, &ExprNode::name);
    if (variable != names.lets.end())
      return *variable;
    if (const auto known = names.values.find(token.text); known != names.values.end())
      return constant(known->second);
    if (std::optional<unsigned> index = indexOf(names.symbols, token.text))
      return symbol(*index);
    if (std::optional<unsigned> index = indexOf(inverse ? names.levels : names.dims, token.text))
      return inverse ? levelVar(*index) : dim(*index);
    failUnknown(token);
  }

  [[noreturn]] void failUnknown(const Token &token) const {
    const std::string word(token.text);
    if (!inverse && indexOf(names.levels, word))
      cursor.fail(token.range, "'" + word + "' is a level; a level's expression is made of dimensions");
    if (inverse && indexOf(names.dims, word))
      cursor.fail(token.range, "'" + word + "' is a dimension; the inverse map is made of levels");
    if (isKeyword(word))
      cursor.fail(token.range, "expected a variable or an integer before '" + word + "'");
    if (inverse && names.levels.empty())
      cursor.fail(token.range, "undeclared variable '" + word +
                                   "'; list the level variables in braces before the dimensions: {" + word +
                                   ", …} (…) -> (…)");
    std::vector<std::string> candidates = inverse ? names.levels : names.dims;
    candidates.insert(candidates.end(), names.symbols.begin(), names.symbols.end());
    for (const auto &[known, value] : names.values)
      candidates.push_back(known);
    for (const Expr &variable : names.lets)
      candidates.push_back(variable->name);
    cursor.fail(token.range, "undeclared variable '" + word + "'" + support::didYouMean(word, candidates));
  }

  Cursor &cursor;
  Names &names;
  const bool inverse;
  unsigned depth = 0;
};

} // namespace

std::optional<unsigned> indexOf(const std::vector<std::string> &names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(unsigned(found - names.begin()));
}

bool isKeyword(std::string_view word) { return std::ranges::find(keywords, word) != std::end(keywords); }

bool Names::has(std::string_view name) const {
  return indexOf(dims, name) || indexOf(symbols, name) || indexOf(levels, name) || values.contains(name) ||
         std::ranges::find(lets, name, &ExprNode::name) != lets.end();
}

Expr counterOf(std::vector<unsigned> dims, int64_t slices) {
  return std::make_shared<const ExprNode>(
      ExprNode{.kind = ExprKind::Counter, .value = slices, .dims = std::move(dims)});
}

std::string expectName(Cursor &cursor, std::string_view what) {
  const Token token = cursor.expectWord(what);
  if (isKeyword(token.text))
    cursor.fail(token.range,
                fmt::format("'{}' is a word of the language; name the variable otherwise", token.text));
  return std::string(token.text);
}

Expr parseLevelExpr(Cursor &cursor, Names &names) { return ExprParser(cursor, names, false).expr(); }

Expr parseInverseExpr(Cursor &cursor, Names &names) {
  const size_t bound = names.lets.size();
  Expr e = ExprParser(cursor, names, true).expr();
  names.lets.resize(bound);
  return e;
}

} // namespace tulle::format
