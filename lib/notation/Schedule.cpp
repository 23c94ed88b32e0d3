// Each primitive is checked against the statements that it is put on as it is read; whether the loops can be
// as it says is known to the passes that make them.
#include "format/ExprParser.h"
#include "format/Layout.h"
#include "notation/Sparsity.h"
#include "support/Suggest.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <set>

namespace tulle::notation {

using support::Cursor;
using support::SyntaxError;
using support::Token;

namespace {

struct PlanName {
  std::string_view name;
  AssemblyPlan plan;
};
constexpr PlanName planNames[] = {
    {"count", AssemblyPlan::Count}, {"bound", AssemblyPlan::Bound}, {"grow", AssemblyPlan::Grow}};

struct ThreadsName {
  std::string_view name;
  Threads threads;
};
constexpr ThreadsName threadsNames[] = {{"none", Threads::None},
                                        {"entries", Threads::Entries},
                                        {"disjoint", Threads::Disjoint},
                                        {"reduce", Threads::Reduce},
                                        {"private", Threads::Private}};

constexpr std::string_view blockSuffix = "_block";

/// The names of a statement's indices; those of another statement may be called the same.
std::set<std::string> indicesOf(const Program &program, const Statement &statement) {
  std::set<std::string> found;
  auto add = [&](const Access &access) {
    for (const Affine &subscript : access.subscripts)
      for (auto [index, coefficient] : subscript.terms)
        found.insert(program.indices[index].name);
  };
  add(statement.lhs);
  for (const Access *access : accesses(statement))
    add(*access);
  return found;
}

class ScheduleParser {
public:
  ScheduleParser(Program &program, std::string_view text, std::string_view name,
                 const std::vector<std::string> &strategies)
      : program(program), text(text), cursor(partsLanguage, text, name), strategies(strategies) {}

  void run() {
    while (!cursor.atEnd()) {
      primitive();
      if (!cursor.atEnd())
        cursor.expect(";", "between two primitives");
    }
  }

private:
  Program &program;
  std::string_view text;
  Cursor cursor;
  const std::vector<std::string> &strategies;
  std::set<std::string> planned; ///< results
  std::optional<size_t> only;    ///< the statement that the primitive is put on by name

