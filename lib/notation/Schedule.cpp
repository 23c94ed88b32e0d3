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
      {"jam", &Self::jam},
      {"parallelize", &Self::parallelize},
      {"precompute", &Self::precompute},
      {"prefetch", &Self::prefetch},
      {"reorder", &Self::reorder},
      {"split", &Self::split},
      {"strategy", &Self::strategy},
      {"unroll", &Self::unroll},
      {"vectorize", &Self::vectorize}};
  for (auto [known, parse] : primitives)
    if (name.is(known)) {
      cursor.expect("(", fmt::format("after {}", known));
      return (this->*parse)(name);
    }
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
  for (const Statement &statement : program.statements)
    if (!program.tensors[statement.lhs.tensor].condition)
      names.push_back(nameOf(program, statement));
  cursor.fail(cursor.since(name.range.begin),
              fmt::format("no such statement: the program has {}", fmt::join(names, ", ")));
}

/// The statements that a primitive is put on: the one named before it, else all that fit.
std::vector<Statement *> ScheduleParser::statementsWhere(const std::function<bool(const Statement &)> &fits) {
  std::vector<Statement *> found;
  for (size_t k = 0; k < program.statements.size(); ++k)
    if ((!only || *only == k) && fits(program.statements[k]))
      found.push_back(&program.statements[k]);
  return found;
}
std::string ScheduleParser::whereAsked() const {
  return only ? fmt::format("the statement {}", nameOf(program, program.statements[*only])) : "a statement";
}

//===--- Loops ---===//

using Split = LoopSchedule::Split;

/// The names of a statement's loops: its indices, and what these are split into instead. Indices of another
/// statement may be called the same.
static std::set<std::string> loopsOf(const Program &program, const Statement &statement) {
  std::set<std::string> found;
  auto add = [&](const Access &access) {
    for (const Affine &subscript : access.subscripts)
      for (auto [index, coefficient] : subscript.terms)
        found.insert(program.indices[index].name);
  };
  add(statement.lhs);
  for (const Access *access : accesses(statement))
    add(*access);
  for (const Split &split : statement.loops.splits) {
    found.erase(split.loop);
    found.insert({split.outer, split.inner});
  }
  return found;
}

/// What the loop has been split into; null where it is as it was.
static const Split *splitOf(const Statement &statement, std::string_view loop) {
  const auto found = std::ranges::find(statement.loops.splits, loop, &Split::loop);
  return found == statement.loops.splits.end() ? nullptr : &*found;
}

/// `i`, or the digit `i/4` or `i%4` of it; or what a split has called a loop.
ScheduleParser::LoopName ScheduleParser::loop() {
  const Token index = cursor.expectWord("the name of a loop");
  LoopName loop{std::string(index.text), std::string(index.text), index.range};
  if (isPart(index.text))
    return loop;
  if (!isIndex(index.text))
    failIndex(index);
  for (const char *sign : {"/", "%"})
    if (cursor.accept(sign)) {
      const support::SourceRange range = cursor.peek().range;
      const int64_t size = cursor.expectInteger("the size of a block");
      if (size < 2)
        cursor.fail(range, "a block has at least two coordinates");
      loop.text += sign + std::to_string(size);
    }
  loop.range = cursor.since(index.range.begin);
  return loop;
}

bool ScheduleParser::isIndex(std::string_view name) const {
  return std::ranges::count(program.indices, name, &IndexVar::name) > 0;
}

bool ScheduleParser::isPart(std::string_view name) const {
  return std::ranges::any_of(program.statements, [&](const Statement &s) {
    return std::ranges::any_of(
        s.loops.splits, [&](const Split &split) { return split.outer == name || split.inner == name; });
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
    const std::set<std::string> own = loopsOf(program, s);
    return std::ranges::all_of(loops, [&](const LoopName &loop) { return own.contains(loop.index); });
  });
  if (!found.empty())
    return found;
  for (const LoopName &loop : loops)
    for (const Statement *s : statementsWhere([](const Statement &) { return true; }))
      if (const Split *split = splitOf(*s, loop.index))
        cursor.fail(loop.range, fmt::format("the loop over {} is split: it is two, {} and {}", loop.text,
                                            split->outer, split->inner));
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
                  fmt::format("{} has an order already; keep one of them", nameOf(program, *s)));
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
    if (std::ranges::count(s->loops.strategies, over.text, &LoopSchedule::Strategy::loop) > 0)
      cursor.fail(over.range,
                  fmt::format("the loop over {} has a strategy already; keep one of them", over.text));
    s->loops.strategies.push_back({over.text, std::string(name.text), cursor.since(primitive.range.begin)});
  }
}

//===--- What is said of one loop ---===//

void ScheduleParser::direct(Directive directive, const LoopName &over, const Token &primitive) {
  direct(directive, over, primitive, statementsOver({over}));
}

