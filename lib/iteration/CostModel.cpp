// Each choice formats its reason next to the comparison that made it.
#include "iteration/CostModel.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tulle::iteration {

Choice<unsigned> CostModel::vectorLength(unsigned elementBits, unsigned asked, bool gathers) const {
  if (asked != 0)
    return {asked, fmt::format("vl={}: asked for; {}-bit elements", asked, elementBits)};
  // SpMV in f32 (experiment 005).
  constexpr unsigned mostApart = 4;
  // Rows of sparse matrices are short: vectors of 512 bits leave most of a row to the scalar epilogue
  // (experiment 020).
  const unsigned bits = std::min(cpu.vectorBits, 256u),
                 count = std::max(2u, bits / std::max(elementBits, 1u));
  if (gathers && !cpu.gathers && count > mostApart)
    return {mostApart,
            fmt::format("vl={}: {}-bit elements, each address of a gather in a register of its own",
                        mostApart, elementBits)};
  std::string reason = fmt::format("vl={}: {} bits of {}-bit elements", count, bits, elementBits);
  if (cpu.vectorBits > bits)
    reason += fmt::format("; {} bits would leave more of short rows to the scalar epilogue", cpu.vectorBits);
  return {count, reason};
}

Choice<unsigned> CostModel::vectorLengthFor(std::optional<int64_t> most, unsigned elementBits,
                                            unsigned asked) const {
  Choice<unsigned> length = vectorLength(elementBits, asked);
  const unsigned widest = cpu.vectorBits / std::max(elementBits, 1u);
  if (asked == 0 && cpu.masks && most && *most > length.value && *most <= widest)
    return {widest, fmt::format("vl={}: no row has more than {} elements: one masked vector", widest, *most)};
  return length;
}

Choice<unsigned> CostModel::flaggedLoops(unsigned loops, const std::function<int64_t(unsigned)> &size) const {
  const int64_t cases = size(0);
  if (cases <= costs.codeBudget)
    return {0, ""};
  unsigned least = 0;
  int64_t taken = cases;
  for (unsigned outer = 1; outer <= loops + 1 && taken > costs.codeBudget; ++outer)
    if (int64_t with = size(outer); with < taken) {
      least = outer;
      taken = with;
    }
  // Measuring ends where it is clear that the budget is passed.
  const std::string all = fmt::format("{}{}", cases > 4 * costs.codeBudget ? "more than " : "",
                                      std::min(cases, 4 * costs.codeBudget));
  if (least == 0)
    return {
        0, fmt::format("a case for each set of operands: {} operations are over the budget of {} operations, "
                       "and presence flags would be as many",
                       all, costs.codeBudget)};
  const std::string where = least > loops ? "all loops, and in what is searched in them"
                            : least == 1  ? "the outermost loop"
                                          : fmt::format("the outermost {} loops", least);
  return {least, fmt::format(
                     "presence flags in {}: {} operations; a case for each set of operands would be {}, over "
                     "the budget of {} operations",
                     where, taken, all, costs.codeBudget)};
}

unsigned CostModel::rowVectorLength(unsigned elementBits, unsigned elements) const {
  // Whole cache lines (experiment 020).
  const int64_t bits = std::min<int64_t>(cpu.vectorBits, cpu.line * 8);
  return std::max(elements, unsigned(bits / std::max(elementBits, 1u)));
}

Choice<std::vector<Tile>> CostModel::tiles(unsigned elementBits, unsigned elements, bool regular,
                                           bool gathers) const {
  const auto lineElements = unsigned(cpu.line * 8 / std::max(elementBits, 1u));
  std::vector<Tile> tiles{{gathers ? 4 : 8, elements}, {2, elements}};
  std::string why;
  // Vectors of a cache line need half the loads and multiplications of those of half a line; one vector takes
  // less time than a mask; eight are better still where registers hold them (experiment 020). Each tile of a
  // row passes over what it is added from again: 16 columns are one tile of two lines (experiment 101).
  if (regular && cpu.vectorBits >= 256 && lineElements > elements) {
    tiles = {{4, lineElements}, {2, lineElements}, {1, lineElements}, {1, elements}};
    why = "; vectors of a whole cache line need half the loads of shorter ones";
    if (hasWholeLines() && cpu.registers >= 16)
      tiles.insert(tiles.begin(), {8, lineElements});
  } else if (gathers) {
    why = "; the addresses of gathers need registers too";
  }
  const unsigned bits = std::max(tiles.front().elements * elementBits, 1u);
  const int64_t used = tiles.front().vectors * std::max(1u, bits / std::max(cpu.vectorBits, 1u));
  std::vector<std::string> texts;
  for (const Tile &tile : tiles)
    texts.push_back(fmt::format("{} vectors of {}", tile.vectors, tile.elements));
  return {tiles, fmt::format("tiles of {}: {} accumulators of {} registers{}", fmt::join(texts, ", then "),
                             used, cpu.registers, why)};
}

Choice<std::vector<int64_t>> CostModel::oneTileLengths(unsigned elementBits, unsigned elements) const {
  // Of 32 columns, and rows of four entries, the tests take 1.1 of the time: no version is compiled for
  // those.
  std::vector<int64_t> lengths{elements};
  for (unsigned lines : {1, 2})
    if (const auto length = int64_t(lines * cpu.line * 8 / std::max(elementBits, 1u));
        length > lengths.back())
      lengths.push_back(length);
  return {lengths,
          fmt::format("row versions: {} elements, and fewer than {}: one tile; testing every row for tiles "
                      "takes 1.2 to 2 of the time",
                      fmt::join(lengths, ", "), elements)};
}

Choice<RowTile> CostModel::rowTile(unsigned elementBits, unsigned asked) const {
  // Half of the registers are accumulators: more than the latency of a multiplication needs, and each vector
  // of what rows share is loaded for a quarter of the registers. All but the first of some groups load that
  // from L1 (experiment 059).
  const RowTile tile{std::max<int64_t>(2, cpu.registers / 4), 8, 2,
                     asked ? asked : std::max(2u, cpu.vectorBits / std::max(elementBits, 1u))};
  return {tile,
          fmt::format("tiles of {} rows of {} vectors of {}: each loads a vector of the other factor once "
                      "for all of its rows; {} accumulators of {} registers",
                      tile.rows, tile.vectors, tile.elements, tile.rows * tile.vectors, cpu.registers)};
}

int64_t CostModel::jammedIterations(bool gathers) const {
  // Coordinates are streams, too (experiment 007).
  return gathers && !cpu.hardwarePrefetch ? cpu.gatherSteps : costs.jammedIterations;
}

std::vector<double> relativeEntries(const std::vector<int64_t> &entries) {
  std::vector<double> powers;
  double smallest = std::numeric_limits<double>::infinity();
  for (int64_t count : entries) {
    powers.push_back(count < 0 ? -1 : std::round(std::log2(double(std::max<int64_t>(count, 1))) / 2));
    if (count >= 0)
      smallest = std::min(smallest, powers.back());
  }
  for (double &power : powers)
    power = power < 0 ? 1 : std::pow(4.0, power - smallest);
  return powers;
}

} // namespace tulle::iteration