  void primitive() {
    only = target();
    const Token name = cursor.expectWord("a primitive such as reorder(i, j)");
    using Parse = void (ScheduleParser::*)(const Token &);
    static constexpr std::pair<std::string_view, Parse> primitives[] = {
        {"assemble", &ScheduleParser::assemble},
        {"compute_at", &ScheduleParser::computeAt},
        {"compute_inline", &ScheduleParser::computeInline},
        {"compute_root", &ScheduleParser::computeRoot},
        {"convert", &ScheduleParser::convert},
        {"decompose", &ScheduleParser::decompose},
        {"parallelize", &ScheduleParser::parallelize},
        {"reorder", &ScheduleParser::reorder},
        {"strategy", &ScheduleParser::strategy},
        {"unroll", &ScheduleParser::unroll},
        {"vectorize", &ScheduleParser::vectorize}};
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
  std::optional<size_t> target() {
    const bool numbered = cursor.peek(1).is("#");
    if (cursor.peek().kind != Token::Word || !cursor.peek(numbered ? 3 : 1).is(":"))
      return std::nullopt;
    const size_t found = statementNamed();
    cursor.expect(":", "after the name of a statement");
    return found;
  }

  /// `C` or `C#2`.
  size_t statementNamed() {
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
  template <class Fits> std::vector<Statement *> statementsWhere(const Fits &fits) {
    std::vector<Statement *> found;
    for (size_t s = 0; s < program.statements.size(); ++s)
      if ((!only || *only == s) && fits(program.statements[s]))
        found.push_back(&program.statements[s]);
    return found;
  }
  std::string whereAsked() const {
    return only ? fmt::format("the statement {}", nameOf(program, program.statements[*only])) : "a statement";
  }

  //===--- assemble(C, count) ---===//

  void assemble(const Token &primitive) {
    const Token tensor = cursor.expectWord("the name of a result");
    cursor.expect(",", "after the result, and count, bound or grow");
    const Token name = cursor.expectWord("count, bound or grow");
    const auto *plan = std::ranges::find(planNames, name.text, &PlanName::name);
    if (plan == std::end(planNames))
      cursor.fail(name.range,
                  fmt::format("unknown plan '{}': expected count (the entries are counted first), bound "
                              "(memory for the most there can be) or grow (that while there is memory)",
                              name.text));
    cursor.expect(")", "after the plan");
    if (only)
      cursor.fail(primitive.range, "assemble names its result itself: no name stands before it");
    const TensorDecl &decl = resultNamed(tensor);
    if (!planned.insert(decl.name).second)
      cursor.fail(tensor.range, fmt::format("'{}' has a plan already; keep one of them", decl.name));
    const std::vector<Statement *> found = statementsWhere([&](const Statement &s) {
      return &program.tensors[s.lhs.tensor] == &decl && !isDense(decl) &&
             resultPattern(program, s).kind == PatternKind::Computed;
    });
    if (found.empty())
      cursor.fail(tensor.range, fmt::format("'{}' is {}, and nothing is assembled", decl.name,
                                            isDense(decl) ? "dense: its size is known"
                                                          : "stored where an operand is stored"));
    for (Statement *s : found)
      s->plan = plan->plan;
  }

  const TensorDecl &resultNamed(const Token &name) {
    const std::vector<std::string> results = computedNames(program);
    if (std::ranges::count(results, name.text) == 0)
      cursor.fail(name.range, fmt::format("'{}' is no result of the program, which computes {}", name.text,
                                          fmt::join(results, ", ")));
    return *std::ranges::find(program.tensors, name.text, &TensorDecl::name);
  }

  //===--- convert(A, CSR) ---===//

  void convert(const Token &primitive) {
    const Token name = cursor.expectWord("the name of an operand");
    const auto decl = std::ranges::find(program.tensors, name.text, &TensorDecl::name);
    const auto tensor = unsigned(decl - program.tensors.begin());
    const std::vector<Statement *> readers = statementsWhere([&](const Statement &s) {
      return std::ranges::any_of(accesses(s), [&](const Access *a) { return a->tensor == tensor; });
    });
    if (readers.empty())
      cursor.fail(name.range, fmt::format("'{}' is no operand of {}", name.text, whereAsked()));
    cursor.expect(",", "after the operand, and a format");
    const format::Encoding encoding = parseOperandFormat(cursor, text, *decl, {")"});
    cursor.expect(")", "after the format");
    for (Statement *s : readers) {
      if (s->lhs.tensor == tensor || storesWhere(program, *s, tensor))
        cursor.fail(name.range,
                    fmt::format("'{}' is stored where '{}' is, which therefore cannot be converted",
                                program.tensors[s->lhs.tensor].name, name.text));
      if (std::ranges::count(s->loops.conversions, tensor, &LoopSchedule::Conversion::tensor) > 0)
        cursor.fail(name.range, fmt::format("'{}' has a format already; keep one of them", name.text));
      if (showsPattern(program, *s, tensor) &&
          (format::storesPadding(encoding) || format::storesPadding(decl->encoding)))
        cursor.fail(name.range,
                    fmt::format("'{}' would store other coordinates, and {} depends on what is stored",
                                name.text, nameOf(program, *s)));
      s->loops.conversions.push_back({tensor, encoding, cursor.since(primitive.range.begin)});
    }
  }

  //===--- decompose(A, [FORMAT @ pattern, FORMAT @ rest]) ---===//

  void decompose(const Token &primitive) {
    const Token name = cursor.expectWord("the name of an operand");
    const auto decl = std::ranges::find(program.tensors, name.text, &TensorDecl::name);
    const auto tensor = unsigned(decl - program.tensors.begin());
    std::vector<size_t> readers;
    for (const Statement *s : statementsWhere([&](const Statement &s) {
           return !program.tensors[s.lhs.tensor].condition &&
                  std::ranges::any_of(accesses(s), [&](const Access *a) { return a->tensor == tensor; });
         }))
      readers.insert(readers.begin(), size_t(s - program.statements.data()));
    if (readers.empty())
      cursor.fail(name.range, fmt::format("'{}' is no operand of {}", name.text, whereAsked()));
    const std::string target = only ? nameOf(program, program.statements[*only]) + ": " : "";
    cursor.expect(",", "after the operand, and its parts");
    const size_t begin = cursor.peek().range.begin;
    std::vector<Part> list = parseParts(cursor, text, *decl);
    const support::SourceRange range = cursor.since(begin);
    cursor.expect(")", "after the parts");
    program.rewrites.push_back(fmt::format("{}decompose({}, {})", target, name.text, print(list)));
    const std::vector<unsigned> parts = declareParts(program, tensor, std::move(list), range);
    // The last one first: the others keep their numbers.
    for (size_t reader : readers) {
      const std::string statement = nameOf(program, program.statements[reader]);
      if (std::string why = decomposeStatement(program, reader, tensor, parts); !why.empty())
        cursor.fail(cursor.since(primitive.range.begin), fmt::format("{}: {}", statement, why));
    }
  }

  //===--- compute_at(e, i), compute_root(e), compute_inline(e) ---===//

  void computeAt(const Token &primitive) {
    const size_t producer = producerNamed(primitive);
    cursor.expect(",", "after the statement, and the loop of what reads it");
    std::vector<std::string> loops;
    cursor.list(")", "after the loop", [&] {
      const Token loop = cursor.expectWord("a loop of what reads it");
      std::string_view index = loop.text;
      if (index.ends_with(blockSuffix) && !isIndex(index))
        index.remove_suffix(blockSuffix.size());
      if (!isIndex(index))
        failIndex(loop);
      loops.emplace_back(loop.text);
    });
    placeAt(producer, std::move(loops), primitive);
  }

  void computeRoot(const Token &primitive) {
    const size_t producer = producerNamed(primitive);
    cursor.expect(")", "after the statement");
    placeAt(producer, {}, primitive);
  }

  void computeInline(const Token &primitive) {
    const size_t producer = producerNamed(primitive);
    cursor.expect(")", "after the statement");
    const std::string name = nameOf(program, program.statements[producer]);
    program.rewrites.push_back(fmt::format("compute_inline({})", name));
    if (std::string why = inlineStatement(program, producer); !why.empty())
      cursor.fail(cursor.since(primitive.range.begin), fmt::format("'{}' cannot be inlined: {}", name, why));
  }

  /// A statement that a later one reads.
  size_t producerNamed(const Token &primitive) {
    if (only)
      cursor.fail(primitive.range,
                  fmt::format("{} names its statement itself: no name stands before it", primitive.text));
    const size_t begin = cursor.peek().range.begin, producer = statementNamed();
    const unsigned tensor = program.statements[producer].lhs.tensor;
    auto reads = [&](const Statement &s) {
      return (s.accumulate && s.lhs.tensor == tensor) ||
             std::ranges::any_of(accesses(s), [&](const Access *a) { return a->tensor == tensor; });
    };
    const bool isRead =
        std::any_of(program.statements.begin() + ptrdiff_t(producer) + 1, program.statements.end(), reads);
    if (!isRead)
      cursor.fail(cursor.since(begin), "no later statement reads it");
    return producer;
  }

  void placeAt(size_t producer, std::vector<std::string> loops, const Token &primitive) {
    Statement &s = program.statements[producer];
    if (s.loops.place)
      cursor.fail(primitive.range,
                  fmt::format("{} has a place already; keep one of them", nameOf(program, s)));
    s.loops.place = {std::move(loops), cursor.since(primitive.range.begin)};
  }

  //===--- Loops ---===//

  struct LoopName {
    std::string index, text;
    support::SourceRange range;
  };

  /// `i`, or the digit `i/4` or `i%4` of it.
  LoopName loop() {
    const Token index = cursor.expectWord("the index of a loop");
    if (!isIndex(index.text))
      failIndex(index);
    LoopName loop{std::string(index.text), std::string(index.text), index.range};
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

  bool isIndex(std::string_view name) const {
    return std::ranges::count(program.indices, name, &IndexVar::name) > 0;
  }
  [[noreturn]] void failIndex(const Token &name) const {
    std::set<std::string> names;
    for (const IndexVar &known : program.indices)
      names.insert(known.name);
    cursor.fail(name.range,
                fmt::format("no index '{}': the program has {}", name.text, fmt::join(names, ", ")));
  }

  std::vector<Statement *> statementsOver(const std::vector<LoopName> &loops) {
    std::vector<Statement *> found = statementsWhere([&](const Statement &s) {
      const std::set<std::string> own = indicesOf(program, s);
      return std::ranges::all_of(loops, [&](const LoopName &loop) { return own.contains(loop.index); });
    });
    if (found.empty())
      cursor.fail({loops.front().range.begin, loops.back().range.end},
                  only ? fmt::format("{} has no loops over all of these", whereAsked())
                       : "no statement has loops over all of these");
    return found;
  }

  void reorder(const Token &primitive) {
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

  void strategy(const Token &primitive) {
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

  void parallelize(const Token &primitive) {
    const LoopName over = loop();
    Threads threads = Threads::Auto;
    if (cursor.accept(",")) {
      const Token name = cursor.expectWord("how iterations are divided among threads");
      const auto *found = std::ranges::find(threadsNames, name.text, &ThreadsName::name);
      if (found == std::end(threadsNames))
        cursor.fail(name.range,
                    fmt::format("unknown way '{}': expected one of {}", name.text,
                                fmt::join(std::views::transform(threadsNames, &ThreadsName::name), ", ")));
      threads = found->threads;
    }
    cursor.expect(")", "after the loop");
    direct(LoopSchedule::Directive::Parallelize, over, 0, threads, primitive);
  }

  void vectorize(const Token &primitive) {
    count(LoopSchedule::Directive::Vectorize, "the number of lanes", 1, primitive);
  }
  void unroll(const Token &primitive) {
    count(LoopSchedule::Directive::Unroll, "the number of iterations at a time", 2, primitive);
  }

  void count(LoopSchedule::Directive::Kind kind, std::string_view what, int64_t least,
             const Token &primitive) {
    constexpr int64_t most = 64;
    const LoopName over = loop();
    cursor.expect(",", fmt::format("after the loop, and {}", what));
    const support::SourceRange range = cursor.peek().range;
    const int64_t number = cursor.expectInteger(what);
    if (number < least || number > most || (number & (number - 1)) != 0)
      cursor.fail(range, fmt::format("{} is a power of two from {} to {}", what, least, most));
    cursor.expect(")", fmt::format("after {}", what));
    direct(kind, over, number, Threads::Auto, primitive);
  }

  void direct(LoopSchedule::Directive::Kind kind, const LoopName &over, int64_t number, Threads threads,
              const Token &primitive) {
    for (Statement *s : statementsOver({over})) {
      for (const LoopSchedule::Directive &d : s->loops.directives)
        if (d.kind == kind && d.loop == over.text)
          cursor.fail(primitive.range, fmt::format("the loop over {} has {} already; keep one of them",
                                                   over.text, primitive.text));
      s->loops.directives.push_back({kind, over.text, number, threads, cursor.since(primitive.range.begin)});
    }
  }
};

} // namespace

std::string nameOf(const Program &program, const Statement &statement) {
  unsigned number = 1;
  for (const Statement *s = program.statements.data(); s != &statement; ++s)
    number += s->lhs.tensor == statement.lhs.tensor;
  const std::string &result = program.tensors[statement.lhs.tensor].name;
  return number == 1 ? result : fmt::format("{}#{}", result, number);
}

format::Encoding conversionTarget(const Program &program, const LoopSchedule::Conversion &conversion) {
  format::Encoding target = conversion.format;
  // Widths that are not named are those of the operand, of which two bits do for its own format only; a
  // dense one has none.
  const format::Encoding &own = program.tensors[conversion.tensor].encoding;
  const unsigned coordinates = own.crdWidth == 2 ? 32 : own.crdWidth;
  target.posWidth = target.posWidth ? target.posWidth : own.posWidth ? own.posWidth : 64;
  target.crdWidth = target.crdWidth ? target.crdWidth : coordinates ? coordinates : 64;
  return target;
}

void applySchedule(Program &program, std::string_view text, const std::vector<std::string> &strategies,
                   std::string_view name) {
  ScheduleParser(program, text, name, strategies).run();
  program.schedule = text;
  program.scheduleName = name;
  takeWidthsOfParts(program);
}

static std::string print(const LoopSchedule::Directive &d) {
  switch (d.kind) {
  case LoopSchedule::Directive::Vectorize:
    return fmt::format("vectorize({}, {})", d.loop, d.count);
  case LoopSchedule::Directive::Unroll:
    return fmt::format("unroll({}, {})", d.loop, d.count);
  case LoopSchedule::Directive::Parallelize:
    break;
  }
  const auto *name = std::ranges::find(threadsNames, d.threads, &ThreadsName::threads);
  return name == std::end(threadsNames) ? fmt::format("parallelize({})", d.loop)
                                        : fmt::format("parallelize({}, {})", d.loop, name->name);
}

static std::string print(const std::string &statement, const LoopSchedule::Place &place) {
  return place.loops.empty() ? fmt::format("compute_root({})", statement)
                             : fmt::format("compute_at({}, {})", statement, fmt::join(place.loops, ", "));
}

std::string printSchedule(const Program &program) {
  std::vector<std::string> primitives = program.rewrites;
  std::set<unsigned> assembled;
  for (const Statement &s : program.statements) {
    const std::string target = program.statements.size() > 1 ? nameOf(program, s) + ": " : std::string();
    for (const LoopSchedule::Conversion &c : s.loops.conversions)
      primitives.push_back(fmt::format("{}convert({}, {{ {} }})", target, program.tensors[c.tensor].name,
                                       format::printBody(c.format)));
    if (!s.loops.order.empty())
      primitives.push_back(fmt::format("{}reorder({})", target, fmt::join(s.loops.order, ", ")));
    for (const LoopSchedule::Strategy &chosen : s.loops.strategies)
      primitives.push_back(fmt::format("{}strategy({}, {})", target, chosen.loop, chosen.strategy));
    for (const LoopSchedule::Directive &directive : s.loops.directives)
      primitives.push_back(target + print(directive));
    if (s.loops.place)
      primitives.push_back(print(nameOf(program, s), *s.loops.place));
    for (const PlanName &known : planNames)
      if (s.plan == known.plan && assembled.insert(s.lhs.tensor).second)
        primitives.push_back(fmt::format("assemble({}, {})", program.tensors[s.lhs.tensor].name, known.name));
  }
  return fmt::format("{}", fmt::join(primitives, "; "));
}

} // namespace tulle::notation
