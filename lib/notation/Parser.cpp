#include "notation/Lexer.h"
#include "notation/ReservedWords.h"
#include "notation/Syntax.h"
#include <fmt/format.h>
#include <limits>

namespace tulle::notation::syntax {
namespace {

using support::SyntaxError;

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

class Parser {
public:
  explicit Parser(std::string_view text) : text(text), tokens(tokenize(text)) {}

  std::vector<Statement> program() {
    std::vector<Statement> statements;
    while (true) {
      while (accept(";"))
        ;
      if (here().kind == TokenKind::End)
        break;
      statements.push_back(statement());
      if (here().kind != TokenKind::End && !here().is(";"))
        fail(here(), fmt::format("expected an operator, 'where', ';' or the end, found {}", shown(here())));
    }
    if (statements.empty())
      fail(here(), "expected a statement, such as y(i) = A(i,j) * x(j)");
    return statements;
  }

private:
  std::string_view text;
  std::vector<Token> tokens;
  size_t at = 0;
  unsigned nesting = 0;

  const Token &here() const { return tokens[at]; }
  const Token &ahead(size_t n = 1) const { return tokens[std::min(at + n, tokens.size() - 1)]; }
  Token take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool accept(std::string_view punctuation) {
    if (!here().is(punctuation))
      return false;
    take();
    return true;
  }

  [[noreturn]] void fail(SourceRange range, const std::string &message,
                         const std::vector<support::Note> &notes = {}) const {
    throw SyntaxError(sourceName, text, range, message, notes);
  }
  [[noreturn]] void fail(const Token &token, const std::string &message) const { fail(token.range, message); }
  static std::string shown(const Token &token) {
    return token.kind == TokenKind::End ? "the end" : fmt::format("'{}'", token.text);
  }

  /// Guards every recursion, so that no text overflows the stack.
  struct Nested {
    Parser &parser;
    explicit Nested(Parser &p) : parser(p) {
      if (++parser.nesting > maxDepth)
        parser.fail(parser.here(),
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
    if (here().kind != TokenKind::Name)
      fail(here(), fmt::format("expected the name of the result, found {}", shown(here())));
    s.lhs = access(take());
    size_t assign = here().range.begin;
    s.reduce = assignment();
    s.assignRange = {assign, tokens[at - 1].range.end};
    s.rhs = expression(1);
    if (here().kind == TokenKind::Name && here().text == "where") {
      take();
      s.where = mask(0);
    }
    s.range = {s.lhs.range.begin, tokens[at - 1].range.end};
    return s;
  }

  std::optional<Reduce> assignment() {
    Token token = take();
    if (token.is("="))
      return std::nullopt;
    if (token.is("+="))
      return Reduce::Add;
    if (token.is("*="))
      return Reduce::Mul;
    if (token.is("|="))
      return Reduce::Or;
    if (token.is("&="))
      return Reduce::And;
    if (token.is("^="))
      return Reduce::Xor;
    if (token.kind == TokenKind::Name && accept("=")) {
      if (token.text == "min" || token.text == "max")
        return token.text == "min" ? Reduce::Min : Reduce::Max;
      fail(token, fmt::format("unknown reduction '{}='; there are += *= min= max= |= &= ^=", token.text));
    }
    if (token.is("-="))
      fail(token, "'-=' is not a reduction; write += with a minus sign on the right");
    if (token.is("/="))
      fail(token, "'/=' is not a reduction; write *= with 1 / … on the right");
    fail(token, fmt::format("expected = or a reduction (+= *= min= max= |= &= ^=), found {}", shown(token)));
  }

  // ---- accesses

  /// The name has been taken.
  Access access(const Token &name) {
    if (isReserved(name.text))
      fail(name, fmt::format("'{}' is a word of the notation; a tensor needs another name", name.text));
    Access result;
    result.tensor = std::string(name.text);
    result.nameRange = result.range = name.range;
    if (!here().is("(") && !here().is("[")) {
      result.bare = true;
      return result;
    }
    Token open = take();
    std::string_view close = open.is("(") ? ")" : "]";
    if (!here().is(close))
      do {
        if (result.subscripts.size() == 32)
          fail(here(), fmt::format("'{}' has more than 32 subscripts", name.text));
        result.subscripts.push_back(subscript());
      } while (accept(","));
    expectClose(open, close);
    result.range.end = tokens[at - 1].range.end;
    return result;
  }

  void expectClose(const Token &open, std::string_view close) {
    if (!accept(close))
      fail(here().range, fmt::format("expected ',' or '{}', found {}", close, shown(here())),
           {{open.range, fmt::format("to match this '{}'", open.text)}});
  }

  int64_t bounded(const Token &token, __int128 value) {
    if (value > maxSubscript || value < -maxSubscript)
      fail(token, "a number in a subscript is beyond 2^40");
    return int64_t(value);
  }

  /// Sum of terms `i`, `2*i`, `i*2`, `3`, with signs; then `:n`.
  Subscript subscript() {
    Subscript s;
    s.range.begin = here().range.begin;
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
      if (here().kind != TokenKind::Integer)
        fail(here(), fmt::format("expected the integer a slice ends before, as in A(i+1:8), found {}",
                                 shown(here())));
      Token end = take();
      s.limit = bounded(end, end.integer);
    }
    s.range.end = tokens[at - 1].range.end;
    return s;
  }

