// Recursive descent; expressions are those of level maps, as far as a coordinate alone decides them.
#include "notation/Query.h"
#include "format/ExprParser.h"
#include "format/Layout.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {

using format::ExprKind;
using support::Cursor;
using support::Token;

namespace {

constexpr support::Language language = {format::signs, "this character has no meaning in a query"};

class QueryParser {
public:
  QueryParser(std::string_view text, const std::vector<std::string> &dimensions, std::string_view name)
      : cursor(language, text, name) {
    names.dims = dimensions;
  }

  Query run() {
    cursor.expect("select", "at the beginning of a query");
    cursor.expect("[", "after select");
    query.select = dimensionList("]", {});
    cursor.expect("->", "after the selected dimensions");
    do
      aggregate();
    while (cursor.accept(","));
    if (!cursor.atEnd())
      cursor.failExpected("',' or the end of the query");
    return std::move(query);
  }

private:
  /// Names up to `close`, which is taken, too.
  std::vector<unsigned> dimensionList(std::string_view close, const std::vector<unsigned> &taken) {
    std::vector<unsigned> list;
    if (cursor.accept(close))
      return list;
    cursor.list(close, "after the dimensions", [&] {
      const Token token = cursor.expectWord("a dimension");
      const std::optional<unsigned> dimension = format::indexOf(names.dims, token.text);
      if (!dimension)
        cursor.fail(token.range, fmt::format("there is no dimension '{}'; the tensor has {}", token.text,
                                             fmt::join(names.dims, ", ")));
      if (std::ranges::find(list, *dimension) != list.end())
        cursor.fail(token.range, fmt::format("dimension '{}' is listed twice", token.text));
      if (std::ranges::find(taken, *dimension) != taken.end())
        cursor.fail(token.range,
                    fmt::format("dimension '{}' is selected: it has one coordinate there, which needs "
                                "no counting",
                                token.text));
      list.push_back(*dimension);
    });
    return list;
  }

  void aggregate() {
    Aggregate made;
    Token kind = cursor.expectWord("count, max, min or id");
    cursor.expect("(", "after the aggregate");
    if (kind.is("count")) {
      made.kind = AggregateKind::Count;
      size_t begin = cursor.peek().range.begin;
      made.counted = dimensionList(")", query.select);
      if (made.counted.empty())
        cursor.fail({begin, begin + 1}, "expected the dimensions whose coordinates are counted");
    } else if (kind.is("max") || kind.is("min")) {
      made.kind = kind.is("max") ? AggregateKind::Max : AggregateKind::Min;
      size_t begin = cursor.peek().range.begin;
      made.value = format::parseLevelExpr(cursor, names);
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

Query parseQuery(std::string_view text, const std::vector<std::string> &dimensions, std::string_view name) {
  return QueryParser(text, dimensions, name).run();
}

std::pair<int64_t, int64_t> valueRange(const format::Expr &expr, const std::vector<int64_t> &sizes) {
  const std::optional<format::CoordinateRange> range = format::valueRange(expr, sizes);
  // One below and one above must fit, too: they stand for "no entry".
  if (!range || range->low <= INT64_MIN + 1 || range->high >= INT64_MAX - 1)
    throw Error("a query's expression does not fit 64 bits for these sizes");
  return {range->low, range->high};
}

} // namespace tulle::notation
