// Primitives about results and operands, and where statements are computed.
#include "notation/Pattern.h"
#include "notation/ScheduleParser.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {

//===--- assemble(C, count) ---===//

void ScheduleParser::assemble(const Token &primitive) {
  const Token tensor = cursor.expectWord("the name of a result");
  cursor.expect(",", "after the result, and count, bound or grow");
  const Token name = cursor.expectWord("count, bound or grow");
  constexpr AssemblyPlan plans[] = {AssemblyPlan::Count, AssemblyPlan::Bound, AssemblyPlan::Grow};
  const auto *plan = std::ranges::find_if(plans, [&](AssemblyPlan p) { return nameOf(p) == name.text; });
  if (plan == std::end(plans))
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
    s->plan = *plan;
}

const TensorDecl &ScheduleParser::resultNamed(const Token &name) {
  const std::vector<std::string> results = computedNames(program);
  if (std::ranges::count(results, name.text) == 0)
    cursor.fail(name.range, fmt::format("'{}' is no result of the program, which computes {}", name.text,
                                        fmt::join(results, ", ")));
  return *std::ranges::find(program.tensors, name.text, &TensorDecl::name);
}

//===--- convert(A, CSR) ---===//

void ScheduleParser::convert(const Token &primitive) {
  const Token name = cursor.expectWord("the name of an operand");
  const auto decl = std::ranges::find(program.tensors, name.text, &TensorDecl::name);
  const auto tensor = unsigned(decl - program.tensors.begin());
  const std::vector<Statement *> readers = statementsWhere([&](const Statement &s) {
    return std::ranges::any_of(operandsOf(s), [&](const Access *a) { return a->tensor == tensor; });
  });
  if (readers.empty())
    cursor.fail(name.range, fmt::format("'{}' is no operand of {}", name.text, whereAsked()));
  cursor.expect(",", "after the operand, and a format");
  const format::Encoding encoding = parseOperandFormat(cursor, text, *decl, {")"});
  cursor.expect(")", "after the format");
  for (Statement *s : readers) {
    if (s->lhs.tensor == tensor || storesWhere(program, *s, tensor))
      cursor.fail(name.range, fmt::format("'{}' is stored where '{}' is, which therefore cannot be converted",
                                          program.tensors[s->lhs.tensor].name, name.text));
    if (std::ranges::count(s->loops.conversions, tensor, &LoopSchedule::Conversion::tensor) > 0)
      cursor.fail(name.range, fmt::format("'{}' has a format already; keep one of them", name.text));
    if (showsPattern(program, *s, tensor) &&
        (format::storesPadding(encoding) || format::storesPadding(decl->encoding)))
      cursor.fail(name.range,
                  fmt::format("'{}' would store other coordinates, and {} depends on what is stored",
                              name.text, nameOfStatement(*s)));
    s->loops.conversions.push_back({tensor, encoding, cursor.since(primitive.range.begin)});
  }
}

//===--- decompose(A, [FORMAT @ pattern, FORMAT @ rest]) ---===//

void ScheduleParser::decompose(const Token &primitive) {
  const Token name = cursor.expectWord("the name of an operand");
  const auto decl = std::ranges::find(program.tensors, name.text, &TensorDecl::name);
  const auto tensor = unsigned(decl - program.tensors.begin());
  std::vector<size_t> readers;
  for (const Statement *s : statementsWhere([&](const Statement &s) {
         return !program.tensors[s.lhs.tensor].condition &&
                std::ranges::any_of(operandsOf(s), [&](const Access *a) { return a->tensor == tensor; });
       }))
    readers.insert(readers.begin(), size_t(s - program.statements.data()));
  if (readers.empty())
    cursor.fail(name.range, fmt::format("'{}' is no operand of {}", name.text, whereAsked()));
  const std::string target = only ? nameOf(program, *only) + ": " : "";
  cursor.expect(",", "after the operand, and its parts");
  const size_t begin = cursor.peek().range.begin;
  std::vector<Part> list = parseParts(cursor, text, *decl);
  const support::SourceRange range = cursor.since(begin);
  cursor.expect(")", "after the parts");
  program.rewrites.push_back(fmt::format("{}decompose({}, {})", target, name.text, print(list)));
  const std::vector<unsigned> parts = declareParts(program, tensor, std::move(list), range);
  // The last one first: the others keep their numbers.
  for (size_t reader : readers) {
    const std::string statement = nameOf(program, reader);
    if (std::string why = decomposeStatement(program, reader, tensor, parts); !why.empty())
      cursor.fail(cursor.since(primitive.range.begin), fmt::format("{}: {}", statement, why));
  }
}

//===--- prefetch(A, i, distance), cache(A, i, stack or registers) ---===//

void ScheduleParser::prefetch(const Token &primitive) {
  auto [directive, over, name] = operandIn(Directive::Prefetch, readsOf, "how many iterations ahead");
  constexpr int64_t most = 1 << 20;
  directive.count = count("the number of iterations ahead", 0, most);
  directOperand(directive, readsOf, over, name, primitive);
}

