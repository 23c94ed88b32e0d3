#include "Schedules.h"
#include "Formats.h"
#include "engine/Engine.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tulle::differential {

ScheduleTally scheduleTally;

namespace {

std::string randomOrder(const notation::Program &program, Random &random) {
  std::vector<std::string> names;
  for (const notation::IndexVar &index : program.indices)
    if (random.chance(0.8) && std::ranges::count(names, index.name) == 0)
      names.insert(names.begin() + random.below(int64_t(names.size()) + 1), index.name);
  if (!names.empty() && random.chance(0.1))
    random.pick<std::string *>({&names.front(), &names.back()})
        ->append(random.pick<const char *>({"/2", "%2"}));
  return fmt::format("reorder({})", fmt::join(names, ", "));
}

/// A format that holds every tensor and stores its entries alone. What stores padding is not converted
/// either: 0 times what is infinite is nan, and only what is stored meets it.
std::string randomTarget(unsigned order, Random &random) {
  for (;;) {
    std::string text = randomFormat(random, order);
    const format::Encoding encoding = format::parseFormat(text, order);
    const bool holds = std::ranges::all_of(encoding.levels, [](const format::Level &level) {
      using enum format::LevelKind;
      return std::ranges::count(std::array{Dense, Compressed, LooseCompressed, Singleton, Bitmap, Hashed},
                                level.format.kind) > 0;
    });
    if (order == 0 || (holds && !format::storesPadding(encoding)))
      return text;
  }
}

std::string conversionOf(const notation::TensorDecl &tensor, Random &random) {
  const std::string target = randomTarget(unsigned(tensor.dims.size()), random);
  return format::storesPadding(tensor.encoding) ? "" : fmt::format("convert({}, {})", tensor.name, target);
}

/// Coordinates of a row or a diagonal, or how many entries are there; in tensors of any order.
std::string randomCondition(const notation::TensorDecl &tensor, Random &random) {
  const std::vector<std::string> names = format::dimensionNames(unsigned(tensor.dims.size()));
  const std::string &one = random.pick(names), &other = random.pick(names);
  const int64_t bound = random.below(4);
  switch (random.below(4)) {
  case 0:
    return fmt::format("count({}{}) <= {}", one, random.chance(0.3) ? " within 2" : "", bound);
  case 1:
    return fmt::format("{} - {} in {{{}, {}}}", one, other, -bound, bound);
  case 2:
    return fmt::format("{} mod 2 = {}", one, bound % 2);
  default:
    return fmt::format("fill({}) >= 1/{}", fmt::join(std::vector<int>(names.size(), 2), ","), bound + 1);
  }
}

/// Rows, or columns, by how many entries they have: parts that have none of them in common.
std::string randomBuckets(Random &random) {
  const bool rows = random.chance(0.7);
  const char *along = rows ? "i" : "j", *counted = rows ? "j" : "i";
  const std::string list = fmt::format("(i, j) -> ({} : compressed, {} : compressed)", along, counted);
  std::string parts;
  int64_t length = random.below(2);
  for (int64_t n = 1 + random.below(3); n > 0; --n) {
    length += 1 + random.below(2);
    const std::string slots =
        fmt::format("(i, j) -> ({} : compressed, {} : fixed[{}](padded))", along, counted, length);
    parts += fmt::format("{} @ count({}) {} {}, ", random.chance(0.7) ? slots : list, counted,
                         random.chance(0.6) ? "=" : "<=", length);
  }
  return parts + list + " @ rest";
}

std::string decompositionOf(const notation::TensorDecl &tensor, Random &random) {
  const unsigned order = unsigned(tensor.dims.size());
  if (order == 0 || format::storesPadding(tensor.encoding))
    return "";
  if (order == 2 && random.chance(0.2))
    return fmt::format("decompose({}, hyb({}, {}))", tensor.name, 1 + random.below(2), random.below(3));
  if (order == 2 && random.chance(0.3))
    return fmt::format("decompose({}, [{}])", tensor.name, randomBuckets(random));
  std::string parts;
  for (int64_t n = random.below(3); n > 0; --n)
    parts += fmt::format("{} @ {}{}, ", randomTarget(order, random), randomCondition(tensor, random),
                         random.chance(0.3) ? " and " + randomCondition(tensor, random) : "");
  return fmt::format("decompose({}, [{}{} @ rest])", tensor.name, parts, randomTarget(order, random));
}

std::string randomLoop(const notation::Program &program, Random &random) {
  return program.indices.empty() ? "i" : random.pick(program.indices).name;
}

/// Tiles of the entries of two loops that become one.
std::string randomPairs(const notation::Program &program, Random &random) {
  const std::string outer = randomLoop(program, random), inner = randomLoop(program, random);
  std::string text = fmt::format("fuse({}, {}, {}f)", outer, inner, outer);
  const std::string loop = outer + "f";
  if (random.chance(0.8))
    text += fmt::format("; pos({0}, {0}p, {1}); {2}({0}p, {0}0, {0}1, {3})", loop,
                        random.pick(program.tensors).name, random.chance(0.7) ? "split" : "divide",
                        1 + random.below(6));
  else
    return random.chance(0.5) ? text : fmt::format("{}; parallelize({}, entries)", text, loop);
  if (random.chance(0.3))
    text += fmt::format("; rfactor({0}0, {0}w)", loop);
  if (random.chance(0.3))
    text +=
        fmt::format("; parallelize({}0{})", loop, random.pick<const char *>({"", ", private", ", reduce"}));
  if (random.chance(0.3))
    text += fmt::format("; unroll({}1, 2)", loop);
  return text;
}

/// Half of them go on to say something of the loops that they make; a third are tiles of positions.
std::string randomTiles(const notation::Program &program, Random &random) {
  if (program.indices.size() > 1 && random.chance(0.3))
    return randomPairs(program, random);
  std::string loop = randomLoop(program, random), text;
  std::vector<std::string> others;
  if (program.indices.size() > 1 && random.chance(0.5))
    if (const std::string &other = random.pick(program.indices).name; other != loop)
      others.push_back(other);
  if (random.chance(0.35)) {
    if (random.chance(0.2)) {
      text = fmt::format("split({0}, {0}t, {0}c, {1}); ", loop, 1 + random.below(5));
      loop += "c";
    }
    text += fmt::format("pos({0}, {0}p, {1}); ", loop, random.pick(program.tensors).name);
    loop += "p";
  }
  const std::string outer = loop + "0", inner = loop + "1";
  text += fmt::format("{}({}, {}, {}, {})", random.chance(0.7) ? "split" : "divide", loop, outer, inner,
                      1 + random.below(5));
  std::vector<std::string> order{outer, inner};
  for (const std::string &other : others)
    order.insert(order.begin() + random.below(3), other);
  if (random.chance(0.5))
    text += fmt::format("; reorder({})", fmt::join(order, ", "));
  if (random.chance(0.2))
    text += fmt::format("; split({}, {}0, {}1, {})", random.chance(0.5) ? outer : inner, loop + "x",
                        loop + "x", 1 + random.below(3));
  else if (random.chance(0.3))
    text +=
        fmt::format("; parallelize({}{})", outer, random.pick<const char *>({"", ", disjoint", ", reduce"}));
  else if (random.chance(0.3))
    text += fmt::format("; unroll({}, 2)", inner);
  else if (random.chance(0.5))
    text += fmt::format("; rfactor({}, {}w)", outer, loop);
  return text;
}

/// Mostly what fits most loops.
std::string randomDirective(const notation::Program &program, Random &random) {
  const std::string loop = randomLoop(program, random);
  if (random.chance(0.3))
    return fmt::format("prefetch({}, {}, {})", random.pick(program.tensors).name, loop, random.below(5) * 3);
  if (random.chance(0.15)) {
    const std::string bounded = randomLoop(program, random);
    const auto found = std::ranges::find(program.indices, bounded, &notation::IndexVar::name);
    return fmt::format("bound({}, {}); cache({}, {}, {})", bounded,
                       found == program.indices.end() ? 1 : found->size, random.pick(program.tensors).name,
                       loop, random.pick<const char *>({"stack", "registers", "registers"}));
  }
  if (random.chance(0.2))
    return fmt::format("jam({}, {})", loop, 2 + random.below(4));
  if (random.chance(0.1) && !program.indices.empty()) {
    const notation::IndexVar &index = random.pick(program.indices);
    return fmt::format("bound({}, {})", index.name, index.size);
  }
  if (random.chance(0.6))
    return fmt::format("unroll({}, {})", loop, int64_t(2) << random.below(4));
  if (random.chance(0.4))
    return fmt::format("vectorize({}, {})", loop, int64_t(1) << random.below(5));
  return fmt::format("parallelize({}{})", loop,
                     random.pick<const char *>(
                         {", none", ", none", "", ", entries", ", disjoint", ", reduce", ", private"}));
}

/// A loop over tiles of what reads the statement, in which that is computed.
std::string randomTilePlace(const notation::Program &program, size_t producer, Random &random) {
  const size_t reader = producer + 1 + size_t(random.below(2));
  if (reader >= program.statements.size())
    return "";
  std::set<unsigned> indices;
  for (const auto &subscript : program.statements[reader].lhs.subscripts)
    for (const auto &term : subscript.terms)
      indices.insert(term.first);
  std::vector<std::string> loops;
  for (const unsigned index : indices)
    loops.push_back(program.indices[index].name);
  if (loops.empty())
    return "";
  const std::string loop = random.pick(loops);
  std::string text;
  for (const unsigned index : indices)
    if (random.chance(0.3))
      text += fmt::format("{}: bound({}, {}); ", notation::nameOf(program, reader),
                          program.indices[index].name, program.indices[index].size);
  return text + fmt::format("{0}: {1}({2}, {2}0, {2}1, {3}); compute_at({4}, {2}0)",
                            notation::nameOf(program, reader), random.chance(0.8) ? "split" : "divide", loop,
                            random.pick<int>({1, 2, 3, 5, 7, 11}), notation::nameOf(program, producer));
}

std::string randomPlace(const notation::Program &program, Random &random) {
  const size_t number = size_t(random.below(int64_t(program.statements.size())));
  const std::string producer = notation::nameOf(program, number);
  if (random.chance(0.4))
    return randomTilePlace(program, number, random);
  const std::string loop = randomLoop(program, random);
  if (random.chance(0.4))
    return fmt::format("compute_inline({})", producer);
  if (random.chance(0.5))
    return fmt::format("compute_root({})", producer);
  return fmt::format(
      fmt::runtime(random.chance(0.5) ? "compute_at({0}, {1})" : "compute_at({0}, {1}_block, {1})"), producer,
      loop);
}

/// A factor of a product: in a dense workspace where all is dense, since what is not stored, and meets what
/// is infinite only once that is a stored 0, is none of it; else in a sparse one.
std::string randomPart(const notation::Program &program, Random &random) {
  const auto number = size_t(random.below(int64_t(program.statements.size())));
  const notation::Statement &statement = program.statements[number];
  const bool dense = std::ranges::all_of(notation::accesses(statement), [&](const notation::Access *access) {
    return notation::isDense(program.tensors[access->tensor]);
  });
  notation::Expr part = statement.rhs;
  while (!part->args.empty() && random.chance(0.6))
    part = random.pick(part->args);
  const char *kind = dense ? "" : random.pick<const char *>({" : bitmap", " : hashed"});
  std::string loop = dense ? randomLoop(program, random) : "";
  notation::forEachAccess(part, [&](const notation::Access &access) { // sparse rows are those of an operand
    if (loop.empty() && !access.subscripts.empty() && access.subscripts[0].isVariable())
      loop = program.indices[access.subscripts[0].terms[0].first].name;
  });
  return fmt::format("{}: precompute({}, {}, w{}{})", notation::nameOf(program, number),
                     notation::print(program, part), loop, random.below(1000), kind);
}

} // namespace

