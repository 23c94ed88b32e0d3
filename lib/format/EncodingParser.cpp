// Recursive descent over all spellings of an encoding; what holds across levels is verified at the end, and
// errors point to the part that breaks a rule.
#include "format/Checks.h"
#include "format/ExprParser.h"
#include "format/LevelKinds.h"
#include "support/Errors.h"
#include "support/Suggest.h"
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace tulle::format {
namespace {

constexpr size_t maxLevels = 256, maxSymbols = 16;

/// `c * n * i`, the factors in any order, n a positive integer.
struct CountingProduct {
  unsigned symbol, dim;
  int64_t slices; ///< n; 0 without
};
std::optional<CountingProduct> countingProduct(const Expr &e) {
  std::optional<unsigned> symbol, dim;
  int64_t slices = 0;
  std::vector<Expr> factors{e};
  while (!factors.empty()) {
    Expr factor = factors.back();
    factors.pop_back();
    if (factor->kind == ExprKind::Mul) {
      factors.push_back(factor->lhs);
      factors.push_back(factor->rhs);
    } else if (factor->kind == ExprKind::Symbol && !symbol) {
      symbol = unsigned(factor->value);
    } else if (factor->kind == ExprKind::Dim && !dim) {
      dim = unsigned(factor->value);
    } else if (factor->kind != ExprKind::Constant || factor->value < 1 ||
               __builtin_mul_overflow(std::max<int64_t>(slices, 1), factor->value, &slices)) {
      return std::nullopt;
    }
  }
  return symbol && dim ? std::optional(CountingProduct{*symbol, *dim, slices}) : std::nullopt;
}

class Parser {
public:
  Parser(std::string_view text, std::string_view name, const Declarations &declared)
      : cursor(encodingLanguage, text, name), declared(declared) {}

  Encoding run() {
    readLevels();
    std::string_view closing = opening();
    const size_t begin = cursor.peek().range.begin;
    if (closing.empty() && (cursor.next("(") || cursor.next("[") || cursor.next("{"))) { // a bare map
      seenFields.insert("map");
      map();
    } else {
      field();
    }
    while (cursor.accept(","))
      field();
    if (!seenFields.contains("map"))
      cursor.fail(cursor.since(begin), "an encoding needs 'map = (i, j) -> (…)'");
    for (char c : closing)
      cursor.expect(std::string_view(&c, 1), "to close the encoding");
    if (!cursor.atEnd())
      cursor.failExpected(closing.empty() ? "',' or the end of the encoding" : "nothing after the encoding");
    readCounters();
    if (std::optional<Violation> found = verify(out))
      fail(*found);
    rename();
    return std::move(out);
  }

  /// After `run`.
  [[noreturn]] void fail(const Violation &found) const {
    cursor.fail(found.part == Violation::CrdWidth    ? crdRange
                : found.part == Violation::LevelExpr ? exprRanges[found.index]
                : found.part == Violation::Inverse   ? dimRanges[found.index]
                                                     : formatRanges[found.index],
                found.message);
  }

private:
  /// The field `levels`, wherever it stands: the map before it may name what it declares.
  void readLevels() {
    Cursor ahead = cursor;
    while (!ahead.atEnd() && !(ahead.next("levels") && ahead.peek(1).is("=") && ahead.peek(2).is("{")))
      ahead.take();
    if (ahead.atEnd())
      return;
    for (unsigned token = 0; token < 3; ++token)
      ahead.take();
    do
      own.push_back(parseLevel(ahead, own));
    while (!ahead.accept("}"));
    endOfLevels = ahead.since(0).end;
  }

  /// One of `#x.encoding<{`, `{ map =`, `map =`, or nothing before a bare map; returns what has to close it.
  std::string_view opening() {
    // An alias definition, as copied from an MLIR file.
    if (cursor.next("#") && cursor.peek(1).kind == Token::Word && cursor.peek(2).is("="))
      for (unsigned token = 0; token < 3; ++token)
        cursor.take();
    if (cursor.accept("#")) {
      Token dialect = cursor.expectWord("'tulle.encoding' or 'sparse_tensor.encoding' after '#'");
      if (!dialect.is("tulle") && !dialect.is("sparse_tensor"))
        cursor.fail(dialect.range,
                    fmt::format("expected 'tulle.encoding' or 'sparse_tensor.encoding' after '#', got '{}'{}",
                                dialect.text, support::didYouMean(dialect.text, {"tulle", "sparse_tensor"})));
      cursor.expect(".", "and 'encoding' after the dialect's name");
      cursor.expect("encoding", "after the dialect's name");
      cursor.expect("<", "after 'encoding'");
      cursor.expect("{", "after 'encoding<'");
      return "}>";
    }
    // `{ib, jb} (…) -> (…)` is a bare map with its level variables; `{ map = …` is a body.
    if (cursor.next("{") && cursor.peek(1).kind == Token::Word && cursor.peek(2).is("=")) {
      cursor.take();
      return "}";
    }
    return "";
  }

  void field() {
    const Token word = cursor.expectWord("a map '(i, j) -> (…)' or a field such as 'map' or 'posWidth'");
    static const std::vector<std::string> known{"map",         "posWidth",    "crdWidth", "fill",
                                                "explicitVal", "implicitVal", "levels"};
    const std::string field(word.text);
    if (!indexOf(known, field))
      cursor.fail(word.range,
                  "unknown field '" + field + "'" +
                      support::didYouMean(
                          field, known,
                          "; expected map, posWidth, crdWidth, fill, explicitVal, implicitVal or levels"));
    if (!seenFields.insert(field).second)
      cursor.fail(word.range, "'" + field + "' is given twice");
    cursor.expect("=", "after '" + field + "'");
    if (field == "map")
      map();
    else if (field == "levels")
      skipLevels();
    else if (field == "posWidth")
      out.posWidth = width(/*isOfCoordinates=*/false);
    else if (field == "crdWidth")
      out.crdWidth = width(/*isOfCoordinates=*/true);
    else
      (field == "fill" ? out.fill : field == "explicitVal" ? out.explicitVal : out.implicitVal) = scalar();
  }

  /// They were read before everything else.
  void skipLevels() {
    if (!cursor.next("{"))
      cursor.failExpected("'{' before the level formats that are declared");
    while (!cursor.atEnd() && cursor.peek().range.begin < endOfLevels)
      cursor.take();
  }

  std::string declare(std::string_view what) {
    const Token token = cursor.peek();
    std::string declared = expectName(cursor, what);
    if (names.has(declared))
      cursor.fail(token.range, "'" + declared + "' is declared twice");
    return declared;
  }

  void nameList(std::vector<std::string> &list, std::string_view close, std::string_view what, size_t limit) {
    cursor.take();
    cursor.list(close, "or ',' after " + std::string(what), [&] {
      if (list.size() == limit)
        cursor.fail(cursor.peek().range, fmt::format("at most {} variables can stand here", limit));
      list.push_back(declare(what));
    });
  }

  /// `[N, c, M = 4]`: a symbol that has a value is that value.
  void symbolList() {
    cursor.take();
    cursor.list("]", "or ',' after a symbol", [&] {
      if (names.symbols.size() + names.values.size() == maxSymbols)
        cursor.fail(cursor.peek().range, fmt::format("at most {} variables can stand here", maxSymbols));
      std::string name = declare("a symbol's name");
      if (!cursor.accept("="))
        return names.symbols.push_back(std::move(name));
      const int64_t sign = cursor.accept("-") ? -1 : 1;
      names.values.emplace(std::move(name), sign * cursor.expectInteger("the symbol's value"));
    });
  }

  void map() {
    if (cursor.next("["))
      symbolList();
    if (cursor.next("{"))
      nameList(names.levels, "}", "a level variable's name", maxLevels);
    out.symbols = names.symbols;
    cursor.expect("(", "before the dimensions of the map '(i, j) -> (…)'");
    if (!cursor.accept(")"))
      cursor.list(")", "or ',' after a dimension", [&] { dimSpec(); });
    cursor.expect("->", "between the dimensions and the levels");
    Token open = cursor.expect("(", "before the levels");
    if (!cursor.accept(")"))
      cursor.list(")", "or ',' after a level", [&] { levelSpec(); });
    if (out.levels.size() < names.levels.size())
      cursor.fail(cursor.since(open.range.begin), "level variable '" + names.levels[out.levels.size()] +
                                                      "' is declared, but no level has it");
  }

  void dimSpec() {
    Token token = cursor.peek();
    if (out.dims.size() == maxDims)
      cursor.fail(token.range, "a tensor has at most " + std::to_string(maxDims) + " dimensions");
    Dimension dimension;
    dimension.name = declare("a dimension's name");
    if (cursor.accept(":"))
      dimension.slice = slice();
    // The names of levels come first; those of dimensions are not visible in an inverse, so their order does
    // not matter.
    if (cursor.accept("="))
      dimension.inverse = parseInverseExpr(cursor, names);
    names.dims.push_back(dimension.name);
    dimRanges.push_back(cursor.since(token.range.begin));
    out.dims.push_back(std::move(dimension));
  }

  Slice slice() {
    cursor.expect("#", "of '#tulle<slice(offset, size, stride)>' after ':'");
    Token dialect = cursor.expectWord("'tulle<slice(offset, size, stride)>'");
    if (!dialect.is("tulle") && !dialect.is("sparse_tensor"))
      cursor.fail(dialect.range,
                  "expected 'tulle' or 'sparse_tensor', got '" + std::string(dialect.text) + "'");
    cursor.expect("<", "before 'slice'");
    cursor.expect("slice", "after '<'");
    cursor.expect("(", "before the slice's offset");
    auto value = [&](std::string_view what, int64_t least, std::string_view close) {
      const size_t begin = cursor.peek().range.begin;
      std::optional<int64_t> number;
      if (!cursor.accept("?"))
        number = cursor.expectInteger(fmt::format("the slice's {} or '?'", what), /*negative=*/true);
      if (number && *number < least)
        cursor.fail(cursor.since(begin), fmt::format("a slice's {} is at least {}, or '?'", what, least));
      cursor.expect(close, fmt::format("after the slice's {}", what));
      return number;
    };
    Slice result;
    result.offset = value("offset", 0, ",");
    result.size = value("size", 1, ",");
    result.stride = value("stride", 1, ")");
    cursor.expect(">", "to close the slice");
    return result;
  }

  void levelSpec() {
    const size_t index = out.levels.size();
    if (index == maxLevels)
      cursor.fail(cursor.peek().range, fmt::format("an encoding has at most {} levels", maxLevels));
    Level level;
    level.name = levelName(index);
    size_t begin = cursor.peek().range.begin;
    level.expr = parseLevelExpr(cursor, names);
    exprRanges.push_back(cursor.since(begin));
    cursor.expect(":", "and a level format such as 'dense' or 'compressed' after the level's expression");
    begin = cursor.peek().range.begin;
    level.format = levelFormat();
    formatRanges.push_back(cursor.since(begin));
    out.levels.push_back(std::move(level));
  }

  /// The name that stands before the expression, as the list in braces has it; empty without a list and a
  /// name.
  std::string levelName(size_t index) {
    const Token token = cursor.peek();
    const bool listed = !names.levels.empty(), inList = index < names.levels.size();
    if (token.kind != Token::Word || !cursor.peek(1).is("=")) {
      if (listed)
        cursor.fail(token.range,
                    inList ? "expected '" + names.levels[index] + " =' before this level's expression"
                           : "the list in braces has no variable for this level");
      return "";
    }
    std::string name(token.text);
    if (listed && (!inList || names.levels[index] != name))
      cursor.fail(token.range, inList ? "expected level variable '" + names.levels[index] +
                                            "' here: levels come in the order of the list in braces"
                                      : "level variable '" + name + "' is not in the list in braces");
    const bool repeated = std::ranges::find(out.levels, name, &Level::name) != out.levels.end();
    if (!listed && (repeated || names.has(name) || isKeyword(name)))
      cursor.fail(token.range, "'" + name + "' already names something here; choose another name");
    cursor.take();
    cursor.take();
    return name;
  }

  LevelFormat levelFormat() {
    const Token word = cursor.expectWord("a level format such as 'dense' or 'compressed'");
    if (word.is("block2_4"))
      return properties({LevelKind::Structured, 2, 4}, word);
    auto declaration = findLevel(own, word.text);
    if (!declaration)
      declaration = findLevel(declared, word.text);
    if (declaration)
      return properties(LevelDeclaration::formatOf(declaration), word);
    std::vector<std::string> known;
    for (const LevelKindInfo &row : levelKinds)
      if (row.kind != LevelKind::Declared)
        known.emplace_back(row.name);
    for (const Declarations *levels : {&std::as_const(own), &declared})
      for (const auto &level : *levels)
        known.push_back(level->name);
    const std::optional<unsigned> index = indexOf(known, word.text);
    if (!index)
      cursor.fail(word.range, fmt::format("unknown level format '{}'{}", word.text,
                                          support::didYouMean(word.text, known,
                                                              fmt::format("; the level formats are {}",
                                                                          fmt::join(known, ", ")))));
    LevelFormat format{levelKinds[*index].kind};
    integers(format, word);
    format.ordered = format.kind != LevelKind::Hashed; // a hash table has no order to lose
    return properties(format, word);
  }

  void integers(LevelFormat &format, const Token &word) {
    const LevelKindInfo &row = info(format.kind);
    std::string level(row.name);
    if (!cursor.next("[")) {
      if (row.minIntegers > 0)
        cursor.fail(word.range, "'" + level + "' needs its sizes: " + level + "[n,m] keeps n of every m");
      return;
    }
    if (row.maxIntegers == 0)
      cursor.fail(cursor.peek().range, "'" + level + "' takes no sizes in brackets");
    size_t begin = cursor.take().range.begin;
    format.n = cursor.expectInteger("a size");
    if (row.maxIntegers == 2) {
      cursor.expect(",", "between the two sizes");
      format.m = cursor.expectInteger("a size");
    }
    cursor.expect("]", "after the sizes");
    if (format.n < 1 || (row.maxIntegers == 2 && format.n > format.m))
      cursor.fail(cursor.since(begin), row.maxIntegers == 2 ? "expected 1 <= n <= m in " + level + "[n,m]"
                                                            : "expected at least 1 here");
  }

  LevelFormat properties(LevelFormat format, const Token &word) {
    if (cursor.accept("("))
      cursor.list(")", "or ',' after a property", [&] { property(format, word); });
    return format;
  }

  void property(LevelFormat &format, const Token &level) {
    Token token = cursor.expectWord("a property such as 'nonunique'");
    auto refuse = [&](std::string_view reason) {
      cursor.fail(token.range, fmt::format("a {} level cannot be '{}': {}", level.text, token.text, reason));
    };
    if (token.is("high")) { // upstream's older word for a level with a lower and an upper position per parent
      if (!storesPositions(format) || format.kind == LevelKind::Declared)
        refuse("only compressed levels have an upper position");
      format.kind = LevelKind::LooseCompressed;
      return;
    }
    const LevelKindInfo &row = info(format.kind);
    std::vector<std::string> known;
    for (const Property &property : levelProperties) {
      known.emplace_back(property.name);
      if (!token.is(property.name))
        continue;
      if (!(row.*property.allowed))
        refuse(row.why);
      format.*property.field = property.value;
      return;
    }
    known.emplace_back("high");
    cursor.fail(token.range, fmt::format("unknown property '{}'{}", token.text,
                                         support::didYouMean(token.text, known,
                                                             "; the properties are nonunique, nonordered, "
                                                             "padded, soa, high")));
  }

  unsigned width(bool isOfCoordinates) {
    support::SourceRange range = cursor.peek().range;
    int64_t bits = cursor.expectInteger("a number of bits");
    constexpr int64_t widths[] = {0, 8, 16, 32, 64};
    if (std::ranges::find(widths, bits) == std::end(widths) && !(isOfCoordinates && bits == 2))
      cursor.fail(range, fmt::format("expected a width of 0, {}8, 16, 32 or 64 bits, got {}",
                                     isOfCoordinates ? "2, " : "", bits));
    if (isOfCoordinates)
      crdRange = range;
    return unsigned(bits);
  }

  std::string number() {
    std::string sign = cursor.accept("-") ? "-" : "";
    if (sign.empty())
      cursor.accept("+");
    Token token = cursor.peek();
    if (cursor.accept("inf") || (sign.empty() && cursor.accept("nan")))
      return sign + std::string(token.text);
    if (token.text.starts_with("0x"))
      cursor.fail(token.range, "bit patterns are not read here; write the number in decimal, or inf or nan");
    if (token.kind == Token::Integer)
      return sign + std::to_string(cursor.expectInteger("a number"));
    if (token.kind != Token::Real)
      cursor.failExpected("a number, inf, nan, true, false or a complex pair (re, im)");
    cursor.take();
    double value = 0;
    auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (error != std::errc() && token.text.find_first_of("123456789") < token.text.find_first_of("eE"))
      cursor.fail(token.range, "this number is outside the range of a 64-bit float");
    std::string digits = fmt::format("{}", value);
    bool plain = digits.find_first_of(".en") != std::string::npos;
    return sign + digits + (plain ? "" : ".0");
  }

  std::string complexPair(std::string_view close) {
    const std::string real = number();
    cursor.expect(",", "between real and imaginary part");
    const std::string imaginary = number();
    cursor.expect(close, "after the imaginary part");
    return fmt::format("({}, {})", real, imaginary);
  }

  /// `#complex.number<:f64 1.0, 0.0>`
  std::string upstreamComplex() {
    for (std::string_view part : {"#", "complex", ".", "number", "<", ":"})
      cursor.expect(part, "of '#complex.number<:f64 re, im>'");
    Token type = cursor.expectWord("f32 or f64");
    if (!type.is("f32") && !type.is("f64"))
      cursor.fail(type.range, "expected f32 or f64, got '" + std::string(type.text) + "'");
    return complexPair(">") + (type.is("f32") ? " : c64" : " : c128");
  }

  std::string scalar() {
    std::string text;
    if (cursor.next("#"))
      return upstreamComplex();
    if (cursor.next("true") || cursor.next("false"))
      text = cursor.take().text;
    else
      text = cursor.accept("(") ? complexPair(")") : number();
    if (!cursor.accept(":"))
      return text;
    static const std::vector<std::string> types = {"bool", "i1",  "i8",  "i16", "i32", "i64",
                                                   "bf16", "f16", "f32", "f64", "c64", "c128"};
    Token type = cursor.expectWord("a type such as 'f64' after ':'");
    if (std::ranges::find(types, type.text) == types.end())
      cursor.fail(type.range,
                  fmt::format("unknown type '{}'{}", type.text, support::didYouMean(type.text, types)));
    return text + " : " + std::string(type.text);
  }

  /// MLIR, whose maps have no counters, writes `#i[n]` as a product with a symbol that stands for nothing
  /// else.
  void readCounters() {
    std::vector<unsigned> counts(out.symbols.size());
    std::vector<Expr> exprs;
    for (const Level &level : out.levels) {
      auto product = countingProduct(level.expr);
      if (product)
        ++counts[product->symbol];
      exprs.push_back(product ? counterOf({product->dim}, product->slices) : level.expr);
    }
    auto remains = [](const Expr &e) { return contains(e, ExprKind::Symbol); };
    if (std::ranges::any_of(counts, [](unsigned count) { return count != 1; }) ||
        std::ranges::any_of(exprs, remains) || std::ranges::any_of(out.dims, remains, &Dimension::inverse))
      return;
    out.symbols.clear();
    names.symbols.clear();
    for (unsigned l = 0; l < out.levels.size(); ++l)
      out.levels[l].expr = exprs[l];
  }

  /// Two texts that differ in the names of dimensions only are the same format, so dimensions get fixed
  /// names; not where one of these names something else.
  void rename() {
    std::vector<std::string> others = names.symbols;
    others.insert(others.end(), names.everLet.begin(), names.everLet.end());
    for (const Level &level : out.levels)
      others.push_back(level.name);
    std::vector<std::string> fixed = dimensionNames(out.order());
    if (std::ranges::find_first_of(fixed, others) != fixed.end())
      return;
    for (unsigned d = 0; d < out.order(); ++d)
      out.dims[d].name = fixed[d];
  }

  Cursor cursor;
  const Declarations &declared;
  Declarations own;
  size_t endOfLevels = 0;
  Names names;
  Encoding out;
  std::set<std::string> seenFields;
  std::vector<support::SourceRange> dimRanges, exprRanges, formatRanges;
  support::SourceRange crdRange;
};

} // namespace

Encoding parseEncoding(std::string_view text, std::string_view name, const Declarations &declared) {
  return Parser(text, name, declared).run();
}

Encoding parseFormatFor(std::string_view text, const std::vector<int64_t> &sizes, std::string_view name,
                        const Declarations &declared) {
  Encoding encoding = parseFormat(text, unsigned(sizes.size()), name, declared);
  const std::optional<Violation> found =
      whyNotExecutable(encoding).empty() ? notInvertible(encoding, sizes) : std::nullopt;
  // A preset has no text to point into.
  if (found && text.find("->") == std::string_view::npos)
    throwError("{}", found->message);
  if (found) {
    Parser parser(text, name, declared);
    parser.run();
    parser.fail(*found);
  }
  return encoding;
}

std::vector<std::string> dimensionNames(unsigned order) {
  std::vector<std::string> names;
  for (unsigned d = 0; d < order; ++d)
    names.push_back(order <= 8 ? std::string(1, char('i' + d)) : fmt::format("d{}", d));
  return names;
}

} // namespace tulle::format