void ScheduleParser::direct(Directive directive, const LoopName &over, const Token &primitive,
                            const std::vector<Statement *> &statements) {
  directive.loop = over.text;
  directive.range = cursor.since(primitive.range.begin);
  for (Statement *s : statements) {
    for (const Directive &d : s->loops.directives)
      if (d.kind == directive.kind && d.loop == over.text && d.tensor == directive.tensor)
        cursor.fail(primitive.range, fmt::format("the loop over {} has {} already; keep one of them",
                                                 over.text, primitive.text));
    s->loops.directives.push_back(directive);
  }
}

void ScheduleParser::parallelize(const Token &primitive) {
  const LoopName over = loop();
  Directive directive{Directive::Parallelize};
  if (cursor.accept(",")) {
    constexpr Threads ways[] = {Threads::None, Threads::Entries, Threads::Disjoint, Threads::Reduce,
                                Threads::Private};
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

//===--- split(i, i0, i1, n), divide(i, i0, i1, parts), bound(i, n) ---===//

void ScheduleParser::split(const Token &primitive) {
  splitLoop(/*divides=*/false, "the size of a tile", primitive);
}

void ScheduleParser::divide(const Token &primitive) {
  splitLoop(/*divides=*/true, "the number of tiles", primitive);
}

void ScheduleParser::splitLoop(bool divides, std::string_view what, const Token &primitive) {
  const LoopName over = loop();
  cursor.expect(",", "after the loop, and a name for the loop over tiles");
  const std::string outer = newLoop();
  cursor.expect(",", "after that name, and one for the loop within a tile");
  const Token second = cursor.peek();
  const std::string inner = newLoop();
  if (outer == inner)
    cursor.fail(second.range, "the two loops have two names");
  cursor.expect(",", fmt::format("after the names, and {}", what));
  const int64_t size = count(what, 1, int64_t(1) << 40);
  if (over.text != over.index)
    cursor.fail(over.range, "a loop over blocks, or within one, is a tile already");
  for (Statement *s : statementsOver({over})) {
    for (const Directive &d : s->loops.directives)
      if (d.loop == over.text)
        cursor.fail(primitive.range,
                    fmt::format("{}({}, …) stands before it: say it of {} or {}, after the split",
                                nameOf(d.kind), over.text, outer, inner));
    s->loops.splits.push_back({over.text, outer, inner, size, divides, cursor.since(primitive.range.begin)});
    // What has an order already keeps it, the two in the place of the one.
    std::vector<std::string> &order = s->loops.order;
    if (const auto at = std::ranges::find(order, over.text); at != order.end()) {
      *at = inner;
      order.insert(at, outer);
    }
  }
}

/// A name that no loop, and no index, has yet in the statements that the primitive may be put on.
std::string ScheduleParser::newLoop() {
  const Token name = cursor.expectWord("a name for a loop");
  const bool used = isIndex(name.text) || std::ranges::any_of(program.statements, [&](const Statement &s) {
                      return (!only || &s == &program.statements[*only]) &&
                             loopsOf(program, s).contains(std::string(name.text));
                    });
  if (used)
    cursor.fail(name.range,
                fmt::format("'{}' is a loop already: a new one has a name of its own", name.text));
  return std::string(name.text);
}

/// The sizes are those that the code is compiled for: it refuses tensors of other ones when it runs.
void ScheduleParser::checkBound(const Statement &statement, const LoopName &over, int64_t size) {
  auto check = [&](const Access &access) {
    const TensorDecl &tensor = program.tensors[access.tensor];
    for (size_t d = 0; d < access.subscripts.size(); ++d) {
      const Affine &subscript = access.subscripts[d];
      if (subscript.isVariable() && program.indices[subscript.terms[0].first].name == over.index &&
          tensor.dims[d] != size)
        cursor.fail(over.range, fmt::format("{} runs over dimension {} of '{}', which has size {}",
                                            over.index, d, tensor.name, tensor.dims[d]));
    }
  };
  check(statement.lhs);
  for (const Access *access : accesses(statement))
    check(*access);
}

void ScheduleParser::bound(const Token &primitive) {
  const LoopName over = loop();
  if (over.text != over.index || !isIndex(over.index))
    cursor.fail(over.range, "a bound is the size of an index");
  cursor.expect(",", "after the index, and its size");
  const int64_t size = count("the size of an index", 1, int64_t(1) << 40);
  for (Statement *s : statementsWhere([&](const Statement &s) {
         return splitOf(s, over.index) || loopsOf(program, s).contains(over.index);
       })) {
    checkBound(*s, over, size);
    if (std::ranges::count(s->loops.bounds, over.index, &LoopSchedule::Bound::index) > 0)
      cursor.fail(primitive.range, fmt::format("{} has a bound already; keep one of them", over.index));
    s->loops.bounds.push_back({over.index, size, cursor.since(primitive.range.begin)});
  }
}

void applySchedule(Program &program, std::string_view text, const std::vector<std::string> &strategies,
                   std::string_view name) {
  ScheduleParser(program, text, name, strategies).run();
  program.schedule = text;
  program.scheduleName = name;
  takeWidthsOfParts(program);
}

} // namespace tulle::notation
