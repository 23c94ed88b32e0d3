// The table of named formats.
#include "format/Encoding.h"
#include "format/ExprParser.h"
#include "support/Suggest.h"
#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <set>

namespace tulle::format {
namespace {

using Arguments = std::vector<int64_t>;

// Beyond what any text can hold; MLIR has tensors of any rank.
constexpr unsigned largestOrder = 64;

/// One named format. Those of a fixed order give the whole text, with `{0}`, `{1}` for the arguments; those
/// of any order give the level formats from the outermost on, of which the last repeats, and `innermost`
/// where that one differs.
struct Row {
  std::string_view name;
  std::string_view parameters = {}; ///< as shown, e.g. `(b,c)`; empty: none
  std::string_view what;
  std::string_view text = {};
  std::vector<std::string_view> levels = {};
  std::string_view innermost = {};
  unsigned minOrder = 0, maxOrder = largestOrder;
  unsigned exampleOrder = 2;
  bool reversed = false;
  Arguments example = {};
  bool optionalOrder = false; ///< the arguments are a mode order, and may be left out
};

const std::vector<Row> &rows() {
  static const std::vector<Row> table = {
      {.name = "dense", .what = "every coordinate, last dimension fastest", .levels = {"dense"}},
      {.name = "denseColMajor",
       .what = "every coordinate, first dimension fastest",
       .levels = {"dense"},
       .reversed = true},
      {.name = "COO",
       .what = "sorted coordinate tuples, interleaved",
       .levels = {"compressed(nonunique)", "singleton(nonunique)"},
       .minOrder = 1},
      {.name = "COO-soa",
       .what = "sorted coordinates, one array per dimension",
       .levels = {"compressed(nonunique)", "singleton(nonunique, soa)"},
       .minOrder = 1},
      {.name = "CSR", .what = "compressed rows", .text = "(i, j) -> (i : dense, j : compressed)"},
      {.name = "CSC", .what = "compressed columns", .text = "(i, j) -> (j : dense, i : compressed)"},
      {.name = "DCSR",
       .what = "compressed rows, empty ones left out",
       .text = "(i, j) -> (i : compressed, j : compressed)"},
      {.name = "DCSC",
       .what = "compressed columns, empty ones left out",
       .text = "(i, j) -> (j : compressed, i : compressed)"},
      {.name = "BCSR",
       .parameters = "(b,c)",
       .what = "compressed rows of dense blocks of b rows and c columns",
       .text = "(i, j) -> (i floordiv {0} : dense, j floordiv {1} : compressed, i mod {0} : dense, j mod {1} "
               ": dense)",
       .example = {2, 3}},
      {.name = "BCSC",
       .parameters = "(b,c)",
       .what = "compressed columns of dense blocks of b rows and c columns",
       .text = "(i, j) -> (j floordiv {1} : dense, i floordiv {0} : compressed, i mod {0} : dense, j mod {1} "
               ": dense)",
       .example = {2, 3}},
      {.name = "DIA",
       .what = "diagonals that hold an entry, each as long as a column",
       .text = "(i, j) -> (j - i : squeezed, i : dense, j : offset)"},
      {.name = "ELL",
       .what = "rows padded to the longest, stored column by column",
       .text = "(i, j) -> (#i : dense, i : dense, j : singleton(padded))"},
      {.name = "ELLR",
       .what = "rows padded to the longest, stored row by row",
       .text = "(i, j) -> (i : dense, j : fixed)"},
      {.name = "JDS",
       .what = "jagged diagonals: rows sorted by length, stored column by column",
       .text = "(i, j) -> (#i : dense, rank(i by count(j)) : ragged, j : singleton)"},
      {.name = "SELL",
       .parameters = "(C,s)",
       .what = "slices of C rows padded alike, rows sorted by length within s",
       .text = "(i, j) -> (let r = rank(i by count(j) within {1}) in r floordiv {0} : dense, #i : "
               "ragged(padded), "
               "r mod {0} : dense, j : singleton(padded))",
       .example = {8, 64}},
      {.name = "skyline",
       .what = "from each row's first entry to the diagonal",
       .text = "(i, j) -> (i : dense, j : banded)"},
      {.name = "NV24",
       .what = "two of every four columns, as NVIDIA's sparse tensor cores read them",
       .text = "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2"},
      {.name = "NM",
       .parameters = "(n,m)",
       .what = "n of every m columns",
       .text = "(i, j) -> (i : dense, j floordiv {1} : dense, j mod {1} : structured[{0},{1}])",
       .example = {1, 4}},
      {.name = "BCOO",
       .what = "a batch of coordinate lists, with free space between them",
       .levels = {"dense", "loose_compressed(nonunique)", "singleton(nonunique)"},
       .minOrder = 2,
       .exampleOrder = 3},
      {.name = "CSF",
       .parameters = "(perm)",
       .what = "compressed fibers, in the order of dimensions or in the order perm",
       .levels = {"compressed"},
       .minOrder = 1,
       .exampleOrder = 3,
       .optionalOrder = true},
      {.name = "HiCOO",
       .parameters = "(bits)",
       .what = "blocks of 2^bits along the Morton curve; offsets inside as coordinates",
       .minOrder = 2,
       .maxOrder = 8, // with more dimensions each would have too few bits
       .example = {2}},
      {.name = "DOK",
       .what = "hash tables, for entries that come in any order",
       .levels = {"hashed"},
       .minOrder = 1},
      {.name = "bitmap",
       .what = "a bit per coordinate next to dense values",
       .levels = {"dense"},
       .innermost = "bitmap",
       .minOrder = 1},
      {.name = "ragged",
       .what = "rows of different lengths, each full",
       .levels = {"dense", "ragged"},
       .minOrder = 2},
  };
  return table;
}

bool isHiCOO(const Row &row) { return row.name == "HiCOO"; }

unsigned arity(const Row &row) {
  return row.parameters.empty() || row.optionalOrder
             ? 0
             : unsigned(std::count(row.parameters.begin(), row.parameters.end(), ',') + 1);
}

std::string shownName(const Row &row) { return std::string(row.name) + std::string(row.parameters); }

unsigned fixedOrder(const Row &row) { return row.text.empty() ? 0 : 2; }

/// Spreads the low `width` bits of a block coordinate to every `order`th bit: each step halves the runs of
/// bits that are still together and moves the upper half of each to where it belongs.
std::string spread(const std::string &dim, unsigned order, unsigned width, int64_t bits, unsigned &steps) {
  std::string text = fmt::format("let {0}0 = {0} shr {1} in ", dim, bits);
  steps = 0;
  for (unsigned run = std::bit_ceil(width) / 2; run >= 1; run /= 2, ++steps) {
    uint64_t mask = 0;
    for (unsigned b = 0; b < width; ++b)
      mask |= uint64_t(1) << (b / run * run * order + b % run);
    text += fmt::format("let {0}{2} = ({0}{1} | {0}{1} shl {3}) & {4} in ", dim, steps, steps + 1,
                        run * (order - 1), mask);
  }
  return text;
}

/// The bits of the blocks' coordinates interleaved, the innermost dimension's lowest (Li et al. 2018, HiCOO):
/// 16 of each dimension, or as many as fit the 63 of a coordinate.
std::string hicooText(unsigned order, int64_t bits) {
  std::vector<std::string> dims = dimensionNames(order), code, levels;
  std::string spreads;
  unsigned width = std::min(16u, 63 / order);
  for (unsigned d = 0; d < order; ++d) {
    unsigned steps = 0;
    spreads += spread(dims[d], order, width, bits, steps);
    bool last = d + 1 == order;
    code.push_back(fmt::format("{}{}{}", dims[d], steps, last ? "" : fmt::format(" shl {}", order - 1 - d)));
    levels.push_back(fmt::format("{} mod {} : singleton{}", dims[d], 1 << bits, last ? "" : "(nonunique)"));
  }
  return fmt::format("({}) -> ({}{} : compressed(nonunique), {})", fmt::join(dims, ", "), spreads,
                     fmt::join(code, " | "), fmt::join(levels, ", "));
}

/// The text of a preset of any order.
std::string levelsText(const Row &row, unsigned order, const Arguments &arguments) {
  std::vector<std::string> dims = dimensionNames(order), levels;
  for (unsigned l = 0; l < order; ++l) {
    unsigned d = row.reversed ? order - 1 - l : arguments.empty() ? l : unsigned(arguments[l]);
    bool last = l + 1 == order;
    std::string level(row.levels[std::min<size_t>(l, row.levels.size() - 1)]);
    if (last && !row.innermost.empty())
      level = row.innermost;
    // Entries are unique as a whole, so the innermost level has no duplicates.
    if (size_t at = level.find("nonunique"); last && at != std::string::npos) {
      const bool soa = level == "singleton(nonunique, soa)";
      level = level.substr(0, at - 1) + (soa ? "(soa)" : "");
    }
    levels.push_back(dims[d] + " : " + level);
  }
  return fmt::format("({}) -> ({})", fmt::join(dims, ", "), fmt::join(levels, ", "));
}

std::string text(const Row &row, unsigned order, const Arguments &arguments) {
  if (isHiCOO(row))
    return hicooText(order, arguments[0]);
  if (!row.levels.empty())
    return levelsText(row, order, arguments);
  int64_t first = arguments.size() > 0 ? arguments[0] : 0, second = arguments.size() > 1 ? arguments[1] : 0;
  return fmt::format(fmt::runtime(row.text), first, second);
}

/// A preset's name and arguments in a text, with their ranges for errors.
struct Use {
  std::string name;
  support::SourceRange nameRange, range;
  Arguments arguments;
  std::vector<support::SourceRange> argumentRanges;
  bool parenthesised = false;
};

Use parseUse(Cursor &cursor) {
  Use use;
  Token word =
      cursor.expectWord("a format's name, or an encoding such as '(i, j) -> (i : dense, j : compressed)'");
  use.name = word.text;
  while (cursor.next("-") && cursor.peek(1).kind == Token::Word) {
    cursor.take();
    use.name += "-" + std::string(cursor.take().text);
  }
  use.nameRange = cursor.since(word.range.begin);
  if (cursor.accept("(")) {
    use.parenthesised = true;
    do {
      size_t begin = cursor.peek().range.begin;
      use.arguments.push_back(cursor.expectInteger("an integer"));
      use.argumentRanges.push_back(cursor.since(begin));
    } while (cursor.accept(","));
    cursor.expect(")", "or ',' after an argument");
  }
  use.range = cursor.since(word.range.begin);
  if (!cursor.atEnd())
    cursor.failExpected("nothing after the format");
  return use;
}

bool sameWord(std::string_view a, std::string_view b) {
  auto same = [](char x, char y) { return support::lower(x) == support::lower(y) || (x == '_' && y == '-'); };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

const Row &findRow(const Cursor &cursor, const Use &use) {
  std::vector<std::string> known;
  for (const Row &row : rows()) {
    if (sameWord(use.name, row.name))
      return row;
    known.emplace_back(row.name);
  }
  const std::string all =
      fmt::format("; the formats are {}, or an encoding such as '(i, j) -> (i : dense, j : compressed)'",
                  fmt::join(known, ", "));
  cursor.fail(use.nameRange,
              fmt::format("unknown format '{}'{}", use.name, support::didYouMean(use.name, known, all)));
}

void checkArguments(const Cursor &cursor, const Use &use, const Row &row, unsigned order) {
  unsigned wanted = arity(row);
  if (row.optionalOrder && use.parenthesised) {
    std::set<int64_t> distinct(use.arguments.begin(), use.arguments.end());
    bool permutation =
        use.arguments.size() == order && distinct.size() == order && *distinct.rbegin() == int64_t(order) - 1;
    if (!permutation)
      cursor.fail(use.range,
                  fmt::format("expected each of the dimensions 0 to {} once, outermost first", order - 1));
    return;
  }
  if (use.arguments.size() != wanted)
    cursor.fail(use.range, wanted == 0 ? fmt::format("{} takes no arguments", row.name)
                                       : fmt::format("expected {} with {} integer{}", shownName(row), wanted,
                                                     wanted == 1 ? "" : "s"));
  constexpr int64_t largestBlock = 1 << 20;
  for (size_t a = 0; a < wanted; ++a) {
    int64_t largest = isHiCOO(row) ? 8 : largestBlock;
    if (use.arguments[a] < 1 || use.arguments[a] > largest)
      cursor.fail(use.argumentRanges[a], fmt::format("expected an integer from 1 to {}", largest));
  }
  if (row.name == "NM" && use.arguments[0] > use.arguments[1])
    cursor.fail(use.range, "NM(n,m) keeps n of every m: n is at most m");
}

std::string dimensions(unsigned count) { return fmt::format("{} dimension{}", count, count == 1 ? "" : "s"); }

void checkOrder(const Cursor &cursor, const Use &use, const Row &row, unsigned order) {
  auto refuse = [&](std::string_view bound, unsigned orders, std::string_view cure) {
    cursor.fail(use.range, fmt::format("{} is for tensors of {}{}, this one has {}; {}", row.name, bound,
                                       dimensions(orders), dimensions(order), cure));
  };
  if (unsigned fixed = fixedOrder(row); fixed != 0 && fixed != order)
    refuse("", fixed, "dense, COO and CSF fit any number");
  if (order > row.maxOrder)
    refuse("at most ", row.maxOrder, "write COO or CSF");
  if (order < row.minOrder)
    refuse("at least ", row.minOrder, "write dense");
}

/// The integers of an encoding: what the arguments of a preset may have been.
void collect(const Expr &e, std::set<int64_t> &out) {
  if (!e)
    return;
  if (e->kind == ExprKind::Constant || e->kind == ExprKind::Rank)
    out.insert(e->value);
  collect(e->lhs, out);
  collect(e->rhs, out);
}

/// All argument lists for `row` that could give `encoding`.
std::vector<Arguments> candidates(const Row &row, const Encoding &encoding) {
  if (row.optionalOrder) {
    Arguments perm;
    for (const Level &level : encoding.levels)
      if (level.expr->kind == ExprKind::Dim)
        perm.push_back(level.expr->value);
    const std::set<int64_t> distinct(perm.begin(), perm.end());
    return perm.size() == encoding.order() && distinct.size() == perm.size()
               ? std::vector<Arguments>{{}, perm}
               : std::vector<Arguments>{{}};
  }
  std::vector<Arguments> out = {{}};
  std::set<int64_t> values;
  for (const Level &level : encoding.levels) {
    collect(level.expr, values);
    if (level.format.n)
      values.insert(level.format.n);
  }
  constexpr size_t enough = 4; // no preset mentions more
  if (isHiCOO(row))
    values = {1, 2, 3, 4, 5, 6, 7, 8};
  else if (arity(row) > 0 && values.size() > enough)
    return {};
  for (unsigned a = 0; a < arity(row); ++a) {
    std::vector<Arguments> longer;
    for (const Arguments &prefix : out)
      for (int64_t value : values)
        if (value > 0) {
          longer.push_back(prefix);
          longer.back().push_back(value);
        }
    out = std::move(longer);
  }
  return out;
}

Encoding withoutWidths(Encoding encoding) {
  encoding.posWidth = encoding.crdWidth = 0;
  return encoding;
}

} // namespace

Encoding parseFormat(std::string_view source, unsigned order, std::string_view name) {
  Cursor cursor(encodingLanguage, source, name);
  bool isName = cursor.peek().kind == Token::Word && !cursor.peek(1).is("=");
  if (!isName && !cursor.atEnd()) {
    Encoding encoding = parseEncoding(source, name);
    if (encoding.order() != order)
      cursor.fail({0, source.size()}, fmt::format("this encoding is for tensors of {}, this one has {}",
                                                  dimensions(encoding.order()), dimensions(order)));
    return encoding;
  }
  Use use = parseUse(cursor);
  const Row &row = findRow(cursor, use);
  checkOrder(cursor, use, row, order);
  checkArguments(cursor, use, row, order);
  return parseEncoding(text(row, order, use.arguments), row.name);
}

std::vector<Preset> presets() {
  std::vector<Preset> out;
  for (const Row &row : rows()) {
    Encoding encoding = parseEncoding(text(row, row.exampleOrder, row.example), row.name);
    std::string body = printBody(encoding);
    bool onlyMap = body.find("Width = ") == std::string::npos;
    out.push_back({shownName(row), onlyMap ? body.substr(std::string_view("map = ").size()) : body,
                   std::string(row.what)});
  }
  return out;
}

std::string displayName(const Encoding &encoding) {
  Encoding plain = withoutWidths(encoding);
  std::string wanted = printBody(plain);
  for (const Row &row : rows()) {
    unsigned fixed = fixedOrder(row);
    if (encoding.order() > row.maxOrder || (fixed != 0 && fixed != encoding.order()) ||
        encoding.order() < row.minOrder)
      continue;
    for (const Arguments &arguments : candidates(row, encoding)) {
      if (row.name == "NM" && arguments[0] > arguments[1])
        continue;
      std::string candidate = text(row, encoding.order(), arguments);
      if (printBody(withoutWidths(parseEncoding(candidate, row.name))) != wanted)
        continue;
      return std::string(row.name) +
             (arguments.empty() ? "" : fmt::format("({})", fmt::join(arguments, ",")));
    }
  }
  return wanted.substr(std::string_view("map = ").size());
}

} // namespace tulle::format
