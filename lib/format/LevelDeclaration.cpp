// Parses declarations of level formats, and recognizes the built-in ones among them. What a declaration
// leaves out or contradicts is refused where it stands; what depends on the entries is checked by the code
// that stores them.
#include "format/LevelDeclaration.h"
#include "format/ExprParser.h"
#include "format/LevelKinds.h"
#include "support/Suggest.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::format {
namespace {

constexpr size_t maxLevelFormats = 100, maxNodes = 200;
constexpr unsigned maxDepth = 50;
constexpr int64_t maxConstant = int64_t(1) << 31;

using Allowed = uint32_t;
constexpr Allowed bit(unsigned variable) { return Allowed(1) << variable; }
constexpr Allowed queried = bit(kQuery) | bit(kQuery + 1), largest = bit(kLargest) | bit(kLargest + 1);
constexpr Allowed sizes = bit(kLevelSize) | bit(kStoredSize);
constexpr Allowed ofParent = sizes | bit(kParent) | bit(kBegin) | bit(kEnd) | bit(kParentCoordinate);

Expr var(unsigned variable) { return levelVar(variable); }

class DeclarationParser {
public:
  explicit DeclarationParser(Cursor &cursor, const Declarations &before) : cursor(cursor), before(before) {}

  std::shared_ptr<const LevelDeclaration> run() {
    const Cursor start = cursor;
    cursor.expect("level", "before the name of a declared level format");
    nameRange = cursor.peek().range;
    out.name = expectName(cursor, "the level format's name");
    checkName();
    cursor.expect("{", "after the level format's name");
    while (!cursor.accept("}"))
      statement();
    const size_t end = cursor.since(nameRange.begin).end;
    writeText(start, end);
    check();
    out.builtIn = builtIn();
    out.source = {std::string(cursor.textName()), std::string(cursor.wholeText()), std::move(parts)};
    return std::make_shared<const LevelDeclaration>(std::move(out));
  }

private:
  [[noreturn]] void fail(support::SourceRange range, const std::string &message) const {
    cursor.fail(range, message);
  }

  /// The tokens up to `end`, with blanks where one would write them.
  void writeText(Cursor at, size_t end) {
    Token last;
    for (; !at.atEnd() && at.peek().range.begin < end; last = at.take()) {
      const Token &token = at.peek();
      const bool opens = (token.is("(") || token.is("[")) && last.kind == Token::Word;
      const bool closes = token.is(")") || token.is("]") || token.is(",") || token.is(";");
      if (last.kind != Token::End && !last.is("(") && !last.is("[") && !opens && !closes)
        out.text += ' ';
      out.text += token.text;
    }
  }

  void checkName() const {
    for (const LevelKindInfo &row : levelKinds)
      if (row.name == out.name || out.name == "block2_4")
        fail(nameRange, fmt::format("'{}' is a built-in level format; choose another name", out.name));
    if (findLevel(before, out.name))
      fail(nameRange, fmt::format("'{}' is declared twice", out.name));
  }

  //===--- Statements ---===//

  void statement() {
    static const std::vector<std::string> known{"properties",  "query",     "size",       "edges",
                                                "coordinates", "positions", "coordinate", "insert"};
    const Token word = cursor.expectWord("a part of the level format, such as 'query', or '}'");
    if (!indexOf(known, word.text))
      fail(word.range, fmt::format("unknown part '{}'{}", word.text,
                                   support::didYouMean(word.text, known,
                                                       fmt::format("; the parts of a level format are {}",
                                                                   fmt::join(known, ", ")))));
    support::SourceRange &range = parts[std::string(word.text)];
    const bool again = range.end != 0;
    if (again && !word.is("query"))
      fail(word.range, fmt::format("'{}' is given twice", word.text));
    if (word.is("properties"))
      cursor.list(";", "or ',' after a property", [&] { property(); });
    else
      part(word);
    range = cursor.since(word.range.begin);
  }

  void part(const Token &word) {
    if (word.is("query"))
      query();
    else if (word.is("size"))
      size();
    else if (word.is("edges"))
      edges();
    else if (word.is("coordinates"))
      coordinates();
    else if (word.is("positions"))
      positions();
    else if (word.is("coordinate"))
      coordinate();
    else
      insert();
    cursor.expect(";", fmt::format("to end '{}'", word.text));
  }

