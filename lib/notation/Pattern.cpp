// Formats are cut out of the text and parsed by their own parser; patterns are parsed here.
#include "notation/Pattern.h"
#include "format/ExprParser.h"
#include "format/Layout.h"
#include "notation/Program.h"
#include "notation/Query.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {

using support::Cursor;
using support::SyntaxError;
using support::Token;

namespace {

constexpr std::string_view ownSigns[] = {"<=", ">=", "@"};
constexpr auto signs = [] {
  std::array<std::string_view, std::size(ownSigns) + std::size(format::signs)> all;
  std::copy(std::begin(format::signs), std::end(format::signs),
            std::copy(std::begin(ownSigns), std::end(ownSigns), all.begin()));
  return all;
}();

constexpr std::pair<std::string_view, Condition::Comparison> comparisons[] = {
    {"<=", Condition::LessEqual}, {">=", Condition::GreaterEqual}, {"<", Condition::Less},
    {">", Condition::Greater},    {"=", Condition::Equal},         {"in", Condition::OneOf}};

/// As many as anybody writes; each is a nest of loops.
constexpr size_t mostParts = 64;

/// Takes over what is not stored, where the format does not say it.
bool hasFillOf(const TensorDecl &decl, format::Encoding &encoding) {
  if (!encoding.fill && !encoding.implicitVal) {
    encoding.fill = decl.encoding.fill;
    encoding.implicitVal = decl.encoding.implicitVal;
  }
  const Scalar wanted = format::fillValue(decl.encoding, decl.type),
               given = format::fillValue(encoding, decl.type);
  return isFloat(decl.type) || isComplex(decl.type) ? wanted.f == given.f : wanted.i == given.i;
}

class PartsParser {
public:
  PartsParser(Cursor &cursor, std::string_view text, const TensorDecl &decl)
      : cursor(cursor), text(text), decl(decl), order(unsigned(decl.dims.size())) {
    names.dims = format::dimensionNames(order);
  }

  std::vector<Part> run() {
    if (cursor.next("hyb") && cursor.peek(1).is("("))
      return hyb();
    std::vector<Part> parts;
    cursor.expect("[", "before the parts: [FORMAT @ PATTERN, FORMAT @ rest]");
    cursor.list("]", "after the parts", [&] {
      const size_t begin = cursor.peek().range.begin;
      if (!parts.empty() && parts.back().conditions.empty())
        cursor.fail(cursor.peek().range, "the part before takes the rest: nothing is left for this one");
      if (parts.size() == mostParts)
        cursor.fail(cursor.peek().range, fmt::format("a tensor has at most {} parts", mostParts));
      Part &part = parts.emplace_back();
      part.format = parseOperandFormat(cursor, text, decl, {"@"});
      cursor.expect("@", "after the format, and the entries that it stores");
      if (!cursor.accept("rest"))
        do
          part.conditions.push_back(condition());
        while (cursor.accept("and"));
      part.range = cursor.since(begin);
    });
    return parts;
  }

private:
  Cursor &cursor;
  std::string_view text;
  const TensorDecl &decl;
  const unsigned order;
  format::Names names;

  Condition condition() {
    Condition made;
    const size_t begin = cursor.peek().range.begin;
    if (cursor.next("count") && cursor.peek(1).is("("))
      count(made);
    else if (cursor.next("fill") && cursor.peek(1).is("("))
      fill(made);
    else
      made.value = arithmetic();
    compare(made, begin);
    return made;
  }

  format::Expr arithmetic() {
    const size_t begin = cursor.peek().range.begin;
    format::Expr value = format::parseLevelExpr(cursor, names);
    requireArithmetic(cursor, value, cursor.since(begin));
    return value;
  }

  /// `count(j)`, `count(i, j)`, `count(j within 64)`: of entries that agree elsewhere.
  void count(Condition &made) {
    made.measure = Condition::Count;
    made.blocks.assign(order, 1);
    cursor.take();
    cursor.expect("(", "after count");
    cursor.list(")", "after the counted dimensions", [&] {
      const Token name = cursor.expectWord("a dimension");
      const std::optional<unsigned> dimension = format::indexOf(names.dims, name.text);
      if (!dimension)
        cursor.fail(name.range, fmt::format("there is no dimension '{}'; the tensor has {}", name.text,
                                            fmt::join(names.dims, ", ")));
      if (made.blocks[*dimension] != 1)
        cursor.fail(name.range, fmt::format("dimension '{}' is listed twice", name.text));
      made.blocks[*dimension] =
          cursor.accept("within") ? positive("the number of coordinates together", 2) : 0;
    });
  }

