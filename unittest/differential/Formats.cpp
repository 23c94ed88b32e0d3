#include "Formats.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::differential {
namespace {

/// Level formats that are declared as text: positions that are taken one after the other, with padding, and
/// positions that are computed.
constexpr std::pair<std::string_view, std::string_view> declared[] = {
    {"ell4",
     "level ell4 { properties padded; query select [p] -> count(c) as nz; size K = (max(nz) + 3) / 4 * 4; "
     "coordinates crd[q] = c; positions(p) = p * K to p * K + K; coordinate(p, q) = crd[q]; "
     "insert append; }"},
    {"window", "level window { query select [p] -> min(c) as first; query select [p] -> max(c) as last; "
               "coordinates crd[p] = first[p] / 2 * 2; edges pos[p + 1] = pos[p] + min(last[p] + 1, N) - "
               "min(first[p] / 2 * 2, last[p] + 1); positions(p) = pos[p] to pos[p + 1]; "
               "coordinate(p, q) = crd[p] + q - pos[p]; insert(p, c) = pos[p] + c - crd[p]; }"}};

/// A level list over permuted dimensions: independent kinds, a coordinate tail, leading batches, a blocked
/// dimension.
std::string randomMap(Random &random, unsigned order) {
  std::vector<unsigned> dims(order);
  for (unsigned d = 0; d < order; ++d)
    dims[d] = d;
  if (random.chance(0.5))
    for (unsigned d = order; d > 1; --d)
      std::swap(dims[d - 1], dims[random.below(d)]);
  std::vector<std::string> levels;
  unsigned tail = order >= 2 && random.chance(0.3) ? 2 + random.below(order - 1) : 0;
  bool soa = random.chance(0.4);
  std::optional<unsigned> blocked;
  if (tail == 0 && random.chance(0.25))
    blocked = random.below(order);
  int64_t block = random.pick({2, 3, 4});
  for (unsigned l = 0; l < order; ++l) {
    std::string expr = fmt::format("d{}", dims[l]);
    if (blocked == dims[l])
      expr += fmt::format(" floordiv {}", block);
    if (l + tail < order)
      levels.push_back(expr + (l == 0 && random.chance(0.15)
                                   ? " : batch"
                                   : random.pick<std::string>(
                                         {" : dense", " : dense", " : compressed", " : compressed",
                                          " : compressed", " : loose_compressed", " : window", " : ell4"})));
    else if (l + tail == order)
      levels.push_back(expr +
                       (random.chance(0.2) ? " : loose_compressed(nonunique)" : " : compressed(nonunique)"));
    else
      levels.push_back(expr + fmt::format(" : singleton{}", l + 1 < order
                                                                ? (soa ? "(nonunique, soa)" : "(nonunique)")
                                                                : (soa ? "(soa)" : "")));
  }
  if (blocked) {
    std::string inside =
        fmt::format("d{} mod {} : {}", *blocked, block, random.chance(0.8) ? "dense" : "compressed");
    // Mostly inside of all blocks; the coordinates in a block may as well come before them.
    levels.insert(random.chance(0.7) ? levels.end() : levels.begin() + random.below(int64_t(levels.size())),
                  std::move(inside));
  }
  std::vector<std::string> names;
  for (unsigned d = 0; d < order; ++d)
    names.push_back(fmt::format("d{}", d));
  std::string map = fmt::format("({}) -> ({})", fmt::join(names, ", "), fmt::join(levels, ", "));
  std::string widths, levelFormats;
  if (random.chance(0.2))
    widths = fmt::format(", posWidth = {}, crdWidth = {}", random.pick({16, 32, 64}),
                         random.pick({8, 16, 32, 64}));
  for (const auto &[name, declaration] : declared)
    if (map.find(": " + std::string(name)) != std::string::npos)
      levelFormats += std::string(levelFormats.empty() ? "" : " ") + std::string(declaration);
  if (!levelFormats.empty())
    widths += fmt::format(", levels = {{ {} }}", levelFormats);
  return widths.empty() ? map : fmt::format("{{ map = {}{} }}", map, widths);
}

} // namespace

