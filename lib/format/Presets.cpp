// The table of named formats. A format's name is found by writing out every preset that could give it.
#include "format/Encoding.h"
#include "format/ExprParser.h"
#include "support/Suggest.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <sstream>

namespace tulle::format {
namespace {

using Arguments = std::vector<int64_t>;

/// One named format. Its text is an encoding of two dimensions, with `{0}`, `{1}` for the arguments; or the
/// level formats of any order from the outermost on, of which that with '*' stands for any number. That of
/// HiCOO is computed.
struct Row {
  std::string_view name, parameters, what, text;
  unsigned minOrder = 0, exampleOrder = 2;
  int64_t first = 0, second = 0; ///< arguments of the example

  bool isHiCOO() const { return text.empty(); }
  bool isOfMatrices() const { return text.starts_with("("); }
  /// The arguments are a mode order, and may be left out.
  bool hasOptionalOrder() const { return parameters == "(perm)"; }
  /// HiCOO with more dimensions would have too few bits of each.
  unsigned maxOrder() const { return isHiCOO() ? 8 : maxDims; }
  unsigned arity() const {
    return parameters.empty() || hasOptionalOrder() ? 0 : unsigned(std::ranges::count(parameters, ',') + 1);
  }
  std::string shownName() const { return std::string(name) + std::string(parameters); }
};

constexpr Row rows[] = {
    // name, parameters, what, text, smallest order, order and arguments of the example
    {"dense", "", "every coordinate, last dimension fastest", "dense*"},
    {"denseColMajor", "", "every coordinate, first dimension fastest", "dense*"},
    {"COO", "", "sorted coordinate tuples, interleaved", "compressed(nonunique)/singleton(nonunique)*", 1},
    {"COO-soa", "", "sorted coordinates, one array per dimension",
     "compressed(nonunique)/singleton(nonunique, soa)*", 1},
    {"CSR", "", "compressed rows", "(i, j) -> (i : dense, j : compressed)"},
    {"CSC", "", "compressed columns", "(i, j) -> (j : dense, i : compressed)"},
    {"DCSR", "", "compressed rows, empty ones left out", "(i, j) -> (i : compressed, j : compressed)"},
    {"DCSC", "", "compressed columns, empty ones left out", "(i, j) -> (j : compressed, i : compressed)"},
    {"BCSR", "(b,c)", "compressed rows of dense blocks of b rows and c columns",
     "(i, j) -> (i floordiv {0} : dense, j floordiv {1} : compressed, i mod {0} : dense, j mod {1} : dense)",
     2, 2, 2, 3},
    {"BCSC", "(b,c)", "compressed columns of dense blocks of b rows and c columns",
     "(i, j) -> (j floordiv {1} : dense, i floordiv {0} : compressed, i mod {0} : dense, j mod {1} : dense)",
     2, 2, 2, 3},
    {"DIA", "", "diagonals that hold an entry, each as long as a column",
     "(i, j) -> (j - i : squeezed, i : dense, j : offset)"},
    {"ELL", "", "rows padded to the longest, stored column by column",
     "(i, j) -> (#i : dense, i : dense, j : singleton(padded))"},
    {"ELLR", "", "rows padded to the longest, stored row by row", "(i, j) -> (i : dense, j : fixed)"},
    {"JDS", "", "jagged diagonals: rows sorted by length, stored column by column",
     "(i, j) -> (#i : dense, rank(i by count(j)) : ragged, j : singleton)"},
    {"SELL", "(C,s)", "slices of C rows padded alike, rows sorted by length within s",
     "(i, j) -> (let r = rank(i by count(j) within {1}) in r floordiv {0} : dense, #i : ragged(padded), r "
     "mod {0} : dense, j : singleton(padded))",
     2, 2, 8, 64},
    {"skyline", "", "from each row's first entry to the diagonal", "(i, j) -> (i : dense, j : banded)"},
    {"NV24", "", "two of every four columns, as NVIDIA's sparse tensor cores read them",
     "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2"},
    {"NM", "(n,m)", "n of every m columns",
     "(i, j) -> (i : dense, j floordiv {1} : dense, j mod {1} : structured[{0},{1}])", 2, 2, 1, 4},
    {"BCOO", "", "a batch of coordinate lists, with free space between them",
     "dense/loose_compressed(nonunique)/singleton(nonunique)*", 2, 3},
    {"CSF", "(perm)", "compressed fibers, in the order of dimensions or in the order perm", "compressed*", 1,
     3},
    {"HiCOO", "(bits)", "blocks of 2^bits along the Morton curve; offsets inside as coordinates", "", 2, 2,
     2},
    {"DOK", "", "hash tables, for entries that come in any order", "hashed*", 1},
    {"bitmap", "", "a bit per coordinate next to dense values", "dense*/bitmap", 1},
    {"ragged", "", "rows of different lengths, each full", "dense/ragged*", 2},
    {"jagged", "", "the same, where each row lies anywhere", "dense/jagged*", 2},
};

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

/// The level formats of a preset of any order, for one of them.
std::vector<std::string> levelFormats(const Row &row, unsigned order) {
  std::vector<std::string> formats;
  const auto others = unsigned(std::ranges::count(row.text, '/'));
  std::istringstream text{std::string(row.text)};
  for (std::string format; std::getline(text, format, '/');) {
    const bool repeats = format.ends_with('*');
    formats.insert(formats.end(), repeats ? order - others : 1, format.substr(0, format.find('*')));
  }
  // Entries are unique as a whole, so the innermost level has no duplicates.
  if (std::string &last = formats.back(); last.find("nonunique") != std::string::npos)
    last = last.substr(0, last.find('(')) + (last.ends_with("soa)") ? "(soa)" : "");
  return formats;
}

std::string levelsText(const Row &row, unsigned order, const Arguments &arguments) {
  std::vector<std::string> dims = dimensionNames(order), levels = order ? levelFormats(row, order) : dims;
  const bool reversed = row.name == "denseColMajor";
  for (unsigned l = 0; l < order; ++l)
    levels[l] = dims[reversed ? order - 1 - l : arguments.empty() ? l : arguments[l]] + " : " + levels[l];
  return fmt::format("({}) -> ({})", fmt::join(dims, ", "), fmt::join(levels, ", "));
}

std::string text(const Row &row, unsigned order, const Arguments &arguments) {
  if (row.isHiCOO())
    return hicooText(order, arguments[0]);
  if (!row.isOfMatrices())
    return levelsText(row, order, arguments);
  return fmt::format(fmt::runtime(row.text), arguments.empty() ? 0 : arguments[0],
                     arguments.size() < 2 ? 0 : arguments[1]);
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
    cursor.list(")", "or ',' after an argument", [&] {
      const size_t begin = cursor.peek().range.begin;
      use.arguments.push_back(cursor.expectInteger("an integer"));
      use.argumentRanges.push_back(cursor.since(begin));
    });
  }
  use.range = cursor.since(word.range.begin);
  if (!cursor.atEnd())
    cursor.failExpected("nothing after the format");
  return use;
}

bool sameWord(std::string_view a, std::string_view b) {
  auto same = [](char x, char y) { return support::lower(x) == support::lower(y) || (x == '_' && y == '-'); };
  return std::ranges::equal(a, b, same);
}

/// What other libraries call a format, and what it is here.
constexpr std::pair<std::string_view, std::string_view> otherNames[] = {
    {"BSR", "'BCSR(b,c)'"},
    {"BSC", "'BCSC(b,c)'"},
    {"ELLPACK", "'ELL'"},
    {"LIL", "'CSR'"},
    {"HYB", "a sum of tensors, which a schedule makes: 'decompose(A, hyb(1, 3))'"}};

const Row &findRow(const Cursor &cursor, const Use &use) {
  std::vector<std::string> known;
  for (const Row &row : rows) {
    if (sameWord(use.name, row.name))
      return row;
    known.emplace_back(row.name);
  }
  for (const auto &[other, name] : otherNames)
    if (sameWord(use.name, other))
      cursor.fail(use.nameRange, fmt::format("unknown format '{}'; here it is {}", use.name, name));
  const std::string all =
      fmt::format("; the formats are {}, or an encoding such as '(i, j) -> (i : dense, j : compressed)'",
                  fmt::join(known, ", "));
  cursor.fail(use.nameRange,
              fmt::format("unknown format '{}'{}", use.name, support::didYouMean(use.name, known, all)));
}

void checkArguments(const Cursor &cursor, const Use &use, const Row &row, unsigned order) {
  if (row.hasOptionalOrder() && use.parenthesised) {
    Arguments sorted = use.arguments, all(order);
    std::ranges::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
      cursor.fail(use.range,
                  fmt::format("expected each of the dimensions 0 to {} once, outermost first", order - 1));
    return;
  }
  const unsigned wanted = row.arity();
  if (use.arguments.size() != wanted)
    cursor.fail(use.range, wanted == 0 ? fmt::format("{} takes no arguments", row.name)
                                       : fmt::format("expected {} with {} integer{}", row.shownName(), wanted,
                                                     wanted == 1 ? "" : "s"));
  const int64_t largest = row.isHiCOO() ? 8 : 1 << 20;
  for (size_t a = 0; a < wanted; ++a)
    if (use.arguments[a] < 1 || use.arguments[a] > largest)
      cursor.fail(use.argumentRanges[a], fmt::format("expected an integer from 1 to {}", largest));
  if (row.name == "NM" && use.arguments[0] > use.arguments[1])
    cursor.fail(use.range, "NM(n,m) keeps n of every m: n is at most m");
}

std::string dimensions(unsigned count) { return fmt::format("{} dimension{}", count, count == 1 ? "" : "s"); }

void checkOrder(const Cursor &cursor, const Use &use, const Row &row, unsigned order) {
  auto refuse = [&](std::string_view bound, unsigned orders, std::string_view cure) {
    cursor.fail(use.range, fmt::format("{} is for tensors of {}{}, this one has {}; {}", row.name, bound,
                                       dimensions(orders), dimensions(order), cure));
  };
  if (row.isOfMatrices() && order != 2)
    refuse("", 2, "dense, COO and CSF fit any number");
  if (order > row.maxOrder())
    refuse("at most ", row.maxOrder(), "write COO or CSF");
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
  std::vector<Arguments> out = {{}};
  if (row.hasOptionalOrder()) {
    Arguments perm;
    for (const Level &level : encoding.levels)
      if (level.expr->kind == ExprKind::Dim)
        perm.push_back(level.expr->value);
    if (perm.size() == encoding.order() && std::set(perm.begin(), perm.end()).size() == perm.size())
      out.push_back(perm);
    return out;
  }
  std::set<int64_t> values;
  for (const Level &level : encoding.levels) {
    collect(level.expr, values);
    values.insert(level.format.n);
  }
  values.erase(values.begin(), values.upper_bound(0));
  constexpr size_t enough = 4; // no preset mentions more
  if (row.isHiCOO())
    values = {1, 2, 3, 4, 5, 6, 7, 8};
  else if (row.arity() > 0 && values.size() > enough)
    return {};
  for (unsigned a = 0; a < row.arity(); ++a) {
    std::vector<Arguments> longer;
    for (Arguments arguments : out)
      for (arguments.push_back(0); int64_t value : values) {
        arguments.back() = value;
        longer.push_back(arguments);
      }
    out = std::move(longer);
  }
  return out;
}

/// The text of the encoding with widths left open.
std::string withoutWidths(Encoding encoding) {
  encoding.posWidth = encoding.crdWidth = 0;
  return printBody(encoding);
}

} // namespace

