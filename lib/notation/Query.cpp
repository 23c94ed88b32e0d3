// Recursive descent; expressions are those of level maps.
#include "notation/Query.h"
#include "format/ExprParser.h"
#include "format/Layout.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {

using format::Expr;
using format::ExprKind;
using support::Cursor;
using support::Token;

namespace {

constexpr support::Language language = {format::signs, "this character has no meaning in a query"};

/// `let` variables, which levels' names are, written out.
Expr writtenOut(const Expr &e) {
  switch (e->kind) {
  case ExprKind::Let:
    return writtenOut(e->rhs);
  case ExprKind::Variable:
    return writtenOut(e->bound);
  default:
    return e->lhs && e->rhs ? format::binary(e->kind, writtenOut(e->lhs), writtenOut(e->rhs)) : e;
  }
}

bool isArithmetic(const Expr &e) {
  return e->kind == ExprKind::Constant || e->kind == ExprKind::Dim ||
         (e->kind >= ExprKind::Add && e->kind <= ExprKind::Mod && isArithmetic(e->lhs) &&
          isArithmetic(e->rhs));
}

class QueryParser {
public:
  QueryParser(std::string_view text, const format::Encoding &encoding, std::string_view name)
      : cursor(language, text, name), order(encoding.order()) {
    std::vector<std::string> letters = format::dimensionNames(order + unsigned(encoding.levels.size()));
    names.dims.assign(letters.begin(), letters.begin() + order);
    size_t next = order;
    for (const format::Level &level : encoding.levels) {
      if (format::body(level.expr)->kind == ExprKind::Dim)
        continue;
      std::string called = level.name.empty() ? letters[next++] : level.name;
      if (!names.has(called))
        names.lets.push_back(format::variable(std::move(called), level.expr));
    }
  }

  Query run() {
    cursor.expect("select", "at the beginning of a query");
    cursor.expect("[", "after select");
    query.select = coordinateList("]", {});
    cursor.expect("->", "after the selected dimensions");
    do
      aggregate();
    while (cursor.accept(","));
    if (!cursor.atEnd())
      cursor.failExpected("',' or the end of the query");
    return std::move(query);
  }

private:
  /// Coordinates up to `close`, which is taken, too.
  std::vector<unsigned> coordinateList(std::string_view close, const std::vector<unsigned> &taken) {
    std::vector<unsigned> list;
    if (cursor.accept(close))
      return list;
    cursor.list(close, "after the dimensions", [&] {
      const size_t begin = cursor.peek().range.begin;
      const unsigned coordinate = numberOf(expression(), begin);
      const support::SourceRange range = cursor.since(begin);
      const std::string text = coordinate < order ? "dimension '" + names.dims[coordinate] + "'" : "this";
      if (std::ranges::find(list, coordinate) != list.end())
        cursor.fail(range, text + " is listed twice");
      if (std::ranges::find(taken, coordinate) != taken.end())
        cursor.fail(range, text + " is selected: it has one coordinate there, which needs no counting");
      list.push_back(coordinate);
    });
    return list;
  }

  Expr expression() {
    const Token token = cursor.peek();
    const bool isKnown = token.kind != Token::Word || names.has(token.text) || format::isKeyword(token.text);
    if (!isKnown)
      cursor.fail(token.range, fmt::format("there is no dimension '{}'; the tensor has {}", token.text,
                                           fmt::join(names.dims, ", ")));
    const size_t scope = names.lets.size();
    Expr e = writtenOut(format::parseLevelExpr(cursor, names));
    names.lets.resize(scope);
    for (ExprKind kind : {ExprKind::Rank, ExprKind::Symbol})
      if (format::contains(e, kind))
        cursor.fail(cursor.since(token.range.begin), kind == ExprKind::Rank
                                                         ? "a query knows no ranks"
                                                         : "this level has a symbol without value");
    return e;
  }

