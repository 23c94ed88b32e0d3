// Primitives, the statements that they are put on, and those that say something of loops.
#include "notation/Pattern.h"
#include "notation/ScheduleParser.h"
#include "notation/Sparsity.h"
#include "support/Suggest.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

namespace tulle::notation {

ScheduleParser::ScheduleParser(Program &program, std::string_view text, std::string_view name,
                               const std::vector<std::string> &strategies)
    : program(program), text(text), cursor(partsLanguage, text, name), strategies(strategies) {}

void ScheduleParser::run() {
  while (!cursor.atEnd()) {
    primitive();
    if (!cursor.atEnd())
      cursor.expect(";", "between two primitives");
  }
}

void ScheduleParser::primitive() {
  only = target();
  const Token name = cursor.expectWord("a primitive such as reorder(i, j)");
  using Parse = void (ScheduleParser::*)(const Token &);
  using Self = ScheduleParser;
  static constexpr std::pair<std::string_view, Parse> primitives[] = {
      {"assemble", &Self::assemble},
      {"bound", &Self::bound},
      {"cache", &Self::cache},
      {"compute_at", &Self::computeAt},
      {"compute_inline", &Self::computeInline},
      {"compute_root", &Self::computeRoot},
      {"convert", &Self::convert},
      {"decompose", &Self::decompose},
      {"divide", &Self::divide},
      {"fuse", &Self::fuse},
      {"jam", &Self::jam},
      {"parallelize", &Self::parallelize},
      {"pos", &Self::position},
      {"precompute", &Self::precompute},
      {"prefetch", &Self::prefetch},
      {"reorder", &Self::reorder},
      {"rfactor", &Self::rfactor},
      {"split", &Self::split},
      {"strategy", &Self::strategy},
      {"unroll", &Self::unroll},
      {"vectorize", &Self::vectorize}};
  for (auto [known, parse] : primitives)
    if (name.is(known)) {
      cursor.expect("(", fmt::format("after {}", known));
      return (this->*parse)(name);
    }
  if (name.is("tile"))
    cursor.fail(name.range, "there is no primitive 'tile': split each loop, as in split(i, i0, i1, 32), and "
                            "reorder the parts, as in reorder(i0, j0, i1, j1)");
  std::vector<std::string> names;
  for (auto [known, parse] : primitives)
    names.emplace_back(known);
  cursor.fail(name.range,
              fmt::format("unknown primitive '{}': expected one of {}{}", name.text, fmt::join(names, ", "),
                          support::didYouMean(std::string(name.text), names)));
}

/// `C:` or `C#2:` in front of a primitive.
std::optional<size_t> ScheduleParser::target() {
  const bool numbered = cursor.peek(1).is("#");
  if (cursor.peek().kind != Token::Word || !cursor.peek(numbered ? 3 : 1).is(":"))
    return std::nullopt;
  const size_t found = statementNamed();
  cursor.expect(":", "after the name of a statement");
  return found;
}

/// `C` or `C#2`.
size_t ScheduleParser::statementNamed() {
  const Token name = cursor.expectWord("the name of a statement");
  int64_t number = 1;
  if (cursor.accept("#"))
    number = cursor.expectInteger("the number of a statement");
  int64_t seen = 0;
  for (size_t s = 0; s < program.statements.size(); ++s)
    if (program.tensors[program.statements[s].lhs.tensor].name == name.text && ++seen == number)
      return s;
  std::vector<std::string> names;
  for (size_t s = 0; s < program.statements.size(); ++s)
    if (!program.tensors[program.statements[s].lhs.tensor].condition)
      names.push_back(nameOf(program, s));
  cursor.fail(cursor.since(name.range.begin),
              fmt::format("no such statement: the program has {}", fmt::join(names, ", ")));
}

/// The statements that a primitive is put on: the one named before it, else all that fit.
std::vector<Statement *> ScheduleParser::statementsWhere(const std::function<bool(const Statement &)> &fits) {
  std::vector<Statement *> found;
  for (size_t k = 0; k < program.statements.size(); ++k)
    if ((!only || *only == k) && !program.statements[k].concat.isWhole() && fits(program.statements[k]))
      found.push_back(&program.statements[k]);
  return found;
}
std::string ScheduleParser::nameOfStatement(const Statement &statement) const {
  return nameOf(program, size_t(&statement - program.statements.data()));
}
std::string ScheduleParser::whereAsked() const {
  return only ? fmt::format("the statement {}", nameOf(program, *only)) : "a statement";
}

//===--- Loops ---===//

/// The names of a statement's indices. Those of another statement may be called the same.
static std::set<std::string> indicesOf(const Program &program, const Statement &statement) {
  std::set<std::string> found;
  auto add = [&](const Access &access) {
    for (const Affine &subscript : access.subscripts)
      for (auto [index, coefficient] : subscript.terms)
        found.insert(program.indices[index].name);
  };
  add(statement.lhs);
  for (const Access *access : accesses(statement))
    add(*access);
  for (const Indirection &given : statement.indirections) // no loop is over these
    found.erase(program.indices[given.index].name);
  return found;
}

std::set<std::string> ScheduleParser::loopNames(const Statement &statement) const {
  std::set<std::string> found = indicesOf(program, statement);
  for (const Derived &derived : statement.loops.derived)
    found.insert(derived.into.begin(), derived.into.end());
  return found;
}

std::set<std::string> ScheduleParser::loopsOf(const Statement &statement) const {
  std::set<std::string> found = loopNames(statement);
  for (const Derived &derived : statement.loops.derived)
    if (derived.kind != Derived::Fuse) // the two are there within a tile
      found.erase(derived.from[0]);
  return found;
}

/// What has become of a loop; empty where it is as it was.
static std::string whatBecameOf(const Statement &statement, const std::string &loop) {
  for (const LoopSchedule::Derived &derived : statement.loops.derived)
    if (std::ranges::count(derived.from, loop) > 0)
      return derived.into.size() == 2
                 ? fmt::format("the loop over {} is split: it is two, {} and {}", loop, derived.into[0],
                               derived.into[1])
                 : fmt::format("the loop over {} is called {} now", loop, derived.into[0]);
  return "";
}

/// `i`, or the digit `i/4` or `i%4` of it; or what a split has called a loop.
ScheduleParser::LoopName ScheduleParser::loop() {
  const Token index = cursor.expectWord("the name of a loop");
  LoopName loop{std::string(index.text), std::string(index.text), index.range};
  if (isPart(index.text))
    return loop;
  if (!isIndex(index.text))
    failIndex(index);
  loop.text += digit();
  loop.range = cursor.since(index.range.begin);
  return loop;
}

/// What stands behind an index of whose digit a loop is; empty where it is one over all of it.
std::string ScheduleParser::digit() {
  std::string text;
  for (const char *sign : {"/", "%"})
    if (cursor.accept(sign)) {
      const support::SourceRange range = cursor.peek().range;
      const int64_t size = cursor.expectInteger("the size of a block");
      if (size < 2)
        cursor.fail(range, "a block has at least two coordinates");
      text += sign + std::to_string(size);
    }
  return text;
}

bool ScheduleParser::isIndex(std::string_view name) const {
  return std::ranges::count(program.indices, name, &IndexVar::name) > 0;
}

bool ScheduleParser::isPart(std::string_view name) const {
  return std::ranges::any_of(program.statements, [&](const Statement &s) {
    return loopNames(s).contains(std::string(name)) && !indicesOf(program, s).contains(std::string(name));
  });
}

void ScheduleParser::failIndex(const Token &name) const {
  std::set<std::string> names;
  for (const IndexVar &known : program.indices)
    names.insert(known.name);
  cursor.fail(name.range,
              fmt::format("no index '{}': the program has {}", name.text, fmt::join(names, ", ")));
}

std::vector<Statement *> ScheduleParser::statementsOver(const std::vector<LoopName> &loops) {
  const std::vector<Statement *> found = statementsWhere([&](const Statement &s) {
    const std::set<std::string> own = loopsOf(s);
    return std::ranges::all_of(loops, [&](const LoopName &loop) { return own.contains(loop.index); });
  });
  if (!found.empty())
    return found;
  for (const LoopName &loop : loops)
    for (const Statement *s : statementsWhere([](const Statement &) { return true; }))
      if (const std::string now = whatBecameOf(*s, loop.index); !now.empty())
        cursor.fail(loop.range, now);
  cursor.fail({loops.front().range.begin, loops.back().range.end},
              only ? fmt::format("{} has no loops over all of these", whereAsked())
                   : "no statement has loops over all of these");
}

void ScheduleParser::reorder(const Token &primitive) {
  std::vector<LoopName> loops;
  cursor.list(")", "after the loops, outermost first", [&] {
    loops.push_back(loop());
    if (std::ranges::count(loops, loops.back().text, &LoopName::text) > 1)
      cursor.fail(loops.back().range, fmt::format("'{}' stands twice in the order", loops.back().text));
  });
  for (Statement *s : statementsOver(loops)) {
    if (!s->loops.order.empty())
      cursor.fail(primitive.range,
                  fmt::format("{} has an order already; keep one of them", nameOfStatement(*s)));
    for (const LoopName &loop : loops)
      s->loops.order.push_back(loop.text);
    s->loops.orderRange = cursor.since(primitive.range.begin);
  }
}

void ScheduleParser::strategy(const Token &primitive) {
  const LoopName over = loop();
  cursor.expect(",", "after the loop, and how sets of coordinates are iterated");
  const Token name = cursor.expectWord("how sets of coordinates are iterated");
  if (std::ranges::count(strategies, name.text) == 0)
    cursor.fail(name.range, fmt::format("unknown strategy '{}': expected one of {}", name.text,
                                        fmt::join(strategies, ", ")));
  cursor.expect(")", "after the strategy");
  for (Statement *s : statementsOver({over})) {
    const std::string meant = loopMeant(*s, over.text, /*outer=*/false);
    if (std::ranges::count(s->loops.strategies, meant, &LoopSchedule::Strategy::loop) > 0)
      cursor.fail(over.range,
                  fmt::format("the loop over {} has a strategy already; keep one of them", over.text));
    s->loops.strategies.push_back({meant, std::string(name.text), cursor.since(primitive.range.begin)});
  }
}

//===--- What is said of one loop ---===//

void ScheduleParser::direct(Directive directive, const LoopName &over, const Token &primitive) {
  direct(directive, over, primitive, statementsOver({over}));
}

void ScheduleParser::direct(Directive directive, const LoopName &over, const Token &primitive,
                            const std::vector<Statement *> &statements) {
  directive.range = cursor.since(primitive.range.begin);
  for (Statement *s : statements) {
    directive.loop = loopMeant(*s, over.text, directive.kind == Directive::Parallelize);
    for (const Directive &d : s->loops.directives)
      if (d.kind == directive.kind && d.loop == directive.loop && d.tensor == directive.tensor)
        cursor.fail(primitive.range, fmt::format("the loop over {} has {} already; keep one of them",
                                                 over.text, primitive.text));
    s->loops.directives.push_back(directive);
  }
}

void ScheduleParser::parallelize(const Token &primitive) {
  const LoopName over = loop();
  Directive directive{Directive::Parallelize};
  if (cursor.accept(",")) {
    constexpr Threads ways[] = {Threads::None,   Threads::Entries, Threads::Disjoint,
                                Threads::Reduce, Threads::Private, Threads::Destination};
    const Token name = cursor.expectWord("how iterations are divided among threads");
    const auto *found = std::ranges::find_if(ways, [&](Threads way) { return nameOf(way) == name.text; });
    if (found == std::end(ways))
      cursor.fail(
          name.range,
          fmt::format("unknown way '{}': expected one of {}", name.text,
                      fmt::join(std::views::transform(ways, [](Threads way) { return nameOf(way); }), ", ")));
    directive.threads = *found;
  }
  cursor.expect(")", "after the loop");
  direct(directive, over, primitive);
}

void ScheduleParser::vectorize(const Token &primitive) {
  powerOfTwo(Directive::Vectorize, "the number of lanes", 1, primitive);
}

void ScheduleParser::unroll(const Token &primitive) {
  powerOfTwo(Directive::Unroll, "the number of iterations at a time", 2, primitive);
}

void ScheduleParser::powerOfTwo(Directive::Kind kind, std::string_view what, int64_t least,
                                const Token &primitive) {
  constexpr int64_t most = 64;
  const LoopName over = loop();
  cursor.expect(",", fmt::format("after the loop, and {}", what));
  const support::SourceRange range = cursor.peek().range;
  Directive directive{kind};
  directive.count = cursor.expectInteger(what);
  if (directive.count < least || directive.count > most || (directive.count & (directive.count - 1)) != 0)
    cursor.fail(range, fmt::format("{} is a power of two from {} to {}", what, least, most));
  cursor.expect(")", fmt::format("after {}", what));
  direct(directive, over, primitive);
}

/// A number of at least and at most so much, and the bracket behind it.
int64_t ScheduleParser::count(std::string_view what, int64_t least, int64_t most) {
  const support::SourceRange range = cursor.peek().range;
  const int64_t number = cursor.expectInteger(what);
  if (number < least || number > most)
    cursor.fail(range, fmt::format("{} is from {} to {}", what, least, most));
  cursor.expect(")", fmt::format("after {}", what));
  return number;
}

void ScheduleParser::jam(const Token &primitive) {
  const LoopName over = loop();
  cursor.expect(",", "after the loop, and the number of iterations at a time");
  Directive directive{Directive::Jam};
  directive.count = count("the number of iterations at a time", 2, 16);
  direct(directive, over, primitive);
}

void applySchedule(Program &program, std::string_view text, const std::vector<std::string> &strategies,
                   std::string_view name) {
  ScheduleParser(program, text, name, strategies).run();
  program.schedule = text;
  program.scheduleName = name;
  takeWidthsOfParts(program);
}

} // namespace tulle::notation