  void fill(Condition &made) {
    made.measure = Condition::Fill;
    const size_t begin = cursor.take().range.begin;
    cursor.expect("(", "after fill");
    format::Large volume = 1;
    cursor.list(")", "after the sizes of a block", [&] {
      made.blocks.push_back(positive("the size of a block", 1));
      volume = std::min<format::Large>(volume * format::Large(made.blocks.back()), mostVolume + 1);
    });
    if (made.blocks.size() != order)
      cursor.fail(cursor.since(begin),
                  fmt::format("a block of '{}' has {} sizes, one for each dimension", decl.name, order));
    if (volume > mostVolume)
      cursor.fail(cursor.since(begin), fmt::format("a block has at most {} elements", mostVolume));
  }
  static constexpr int64_t mostVolume = int64_t(1) << 30;

  int64_t positive(std::string_view what, int64_t least) {
    const support::SourceRange range = cursor.peek().range;
    const int64_t value = cursor.expectInteger(what);
    if (value < least)
      cursor.fail(range, fmt::format("{} is at least {}", what, least));
    return value;
  }

  void compare(Condition &made, size_t begin) {
    const Token sign = cursor.take();
    const auto *found =
        std::ranges::find_if(comparisons, [&](const auto &known) { return sign.is(known.first); });
    if (found == std::end(comparisons) ||
        (found->second == Condition::OneOf && made.measure == Condition::Fill))
      cursor.fail(sign.range, "expected a comparison: <, <=, =, >=, > or in {…}");
    made.comparison = found->second;
    if (made.comparison == Condition::OneOf) {
      cursor.expect("{", "after in");
      cursor.list("}", "after the values",
                  [&] { made.bounds.push_back(cursor.expectInteger("an integer", true)); });
    } else if (made.measure != Condition::Value) {
      made.bounds = {cursor.expectInteger("an integer")};
      if (made.measure == Condition::Fill && cursor.accept("/"))
        made.divisor = positive("the denominator of a fraction", 1);
    } else {
      const format::Expr other = arithmetic();
      const bool isNumber = other->kind == format::ExprKind::Constant;
      made.bounds = {isNumber ? other->value : 0};
      if (!isNumber)
        made.value = format::binary(format::ExprKind::Sub, made.value, other);
    }
    if (made.measure == Condition::Value)
      checkRange(made.value, cursor.since(begin));
    else if (made.bounds.front() > mostVolume || made.divisor > mostVolume)
      cursor.fail(cursor.since(begin), fmt::format("a count is compared with at most {}", mostVolume));
  }

  void checkRange(const format::Expr &value, support::SourceRange range) const {
    std::vector<int64_t> sizes = decl.dims;
    for (int64_t &size : sizes)
      size = std::max<int64_t>(size, 1);
    if (!format::valueRange(value, sizes))
      cursor.fail(range, "the value does not fit 64 bits for these sizes");
  }

  //===--- hyb(c, k) ---===//

