#include "Sizes.h"
#include "Formats.h"
#include "engine/Conversion.h"
#include "format/Layout.h"
#include "notation/Program.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>

namespace tulle::differential {
namespace {

using format::LevelKind;

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

int64_t drawConstant(Random &random) {
  if (random.chance(0.7))
    return random.below(6);
  return random.pick<int64_t>({7, 62, 63, 64, 1000, int64_t(1) << 31, int64_t(1) << 32, int64_t(1) << 62,
                               largest - 2, largest - 1, largest});
}

/// An expression over the dimensions, mostly a plain one.
std::string drawExpression(Random &random, unsigned order, unsigned depth) {
  auto dim = [&] { return fmt::format("d{}", random.below(order)); };
  if (depth == 0 || random.chance(0.4))
    return dim();
  const std::string a = drawExpression(random, order, depth - 1);
  if (random.chance(0.2))
    return fmt::format("({} {} {})", a, random.pick<std::string>({"+", "-", "|", "&", "^", "*"}),
                       drawExpression(random, order, depth - 1));
  return fmt::format("({} {} {})", a,
                     random.pick<std::string>({"+", "-", "*", "floordiv", "mod", "shl", "shr", "&", "|"}),
                     drawConstant(random));
}

std::string drawLevel(Random &random) {
  return random.pick<std::string>({"dense",
                                   "dense",
                                   "compressed",
                                   "compressed",
                                   "compressed(nonunique)",
                                   "compressed(nonordered)",
                                   "loose_compressed",
                                   "loose_compressed[2]",
                                   "singleton",
                                   "singleton(nonunique)",
                                   "singleton(padded)",
                                   "ragged",
                                   "jagged",
                                   "ragged(padded)",
                                   "fixed",
                                   "fixed[4]",
                                   "squeezed",
                                   "banded",
                                   "offset",
                                   "hashed",
                                   "bitmap",
                                   "batch"});
}

/// Each dimension once, plain or in blocks, and more levels of any expression.
std::string drawFormat(Random &random, unsigned order) {
  if (random.chance(0.2))
    return random.pick<std::string>({"CSR", "COO", "DIA", "ELL", "JDS", "SELL(2,4)", "HiCOO(2)", "BCSR(2,3)",
                                     "CSF", "DOK", "skyline", "bitmap", "ragged", "jagged", "BCOO", "DCSR",
                                     "CSC", "ELLR"});
  std::vector<std::string> expressions;
  for (unsigned d = 0; d < order; ++d) {
    const int64_t block = random.pick<int64_t>({2, 3, 4, int64_t(1) << 31, int64_t(1) << 62, largest});
    if (random.chance(0.2)) {
      expressions.push_back(fmt::format("d{} floordiv {}", d, block));
      expressions.push_back(fmt::format("d{} mod {}", d, block));
    } else if (random.chance(0.5)) {
      expressions.push_back(fmt::format("d{}", d));
    } else {
      expressions.push_back(fmt::format("d{} {} {}", d, random.pick<std::string>({"+", "*", "shl", "-"}),
                                        drawConstant(random)));
    }
  }
  for (int64_t more = random.below(3); more > 0; --more)
    expressions.push_back(random.chance(0.2) ? fmt::format("#d{}", random.below(order))
                                             : drawExpression(random, order, 2));
  for (size_t l = expressions.size(); l > 1; --l)
    if (random.chance(0.5))
      std::swap(expressions[l - 1], expressions[size_t(random.below(int64_t(l)))]);
  std::vector<std::string> levels, dims;
  for (const std::string &expression : expressions)
    levels.push_back(expression + " : " + drawLevel(random));
  for (unsigned d = 0; d < order; ++d)
    dims.push_back(fmt::format("d{}", d));
  return fmt::format("({}) -> ({})", fmt::join(dims, ", "), fmt::join(levels, ", "));
}

int64_t drawSize(Random &random) {
  if (random.chance(0.6))
    return random.below(9);
  if (random.chance(0.2))
    return 1 + random.below(largest);
  const int64_t power = int64_t(1) << random.pick({31, 32, 33, 40, 48, 60, 61, 62});
  return power + random.below(5) - 2;
}

/// Whether storing so few entries could take long, as dense levels of middle sizes would; larger ones are
/// refused, unless there is nothing below their many positions.
bool takesMuch(const format::Encoding &encoding, const std::vector<int64_t> &sizes, int64_t entries) {
  if (!format::whyNotSizes(encoding, sizes).empty())
    return false;
  const auto digits = format::digits(encoding);
  constexpr __int128 most = 1 << 20;
  __int128 positions = 1, above = 1;
  bool middle = false;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const auto range = format::levelRange(encoding, l, sizes);
    const __int128 size = digits ? format::levelSize((*digits)[l], sizes) : range ? range->size() : 0;
    switch (encoding.levels[l].format.kind) {
    case LevelKind::Squeezed: // what occurs is marked first
      middle = middle || (size > 1 << 24 && size < __int128(1) << 42);
      [[fallthrough]];
    case LevelKind::Compressed:
    case LevelKind::LooseCompressed:
    case LevelKind::Hashed:
      positions = std::min<__int128>(positions * std::max<__int128>(size, 1), 4 * (entries + 1));
      break;
    case LevelKind::Singleton:
    case LevelKind::Offset:
      break;
    case LevelKind::Fixed:
    case LevelKind::Structured:
      positions *= 4;
      break;
    default:
      positions *= encoding.levels[l].expr->kind == format::ExprKind::Counter ? entries + 1 : size;
    }
    middle =
        middle || (positions == 0 && above > most) || (positions > most && positions < __int128(1) << 38);
    positions = above = std::min<__int128>(positions, __int128(1) << 62);
  }
  return middle;
}

using Elements = std::map<std::vector<int64_t>, int64_t>;

/// What is stored, without zeros.
Elements elementsOf(const runtime::Entries &entries) {
  Elements out;
  for (int64_t e = 0; e < entries.count(); ++e) {
    std::vector<int64_t> at;
    for (const auto &column : entries.coords)
      at.push_back(column[size_t(e)]);
    out[at] += reinterpret_cast<const int64_t *>(entries.values.data())[e];
  }
  std::erase_if(out, [](const auto &element) { return element.second == 0; });
  return out;
}

std::string text(const Elements &elements) {
  std::string out;
  for (const auto &[at, value] : elements)
    out += fmt::format(" ({}) = {}", fmt::join(at, ","), value);
  return out;
}

/// What is wrong with a tensor that should hold these elements.
std::string difference(const runtime::Tensor &tensor, const Elements &wanted, const char *step) {
  try {
    runtime::validate(tensor);
  } catch (const Error &error) {
    return fmt::format("{}: not valid: {}", step, error.what());
  }
  const Elements have = elementsOf(runtime::unpack(tensor));
  return have == wanted ? ""
                        : fmt::format("{}: stored\n {}\ninstead of\n {}", step, text(have), text(wanted));
}

std::string judgeSum(const runtime::Tensor &tensor, const Elements &wanted) {
  std::string indices;
  for (unsigned d = 0; d < tensor.dims.size(); ++d)
    indices += fmt::format("{}i{}", d ? "," : "", d);
  notation::Program program = notation::check(
      fmt::format("s() = A({})", indices),
      {{"A", {.type = tensor.type, .dims = tensor.dims, .encoding = tensor.encoding, .input = true}}});
  std::vector<std::optional<runtime::Tensor>> tensors(program.tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].name == "A")
      tensors[t] = tensor;
  engine::compile(program)->run(tensors);
  int64_t sum = 0;
  for (const auto &[at, value] : wanted)
    sum += value;
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].name == "s")
      if (int64_t got = *static_cast<const int64_t *>(tensors[t]->values()); got != sum)
        return fmt::format("the sum of all elements is {}, not {}", got, sum);
  return "";
}

} // namespace