  void expectAll(std::initializer_list<std::string_view> tokens, std::string_view where) {
    for (std::string_view token : tokens)
      cursor.expect(token, where);
  }

  void property() {
    const Token word = cursor.expectWord("a property such as 'padded'");
    if (word.is("nonunique") || word.is("nonordered"))
      fail(word.range, "a declared level has each coordinate of a parent once, and in order; leave it out");
    static const std::vector<std::string> known{"ordered", "unique", "padded"};
    if (!indexOf(known, word.text))
      fail(word.range, fmt::format("unknown property '{}'{}", word.text,
                                   support::didYouMean(word.text, known,
                                                       "; the properties are ordered, unique, padded")));
    out.padded |= word.is("padded");
  }

  /// `select [p] -> count(c) as nz`, as queries are written elsewhere.
  void query() {
    expectAll({"select", "["}, "of 'query select [p] -> count(c) as NAME'");
    const bool perParent = cursor.accept("p");
    if (!perParent)
      cursor.expect("c", "or 'p' in the brackets of a query");
    expectAll({"]", "->"}, "of 'query select [p] -> count(c) as NAME'");
    const Token word = cursor.expectWord("count, max, min or id");
    static const std::vector<std::string> known{"count", "max", "min", "id"};
    const std::optional<unsigned> kind = indexOf(known, word.text);
    if (!kind)
      fail(word.range,
           fmt::format("unknown query '{}'{}", word.text,
                       support::didYouMean(word.text, known, "; expected count, max, min or id")));
    if ((LevelQuery::Kind(*kind) == LevelQuery::Id) == perParent)
      fail(word.range,
           "write 'select [p] -> count(c)', '… -> max(c)', '… -> min(c)', or 'select [c] -> id()'");
    cursor.expect("(", "after the query's kind");
    if (perParent)
      cursor.expect("c", "in the query's parentheses");
    expectAll({")", "as"}, "before the query's name");
    const Token name = cursor.peek();
    LevelQuery made{LevelQuery::Kind(*kind), expectName(cursor, "the query's name")};
    if (isTaken(made.name))
      fail(name.range, fmt::format("'{}' already names something here; choose another name", made.name));
    if (out.queries.size() == 2)
      fail(name.range, "a level format has at most two queries");
    if (!out.queries.empty() && (made.kind == LevelQuery::Id || out.queries[0].kind == LevelQuery::Id))
      fail(name.range, "the query 'id' stands alone");
    if (!out.queries.empty() && out.queries[0].kind == made.kind)
      fail(name.range, fmt::format("'{}' asks the same already", out.queries[0].name));
    out.queries.push_back(std::move(made));
    queryRanges.push_back(name.range);
  }

  bool isTaken(std::string_view name) const {
    static constexpr std::string_view words[] = {"p",   "q",   "c",   "k",    "N",   "K",  "pos",
                                                 "crd", "min", "max", "rank", "nth", "to", "append"};
    return std::ranges::find(words, name) != std::end(words) ||
           std::ranges::find(out.queries, name, &LevelQuery::name) != out.queries.end();
  }

  void size() {
    expectAll({"K", "="}, "of 'size K = …'");
    if (!cursor.next("count"))
      out.size = expr(bit(kLevelSize) | largest, "the size that is stored once for the level");
    else
      table("count", ")");
  }

  /// `count(used)`, `nth(used, k)`, `rank(used, c)`: what the table of the coordinates that occur answers.
  void table(std::string_view what, std::string_view last) {
    cursor.expect(what, "of the table of coordinates");
    cursor.expect("(", fmt::format("after '{}'", what));
    const Token name = cursor.expectWord("a query 'select [c] -> id() as NAME'");
    if (out.queries.empty() || out.queries[0].kind != LevelQuery::Id || out.queries[0].name != name.text)
      fail(name.range, fmt::format("'{}' is no query 'select [c] -> id()'", name.text));
    used |= bit(kQuery);
    if (last != ")") {
      cursor.expect(",", "after the query's name");
      cursor.expect(last, "after the comma");
    }
    cursor.expect(")", fmt::format("to close '{}('", what));
  }

  void edges() {
    expectAll({"pos", "[", "p", "+", "1", "]", "=", "pos", "[", "p", "]", "+"},
              "of 'edges pos[p + 1] = pos[p] + …'");
    out.length = expr(sizes | queried, "the number of positions below a parent");
  }