Encoding parseFormat(std::string_view source, unsigned order, std::string_view name,
                     const Declarations &declared) {
  Cursor cursor(encodingLanguage, source, name);
  bool isName = cursor.peek().kind == Token::Word && !cursor.peek(1).is("=");
  if (!isName && !cursor.atEnd()) {
    Encoding encoding = parseEncoding(source, name, declared);
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
  for (const Row &row : rows) {
    Arguments example{row.first, row.second};
    example.resize(row.arity());
    std::string body = printBody(parseEncoding(text(row, row.exampleOrder, example), row.name));
    if (body.find("Width = ") == std::string::npos)
      body = body.substr(std::string_view("map = ").size());
    out.push_back({row.shownName(), body, std::string(row.what)});
  }
  return out;
}

std::string displayName(const Encoding &encoding) {
  const std::string wanted = withoutWidths(encoding);
  for (const Row &row : rows) {
    if (row.isOfMatrices() ? encoding.order() != 2
                           : encoding.order() < row.minOrder || encoding.order() > row.maxOrder())
      continue;
    for (const Arguments &arguments : candidates(row, encoding)) {
      if (row.name == "NM" && arguments[0] > arguments[1])
        continue;
      std::string candidate = text(row, encoding.order(), arguments);
      if (withoutWidths(parseEncoding(candidate, row.name)) != wanted)
        continue;
      return std::string(row.name) +
             (arguments.empty() ? "" : fmt::format("({})", fmt::join(arguments, ",")));
    }
  }
  const size_t begin = std::string_view("map = ").size();
  return wanted.substr(begin, wanted.find(", levels = {") - begin);
}

} // namespace tulle::format