std::string randomPrimitive(const notation::Program &program, Random &random) {
  const notation::TensorDecl &tensor = random.pick(program.tensors);
  if (random.chance(0.1))
    return randomPart(program, random);
  if (random.chance(0.25) && !program.indices.empty())
    return randomTiles(program, random);
  switch (random.below(program.statements.size() > 1 ? 8 : 6)) {
  case 0:
    return fmt::format("assemble({}, {})", tensor.name,
                       random.pick<const char *>({"count", "bound", "grow"}));
  case 1:
    return conversionOf(tensor, random);
  case 2:
    if (!program.indices.empty())
      return fmt::format("strategy({}, {})", random.pick(program.indices).name,
                         random.pick(engine::strategyNames()));
    [[fallthrough]];
  case 3:
    return randomOrder(program, random);
  case 4:
    return randomDirective(program, random);
  case 5:
    return decompositionOf(tensor, random);
  default:
    return randomPlace(program, random);
  }
}

std::string scheduleRandomly(notation::Program &program, Random random) {
  const notation::Program original = program;
  std::string text;
  for (int64_t n = random.below(3); n > 0; --n) {
    std::string target = random.chance(0.3) && program.statements.size() > 1
                             ? program.tensors[program.statements.front().lhs.tensor].name + ": "
                             : "";
    const std::string primitive = randomPrimitive(program, random);
    const bool named = primitive.find("compute") != std::string::npos;
    const std::string longer = text + (named ? "" : target) + primitive + "; ";
    notation::Program scheduled = original;
    try {
      notation::applySchedule(scheduled, longer, engine::strategyNames());
    } catch (const Error &) {
      continue; // not for these statements
    }
    program = std::move(scheduled);
    text = longer;
  }
  return text;
}

} // namespace tulle::differential