  void coordinates() {
    expectAll({"crd", "["}, "of 'coordinates crd[q] = c' or 'coordinates crd[p] = …'");
    if (cursor.accept("q")) {
      expectAll({"]", "=", "c"}, "of 'coordinates crd[q] = c'");
      out.storesCoordinates = true;
    } else if (cursor.accept("k")) {
      expectAll({"]", "="}, "of 'coordinates crd[k] = nth(used, k)'");
      table("nth", "k");
      shared = true;
    } else {
      expectAll({"p", "]", "="}, "of 'coordinates crd[p] = …'");
      out.firstCoordinate = expr(sizes | queried, "a coordinate of each parent");
    }
  }

  void positions() {
    expectAll({"(", "p", ")", "="}, "of 'positions(p) = … to …'");
    const size_t start = cursor.peek().range.begin;
    const Expr begin = expr(sizes | bit(kParent) | bit(kBegin) | bit(kEnd), "a position");
    cursor.expect("to", "between the first position below a parent and the one behind the last");
    const Expr end = expr(sizes | bit(kParent) | bit(kBegin) | bit(kEnd), "a position");
    if (equal(begin, var(kBegin)) && equal(end, var(kEnd)))
      return;
    if (begin->kind == ExprKind::Mul && equal(begin->lhs, var(kParent)))
      out.slots = begin->rhs;
    else if (begin->kind == ExprKind::Mul && equal(begin->rhs, var(kParent)))
      out.slots = begin->lhs;
    else if (equal(begin, var(kParent)))
      out.slots = constant(1);
    const Expr next = out.slots ? binary(ExprKind::Add, begin, out.slots) : nullptr;
    const bool varies = out.slots && (readsVariable(out.slots, bit(kParent) | bit(kBegin) | bit(kEnd)));
    if (!next || varies || !equal(end, next))
      fail(cursor.since(start),
           "the positions of parents follow on each other: write 'pos[p] to pos[p + 1]', or "
           "'p * S to p * S + S' with the same S for all parents");
  }

  void coordinate() {
    expectAll({"(", "p", ",", "q", ")", "="}, "of 'coordinate(p, q) = …'");
    out.coordinate = expr(ofParent | bit(kPosition) | bit(kStoredCoordinate) | bit(kSharedCoordinate),
                          "the coordinate at position q");
  }

  void insert() {
    if (cursor.accept("append")) {
      appends = true;
      return;
    }
    expectAll({"(", "p", ",", "c", ")", "="}, "of 'insert(p, c) = …' or 'insert append'");
    out.position = expr(ofParent | bit(kCoordinate) | bit(kRank), "the position of coordinate c");
  }

  //===--- Expressions ---===//

  Expr expr(Allowed these, std::string_view what) {
    allowed = these;
    context = what;
    nodes = depth = 0;
    return binaryExpr(0);
  }

  Expr binaryExpr(unsigned loosest) {
    Expr lhs = operand();
    for (;;) {
      const Token sign = cursor.peek();
      const auto *op = std::ranges::find_if(operators, [&](const Operator &o) { return sign.is(o.text); });
      if (op == std::end(operators) || op->precedence < loosest)
        return lhs;
      if (op->kind >= ExprKind::And)
        fail(sign.range, "expected +, -, *, floordiv or mod here");
      cursor.take();
      const Token right = cursor.peek();
      Expr rhs = binaryExpr(op->precedence + 1);
      const bool divides = op->kind == ExprKind::FloorDiv || op->kind == ExprKind::Mod;
      if (divides && (rhs->kind != ExprKind::Constant || rhs->value < 1))
        fail(cursor.since(right.range.begin), "expected a positive integer to divide by");
      lhs = binary(op->kind, lhs, rhs);
    }
  }

  Expr operand() {
    const Token token = cursor.peek();
    if (++nodes > maxNodes || ++depth > maxDepth)
      fail(token.range, "this expression is too long");
    Expr made = term(token);
    --depth;
    return made;
  }

