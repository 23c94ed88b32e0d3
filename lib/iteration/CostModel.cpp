#include "iteration/CostModel.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tulle::iteration {

Choice<unsigned> CostModel::vectorLength(unsigned elementBits, unsigned asked, bool gathers) const {
  const std::string element = std::to_string(elementBits) + "-bit elements";
  if (asked != 0)
    return {asked, "vl=" + std::to_string(asked) + ": asked for; " + element};
  // Rows of sparse matrices are short: vectors of 512 bits leave most of a row to the scalar epilogue
  // (experiment 020).
  unsigned bits = std::min(cpu.vectorBits, 256u), count = std::max(2u, bits / std::max(elementBits, 1u));
  std::string reason = "vl=" + std::to_string(count) + ": " + std::to_string(bits) + " bits of " + element;
  if (cpu.vectorBits > bits)
    reason +=
        "; " + std::to_string(cpu.vectorBits) + " bits would leave more of short rows to the scalar epilogue";
  // SpMV in f32 (experiment 005).
  constexpr unsigned mostApart = 4;
  if (gathers && !cpu.gathers && count > mostApart) {
    count = mostApart;
    reason = "vl=" + std::to_string(count) + ": " + element +
             ", each address of a gather in a register of its own";
  }
  return {count, reason};
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
  const std::string budget = std::to_string(costs.codeBudget) + " operations";
  // Measuring ends where it is clear that the budget is passed.
  const std::string all = (cases > 4 * costs.codeBudget ? "more than " : "") +
                          std::to_string(std::min(cases, 4 * costs.codeBudget));
  if (least == 0)
    return {0, "a case for each set of operands: " + all + " operations are over the budget of " + budget +
                   ", and presence flags would be as many"};
  const std::string where = least > loops ? "all loops, and in what is searched in them"
                            : least == 1  ? "the outermost loop"
                                          : "the outermost " + std::to_string(least) + " loops";
  return {least, "presence flags in " + where + ": " + std::to_string(taken) +
                     " operations; a case for each set of operands would be " + all +
                     ", over the budget of " + budget};
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
  // less time than a mask; eight are better still where registers hold them (experiment 020).
  if (regular && cpu.vectorBits >= 256 && lineElements > elements) {
    tiles.front() = {4, lineElements};
    tiles.push_back({1, elements});
    why = "; vectors of a whole cache line need half the loads of shorter ones";
    if (hasWholeLines() && cpu.registers >= 16)
      tiles.insert(tiles.begin(), {8, lineElements});
  } else if (gathers) {
    why = "; the addresses of gathers need registers too";
  }
  const unsigned bits = std::max(tiles.front().elements * elementBits, 1u);
  const int64_t used = tiles.front().vectors * std::max(1u, bits / std::max(cpu.vectorBits, 1u));
  std::string text = "tiles of ";
  for (const Tile &tile : tiles)
    text += (&tile == &tiles.front() ? "" : ", then ") + std::to_string(tile.vectors) + " vectors of " +
            std::to_string(tile.elements);
  text += ": " + std::to_string(used) + " accumulators of " + std::to_string(cpu.registers) + " registers";
  return {tiles, text + why};
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
