// Recursive descent from tokens to trees without types; names get their numbers on the way.
#include "notation/AccessParser.h"
#include "notation/Arithmetic.h"
#include "notation/Operations.h"
#include "support/Suggest.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tulle::notation {
namespace {

class Parser : AccessParser {
public:
  explicit Parser(std::string_view text) : AccessParser(text) {}

  ParsedProgram program() {
    statements("the end");
    if (!atEnd())
      fail(peek().range, "this '}' closes no loop; one begins with repeat and a number of rounds");
    if (out.statements.empty())
      fail(peek().range, "expected a statement, such as y(i) = A(i,j) * x(j)");
    return std::move(out);
  }

private:
  std::set<std::string_view> indexNames; ///< of the statement that is parsed

  unsigned depthAbove(unsigned below, SourceRange range) const {
    if (below >= maxDepth)
      fail(range,
           fmt::format("more than {} operations build on each other here; split the statement with ';'",
                       maxDepth));
    return below + 1;
  }

  // ---- statements

  /// Up to the end, or to a `}`; `end` is what errors call it.
  void statements(std::string_view end) {
    Nested guard(*this);
    while (true) {
      while (accept(";"))
        ;
      if (atEnd() || next("}"))
        return;
      if (next("repeat")) {
        loop(end);
        continue;
      }
      statement();
      expectSeparator("an operator, 'where', ';'", end);
    }
  }

  void expectSeparator(std::string_view what, std::string_view end) const {
    if (next("if"))
      fail(peek().range, "a choice is written select(condition, then, else)");
    if (!atEnd() && !next(";") && !next("}"))
      failFound(peek(), fmt::format("{} or {}", what, end));
  }

  /// `repeat 100 { … }`, behind which `until` may stand; `end` is what ends the statements around it.
  void loop(std::string_view end) {
    const Token word = take();
    const Token most =
        expectKind(Token::Integer, "the number of rounds there may be at most, as in repeat 100 { … }");
    const size_t number = out.loops.size();
    out.loops.push_back({unsigned(out.statements.size()), 0, integer(most), {}});
    if (out.loops[number].most == 0)
      fail(most.range, "a loop has at least one round");
    if (!next("{"))
      failFound(peek(), "'{' and the statements of the loop");
    const Token open = take();
    statements("'}'");
    if (!accept("}"))
      fail(peek().range, fmt::format("expected ';' or '}}', found {}", shown(peek())),
           {{open.range, "to match this '{'"}});
    if (out.loops[number].begin == out.statements.size())
      fail(since(word.range.begin), "the loop has no statement");
    if (next("until")) {
      out.loops[number].until = condition();
      expectSeparator("an operator, ';'", end);
    }
    out.loops[number].end = unsigned(out.statements.size());
  }

  /// What ends a loop is one more statement of it, whose result no text can name.
  unsigned condition() {
    const Token word = take();
    const auto conditions = std::ranges::count_if(out.statements, &ParsedStatement::condition);
    out.tensors.push_back(conditions == 0 ? "until" : fmt::format("until.{}", conditions));
    ParsedStatement &s = out.statements.emplace_back();
    indexNames.clear();
    s.condition = true;
    s.lhs = {unsigned(out.tensors.size() - 1), {}, word.range, /*bare=*/true};
    s.assignRange = word.range;
    s.rhs = expression(1);
    s.range = since(word.range.begin);
    return s.lhs.tensor;
  }

  void statement() {
    ParsedStatement &s = out.statements.emplace_back();
    findIndices();
    s.lhs = access(expectKind(Token::Word, "the name of the result"));
    size_t assign = peek().range.begin;
    const bool subtracts = next("-=");
    s.reduce = assignment();
    s.assignRange = since(assign);
    if ((next("concat") || next("stack")) && peek(1).is("("))
      return concatenation(s);
    if (next("set") && peek(1).is("("))
      return set(s);
    s.rhs = expression(1);
    if (subtracts)
      s.rhs = negated(s.rhs);
    if (accept("where"))
      s.where = mask(0);
    s.range = since(s.lhs.range.begin);
  }