void ScheduleParser::cache(const Token &primitive) {
  auto [directive, over, name] = operandIn(Directive::Cache, hasAccess, "stack or registers");
  const Token place = cursor.expectWord("stack or registers");
  if (!place.is("stack") && !place.is("registers"))
    cursor.fail(place.range, fmt::format("unknown place '{}': expected stack (a copy of what is read) or "
                                         "registers (which hold what is read or updated)",
                                         place.text));
  directive.place = place.is("stack") ? CachePlace::Stack : CachePlace::Registers;
  cursor.expect(")", "after the place");
  const bool updates = directive.place == CachePlace::Registers;
  if (!updates && statementsWhere([&, tensor = directive.tensor](const Statement &s) {
                    return readsOf(s, tensor);
                  }).empty())
    cursor.fail(name.range, fmt::format("'{}' is a result, which is not copied: cache({}, {}, registers) "
                                        "holds what loops update of it",
                                        name.text, name.text, over.text));
  const bool assembled = !statementsWhere([&, tensor = directive.tensor](const Statement &s) {
                            return s.lhs.tensor == tensor && !isDense(program.tensors[tensor]) &&
                                   resultPattern(program, s).kind == PatternKind::Computed;
                          }).empty();
  if (updates && assembled)
    cursor.fail(name.range,
                fmt::format("'{}' is a new sparse tensor, whose entries are appended", name.text));
  directOperand(directive, updates ? hasAccess : readsOf, over, name, primitive);
}

/// The operand, and the loop, that stand before the comma behind which is `what`.
std::tuple<ScheduleParser::Directive, ScheduleParser::LoopName, support::Token>
ScheduleParser::operandIn(Directive::Kind kind, Uses uses, std::string_view what) {
  const Token name = cursor.expectWord("the name of an operand");
  Directive directive{kind};
  directive.tensor =
      unsigned(std::ranges::find(program.tensors, name.text, &TensorDecl::name) - program.tensors.begin());
  if (statementsWhere([&](const Statement &s) { return uses(s, directive.tensor); }).empty())
    cursor.fail(name.range, fmt::format("'{}' is no operand of {}", name.text, whereAsked()));
  cursor.expect(",", "after the operand, and a loop");
  LoopName over = loop();
  cursor.expect(",", fmt::format("after the loop, and {}", what));
  return {directive, std::move(over), name};
}

/// Puts it on those statements alone that use the tensor so.
void ScheduleParser::directOperand(const Directive &directive, Uses uses, const LoopName &over,
                                   const Token &name, const Token &primitive) {
  std::vector<Statement *> both = statementsOver({over});
  std::erase_if(both, [&](Statement *s) { return !uses(*s, directive.tensor); });
  if (both.empty())
    cursor.fail(over.range,
                fmt::format("no statement that reads '{}' has a loop over {}", name.text, over.text));
  direct(directive, over, primitive, both);
}

bool ScheduleParser::hasAccess(const Statement &statement, unsigned tensor) {
  return statement.lhs.tensor == tensor || readsOf(statement, tensor);
}

bool ScheduleParser::readsOf(const Statement &statement, unsigned tensor) {
  return std::ranges::any_of(operandsOf(statement), [&](const Access *a) { return a->tensor == tensor; });
}

//===--- compute_at(e, i), compute_root(e), compute_inline(e) ---===//

/// A loop in which something is computed: that over an index, or over blocks of it, `i_block`, or what a
/// split has made; behind it may stand of which digit, `l_block/64`.
std::string ScheduleParser::placeNamed(const Token &loop) const {
  if (isPart(loop.text))
    return std::string(loop.text);
  constexpr std::string_view blockSuffix = "_block";
  std::string_view index = loop.text;
  if (index.ends_with(blockSuffix) && !isIndex(index))
    index.remove_suffix(blockSuffix.size());
  if (!isIndex(index))
    failIndex(loop);
  return std::string(loop.text);
}

void ScheduleParser::computeAt(const Token &primitive) {
  const size_t producer = producerNamed(primitive, /*sharing=*/true);
  cursor.expect(",", "after the statement, and the loop of what reads it");
  std::vector<std::string> loops;
  cursor.list(")", "after the loop", [&] {
    loops.push_back(placeNamed(cursor.expectWord("a loop of what reads it")));
    loops.back() += digit();
  });
  placeAt(producer, std::move(loops), primitive);
}

void ScheduleParser::computeRoot(const Token &primitive) {
  const size_t producer = producerNamed(primitive, /*sharing=*/true);
  cursor.expect(")", "after the statement");
  placeAt(producer, {}, primitive);
}

void ScheduleParser::computeInline(const Token &primitive) {
  const size_t producer = producerNamed(primitive, /*sharing=*/false);
  cursor.expect(")", "after the statement");
  const std::string name = nameOf(program, producer);
  program.rewrites.push_back(fmt::format("compute_inline({})", name));
  if (std::string why = inlineStatement(program, producer); !why.empty())
    cursor.fail(cursor.since(primitive.range.begin), fmt::format("'{}' cannot be inlined: {}", name, why));
}