  /// Columns in c ranges; in each of these, rows of 1, 2, … 8 entries in buckets, whose loops have constant
  /// lengths, then rows of at most 16, 32, … 2^k in buckets that are padded to the same length, and longer
  /// rows. Source: Ye et al., "SparseTIR: Composable Abstractions for Sparse Compilation in Deep Learning",
  /// 2023, which pads short rows, too.
  std::vector<Part> hyb() {
    const size_t begin = cursor.take().range.begin;
    cursor.expect("(", "after hyb");
    const int64_t ranges = positive("the number of ranges of columns", 1);
    cursor.expect(",", "after the number of ranges of columns, and the logarithm of the longest bucket");
    const int64_t longest = cursor.expectInteger("the logarithm of the longest bucket");
    cursor.expect(")", "after hyb(c, k");
    const support::SourceRange range = cursor.since(begin);
    if (order != 2)
      cursor.fail(range, fmt::format("hyb is for matrices, and '{}' has {} dimensions", decl.name, order));
    constexpr int64_t most = 9, exact = 3; // the logarithm of 8
    const int64_t lengths =
        longest > most ? 0 : (int64_t(1) << std::min(longest, exact)) + std::max<int64_t>(longest - exact, 0);
    if (longest > most || ranges > int64_t(mostParts) || ranges * (lengths + 1) > int64_t(mostParts))
      cursor.fail(range, fmt::format("hyb(c, k) with k below {} and at most {} parts: c times one for each "
                                     "length up to 8, for each power of two up to 2^k, and for longer rows",
                                     most + 1, mostParts));
    const int64_t columns = std::max<int64_t>(1, (decl.dims[1] + ranges - 1) / ranges);
    std::string list;
    for (int64_t r = 0; r < ranges; ++r) {
      const std::string of = ranges > 1 ? fmt::format("j / {} = {} and ", columns, r) : "";
      const std::string counted = ranges > 1 && columns > 1 ? fmt::format("j within {}", columns) : "j";
      auto bucket = [&](int64_t length, std::string_view comparison) {
        list += fmt::format("(i, j) -> (i : compressed, j : fixed[{0}](padded)) @ {1}count({2}) {3} {0}, ",
                            length, of, counted, comparison);
      };
      for (int64_t length = 1; length <= int64_t(1) << std::min(longest, exact); ++length)
        bucket(length, "=");
      for (int64_t b = exact + 1; b <= longest; ++b)
        bucket(int64_t(1) << b, "<=");
      // The last range says so, too: its rows are then known to be in one of its parts.
      list += ranges > 1 ? fmt::format("DCSR @ j / {} = {}{}", columns, r, r + 1 < ranges ? ", " : "")
                         : "DCSR @ rest";
    }
    std::vector<Part> parts = parseParts("[" + list + "]", decl, "hyb");
    for (Part &part : parts)
      part.range = range;
    return parts;
  }
};

std::string print(const Condition &condition, unsigned dimensions) {
  const std::vector<std::string> names = format::dimensionNames(dimensions);
  std::string measure, bound = fmt::format("{}", fmt::join(condition.bounds, ", "));
  if (condition.measure == Condition::Value) {
    measure = format::print(condition.value, dimensions);
  } else if (condition.measure == Condition::Fill) {
    measure = fmt::format("fill({})", fmt::join(condition.blocks, ","));
    bound += condition.divisor == 1 ? "" : fmt::format("/{}", condition.divisor);
  } else {
    std::vector<std::string> counted;
    for (size_t d = 0; d < names.size(); ++d)
      if (condition.blocks[d] != 1)
        counted.push_back(
            condition.blocks[d] == 0 ? names[d] : fmt::format("{} within {}", names[d], condition.blocks[d]));
    measure = fmt::format("count({})", fmt::join(counted, ", "));
  }
  const auto *sign = std::ranges::find(comparisons, condition.comparison,
                                       &std::pair<std::string_view, Condition::Comparison>::second);
  return fmt::format("{} {} {}", measure, sign->first,
                     condition.comparison == Condition::OneOf ? "{" + bound + "}" : bound);
}

} // namespace

const support::Language partsLanguage = {signs, "this character has no meaning in a schedule"};

format::Encoding parseOperandFormat(Cursor &cursor, std::string_view text, const TensorDecl &decl,
                                    std::initializer_list<std::string_view> ends) {
  auto isEnd = [&] {
    return std::ranges::any_of(ends, [&](std::string_view end) { return cursor.next(end); });
  };
  const size_t begin = cursor.peek().range.begin;
  size_t end = begin;
  for (int depth = 0; !cursor.atEnd() && (depth > 0 || !isEnd()); end = cursor.take().range.end) {
    const std::string_view sign = cursor.peek().text;
    depth += sign == "(" || sign == "{" || sign == "[" ? 1 : 0;
    depth -= sign == ")" || sign == "}" || sign == "]" ? 1 : 0;
    if (depth < 0)
      break;
  }
  format::Encoding encoding;
  try {
    encoding = format::parseFormat(text.substr(begin, end - begin), unsigned(decl.dims.size()));
  } catch (const SyntaxError &error) {
    cursor.fail({begin + error.range.begin, begin + error.range.end}, error.message);
  }
  std::string why = format::whyNotExecutable(encoding);
  if (why.empty())
    why = format::hasSlices(encoding) ? "a conversion makes no slice"
          : encoding.explicitVal      ? "a conversion stores the values that there are"
          : !hasFillOf(decl, encoding)
              ? fmt::format("what '{}' does not store means another value", decl.name)
              : format::whyNotSizes(encoding, decl.dims);
  if (!why.empty())
    cursor.fail({begin, end}, why);
  return encoding;
}

std::vector<Part> parseParts(Cursor &cursor, std::string_view text, const TensorDecl &decl) {
  return PartsParser(cursor, text, decl).run();
}

std::vector<Part> parseParts(std::string_view text, const TensorDecl &decl, std::string_view name) {
  Cursor cursor(partsLanguage, text, name);
  std::vector<Part> parts = parseParts(cursor, text, decl);
  if (!cursor.atEnd())
    cursor.failExpected("the end of the parts");
  return parts;
}

std::string print(const std::vector<Part> &parts) {
  std::vector<std::string> texts;
  for (const Part &part : parts) {
    std::vector<std::string> conditions;
    for (const Condition &condition : part.conditions)
      conditions.push_back(print(condition, part.format.order()));
    texts.push_back(
        fmt::format("{{ {} }} @ {}", format::printBody(part.format),
                    conditions.empty() ? "rest" : fmt::format("{}", fmt::join(conditions, " and "))));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

} // namespace tulle::notation
