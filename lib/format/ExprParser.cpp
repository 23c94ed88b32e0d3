#include "format/ExprParser.h"
#include "support/Suggest.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::format {
namespace {

// Bounds on what one encoding may hold: recursion over an expression must never exhaust the stack.
constexpr unsigned maxDepth = 100, maxNodes = 2000;

const std::vector<std::string> &keywords() {
  static const std::vector<std::string> words = {"floordiv", "mod", "shl",    "shr",   "let",
                                                 "in",       "by",  "within", "count", "rank"};
  return words;
}

const Operator *findOperator(const Token &token) {
  const auto *found = std::ranges::find_if(operators, [&](const Operator &o) { return token.is(o.text); });
  return found == std::end(operators) ? nullptr : found;
}

bool contains(const std::vector<std::string> &names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Affine in symbols alone: nothing in it varies with the entry.
bool isFixed(const Expr &e) {
  if (e->kind >= ExprKind::Add && e->kind <= ExprKind::Mod)
    return isFixed(e->lhs) && isFixed(e->rhs);
  return e->kind == ExprKind::Constant || e->kind == ExprKind::Symbol;
}

} // namespace

bool Names::has(const std::string &name) const {
  return contains(dims, name) || contains(symbols, name) || contains(levels, name) || contains(lets, name);
}

bool isKeyword(std::string_view word) { return contains(keywords(), word); }

Expr ExprParser::levelExpr() {
  inverse = false;
  return expr();
}

Expr ExprParser::inverseExpr() {
  inverse = true;
  size_t bound = names.lets.size();
  Expr e = expr();
  names.lets.resize(bound);
  return e;
}

void ExprParser::count(const Token &at) {
  if (++nodes > maxNodes)
    cursor.fail(at.range, fmt::format("this encoding's expressions are too long: at most {} operands and "
                                      "operators are read",
                                      maxNodes));
}

Expr ExprParser::expr() { return cursor.next("let") ? letExpr() : binaryExpr(0); }

Expr ExprParser::letExpr() {
  Token keyword = cursor.take();
  count(keyword);
  if (++depth > maxDepth)
    cursor.fail(keyword.range, "expressions nest too deeply here");
  Token token = cursor.expectWord("a variable's name after 'let'");
  std::string variableName(token.text);
  if (isKeyword(variableName))
    cursor.fail(token.range, "'" + variableName + "' is a word of the language; name the variable otherwise");
  if (names.has(variableName))
    cursor.fail(token.range, "'" + variableName + "' already names something here; choose another name");
  cursor.expect("=", "after the variable of 'let'");
  size_t bound = names.lets.size();
  Expr value = expr();
  names.lets.resize(bound);
  cursor.expect("in", "after the value of '" + variableName + "'");
  names.lets.push_back(variableName);
  everBound.push_back(variableName);
  Expr body = expr();
  --depth;
  return let(variableName, value, body);
}

// Precedence climbing: operators that bind less tightly than `loosest` are left to the caller.
Expr ExprParser::binaryExpr(unsigned loosest) {
  Expr lhs = unary();
  for (;;) {
    const Operator *op = findOperator(cursor.peek());
    if (!op || op->precedence < loosest)
      return lhs;
    Token sign = cursor.take();
    count(sign);
    size_t begin = cursor.peek().range.begin;
    Expr rhs = binaryExpr(op->precedence + 1);
    lhs = join(op->kind, lhs, rhs, sign, begin);
  }
}

// Refuses what is not affine: the message says which operand would have to be fixed.
Expr ExprParser::join(ExprKind kind, Expr lhs, Expr rhs, const Token &sign, size_t rhsBegin) {
  support::SourceRange range = cursor.since(rhsBegin);
  std::string word(sign.text);
  bool isConstant = rhs->kind == ExprKind::Constant;
  switch (kind) {
  case ExprKind::Mul:
    if (!isFixed(lhs) && !isFixed(rhs))
      cursor.fail(sign.range, "a product of two variables is not affine; one side must be an integer");
    break;
  case ExprKind::FloorDiv:
  case ExprKind::Mod:
    if (!isFixed(rhs) || (isConstant && rhs->value <= 0))
      cursor.fail(range, "expected a positive integer after '" + word + "'");
    break;
  case ExprKind::Shl:
  case ExprKind::Shr:
    if (!isConstant || rhs->value < 0 || rhs->value > 63)
      cursor.fail(range, "expected a number of bits from 0 to 63 after '" + word + "'");
    break;
  default:
    break;
  }
  return binary(kind, std::move(lhs), std::move(rhs));
}

Expr ExprParser::unary() {
  Token token = cursor.peek();
  if (!cursor.accept("-"))
    return primary();
  count(token);
  if (++depth > maxDepth)
    cursor.fail(token.range, "expressions nest too deeply here");
  Expr operand = unary();
  --depth;
  return operand->kind == ExprKind::Constant ? constant(-operand->value)
                                             : binary(ExprKind::Mul, constant(-1), operand);
}

Expr ExprParser::primary() {
  Token token = cursor.peek();
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
  if (++depth > maxDepth)
    cursor.fail(token.range, "expressions nest too deeply here");
  size_t bound = names.lets.size();
  Expr inner = expr();
  names.lets.resize(bound);
  --depth;
  cursor.expect(")", "to close the parenthesis");
  return inner;
}

unsigned ExprParser::dimension() {
  Token token = cursor.expectWord("a dimension");
  auto it = std::ranges::find(names.dims, token.text);
  if (it == names.dims.end())
    cursor.fail(token.range, fmt::format("expected one of the tensor's dimensions, got '{}'{}", token.text,
                                         support::didYouMean(token.text, names.dims)));
  return unsigned(it - names.dims.begin());
}

Expr ExprParser::counterExpr() {
  Token sign = cursor.take();
  if (inverse)
    cursor.fail(sign.range, "a counter belongs to a level's expression, not to an inverse map");
  std::vector<unsigned> dims;
  bool several = cursor.accept("(");
  do {
    Token token = cursor.peek();
    dims.push_back(dimension());
    if (std::count(dims.begin(), dims.end(), dims.back()) > 1)
      cursor.fail(token.range, "this dimension is counted twice");
  } while (several && cursor.accept(","));
  if (several)
    cursor.expect(")", "after the counted dimensions");
  return counter(std::move(dims));
}

Expr ExprParser::rankExpr() {
  Token word = cursor.take();
  if (inverse)
    cursor.fail(word.range, "'rank' belongs to a level's expression, not to an inverse map");
  cursor.expect("(", "after 'rank'");
  unsigned ranked = dimension();
  cursor.expect("by", "after the ranked dimension");
  cursor.expect("count", "after 'by'");
  cursor.expect("(", "after 'count'");
  Token token = cursor.peek();
  unsigned counted = dimension();
  if (counted == ranked)
    cursor.fail(token.range, "a dimension is ranked by the entries along another one");
  cursor.expect(")", "after the counted dimension");
  int64_t within = -1;
  if (cursor.accept("within")) {
    Token size = cursor.peek();
    within = cursor.expectInteger("the number of coordinates ranked together");
    if (within == 0)
      cursor.fail(size.range, "at least one coordinate is ranked together");
  }
  cursor.expect(")", "to close 'rank('");
  return rank(ranked, counted, within);
}

Expr ExprParser::name() {
  Token token = cursor.take();
  std::string word(token.text);
  auto find = [&](const std::vector<std::string> &list) {
    auto it = std::ranges::find(list, word);
    return it == list.end() ? -1 : int64_t(it - list.begin());
  };
  if (find(names.lets) >= 0)
    return variable(word);
  if (int64_t index = find(names.symbols); index >= 0)
    return symbol(unsigned(index));
  if (int64_t index = find(inverse ? names.levels : names.dims); index >= 0)
    return inverse ? levelVar(unsigned(index)) : dim(unsigned(index));
  std::vector<std::string> candidates = inverse ? names.levels : names.dims;
  candidates.insert(candidates.end(), names.symbols.begin(), names.symbols.end());
  candidates.insert(candidates.end(), names.lets.begin(), names.lets.end());
  if (!inverse && find(names.levels) >= 0)
    cursor.fail(token.range, "'" + word + "' is a level; a level's expression is made of dimensions");
  if (inverse && find(names.dims) >= 0)
    cursor.fail(token.range, "'" + word + "' is a dimension; the inverse map is made of levels");
  if (isKeyword(word))
    cursor.fail(token.range, "expected a variable or an integer before '" + word + "'");
  std::string cure =
      inverse && names.levels.empty()
          ? "; list the level variables in braces before the dimensions: {" + word + ", …} (…) -> (…)"
          : support::didYouMean(word, candidates);
  cursor.fail(token.range, "undeclared variable '" + word + "'" + cure);
}

} // namespace tulle::format