  /// The names of the statement that begins here which stand as indices in a subscript. Elsewhere, by
  /// themselves, they are values.
  void findIndices() {
    indexNames.clear();
    std::vector<bool> subscripts; // of the parentheses that are open
    for (unsigned ahead = 0;; ++ahead) {
      const Token &token = peek(ahead);
      const bool isWord = token.kind == Token::Word, opens = token.is("(") || token.is("[");
      if (token.kind == Token::End || token.is("{") || token.is("}") || (token.is(";") && subscripts.empty()))
        return;
      const bool isName = isWord && !isReserved(token.text);
      const Token &next = peek(ahead + 1);
      if (isName && !subscripts.empty() && subscripts.back() && !next.is("(") && !next.is("["))
        indexNames.insert(token.text);
      if (opens)
        subscripts.push_back(ahead > 0 && peek(ahead - 1).kind == Token::Word &&
                             !isReserved(peek(ahead - 1).text));
      else if ((token.is(")") || token.is("]")) && !subscripts.empty())
        subscripts.pop_back();
    }
  }

  /// `set(MASK)`, behind `S(i) =`: true where the mask holds.
  void set(ParsedStatement &s) {
    const Token word = take();
    const Token open = take();
    s.isSet = true;
    s.rhs = literal(word, ElementType::Bool, {true, 0});
    auto item = [&] { return holdsComparison() ? expression(1) : mask(0); };
    s.where = item();
    while (accept(",")) {
      const Mask other = item();
      const SourceRange range{s.where->range.begin, other->range.end};
      s.where = make(Op::And, {s.where, other}, range, range);
    }
    expectClose(open, ")");
    if (next("where"))
      fail(peek().range, "a set is what its mask says: write '&' and the other mask inside of set( )");
    s.range = since(s.lhs.range.begin);
  }

  /// `concat(A, B; 1)` or `stack(A, B; 1)`, behind `C(i,j) =`.
  void concatenation(ParsedStatement &s) {
    const Token word = take();
    const Token open = take();
    s.concat.stacks = word.is("stack");
    const std::string example = fmt::format("as in {}(A, B; 0)", word.text);
    if (s.reduce)
      fail(s.assignRange, fmt::format("what {} makes is a whole tensor: write =", word.text));
    if (!s.indirections.empty())
      fail(s.lhs.range,
           fmt::format("what {} makes is a whole tensor, whose subscripts are plain indices", word.text));
    std::vector<Token> names;
    do
      names.push_back(expectKind(Token::Word, "the name of a tensor, " + example));
    while (accept(","));
    if (!accept(";"))
      failFound(peek(), next("(") || next("[")
                            ? "',' or ';': what is concatenated are whole tensors, without subscripts"
                            : "',' and another tensor, or ';' and the dimension along which they follow on "
                              "each other, " +
                                  example);
    do
      s.concat.dims.push_back(dimension(s));
    while (accept(","));
    if (s.concat.stacks && s.concat.dims.size() > 1)
      fail(since(open.range.end), "a stack has one dimension that its parts lack; name one behind ';'");
    expectClose(open, ")");
    for (const Token &name : names)
      addPart(s, name, word.range);
    if (next("where"))
      fail(peek().range, "a concatenation has no mask; write a statement before it, or behind it");
    s.range = since(s.lhs.range.begin);
  }

  unsigned dimension(const ParsedStatement &s) {
    const Token token = expectKind(Token::Integer, "the number of a dimension, the first of which is 0");
    const int64_t dim = integer(token);
    const size_t order = s.lhs.subscripts.size();
    if (dim >= int64_t(order))
      fail(token.range,
           order == 0 ? fmt::format("'{}' has no dimensions", out.tensors[s.lhs.tensor])
                      : fmt::format("'{}' has the dimensions 0 to {}", out.tensors[s.lhs.tensor], order - 1));
    if (std::ranges::count(s.concat.dims, unsigned(dim)) > 0)
      fail(token.range, "this dimension stands here twice");
    return unsigned(dim);
  }