  /// The coordinate that an expression is; a new one where it is not known yet.
  unsigned numberOf(const Expr &e, size_t begin) {
    if (e->kind == ExprKind::Dim)
      return unsigned(e->value);
    if (e->kind != ExprKind::Counter && format::contains(e, ExprKind::Counter))
      cursor.fail(cursor.since(begin), "a counter stands alone here");
    if (!format::contains(e, ExprKind::Dim) && e->kind != ExprKind::Counter)
      cursor.fail(cursor.since(begin), "expected an expression of dimensions");
    auto known = std::ranges::find_if(query.computed, [&](const Expr &x) { return format::equal(x, e); });
    if (known == query.computed.end())
      known = query.computed.insert(known, e);
    return order + unsigned(known - query.computed.begin());
  }

  /// A value in sums and products with integers: counters, and what else is not, are computed coordinates.
  Expr valueOf(const Expr &e, size_t begin) {
    if (isArithmetic(e))
      return e;
    if (e->kind >= ExprKind::Add && e->kind <= ExprKind::Mod)
      return format::binary(e->kind, valueOf(e->lhs, begin), valueOf(e->rhs, begin));
    return format::dim(numberOf(e, begin));
  }

  void aggregate() {
    Aggregate made;
    Token kind = cursor.expectWord("count, max, min or id");
    cursor.expect("(", "after the aggregate");
    if (kind.is("count")) {
      made.kind = AggregateKind::Count;
      size_t begin = cursor.peek().range.begin;
      made.counted = coordinateList(")", query.select);
      if (made.counted.empty())
        cursor.fail({begin, begin + 1}, "expected the dimensions whose coordinates are counted");
    } else if (kind.is("max") || kind.is("min")) {
      made.kind = kind.is("max") ? AggregateKind::Max : AggregateKind::Min;
      size_t begin = cursor.peek().range.begin;
      made.value = valueOf(expression(), begin);
      requireArithmetic(cursor, made.value, cursor.since(begin));
      cursor.expect(")", "after the expression");
    } else if (kind.is("id")) {
      made.kind = AggregateKind::Id;
      cursor.expect(")", "after id(");
    } else {
      cursor.fail(kind.range,
                  fmt::format("unknown aggregate '{}': expected count, max, min or id", kind.text));
    }
    cursor.expect("as", "after the aggregate, and a name for the result");
    Token name = cursor.expectWord("a name for the result");
    for (const Aggregate &other : query.aggregates)
      if (name.text == other.name)
        cursor.fail(name.range, fmt::format("two results are called '{}'", name.text));
    made.name = std::string(name.text);
    made.range = cursor.since(kind.range.begin);
    query.aggregates.push_back(std::move(made));
  }

  Cursor cursor;
  const unsigned order;
  format::Names names;
  Query query;
};

} // namespace

void requireArithmetic(const Cursor &cursor, const format::Expr &e, support::SourceRange range) {
  if (e->kind == ExprKind::Constant || e->kind == ExprKind::Dim)
    return;
  if (e->kind < ExprKind::Add || e->kind > ExprKind::Mod)
    cursor.fail(range, "expected +, -, *, floordiv and mod of dimensions and integers");
  const bool left = e->lhs->kind == ExprKind::Constant, right = e->rhs->kind == ExprKind::Constant;
  if (e->kind == ExprKind::Mul && !left && !right)
    cursor.fail(range, "expected a product with an integer");
  if ((e->kind == ExprKind::FloorDiv || e->kind == ExprKind::Mod) && (!right || e->rhs->value <= 0))
    cursor.fail(range, "expected a division by a positive integer");
  requireArithmetic(cursor, e->lhs, range);
  requireArithmetic(cursor, e->rhs, range);
}

Query parseQuery(std::string_view text, const format::Encoding &encoding, std::string_view name) {
  return QueryParser(text, encoding, name).run();
}

std::pair<int64_t, int64_t> valueRange(const format::Expr &expr, const std::vector<int64_t> &sizes) {
  const std::optional<format::CoordinateRange> range = format::valueRange(expr, sizes);
  // One below and one above must fit, too: they stand for "no entry".
  if (!range || range->low <= INT64_MIN + 1 || range->high >= INT64_MAX - 1)
    throw Error("a query's expression does not fit 64 bits for these sizes");
  return {range->low, range->high};
}

} // namespace tulle::notation