  Expr term(const Token &token) {
    if (cursor.accept("(")) {
      Expr inner = binaryExpr(0);
      cursor.expect(")", "to close the parenthesis");
      return inner;
    }
    if (token.kind == Token::Integer) {
      const int64_t value = cursor.expectInteger("a number");
      if (value > maxConstant)
        fail(token.range, fmt::format("numbers here are at most {}", maxConstant));
      return constant(value);
    }
    cursor.expectWord(fmt::format("{}: a number, a name or a parenthesis", context));
    if (token.is("min") || token.is("max"))
      return extremum(token);
    if (token.is("rank")) {
      rank();
      return reads(token, kRank);
    }
    return reads(token, variable(token));
  }

  void rank() {
    cursor.expect("(", "after 'rank'");
    const Token name = cursor.expectWord("a query 'select [c] -> id() as NAME'");
    if (out.queries.empty() || out.queries[0].kind != LevelQuery::Id || out.queries[0].name != name.text)
      fail(name.range, fmt::format("'{}' is no query 'select [c] -> id()'", name.text));
    expectAll({",", "c", ")"}, "of 'rank(used, c)'");
  }

  /// `min(a, b)`, or `max(nz)`: of all parents.
  Expr extremum(const Token &token) {
    cursor.expect("(", fmt::format("after '{}'", token.text));
    if (auto query = std::ranges::find(out.queries, cursor.peek().text, &LevelQuery::name);
        query != out.queries.end() && cursor.peek(1).is(")")) {
      if (token.is("min"))
        fail(token.range, "of all parents 'max' can be asked only");
      cursor.take();
      cursor.take();
      return reads(token, kLargest + unsigned(query - out.queries.begin()));
    }
    Expr a = binaryExpr(0);
    cursor.expect(",", fmt::format("between the two of '{}'", token.text));
    Expr b = binaryExpr(0);
    cursor.expect(")", fmt::format("to close '{}('", token.text));
    return binary(token.is("min") ? ExprKind::Min : ExprKind::Max, a, b);
  }

  Expr reads(const Token &token, unsigned variable) {
    if (!(allowed & bit(variable)))
      fail(cursor.since(token.range.begin), fmt::format("this is not known here, in {}", context));
    if (variable >= kQuery)
      used |= bit(kQuery + (variable - kQuery) % 2);
    return var(variable);
  }

  unsigned variable(const Token &token) {
    for (auto [name, variable] : {std::pair{"p", kParent},
                                  {"q", kPosition},
                                  {"c", kCoordinate},
                                  {"N", kLevelSize},
                                  {"K", kStoredSize}})
      if (token.is(name))
        return variable;
    const auto query = std::ranges::find(out.queries, token.text, &LevelQuery::name);
    const bool isQuery = query != out.queries.end();
    if (!isQuery && !token.is("pos") && !token.is("crd")) {
      std::vector<std::string> known{"p", "q", "c", "N", "K", "pos", "crd"};
      for (const LevelQuery &q : out.queries)
        known.push_back(q.name);
      fail(token.range,
           fmt::format("unknown name '{}'{}", token.text,
                       support::didYouMean(token.text, known,
                                           fmt::format("; the names here are {}", fmt::join(known, ", ")))));
    }
    cursor.expect("[", fmt::format("after '{}'", token.text));
    const size_t begin = cursor.peek().range.begin;
    if (token.is("crd") && cursor.accept("q")) {
      if (cursor.accept("]"))
        return kStoredCoordinate;
      expectAll({"-", "p", "*", "K", "]"}, "of 'crd[q]' or 'crd[q - p * K]'");
      return kSharedCoordinate;
    }
    if (!cursor.accept("p"))
      fail(cursor.since(begin), fmt::format("expected {}[p] here", token.text));
    const bool next = token.is("pos") && cursor.accept("+");
    if (next)
      cursor.expect("1", "after 'pos[p +'");
    cursor.expect("]", "after the index");
    if (isQuery)
      return kQuery + unsigned(query - out.queries.begin());
    return token.is("crd") ? kParentCoordinate : next ? kEnd : kBegin;
  }

  static bool readsVariable(const Expr &e, Allowed which) {
    if (!e)
      return false;
    if (e->kind == ExprKind::Level)
      return which & bit(unsigned(e->value));
    return readsVariable(e->lhs, which) || readsVariable(e->rhs, which);
  }

  //===--- What the parts say together ---===//

  support::SourceRange rangeOf(const std::string &part) const {
    auto found = parts.find(part);
    return found == parts.end() ? nameRange : found->second;
  }