  void addPart(ParsedStatement &s, const Token &name, SourceRange word) {
    Access part = access(name);
    part.bare = false;
    for (size_t d = 0; d < s.lhs.subscripts.size(); ++d) {
      Affine subscript = s.lhs.subscripts[d];
      subscript.range = name.range;
      const bool isAlong = std::ranges::count(s.concat.dims, unsigned(d)) > 0;
      if (isAlong && s.concat.stacks)
        continue;
      if (isAlong && subscript.isVariable()) {
        const auto own = unsigned(out.indices.size());
        out.indices.push_back(
            {fmt::format("{}_{}", out.indices[subscript.terms[0].first].name, name.text), -1});
        // No name of an index has a sign in it.
        s.scope.emplace(fmt::format("{}.{}@concat", s.concat.parts.size(), d), own);
        subscript.terms[0].first = own;
      }
      part.subscripts.push_back(subscript);
    }
    const Expr read = makeNode({.op = Op::Access, .access = part, .range = part.range});
    s.rhs = s.rhs ? make(Op::Add, {s.rhs, read}, {s.rhs->range.begin, part.range.end}, word) : read;
    s.concat.parts.push_back(std::move(part));
  }

  std::optional<Reduce> assignment() {
    Token token = take();
    if (token.is("="))
      return std::nullopt;
    const bool isWord = token.kind == Token::Word && accept("=");
    const std::string spelled = token.is("-=") ? "+=" : std::string(token.text) + (isWord ? "=" : "");
    const auto *monoid = std::ranges::find(monoids, spelled, &Monoid::assignment);
    if (monoid != std::end(monoids))
      return Reduce(monoid - monoids);
    if (isWord)
      fail(token.range,
           fmt::format("unknown reduction '{}='; there are += -= *= min= max= |= &= ^=", token.text));
    if (token.is("/="))
      fail(token.range, "'/=' is not a reduction; write *= with 1 / … on the right");
    failFound(token, "= or a reduction (+= -= *= min= max= |= &= ^=)");
  }

  // ---- expressions: precedence climbing

  const Operation *binaryHere() const {
    const auto *found = std::ranges::find_if(
        operations, [&](const Operation &o) { return o.precedence != 0 && next(o.sign); });
    return found == std::end(operations) ? nullptr : found;
  }

  static Expr makeNode(ExprNode node) { return std::make_shared<const ExprNode>(std::move(node)); }

  /// `opRange`: the operator or the function's name.
  Expr make(Op op, std::vector<Expr> args, SourceRange range, SourceRange opRange) {
    unsigned below = 0;
    for (const Expr &arg : args)
      below = std::max(below, arg->depth);
    return makeNode({.op = op, .args = std::move(args), .range = range, .depth = depthAbove(below, opRange)});
  }

  /// What `-=` adds: the terms of x with the other sign.
  Expr negated(const Expr &x) {
    if (x->op == Op::Neg)
      return x->args[0];
    if (x->op == Op::Add || x->op == Op::Sub)
      return make(x->op == Op::Add ? Op::Sub : Op::Add, {negated(x->args[0]), x->args[1]}, x->range,
                  x->range);
    return make(Op::Neg, {x}, x->range, x->range);
  }

