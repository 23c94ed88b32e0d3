// Primitives that make loops of others: tiles of coordinates and of positions; and the sizes of indices.
#include "notation/ScheduleParser.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

namespace tulle::notation {

/// What is said of a loop names what it has become.
void ScheduleParser::refuseEarlier(const Statement &statement, const std::string &loop,
                                   const std::string &cure, const Token &primitive) const {
  for (const Directive &d : statement.loops.directives)
    if (d.loop == loop)
      cursor.fail(primitive.range, fmt::format("{}({}, …) stands before it: {}", nameOf(d.kind), loop, cure));
  for (const LoopSchedule::Strategy &chosen : statement.loops.strategies)
    if (chosen.loop == loop)
      cursor.fail(primitive.range, fmt::format("strategy({}, …) stands before it: {}", loop, cure));
}

/// A part of a fused loop is in no tiles of its own.
void ScheduleParser::refuseFused(const Statement &statement, const LoopName &over) const {
  for (const Derived &d : statement.loops.derived)
    if (d.kind == Derived::Fuse && std::ranges::count(d.from, over.text) > 0)
      cursor.fail(over.range, fmt::format("the loop over {} is a part of {}, by fuse", over.text, d.into[0]));
}

std::string ScheduleParser::loopMeant(const Statement &statement, const std::string &loop, bool outer) {
  std::string at = loop;
  for (const Derived &d : std::views::reverse(statement.loops.derived))
    if (d.into.back() == at && d.kind == Derived::Fuse)
      return outer ? d.from.front() : d.from.back();
    else if (d.into.back() == at)
      at = d.from.back();
  return loop;
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
    refuseFused(*s, over);
    refuseEarlier(*s, over.text, fmt::format("say it of {} or {}, after the split", outer, inner), primitive);
    for (const Derived &d : s->loops.derived)
      if (d.kind == Derived::Fuse && d.into[0] == over.text)
        cursor.fail(over.range,
                    fmt::format("tiles of {} are of what an operand stores: pos({}, …) says of which",
                                over.text, over.text));
    s->loops.derived.push_back({divides ? Derived::Divide : Derived::Split,
                                {over.text},
                                {outer, inner},
                                size,
                                /*tensor=*/0,
                                cursor.since(primitive.range.begin)});
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
  const bool used =
      isIndex(name.text) || std::ranges::any_of(program.statements, [&](const Statement &s) {
        return (!only || &s == &program.statements[*only]) && loopNames(s).contains(std::string(name.text));
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
  for (Statement *s :
       statementsWhere([&](const Statement &s) { return loopNames(s).contains(over.index); })) {
    checkBound(*s, over, size);
    if (std::ranges::count(s->loops.bounds, over.index, &LoopSchedule::Bound::index) > 0)
      cursor.fail(primitive.range, fmt::format("{} has a bound already; keep one of them", over.index));
    s->loops.bounds.push_back({over.index, size, cursor.since(primitive.range.begin)});
  }
}

//===--- pos(i, p, A) ---===//

/// The indices whose coordinates the loop visits: two of a fused one. A loop that counts tiles, or positions,
/// is none that could count positions.
std::vector<std::string> ScheduleParser::indicesToCount(const Statement &statement,
                                                        const LoopName &over) const {
  std::vector<std::string> loops{over.index};
  for (const Derived &derived : std::views::reverse(statement.loops.derived)) {
    if (derived.into.back() != loops.back())
      continue;
    if (derived.kind == Derived::Position)
      cursor.fail(over.range, fmt::format("the loop over {} counts positions of '{}' already", over.index,
                                          program.tensors[derived.tensor].name));
    loops = derived.from;
  }
  if (!isIndex(loops.back()))
    cursor.fail(over.range, fmt::format("the loop over {} counts tiles, and visits no coordinates of its own",
                                        over.index));
  return loops;
}

/// Whether the operand is read at all of the indices.
static bool isIndexedBy(const Program &program, const Statement &statement, unsigned tensor,
                        const std::vector<std::string> &indices) {
  return std::ranges::any_of(accesses(statement), [&](const Access *access) {
    return access->tensor == tensor && std::ranges::all_of(indices, [&](const std::string &index) {
             return std::ranges::any_of(access->subscripts, [&](const Affine &subscript) {
               return subscript.isVariable() && program.indices[subscript.terms[0].first].name == index;
             });
           });
  });
}

void ScheduleParser::position(const Token &primitive) {
  const LoopName over = loop();
  cursor.expect(",", "after the loop, and a name for the loop over positions");
  const std::string made = newLoop();
  cursor.expect(",", "after that name, and the operand whose positions these are");
  const Token name = cursor.expectWord("the name of an operand");
  cursor.expect(")", "after the operand");
  if (over.text != over.index)
    cursor.fail(over.range, "a loop over blocks, or within one, counts no positions");
  const auto tensor =
      unsigned(std::ranges::find(program.tensors, name.text, &TensorDecl::name) - program.tensors.begin());
  if (statementsWhere([&](const Statement &s) { return readsOf(s, tensor); }).empty())
    cursor.fail(name.range, fmt::format("'{}' is no operand of {}", name.text, whereAsked()));
  std::vector<Statement *> found = statementsOver({over});
  for (const Statement *s : found)
    refuseFused(*s, over);
  std::erase_if(
      found, [&](const Statement *s) { return !isIndexedBy(program, *s, tensor, indicesToCount(*s, over)); });
  if (found.empty())
    cursor.fail(name.range,
                fmt::format("'{}' has no dimension that the loop over {} is over", name.text, over.text));
  for (Statement *s : found) {
    refuseEarlier(*s, over.text, fmt::format("say it of {}, after pos", made), primitive);
    s->loops.derived.push_back(
        {Derived::Position, {over.text}, {made}, /*size=*/0, tensor, cursor.since(primitive.range.begin)});
    std::ranges::replace(s->loops.order, over.text, made);
  }
}

//===--- fuse(i, j, f), rfactor(i0, w) ---===//

void ScheduleParser::fuse(const Token &primitive) {
  const LoopName outer = loop();
  cursor.expect(",", "after the outer loop, and the one right inside of it");
  const LoopName inner = loop();
  cursor.expect(",", "after the loops, and a name for the one that they become");
  const std::string made = newLoop();
  cursor.expect(")", "after the name");
  if (outer.text == inner.text)
    cursor.fail(inner.range, "two loops become one");
  for (const LoopName &each : {outer, inner})
    if (each.text != each.index || !isIndex(each.index))
      cursor.fail(each.range,
                  fmt::format("{} is a part of a loop: loops over whole indices become one", each.text));
  for (Statement *s : statementsOver({outer, inner})) {
    for (const LoopName &each : {outer, inner})
      refuseFused(*s, each);
    s->loops.derived.push_back({Derived::Fuse,
                                {outer.text, inner.text},
                                {made},
                                /*size=*/0,
                                /*tensor=*/0,
                                cursor.since(primitive.range.begin)});
    // What has an order already has the one in the place of the two.
    std::vector<std::string> &order = s->loops.order;
    const auto first = std::ranges::find(order, outer.text), second = std::ranges::find(order, inner.text);
    if (first != order.end() && second != order.end() && second != first + 1)
      cursor.fail(primitive.range,
                  fmt::format("reorder({}) stands before it, where {} is not right inside of {}",
                              fmt::join(order, ", "), inner.text, outer.text));
    if (first != order.end())
      std::erase(order, inner.text);
    std::ranges::replace(order, first != order.end() ? outer.text : inner.text, made);
  }
}

void ScheduleParser::rfactor(const Token &primitive) {
  const LoopName over = loop();
  cursor.expect(",", "after the loop, and a name for the tensor of its partial results");
  const Token name = cursor.expectWord("a name for the tensor of its partial results");
  cursor.expect(")", "after the name");
  if (isIndex(name.text) || std::ranges::count(program.tensors, name.text, &TensorDecl::name) > 0)
    cursor.fail(
        name.range,
        fmt::format("'{}' has a meaning already: partial results have a name of their own", name.text));
  Directive directive{Directive::Rfactor};
  directive.partials = std::string(name.text);
  direct(directive, over, primitive);
}

} // namespace tulle::notation
