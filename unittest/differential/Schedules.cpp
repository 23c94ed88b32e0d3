#include "Schedules.h"
#include "Formats.h"
#include "engine/Engine.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string randomPrimitive(const notation::Program &program, Random &random) {
  const notation::TensorDecl &tensor = random.pick(program.tensors);
  switch (random.below(4)) {
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
  default:
    return randomOrder(program, random);
  }
}

} // namespace

std::string scheduleRandomly(notation::Program &program, Random random) {
  std::string text;
  for (int64_t n = random.below(4); n > 0; --n) {
    std::string target = random.chance(0.3) && program.statements.size() > 1
                             ? program.tensors[program.statements.front().lhs.tensor].name + ": "
                             : "";
    const std::string longer = text + target + randomPrimitive(program, random) + "; ";
    notation::Program scheduled = program;
    for (notation::Statement &s : scheduled.statements) {
      s.loops = {};
      s.plan = notation::AssemblyPlan::Auto;
    }
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