  void check() {
    for (std::string_view part : {"positions", "coordinate", "insert"})
      if (!parts.contains(std::string(part)))
        fail(nameRange, fmt::format("level format '{}' has no part '{}'", out.name, part));
    if (isTable())
      return checkTable();
    for (size_t q = 0; q < out.queries.size(); ++q)
      if (!(used & bit(unsigned(kQuery + q))))
        fail(queryRanges[q], fmt::format("neither the size nor the edges use '{}'", out.queries[q].name));
    checkPositions();
    appends ? checkAppended() : checkComputed();
  }

  void checkPositions() const {
    if (!out.slots && !out.length)
      fail(rangeOf("positions"), "it reads pos, and no part 'edges pos[p + 1] = pos[p] + …' makes it");
    if (out.slots && out.length)
      fail(rangeOf("edges"), "the positions do not read pos; leave the edges out");
    const bool readsSize =
        readsVariable(out.slots, bit(kStoredSize)) || readsVariable(out.length, bit(kStoredSize)) ||
        readsVariable(out.firstCoordinate, bit(kStoredSize)) ||
        readsVariable(out.coordinate, bit(kStoredSize)) || readsVariable(out.position, bit(kStoredSize));
    if (readsSize && !out.size)
      fail(nameRange, fmt::format("level format '{}' reads K, and has no part 'size K = …'", out.name));
    if (!readsSize && out.size)
      fail(rangeOf("size"), "nothing reads K; leave the size out");
    for (const auto &[part, e] : {std::pair{"coordinate", out.coordinate}, {"insert", out.position}}) {
      if (!out.length && readsVariable(e, bit(kBegin) | bit(kEnd)))
        fail(rangeOf(part), "it reads pos, and no part 'edges pos[p + 1] = pos[p] + …' makes it");
      if (!out.firstCoordinate && readsVariable(e, bit(kParentCoordinate)))
        fail(rangeOf(part), "it reads crd[p], and no part 'coordinates crd[p] = …' makes it");
    }
  }

  void checkAppended() const {
    if (!out.storesCoordinates)
      fail(rangeOf("insert"),
           "where entries take one position after the other, 'coordinates crd[q] = c' must "
           "say which coordinate each has");
    if (!equal(out.coordinate, var(kStoredCoordinate)))
      fail(rangeOf("coordinate"), "entries store their coordinates: write 'coordinate(p, q) = crd[q]'");
    if (out.slots && !out.padded)
      fail(rangeOf("positions"), "a parent with fewer entries than positions would have some without; add "
                                 "'properties padded'");
    if (!out.queries.empty() &&
        std::ranges::find(out.queries, LevelQuery::Count, &LevelQuery::kind) == out.queries.end())
      fail(queryRanges[0],
           fmt::format("'{}' does not say how many entries a parent has: positions that are taken "
                       "one after the other need 'select [p] -> count(c)'",
                       out.queries[0].name));
    if (out.queries.empty() && out.length)
      fail(rangeOf("edges"),
           "the number of entries of a parent depends on the entries: add a query 'select [p] "
           "-> count(c)'");
  }

  void checkComputed() const {
    if (out.storesCoordinates)
      fail(rangeOf("coordinates"),
           "two coordinates could be stored at one position: write 'insert append', or "
           "compute the coordinate from the position");
    if (readsVariable(out.coordinate, bit(kStoredCoordinate) | bit(kSharedCoordinate)))
      fail(rangeOf("coordinate"), "no part 'coordinates' stores the coordinates of positions");
    if (readsVariable(out.position, bit(kRank)))
      fail(rangeOf("insert"), "a rank belongs to a level that shares its coordinates: 'coordinates crd[k] = "
                              "nth(used, k)'");
    if (out.padded)
      fail(rangeOf("properties"),
           "only positions that store a coordinate can be marked as padding; leave padded "
           "out, or write 'insert append'");
  }