std::string Storing::describe() const {
  return fmt::format("sizes {}, {} then {}, entries{}", fmt::join(entries.dims, " x "), format, other,
                     text(elementsOf(entries)));
}

std::optional<Storing> drawStoring(Random &random) {
  const auto order = unsigned(1 + random.below(3));
  Storing storing;
  storing.format = drawFormat(random, order);
  storing.other = random.chance(0.5) ? "COO" : drawFormat(random, order);
  if (!executable(storing.format, order) || !executable(storing.other, order))
    return std::nullopt;
  runtime::Entries &entries = storing.entries;
  entries.type = ElementType::I64;
  bool empty = false;
  for (unsigned d = 0; d < order; ++d) {
    entries.dims.push_back(drawSize(random));
    empty = empty || entries.dims.back() == 0;
  }
  entries.coords.resize(order);
  for (int64_t e = empty ? 0 : random.below(6); e > 0; --e) {
    for (unsigned d = 0; d < order; ++d) {
      const int64_t last = entries.dims[d] - 1;
      entries.coords[d].push_back(random.chance(0.3)   ? last
                                  : random.chance(0.3) ? 0
                                                       : random.below(last + 1));
    }
    const int64_t value = 1 + random.below(100);
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    entries.values.insert(entries.values.end(), bytes, bytes + sizeof value);
  }
  for (const std::string &text : {storing.format, storing.other})
    if (takesMuch(format::parseFormat(text, order), entries.dims, entries.count()))
      return std::nullopt;
  return storing;
}

std::string judgeStoring(const Storing &storing, bool &refused) {
  const auto order = unsigned(storing.entries.dims.size());
  const Elements wanted = elementsOf(storing.entries);
  refused = true;
  runtime::Tensor tensor;
  try {
    tensor = engine::store(storing.entries, format::parseFormat(storing.format, order));
  } catch (const Error &) {
    return "";
  }
  refused = false;
  if (std::string wrong = difference(tensor, wanted, "storing"); !wrong.empty())
    return wrong;
  try {
    const runtime::Tensor converted = engine::convert(tensor, format::parseFormat(storing.other, order));
    if (std::string wrong = difference(converted, wanted, "converting"); !wrong.empty())
      return wrong;
    if (std::string wrong = judgeSum(converted, wanted); !wrong.empty())
      return "converted: " + wrong;
  } catch (const Error &) {
    refused = true;
  }
  try {
    return judgeSum(tensor, wanted);
  } catch (const Error &) {
    refused = true;
  }
  return "";
}

} // namespace tulle::differential
