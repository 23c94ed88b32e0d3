#include "iteration/CostModel.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tulle::iteration {

Choice<unsigned> CostModel::vectorLength(unsigned elementBits, unsigned asked, bool gathers) const {
  const std::string element = std::to_string(elementBits) + "-bit elements";
  if (asked != 0)
    return {asked, "vl=" + std::to_string(asked) + ": asked for; " + element};
  // Rows of sparse matrices are short: on grid2d:1000 vectors of 512 bits leave most of a row to the scalar
  // rest (4.6 ms instead of 3.7), on longer rows they gain 5 %.
  unsigned bits = std::min(cpu.vectorBits, 256u), count = std::max(2u, bits / std::max(elementBits, 1u));
  std::string reason = "vl=" + std::to_string(count) + ": " + std::to_string(bits) + " bits of " + element;
  if (cpu.vectorBits > bits)
    reason +=
        "; " + std::to_string(cpu.vectorBits) + " bits would leave more of short rows to the scalar rest";
  // SpMV in f32 on grid2d:1000 takes 2.3 ms so, with vectors of 8 3.1 ms; on grid3d27:64 2.65 and 2.6 (Zen
  // 3).
  constexpr unsigned mostApart = 4;
  if (gathers && !cpu.gathers && count > mostApart) {
    count = mostApart;
    reason =
        "vl=" + std::to_string(count) + ": " + element + ", each place of a gather in a register of its own";
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
  // SDDMM with 64 columns on grid2d:1000: 57 ms instead of 71.
  const int64_t bits = std::min<int64_t>(cpu.vectorBits, cpu.line * 8);
  return std::max(elements, unsigned(bits / std::max(elementBits, 1u)));
}

Choice<std::vector<Tile>> CostModel::tiles(unsigned elementBits, unsigned elements, bool regular,
                                           bool gathers) const {
  const auto lineElements = unsigned(cpu.line * 8 / std::max(elementBits, 1u));
  std::vector<Tile> tiles{{gathers ? 4 : 8, elements}, {2, elements}};
  std::string why;
  // On SpMM with 128 columns four vectors of a cache line take 0.8 of the time of eight of half a line, whose
  // loads and multiplications are twice as many.
  if (regular && cpu.vectorBits >= 256 && lineElements > elements) {
    tiles.front() = {4, lineElements};
    tiles.push_back({1, elements}); // rows of one vector take 0.9 of the time that a mask takes
    why = "; vectors of a whole cache line need half the loads of shorter ones";
    // Eight take 0.95 of the time of four on grid3d27:64, 0.85 on rmat:17:16.
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

int64_t CostModel::stepsAtATime(bool gathers) const {
  // Coordinates are streams, too: on Zen 3 ELL on `grid3d27:64` takes 9.0 ms three steps at a time, 12.4 ms
  // with six; DIA 0.92 and 0.65 of the time of the loop by hand.
  return gathers && !cpu.foresees ? cpu.gatherSteps : costs.stepsAtATime;
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

#ifdef _SC_LEVEL1_DCACHE_SIZE
static int64_t cacheSize(int name, int64_t otherwise) {
  const int64_t size = sysconf(name);
  return size > 0 ? size : otherwise;
}
#endif

#if defined(__x86_64__)
/// Family 1Ah: Zen 5 and its successors.
static bool isZen5() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || !__get_cpuid(1, &a, &b, &c, &d))
    return false;
  return (a >> 8 & 0xf) + (a >> 20 & 0xff) >= 0x1a;
}

/// By hand unless it says otherwise; grids are `grid2d:1000` and `grid3d27:64`, uniform is
/// `uniform:200000:200000:16`, times are ms.
static void tuneForZen5(Cpu &cpu) {
  cpu.name = "Zen 5";
  // Softmax on `grid3d27:64` by mask alone 25.9, with whole vectors apart 15.6: what was stored by mask is
  // read again, and cannot be forwarded. ELL on uniform with the instruction 6.5, with a load for each
  // lane 2.1.
  cpu.gathers = cpu.foresees = cpu.masks = false;
  cpu.intersects = __builtin_cpu_supports("avx512vp2intersect");
  // CSR on the grids and uniform: 2.5, 2.8, 2.0 with 256; 3.9, 2.4, 3.3 without; generated, 1.68, 1.95, 1.9
  // with 768, 1.66, 1.82, 1.9 with 1536, 1.73, 1.86, 1.85 with 2560. Two vectors for each fetch: 1.95 in
  // place of 2.04 on `grid3d27:64`.
  cpu.fetchAhead = 1536;
  cpu.vectorsPerFetch = 2;
  // CSC with four entries for each fetch 2.4, 2.9, 2.9, with two 2.7, 3.1, 4.1 (generated).
  cpu.entriesPerFetch = 4;
  // ELL on the grids with all columns at a time 2.4 and 4.5, with five 3.0 and 5.8 (generated); 64 elements
  // ahead 2.7 in place of 2.4.
  cpu.fetchGathers = 256;
  cpu.gatherSteps = 32;
  // DIA on the grids: 1.15 and 1.35, without 1.4 and 2.4, with 512 1.5 and 2.1.
  cpu.fetchTiles = 192;
  // BCSR(4,4) on the grids: 4.3 and 5.5; from two places in turn 4.7 and 5.7, neither 5.6 and 5.6; with 512
  // and 1536 5.6 and 5.4, 6.1 and 6.1 where 768 took 4.9 and 5.8.
  cpu.fetchBlocks = 768;
  // SpMM with 32 columns on `grid2d:1000` 16.5 (192: 21, none: 26), with 128 on `grid2d:500` 17 (none: 30;
  // generated).
  cpu.fetchFollowing = 384;
  // SpMM with 32 columns on uniform 20 (6: 33, 16: 37, 24: 22, 32: 37: not a multiple of what rows hold;
  // generated).
  cpu.fetchRows = 29;
  // SDDMM with 64 columns and two threads on uniform 35 to 45 (29: 51 to 54), SpMM with 128 58 to 78 (78 to
  // 86; generated).
  cpu.fetchWideRows = 15;
  // MTTKRP with 32 columns on 5M entries, `splatt_med.tns` and `KG_WikiPeople_4.tns` by size 20.6, 0.41 and
  // 0.076 (6: 20.7, 0.44 and 0.076; 20: 21.6, 0.45 and 0.082; 29: 21.6, 0.53 and 0.090; generated).
  cpu.fetchTrees = 12;
}
#endif

static Cpu detect() {
  Cpu cpu;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  cpu.l1 = cacheSize(_SC_LEVEL1_DCACHE_SIZE, cpu.l1);
  cpu.l2 = cacheSize(_SC_LEVEL2_CACHE_SIZE, cpu.l2);
  cpu.line = cacheSize(_SC_LEVEL1_DCACHE_LINESIZE, cpu.line);
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    cpu.name = "AVX-512";
    cpu.vectorBits = 512;
    cpu.registers = 32;
    if (isZen5())
      tuneForZen5(cpu);
  } else {
    const bool wide = __builtin_cpu_supports("avx2");
    cpu.name = wide ? "AVX2" : "SSE";
    cpu.vectorBits = wide ? 256 : 128;
    // Zen 3: SpMV in CSR by hand on `uniform:200000:200000:16` takes 7.5 ms with loads that are fetched
    // ahead, 8.7 ms without the fetches, 8.3 ms with the instruction; on `grid3d27:64` 5.3, 6.7 and 7.2 ms.
    // Softmax on `grid2d:1000` takes 1.33 of the time of the loop by hand with masks alone, 0.88 with whole
    // vectors apart.
    cpu.gathers = cpu.foresees = cpu.masks = false;
  }
#elif defined(__aarch64__)
  cpu.name = "NEON";
  cpu.vectorBits = 128;
  cpu.registers = 32;
  cpu.gathers = cpu.masks = false;
#endif
  return cpu;
}

const Cpu &hostCpu() {
  static const Cpu cpu = detect();
  return cpu;
}

} // namespace tulle::iteration