  Expr expression(int lowest) {
    Nested guard(*this);
    Expr left = unary();
    while (const Operation *b = binaryHere()) {
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

  static Expr literal(const Token &token, ElementType type, Scalar value) {
    return makeNode({.type = type, .literal = value, .range = token.range});
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
      if (token.is("("))
        return closed(token, expression(1));
      failFound(token, "a tensor, a number, a function or '('");
    }
    if (token.is("inf") || token.is("nan"))
      return literal(token, ElementType::F64, {0, real(token)});
    if (token.is("true") || token.is("false"))
      return literal(token, ElementType::Bool, {token.is("true"), 0});
    if (token.is("where"))
      fail(token.range, "expected an expression before 'where', which is a mask; a choice is written "
                        "select(condition, then, else)");
    if (token.is("set"))
      fail(token.range, "a set is the whole right side of a statement, as in S(i) = set(i in 0:10:2)");
    if (token.is("concat") || token.is("stack"))
      fail(token.range,
           fmt::format("{} is the whole right side of a statement; give what it makes a name, as "
                       "in T(i,j) = {}(A, B; 0), and read that",
                       token.text, token.text));
    if (findFunction(token.text) || parseElementType(token.text))
      return call(token);
    checkMisspelt(token);
    if (indexNames.contains(token.text) && !next("(") && !next("["))
      return indexNode(token);
    return accessNode(token);
  }

  Expr indexNode(const Token &name) {
    ExprNode node{.op = Op::Index, .type = ElementType::I64, .range = name.range};
    node.access.subscripts = {indexOf(name)};
    node.access.range = name.range;
    return makeNode(std::move(node));
  }

  Expr accessNode(const Token &name) {
    const Access read = access(name);
    return makeNode({.op = Op::Access, .access = read, .range = read.range});
  }

  /// What stands in parentheses, with these.
  Expr closed(const Token &open, const Expr &inside) {
    expectClose(open, ")");
    ExprNode node = *inside;
    node.range = since(open.range.begin);
    return makeNode(std::move(node));
  }

  /// `sqr(A(i,j))`: what stands in the parentheses is no subscript, so a function was meant.
  void checkMisspelt(const Token &name) {
    const Token &first = peek(1);
    const bool isCall = first.kind == Token::Real || first.kind == Token::Imaginary || first.is("(") ||
                        (first.kind == Token::Word && isReserved(first.text));
    if (next("(") && isCall)
      failFunction(name);
  }

  [[noreturn]] void failFunction(const Token &name) const {
    const std::string all =
        fmt::format("; there are {}, and the names of types", fmt::join(functionNames(), " "));
    const std::string hint = functionHint(name.text);
    fail(name.range, fmt::format("unknown function '{}'{}", name.text, hint.empty() ? all : hint));
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
    const Operation *function = findFunction(name.text);
    unsigned least = function ? function->minArgs : 1, most = function ? function->maxArgs : 1;
    if (args.size() < least || args.size() > most)
      fail(range, fmt::format("{} takes {}{} argument{}, {} given", name.text,
                              least < most ? "at least " : "", least, least == 1 ? "" : "s", args.size()));
    if (!function) {
      ExprNode cast = *make(Op::Convert, std::move(args), range, name.range);
      cast.type = *parseElementType(name.text);
      return makeNode(std::move(cast));
    }
    // min(a, b, c) is min(min(a, b), c).
    while (function->maxArgs == many && args.size() > 2) {
      args[1] =
          make(function->op, {args[0], args[1]}, {args[0]->range.begin, args[1]->range.end}, name.range);
      args.erase(args.begin());
    }
    return make(function->op, std::move(args), range, name.range);
  }

  // ---- masks: | binds least, then \, then &, then ~; a comparison stands in parentheses

  Mask mask(int lowest) {
    Nested guard(*this);
    Mask left = maskPrimary();
    constexpr std::string_view operators = "|\\&";
    constexpr Op ops[] = {Op::Or, Op::Sub, Op::And};
    while (true) {
      const size_t level = atEnd() ? operators.npos : operators.find(peek().text);
      if (level == operators.npos || int(level) < lowest)
        return left;
      take();
      Mask right = mask(int(level) + 1);
      const SourceRange range{left->range.begin, right->range.end};
      left = make(ops[level], {left, right}, range, range);
    }
  }

  Mask maskPrimary() {
    Nested guard(*this);
    Token token = take();
    if (token.is("~") || token.is("!")) {
      Mask operand = maskPrimary();
      const SourceRange range{token.range.begin, operand->range.end};
      return make(Op::Not, {operand}, range, range);
    }
    if (token.is("("))
      return closed(token, holdsComparison() ? expression(1) : mask(0));
    if (token.kind != Token::Word)
      failFound(token, "a tensor whose stored entries select, as in 'where A' or 'where ~A(i,j)', or a "
                       "comparison in parentheses");
    if (next("in"))
      return range(token);
    Mask read = accessNode(token);
    if (isComparison(peek()))
      fail(peek().range, "a comparison in a mask stands in parentheses, as in 'where A & (x(i) < 0)'");
    return read;
  }

  /// `i in 2:10:3`, any of whose numbers may be left out, of which the name has been taken.
  Mask range(const Token &name) {
    take();
    checkName(name, "an index");
    if (!indexNames.contains(name.text))
      fail(name.range,
           fmt::format("'{}' is no index of this statement: it stands in no subscript", name.text));
    auto bound = [&](int64_t otherwise) {
      return peek().kind == Token::Integer ? integer(take()) : otherwise;
    };
    const int64_t low = bound(0);
    if (!accept(":"))
      failFound(peek(), "a range, such as 2:10, 2: or 0:10:2");
    const bool ends = peek().kind == Token::Integer;
    const int64_t end = bound(0);
    const Token second = peek();
    const int64_t step = accept(":") ? bound(1) : 1;
    if (step == 0)
      fail(second.range, "the step of a range is 1 or more");
    const SourceRange whole = since(name.range.begin);
    auto number = [&](int64_t value) {
      return makeNode({.type = ElementType::I64, .literal = {value, 0}, .range = whole});
    };
    const Expr index = indexNode(name);
    Mask both;
    auto restrict = [&](const Mask &other) {
      both = both ? make(Op::And, {both, other}, whole, whole) : other;
    };
    if (low != 0 || (!ends && step == 1))
      restrict(make(Op::Ge, {index, number(low)}, whole, whole));
    if (ends)
      restrict(make(Op::Lt, {index, number(end)}, whole, whole));
    if (step != 1) {
      const Expr offset = low == 0 ? index : make(Op::Sub, {index, number(low)}, whole, whole);
      restrict(make(Op::Eq, {make(Op::Mod, {offset, number(step)}, whole, whole), number(0)}, whole, whole));
    }
    return both;
  }

  bool isComparison(const Token &token) const {
    return std::ranges::any_of(operations,
                               [&](const Operation &op) { return op.precedence == 1 && token.is(op.sign); });
  }

  /// Whether the parentheses that have just been opened, or what stands there up to a comma, hold a
  /// comparison, other ones inside aside.
  bool holdsComparison() const {
    for (unsigned ahead = 0, open = 0;; ++ahead) {
      const Token &token = peek(ahead);
      if (token.kind == Token::End || token.is(";") || (open == 0 && (token.is(")") || token.is(","))))
        return false;
      if (open == 0 && isComparison(token))
        return true;
      open += token.is("(") || token.is("[");
      open -= token.is(")") || token.is("]");
    }
  }
};

} // namespace

std::string functionHint(std::string_view name) {
  if (name == "sum" || name == "prod" || name == "reduce")
    return "; there is no such function: an index that is not on the left is summed, as in y(i) = A(i,j)";
  if (name == "mean" || name == "avg")
    return "; there is no such function: a mean is a sum of which each term is divided by how many there are";
  if (name == "if")
    return "; a choice is written select(condition, then, else)";
  // A short name is near to any.
  return name.size() < 3 ? "" : support::didYouMean(name, functionNames());
}

std::optional<unsigned> ParsedProgram::tensor(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name);
  return found == tensors.end() ? std::nullopt : std::optional(unsigned(found - tensors.begin()));
}

bool ParsedProgram::inOneLoop(unsigned first, unsigned last) const {
  return std::ranges::any_of(loops, [&](const Loop &loop) { return loop.begin <= first && last < loop.end; });
}

ParsedProgram parse(std::string_view text) { return Parser(text).program(); }

} // namespace tulle::notation