bool executable(const std::string &text, unsigned order) {
  try {
    return format::whyNotExecutable(format::parseFormat(text, order)).empty();
  } catch (const Error &) {
    return false;
  }
}

std::string randomFormat(Random &random, unsigned order) {
  if (order == 0 || random.chance(0.15))
    return "dense";
  if (order == 2 && random.chance(0.15))
    if (auto text = random.pick<std::string>({"DIA", "ELL", "ELLR", "JDS", "SELL(2,4)", "skyline", "DOK",
                                              "bitmap", "ragged", "jagged", "BCOO", "HiCOO(2)",
                                              "denseColMajor", "(i,j) -> (i : dense, j : fixed[20])",
                                              "(i,j) -> (i : dense, j : loose_compressed[2])",
                                              "(i,j) -> (i : dense, j : compressed(nonordered))"});
        executable(text, order))
      return text;
  if (order == 2 && random.chance(0.5))
    return random.pick<std::string>(
        {"CSR", "CSR", "CSC", "COO", "COO-soa", "DCSR", "DCSC", "BCSR(2,3)", "BCSR(4,4)", "BCSC(2,2)"});
  if (order >= 3 && random.chance(0.15))
    if (auto text = random.pick<std::string>({"BCOO", "HiCOO(2)", "DOK", "bitmap", "ragged", "jagged"});
        executable(text, order))
      return text;
  if (order >= 3 && random.chance(0.3))
    return random.pick<std::string>({"CSF", "COO"});
  for (int attempt = 0; attempt < 20; ++attempt)
    if (std::string text = randomMap(random, order); executable(text, order))
      return text;
  return "dense";
}

std::string linearFormat(Random &random, unsigned order) {
  std::vector<unsigned> dims(order);
  for (unsigned d = 0; d < order; ++d)
    dims[d] = d;
  for (unsigned d = order; d > 1; --d)
    std::swap(dims[d - 1], dims[random.below(d)]);
  // A bitmap takes memory for all of the stride. No level is dense: a dense result cannot be so.
  const bool bits = random.chance(0.3), bitmap = order == 2 && random.chance(0.2);
  const std::string sum = bits ? fmt::format("(d{} shl 12) | d{}", dims[0], dims[1])
                          : bitmap
                              ? fmt::format("d{} * 101 + d{}", dims[0], dims[1])
                              : fmt::format("d{} * {} + d{}", dims[0], random.pick({4096, 5001}), dims[1]);
  const std::string kind = bitmap ? "bitmap"
                                  : random.pick<std::string>({"compressed", "compressed", "hashed",
                                                              "squeezed", "loose_compressed[1]"});
  std::vector<std::string> names, levels = {fmt::format("{} : {}", sum, kind)};
  if (!bitmap && !bits && random.chance(0.3)) // digits of the sum
    levels = {fmt::format("({}) floordiv 7 : {}", sum, kind), fmt::format("({}) mod 7 : dense", sum)};
  for (unsigned d = 0; d < order; ++d)
    names.push_back(fmt::format("d{}", d));
  for (unsigned l = 2; l < order; ++l)
    levels.insert(levels.begin() + random.below(int64_t(levels.size()) + 1),
                  fmt::format("d{} : {}", dims[l], random.pick<std::string>({"dense", "compressed"})));
  return fmt::format("({}) -> ({})", fmt::join(names, ", "), fmt::join(levels, ", "));
}

std::string randomDenseFormat(Random &random, unsigned order) {
  if (order < 2 || random.chance(0.6))
    return "dense";
  std::vector<std::string> names, levels;
  for (unsigned d = 0; d < order; ++d)
    names.push_back(fmt::format("d{}", d));
  levels = names;
  for (unsigned d = order; d > 1; --d)
    std::swap(levels[d - 1], levels[random.below(d)]);
  if (random.chance(0.4)) {
    levels.push_back(levels[0] + " mod 2");
    levels[0] += " floordiv 2";
  }
  return fmt::format("({}) -> ({} : dense)", fmt::join(names, ", "), fmt::join(levels, " : dense, "));
}

} // namespace tulle::differential