  void term(Subscript &s, int sign) {
    Token token = take();
    if (token.kind == TokenKind::Integer) {
      int64_t value = bounded(token, __int128(token.integer) * sign);
      if (accept("*")) {
        if (here().kind != TokenKind::Name)
          fail(here(), fmt::format("expected an index after '*' in a subscript, found {}", shown(here())));
        return addTerm(s, take(), value, token);
      }
      s.constant = bounded(token, __int128(s.constant) + value);
      return;
    }
    if (token.kind == TokenKind::Name) {
      int64_t coefficient = sign;
      if (accept("*")) {
        if (here().kind != TokenKind::Integer)
          fail(here(),
               fmt::format("expected an integer after '*': a subscript is a sum of integer * index, found {}",
                           shown(here())));
        Token factor = take();
        coefficient = bounded(factor, __int128(factor.integer) * sign);
      }
      return addTerm(s, token, coefficient, token);
    }
    fail(token, fmt::format("expected an index, such as i, i+1 or 2*i, found {}", shown(token)));
  }

  void addTerm(Subscript &s, const Token &name, int64_t coefficient, const Token &first) {
    if (isReserved(name.text))
      fail(name, fmt::format("'{}' is a word of the notation; an index needs another name", name.text));
    if (here().is("("))
      fail(here(), "a subscript is a sum of integer * index: tensors cannot be used in it (and an index that "
                   "is not on "
                   "the left is summed without a word)");
    for (Term &t : s.terms)
      if (t.index == name.text) {
        t.coefficient = bounded(name, __int128(t.coefficient) + coefficient);
        return dropZero(s);
      }
    s.terms.push_back({std::string(name.text), coefficient, {first.range.begin, name.range.end}});
    dropZero(s);
  }
  static void dropZero(Subscript &s) {
    std::erase_if(s.terms, [](const Term &t) { return t.coefficient == 0; });
  }

  // ---- expressions: precedence climbing

  const BinaryOperator *binaryHere() const {
    if (here().kind == TokenKind::Punctuation)
      for (const BinaryOperator &b : binaryOperators)
        if (here().is(b.text))
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
        fail(here(), "comparisons do not chain; write (a < b) & (b < c)");
    }
    return left;
  }

  Expr unary() {
    Nested guard(*this);
    Token op = here();
    if (op.is("-") || op.is("~") || op.is("!")) {
      take();
      // `-x ** 2` is -(x ** 2), as in mathematics.
      Expr operand = expression(8);
      return make(op.is("-") ? Op::Neg : Op::Not, {operand}, {op.range.begin, operand->range.end}, op.range);
    }
    if (op.is("+")) {
      take();
      return expression(8);
    }
    return primary();
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
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (token.kind) {
    case TokenKind::Integer:
      return literal(token, ElementType::I64, {token.integer, 0});
    case TokenKind::Float:
      return literal(token, ElementType::F64, {0, token.real});
    case TokenKind::Imaginary:
      return literal(token, ElementType::C128, {0, {0, token.real}});
    case TokenKind::Name:
      break;
    default:
      if (token.is("(")) {
        Expr inner = expression(1);
        expectClose(token, ")");
        auto node = std::make_shared<Node>(*inner);
        node->range = {token.range.begin, tokens[at - 1].range.end};
        return node;
      }
      fail(token, fmt::format("expected a tensor, a number, a function or '(', found {}", shown(token)));
    }
    if (token.text == "inf" || token.text == "nan")
      return literal(token, ElementType::F64,
                     {0, token.text == "inf" ? infinity : std::numeric_limits<double>::quiet_NaN()});
    if (token.text == "true" || token.text == "false")
      return literal(token, ElementType::Bool, {token.text == "true", 0});
    if (token.text == "where")
      fail(token, "expected an expression before 'where'");
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
    if (!here().is("("))
      return;
    bool isCall = ahead().kind == TokenKind::Float || ahead().kind == TokenKind::Imaginary ||
                  ahead().is("(") ||
                  (ahead().kind == TokenKind::Name &&
                   (ahead(2).is("(") || ahead(2).is("[") || isReserved(ahead().text)));
    if (!isCall)
      return;
    if (name.text == "sum" || name.text == "prod" || name.text == "reduce")
      fail(name,
           fmt::format(
               "there is no function '{}': an index that is not on the left is summed, as in y(i) = A(i,j)",
               name.text));
    std::string guess = support::nearest(name.text, functionNames());
    std::string all;
    for (const std::string &f : functionNames())
      all += (all.empty() ? "" : " ") + f;
    fail(name, fmt::format("unknown function '{}'; {}", name.text,
                           guess.empty() ? "there are " + all + ", and the names of types"
                                         : "did you mean '" + guess + "'?"));
  }

  Expr call(const Token &name) {
    if (!here().is("("))
      fail(name, fmt::format("'{}' is a function of the notation and needs arguments in ( )", name.text));
    Token open = take();
    std::vector<Expr> args;
    if (!here().is(")"))
      do
        args.push_back(expression(1));
      while (accept(","));
    expectClose(open, ")");
    SourceRange range = {name.range.begin, tokens[at - 1].range.end};
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
    while (true) {
      int level = here().is("|") ? 0 : here().is("\\") ? 1 : here().is("&") ? 2 : -1;
      if (level < lowest)
        return left;
      take();
      Mask right = mask(level + 1);
      left = makeMask(level == 0   ? MaskOp::Or
                      : level == 1 ? MaskOp::Minus
                                   : MaskOp::And,
                      left, right, {left->range.begin, right->range.end});
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
      Mask inner = mask(0);
      expectClose(token, ")");
      auto node = std::make_shared<MaskNode>(*inner);
      node->range = {token.range.begin, tokens[at - 1].range.end};
      return node;
    }
    if (token.kind != TokenKind::Name)
      fail(token,
           fmt::format(
               "expected a tensor whose stored entries select, as in 'where A' or 'where ~A(i,j)', found {}",
               shown(token)));
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