  /// A level that all parents share the coordinates of: its parts have one form.
  bool isTable() const { return shared || (!out.queries.empty() && out.queries[0].kind == LevelQuery::Id); }
  void checkTable() const {
    if (!parts.contains("size"))
      fail(nameRange, fmt::format("level format '{}' has no part 'size K = count(…)'", out.name));
    if (out.size)
      fail(rangeOf("size"), "a table of the coordinates that occur has as many as occur: write 'size K = "
                            "count(…)'");
    if (!shared)
      fail(queryRanges[0], "no part 'coordinates crd[k] = nth(…, k)' stores the coordinates that occur");
    if (out.length)
      fail(rangeOf("edges"), "every parent has the same coordinates; leave the edges out");
    if (out.padded)
      fail(rangeOf("properties"), "every position has a coordinate; leave padded out");
    const Expr start = binary(ExprKind::Mul, var(kParent), var(kStoredSize));
    if (!out.slots || !equal(out.slots, var(kStoredSize)))
      fail(rangeOf("positions"), "every parent has the K coordinates that occur: write 'p * K to p * K + K'");
    if (!equal(out.coordinate, var(kSharedCoordinate)))
      fail(rangeOf("coordinate"), "every parent has the same coordinates: write 'crd[q - p * K]'");
    if (!out.position || !equal(out.position, binary(ExprKind::Add, start, var(kRank))))
      fail(rangeOf("insert"),
           "a coordinate is where the table has it: write 'insert(p, c) = p * K + rank(…, c)'");
  }

  /// Its storage, and how that is made, is that of a built-in format in each part.
  std::optional<LevelKind> builtIn() const {
    const auto asks = [&](LevelQuery::Kind kind) {
      return out.queries.size() == 1 && out.queries[0].kind == kind;
    };
    const Expr query = var(kQuery), c = var(kCoordinate), q = var(kPosition), begin = var(kBegin);
    const Expr first = binary(ExprKind::Mul, var(kParent), var(kLevelSize));
    if (isTable())
      return LevelKind::Squeezed;
    if (appends && !out.padded && asks(LevelQuery::Count) && equal(out.length, query) && !out.firstCoordinate)
      return LevelKind::Compressed;
    if (appends && out.padded && asks(LevelQuery::Count) && out.slots && equal(out.slots, var(kStoredSize)) &&
        equal(out.size, var(kLargest)))
      return LevelKind::Fixed;
    if (out.firstCoordinate || appends)
      return std::nullopt;
    if (asks(LevelQuery::Max) && equal(out.length, binary(ExprKind::Add, query, constant(1))) &&
        equal(out.coordinate, binary(ExprKind::Sub, q, begin)) &&
        equal(out.position, binary(ExprKind::Add, begin, c)))
      return LevelKind::Ragged;
    if (out.queries.empty() && out.slots && equal(out.slots, var(kLevelSize)) &&
        equal(out.coordinate, binary(ExprKind::Sub, q, first)) &&
        equal(out.position, binary(ExprKind::Add, first, c)))
      return LevelKind::Dense;
    return std::nullopt;
  }

  Cursor &cursor;
  const Declarations &before;
  LevelDeclaration out;
  support::SourceRange nameRange;
  std::map<std::string, support::SourceRange> parts;
  std::vector<support::SourceRange> queryRanges;
  bool appends = false, shared = false;
  Allowed allowed = 0, used = 0;
  std::string_view context;
  size_t nodes = 0;
  unsigned depth = 0;
};

} // namespace

std::shared_ptr<const LevelDeclaration> parseLevel(Cursor &cursor, const Declarations &before) {
  if (before.size() == maxLevelFormats)
    cursor.fail(cursor.peek().range,
                fmt::format("at most {} level formats are declared together", maxLevelFormats));
  return DeclarationParser(cursor, before).run();
}

Declarations parseLevels(std::string_view text, std::string_view name) {
  Cursor cursor(encodingLanguage, text, name);
  Declarations levels;
  do
    levels.push_back(parseLevel(cursor, levels));
  while (!cursor.atEnd());
  return levels;
}

std::shared_ptr<const LevelDeclaration> findLevel(const Declarations &levels, std::string_view name) {
  for (const auto &level : levels)
    if (level->name == name)
      return level;
  return nullptr;
}

LevelFormat LevelDeclaration::formatOf(const std::shared_ptr<const LevelDeclaration> &declaration) {
  LevelFormat format;
  format.kind = declaration->builtIn.value_or(LevelKind::Declared);
  if (declaration->builtIn)
    return format;
  format.declaration = declaration;
  format.padded = declaration->padded;
  return format;
}

} // namespace tulle::format
