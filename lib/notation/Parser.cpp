// Recursive descent from tokens to the syntax tree of a program; errors point into the text.
#include "notation/Monoid.h"
#include "notation/ReservedWords.h"
#include "notation/Syntax.h"
#include "support/Cursor.h"
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tulle::notation::syntax {
namespace {

using support::Token;

constexpr std::string_view signs[] = {
    "**", "<<", ">>", "<=", ">=", "==", "!=", "+=", "*=", "-=", "/=", "|=", "&=", "^=", "+", "-", "*", "/",
    "%",  "&",  "|",  "^",  "~",  "!",  "\\", "<",  ">",  "=",  "(",  ")",  "[",  "]",  ",", ":", ";"};
constexpr support::Language language = {
    signs, "unexpected {}; names, numbers, operators, ( ) [ ] , : ; and // comments are understood", true,
    4000};

constexpr unsigned maxDepth = 500;
/// Coefficients and constants of subscripts: sums of a few of them times sizes stay far inside 128 bits.
constexpr int64_t maxSubscript = int64_t(1) << 40;

struct BinaryOperator {
  std::string_view text;
  Op op;
  int precedence;
};
constexpr BinaryOperator binaryOperators[] = {
    {"==", Op::Eq, 1},  {"!=", Op::Ne, 1}, {"<", Op::Lt, 1},  {"<=", Op::Le, 1}, {">", Op::Gt, 1},
    {">=", Op::Ge, 1},  {"|", Op::Or, 2},  {"^", Op::Xor, 3}, {"&", Op::And, 4}, {"<<", Op::Shl, 5},
    {">>", Op::Shr, 5}, {"+", Op::Add, 6}, {"-", Op::Sub, 6}, {"*", Op::Mul, 7}, {"/", Op::Div, 7},
    {"%", Op::Mod, 7},  {"**", Op::Pow, 8}};

class Parser : support::Cursor {
public:
  explicit Parser(std::string_view text) : Cursor(language, text, sourceName) {}

  std::vector<Statement> program() {
    std::vector<Statement> statements;
    while (true) {
      while (accept(";"))
        ;
      if (atEnd())
        break;
      statements.push_back(statement());
      if (!atEnd() && !next(";"))
        failFound(peek(), "an operator, 'where', ';' or the end");
    }
    if (statements.empty())
      fail(peek().range, "expected a statement, such as y(i) = A(i,j) * x(j)");
    return statements;
  }

private:
  unsigned nesting = 0;

  [[noreturn]] void failFound(const Token &token, std::string_view expected) const {
    fail(token.range, fmt::format("expected {}, found {}", expected, shown(token)));
  }

  Token expectKind(Token::Kind kind, std::string_view what) {
    if (peek().kind != kind)
      failFound(peek(), what);
    return take();
  }

  /// Guards every recursion, so that no text overflows the stack.
  struct Nested {
    Parser &parser;
    explicit Nested(Parser &p) : parser(p) {
      if (++parser.nesting > maxDepth)
        parser.fail(parser.peek().range,
                    fmt::format("nested deeper than {} levels; split the expression with ';'", maxDepth));
    }
    ~Nested() { --parser.nesting; }
  };
  unsigned depthAbove(unsigned below, SourceRange range) const {
    if (below >= maxDepth)
      fail(range,
           fmt::format("more than {} operations build on each other here; split the statement with ';'",
                       maxDepth));
    return below + 1;
  }

  // ---- statements

  Statement statement() {
    Statement s;
    s.lhs = access(expectKind(Token::Word, "the name of the result"));
    size_t assign = peek().range.begin;
    s.reduce = assignment();
    s.assignRange = since(assign);
    s.rhs = expression(1);
    if (accept("where"))
      s.where = mask(0);
    s.range = since(s.lhs.range.begin);
    return s;
  }

  std::optional<Reduce> assignment() {
    Token token = take();
    if (token.is("="))
      return std::nullopt;
    const bool isWord = token.kind == Token::Word && accept("=");
    const std::string spelled = std::string(token.text) + (isWord ? "=" : "");
    for (size_t reduce = 0; reduce < std::size(monoids); ++reduce)
      if (spelled == monoids[reduce].assignment)
        return Reduce(reduce);
    if (isWord)
      fail(token.range,
           fmt::format("unknown reduction '{}='; there are += *= min= max= |= &= ^=", token.text));
    if (token.is("-="))
      fail(token.range, "'-=' is not a reduction; write += with a minus sign on the right");
    if (token.is("/="))
      fail(token.range, "'/=' is not a reduction; write *= with 1 / … on the right");
    failFound(token, "= or a reduction (+= *= min= max= |= &= ^=)");
  }

  // ---- accesses

  void checkName(const Token &name, std::string_view what) const {
    if (isReserved(name.text))
      fail(name.range, fmt::format("'{}' is a word of the notation; {} needs another name", name.text, what));
  }

  /// The name has been taken.
  Access access(const Token &name) {
    checkName(name, "a tensor");
    Access result;
    result.tensor = std::string(name.text);
    result.nameRange = result.range = name.range;
    if (!next("(") && !next("[")) {
      result.bare = true;
      return result;
    }
    Token open = take();
    std::string_view close = open.is("(") ? ")" : "]";
    if (!next(close))
      do {
        if (result.subscripts.size() == 32)
          fail(peek().range, fmt::format("'{}' has more than 32 subscripts", name.text));
        result.subscripts.push_back(subscript());
      } while (accept(","));
    expectClose(open, close);
    result.range = since(name.range.begin);
    return result;
  }

  void expectClose(const Token &open, std::string_view close) {
    if (!accept(close))
      fail(peek().range, fmt::format("expected ',' or '{}', found {}", close, shown(peek())),
           {{open.range, fmt::format("to match this '{}'", open.text)}});
  }

  int64_t integer(const Token &token) const {
    int64_t value = 0;
    if (support::parseInteger(token.text, value) == std::errc())
      return value;
    fail(token.range, token.text.starts_with("0x") || token.text.starts_with("0X")
                          ? "expected a hexadecimal integer below 0x8000000000000000"
                          : "the integer does not fit 64 bits; write it with a decimal point to get f64");
  }

  double real(const Token &token) const {
    double value = 0;
    if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec != std::errc())
      fail(token.range, "the number does not fit f64; write inf, or 0");
    return value;
  }

  int64_t bounded(const Token &token, __int128 value) const {
    if (value > maxSubscript || value < -maxSubscript)
      fail(token.range, "a number in a subscript is beyond 2^40");
    return int64_t(value);
  }

  /// Sum of terms `i`, `2*i`, `i*2`, `3`, with signs; then `:n`.
  Subscript subscript() {
    Subscript s;
    const size_t begin = peek().range.begin;
    int sign = accept("-") ? -1 : 1;
    while (true) {
      term(s, sign);
      if (accept("+"))
        sign = 1;
      else if (accept("-"))
        sign = -1;
      else
        break;
    }
    if (accept(":")) {
      Token end = expectKind(Token::Integer, "the integer a slice ends before, as in A(i+1:8)");
      s.limit = bounded(end, integer(end));
    }
    s.range = since(begin);
    return s;
  }

  void term(Subscript &s, int sign) {
    Token token = take();
    if (token.kind == Token::Integer) {
      int64_t value = bounded(token, __int128(integer(token)) * sign);
      if (accept("*"))
        return addTerm(s, expectKind(Token::Word, "an index after '*' in a subscript"), value, token);
      s.constant = bounded(token, __int128(s.constant) + value);
      return;
    }
    if (token.kind != Token::Word)
      failFound(token, "an index, such as i, i+1 or 2*i");
    int64_t coefficient = sign;
    if (accept("*")) {
      Token factor =
          expectKind(Token::Integer, "an integer after '*': a subscript is a sum of integer * index");
      coefficient = bounded(factor, __int128(integer(factor)) * sign);
    }
    addTerm(s, token, coefficient, token);
  }

  void addTerm(Subscript &s, const Token &name, int64_t coefficient, const Token &first) {
    checkName(name, "an index");
    if (next("("))
      fail(peek().range,
           "a subscript is a sum of integer * index: tensors cannot be used in it (and an index "
           "that is not on the left is summed without a word)");
    for (Term &t : s.terms)
      if (t.index == name.text) {
        coefficient = bounded(name, __int128(t.coefficient) + coefficient);
        t.coefficient = coefficient;
        if (coefficient == 0)
          std::erase_if(s.terms, [](const Term &t) { return t.coefficient == 0; });
        return;
      }
    if (coefficient != 0)
      s.terms.push_back({std::string(name.text), coefficient, {first.range.begin, name.range.end}});
  }

  // ---- expressions: precedence climbing

  const BinaryOperator *binaryHere() const {
    for (const BinaryOperator &b : binaryOperators)
      if (next(b.text))
        return &b;
    return nullptr;
  }

  Expr make(Op op, std::vector<Expr> args, SourceRange range, SourceRange opRange) {
    auto node = std::make_shared<Node>();
    node->op = op;
    unsigned below = 0;
    for (const Expr &arg : args)
      below = std::max(below, arg->depth);
    node->depth = depthAbove(below, opRange);
    node->args = std::move(args);
    node->range = range;
    node->opRange = opRange;
    return node;
  }

  Expr expression(int lowest) {
    Nested guard(*this);
    Expr left = unary();
    while (const BinaryOperator *b = binaryHere()) {
      if (b->precedence < lowest)
        break;
      Token op = take();
      // `**` groups to the right: its right side may be another power.
      Expr right = expression(b->op == Op::Pow ? b->precedence : b->precedence + 1);
      left = make(b->op, {left, right}, {left->range.begin, right->range.end}, op.range);
      if (b->precedence == 1 && binaryHere() && binaryHere()->precedence == 1)
        fail(peek().range, "comparisons do not chain; write (a < b) & (b < c)");
    }
    return left;
  }

  Expr unary() {
    Nested guard(*this);
    Token op = peek();
    if (!op.is("-") && !op.is("~") && !op.is("!") && !op.is("+"))
      return primary();
    take();
    // `-x ** 2` is -(x ** 2), as in mathematics.
    Expr operand = expression(8);
    if (op.is("+"))
      return operand;
    return make(op.is("-") ? Op::Neg : Op::Not, {operand}, {op.range.begin, operand->range.end}, op.range);
  }

  Expr literal(const Token &token, ElementType type, Scalar value) {
    auto node = std::make_shared<Node>();
    node->op = Op::Literal;
    node->type = type;
    node->literal = value;
    node->range = node->opRange = token.range;
    return node;
  }

  Expr primary() {
    Token token = take();
    switch (token.kind) {
    case Token::Integer:
      return literal(token, ElementType::I64, {integer(token), 0});
    case Token::Real:
      return literal(token, ElementType::F64, {0, real(token)});
    case Token::Imaginary:
      return literal(token, ElementType::C128, {0, {0, real(token)}});
    case Token::Word:
      break;
    default:
      if (token.is("(")) {
        auto node = std::make_shared<Node>(*expression(1));
        expectClose(token, ")");
        node->range = since(token.range.begin);
        return node;
      }
      failFound(token, "a tensor, a number, a function or '('");
    }
    if (token.is("inf") || token.is("nan"))
      return literal(token, ElementType::F64, {0, real(token)});
    if (token.is("true") || token.is("false"))
      return literal(token, ElementType::Bool, {token.is("true"), 0});
    if (token.is("where"))
      fail(token.range, "expected an expression before 'where'");
    if (findFunction(token.text) || parseElementType(token.text))
      return call(token);
    auto node = std::make_shared<Node>();
    node->op = Op::Access;
    checkMisspelt(token);
    node->access = access(token);
    node->range = node->access.range;
    node->opRange = token.range;
    return node;
  }

  /// `sqr(A(i,j))`: what stands in the parentheses is no subscript, so a function was meant.
  void checkMisspelt(const Token &name) {
    const Token &first = peek(1);
    const bool isCall =
        first.kind == Token::Real || first.kind == Token::Imaginary || first.is("(") ||
        (first.kind == Token::Word && (peek(2).is("(") || peek(2).is("[") || isReserved(first.text)));
    if (!next("(") || !isCall)
      return;
    if (name.is("sum") || name.is("prod") || name.is("reduce"))
      fail(name.range,
           fmt::format(
               "there is no function '{}': an index that is not on the left is summed, as in y(i) = A(i,j)",
               name.text));
    const std::vector<std::string> known = functionNames();
    const std::string all = fmt::format("; there are {}, and the names of types", fmt::join(known, " "));
    fail(name.range,
         fmt::format("unknown function '{}'{}", name.text, support::didYouMean(name.text, known, all)));
  }

  Expr call(const Token &name) {
    if (!next("("))
      fail(name.range,
           fmt::format("'{}' is a function of the notation and needs arguments in ( )", name.text));
    Token open = take();
    std::vector<Expr> args;
    if (!next(")"))
      do
        args.push_back(expression(1));
      while (accept(","));
    expectClose(open, ")");
    SourceRange range = since(name.range.begin);
    const Function *function = findFunction(name.text);
    unsigned least = function ? function->minArgs : 1, most = function ? function->maxArgs : 1;
    if (args.size() < least || args.size() > most)
      fail(range, fmt::format("{} takes {}{} argument{}, {} given", name.text,
                              least < most ? "at least " : "", least, least == 1 ? "" : "s", args.size()));
    if (!function) {
      auto node = std::make_shared<Node>(*make(Op::Convert, std::move(args), range, name.range));
      node->type = *parseElementType(name.text);
      return node;
    }
    // min(a, b, c) is min(min(a, b), c).
    while (function->maxArgs > 3 && args.size() > 2) {
      args[1] =
          make(function->op, {args[0], args[1]}, {args[0]->range.begin, args[1]->range.end}, name.range);
      args.erase(args.begin());
    }
    return make(function->op, std::move(args), range, name.range);
  }

  // ---- masks: | binds least, then \, then &, then ~

  Mask mask(int lowest) {
    Nested guard(*this);
    Mask left = maskPrimary();
    constexpr std::string_view operators = "|\\&";
    constexpr MaskOp ops[] = {MaskOp::Or, MaskOp::Minus, MaskOp::And};
    while (true) {
      const size_t level = atEnd() ? operators.npos : operators.find(peek().text);
      if (level == operators.npos || int(level) < lowest)
        return left;
      take();
      Mask right = mask(int(level) + 1);
      left = makeMask(ops[level], left, right, {left->range.begin, right->range.end});
    }
  }

  Mask makeMask(MaskOp op, Mask lhs, Mask rhs, SourceRange range) {
    auto node = std::make_shared<MaskNode>();
    node->op = op;
    node->depth = depthAbove(std::max(lhs->depth, rhs ? rhs->depth : 0), range);
    node->lhs = std::move(lhs);
    node->rhs = std::move(rhs);
    node->range = range;
    return node;
  }

  Mask maskPrimary() {
    Nested guard(*this);
    Token token = take();
    if (token.is("~") || token.is("!")) {
      Mask operand = maskPrimary();
      return makeMask(MaskOp::Not, operand, nullptr, {token.range.begin, operand->range.end});
    }
    if (token.is("(")) {
      auto node = std::make_shared<MaskNode>(*mask(0));
      expectClose(token, ")");
      node->range = since(token.range.begin);
      return node;
    }
    if (token.kind != Token::Word)
      failFound(token, "a tensor whose stored entries select, as in 'where A' or 'where ~A(i,j)'");
    auto node = std::make_shared<MaskNode>();
    node->op = MaskOp::Stored;
    node->access = access(token);
    node->range = node->access.range;
    return node;
  }
};

} // namespace

std::vector<Statement> parse(std::string_view text) { return Parser(text).program(); }

std::string_view functionName(Op op) {
  static const std::vector<std::string> names = functionNames();
  for (const std::string &name : names)
    if (findFunction(name)->op == op)
      return name;
  return {};
}

std::string_view operatorName(Op op) {
  for (const BinaryOperator &b : binaryOperators)
    if (b.op == op)
      return b.text;
  return {};
}

int precedence(Op op) {
  for (const BinaryOperator &b : binaryOperators)
    if (b.op == op)
      return b.precedence;
  return 0;
}

void forEachAccess(const Expr &expr, const std::function<void(const Access &)> &visit) {
  if (expr->op == Op::Access)
    visit(expr->access);
  for (const Expr &arg : expr->args)
    forEachAccess(arg, visit);
}

void forEachAccess(const Mask &mask, const std::function<void(const Access &)> &visit) {
  if (!mask)
    return;
  if (mask->op == MaskOp::Stored)
    visit(mask->access);
  forEachAccess(mask->lhs, visit);
  forEachAccess(mask->rhs, visit);
}

} // namespace tulle::notation::syntax