void ScheduleParser::precompute(const Token &primitive) {
  if (!only && program.statements.size() > 1)
    cursor.fail(primitive.range,
                "which statement computes it? its name stands before the primitive: y: precompute(…)");
  if (!program.decompositions.empty())
    cursor.fail(primitive.range, "what is precomputed stands before decompose(…)");
  const size_t begin = cursor.peek().range.begin;
  size_t end = begin;
  for (int depth = 0; !cursor.atEnd() && (depth > 0 || !cursor.next(",")); end = cursor.take().range.end)
    depth += cursor.next("(") ? 1 : cursor.next(")") ? -1 : 0;
  const support::SourceRange part{begin, end};
  cursor.expect(",", "after the expression, and the loop in which it is computed");
  std::vector<Token> words;
  WorkspaceKind kind = WorkspaceKind::Dense;
  cursor.list(")", "after the loop in which it is computed, and a name", [&] {
    words.push_back(cursor.expectWord("a loop, or the name of the workspace"));
    if (cursor.accept(":"))
      kind = workspaceKind();
  });
  const Token name = words.back();
  words.pop_back();
  if (words.empty())
    cursor.fail(name.range, "the loop in which it is computed stands before the name");
  std::vector<std::string> loops;
  for (const Token &loop : words)
    loops.push_back(placeNamed(loop));
  if (isIndex(name.text) || std::ranges::count(program.tensors, name.text, &TensorDecl::name) > 0)
    cursor.fail(name.range,
                fmt::format("'{}' has a meaning already: a workspace has a name of its own", name.text));
  const size_t number = only.value_or(0);
  if (!program.statements[number].loops.isEmpty())
    cursor.fail(primitive.range, "what is said of the statement's loops stands after it");
  const std::string expression(text.substr(begin, end - begin));
  const std::string why =
      precomputeExpression(program, number, expression, loops, std::string(name.text), kind);
  if (!why.empty())
    cursor.fail(part, why);
  LoopSchedule &made = program.statements[number].loops;
  made.place->range = cursor.since(primitive.range.begin);
  made.precomputes = true;
  made.workspace = kind;
  program.rewrites.push_back(fmt::format(
      "{}: precompute({}, {}, {}{})", nameOf(program, number + 1), expression, fmt::join(loops, ", "),
      name.text, kind == WorkspaceKind::Dense ? std::string() : fmt::format(" : {}", nameOf(kind))));
}

/// What stands behind the name of a workspace, the last in the list.
WorkspaceKind ScheduleParser::workspaceKind() {
  const Token name = cursor.expectWord("dense, bitmap or hashed");
  constexpr WorkspaceKind kinds[] = {WorkspaceKind::Dense, WorkspaceKind::Bitmap, WorkspaceKind::Hashed};
  const auto *kind = std::ranges::find_if(kinds, [&](WorkspaceKind k) { return nameOf(k) == name.text; });
  if (kind == std::end(kinds))
    cursor.fail(name.range,
                fmt::format("unknown workspace '{}': expected dense (all coordinates), bitmap (an "
                            "array, and a set of those that are stored) or hashed (a hash table)",
                            name.text));
  if (!cursor.next(")"))
    cursor.failExpected("')' after the workspace");
  return *kind;
}

/// A statement that a later one reads, or, if `sharing`, which reads what a later one reads.
size_t ScheduleParser::producerNamed(const Token &primitive, bool sharing) {
  if (only)
    cursor.fail(primitive.range,
                fmt::format("{} names its statement itself: no name stands before it", primitive.text));
  const size_t begin = cursor.peek().range.begin, producer = statementNamed();
  const unsigned tensor = program.statements[producer].lhs.tensor;
  auto readsTensor = [](const Statement &s, unsigned t) {
    return std::ranges::any_of(accesses(s), [&](const Access *a) { return a->tensor == t; });
  };
  auto shares = [&](const Statement &s) {
    return sharing && std::ranges::any_of(accesses(program.statements[producer]), [&](const Access *a) {
             return !a->subscripts.empty() && readsTensor(s, a->tensor);
           });
  };
  auto reads = [&](const Statement &s) {
    return (s.accumulate && s.lhs.tensor == tensor) || readsTensor(s, tensor) || shares(s);
  };
  const bool isRead =
      std::any_of(program.statements.begin() + ptrdiff_t(producer) + 1, program.statements.end(), reads);
  if (!isRead)
    cursor.fail(cursor.since(begin), sharing ? "no later statement reads it, or a tensor that it reads"
                                             : "no later statement reads it");
  return producer;
}

void ScheduleParser::placeAt(size_t producer, std::vector<std::string> loops, const Token &primitive) {
  Statement &s = program.statements[producer];
  if (s.loops.precomputes && s.loops.place->loops == loops)
    return; // as its primitive says
  if (s.loops.place)
    cursor.fail(primitive.range, fmt::format("{} has a place already; keep one of them", nameOfStatement(s)));
  s.loops.place = {std::move(loops), cursor.since(primitive.range.begin)};
}

} // namespace tulle::notation
