// Processors as data: what the cost model knows of each is a row of one table (Cpus.cpp).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tulle::iteration {

/// More cache lines than are counted: all that a row has.
inline constexpr int64_t kWholeRow = 1 << 20;

/// The processor that code is made for, with the figures of its row and what this machine says of itself.
struct Cpu {
  std::string_view name;     ///< of its row
  unsigned vectorBits = 0;   ///< of its widest vectors
  unsigned registers = 0;    ///< that hold vectors
  int64_t l1 = 0;            ///< bytes of data cache, of one core
  int64_t l2 = 0;            ///< of one core
  int64_t sharedCache = 0;   ///< of the last cache, which cores share
  int64_t residentBytes = 0; ///< rows at most this far apart are cache-resident: no prefetch
  int64_t line = 0;          ///< bytes of a cache line
  bool gathers = false; ///< a gather instruction beats scalarized gathers where data is not cache-resident
  /// Loads one by one are faster than the instruction closer than so many elements; 0: nowhere.
  int64_t localElements = 0;
  bool masks = false; ///< masked loads and stores take no longer than whole ones
  /// The hardware prefetcher covers what loops with scalarized gathers read in order.
  bool hardwarePrefetch = false;
  bool maskedRows = false; ///< rows of different lengths are summed soonest by masked gathers of eight
  int64_t sampledRows = 0; ///< branch predictors learn the lengths of fewer rows
  bool intersects = false; ///< an instruction compares two vectors of 16 coordinates all with all
  // Prefetch distances; 0: no prefetch.
  int64_t prefetchEntries = 0;     ///< entries: the streams of loops that gather or scatter
  int64_t prefetchGathers = 0;     ///< elements: the streams of tiles that gather, without hardware prefetch
  int64_t prefetchTiles = 0;       ///< elements: the diagonals that a tile interleaves
  int64_t prefetchBlocks = 0;      ///< elements: the blocks of a row
  int64_t prefetchConsecutive = 0; ///< elements: consecutive rows of an operand
  int64_t prefetchRows = 0;        ///< iterations: rows of an operand without locality
  int64_t prefetchWideRows = 0;    ///< the same of rows of costs.wideRow cache lines or more
  int64_t prefetchRowLines = 0;    ///< cache lines of a scattered row; the hardware goes on from them
  int64_t prefetchElements = 0;    ///< iterations: elements of an operand that no cache holds
  bool prefetchFollowing = false;  ///< beside scattered rows, those of operands that are read in order
  /// Rows of an operand without locality go into L2: more are on their way than L1 waits for.
  bool prefetchIntoL2 = false;
  int64_t prefetchTrees = 0;      ///< iterations: rows that the segments of a tree name (MTTKRP)
  int64_t entriesPerPrefetch = 0; ///< entries per prefetch of a loop that scatters
  int64_t vectorsPerPrefetch = 0; ///< vectors per prefetch of a loop that gathers
  int64_t gatherSteps = 0;        ///< steps jammed by tiles that gather, without hardware prefetch
  bool operator==(const Cpu &) const = default;
};

/// What a figure may be: passes divide by some, and unroll by others.
struct FigureBounds {
  int64_t least, most;
  bool powerOfTwo = false;
};

/// Calls `figure` with the name in the IR, the value and the bounds of each figure. `AnyCpu`: Cpu or const
/// Cpu.
template <typename AnyCpu, typename Callable> void forEachFigure(AnyCpu &cpu, Callable figure) {
  constexpr FigureBounds yesOrNo{0, 1}, bytes{1 << 10, int64_t(1) << 40}, caches{1, int64_t(1) << 40},
      distance{0, 1 << 20}, count{1, 64};
  figure("vector_bits", cpu.vectorBits, FigureBounds{64, 2048, /*powerOfTwo=*/true});
  figure("registers", cpu.registers, FigureBounds{4, 1024});
  figure("l1", cpu.l1, bytes);
  figure("l2", cpu.l2, caches);
  figure("shared_cache", cpu.sharedCache, bytes);
  figure("resident_bytes", cpu.residentBytes, caches);
  figure("line", cpu.line, FigureBounds{16, 1024, /*powerOfTwo=*/true});
  figure("gathers", cpu.gathers, yesOrNo);
  figure("local_elements", cpu.localElements, FigureBounds{0, int64_t(1) << 40});
  figure("masks", cpu.masks, yesOrNo);
  figure("hardware_prefetch", cpu.hardwarePrefetch, yesOrNo);
  figure("masked_rows", cpu.maskedRows, yesOrNo);
  figure("sampled_rows", cpu.sampledRows, FigureBounds{1, int64_t(1) << 40});
  figure("intersects", cpu.intersects, yesOrNo);
  figure("prefetch_entries", cpu.prefetchEntries, distance);
  figure("prefetch_gathers", cpu.prefetchGathers, distance);
  figure("prefetch_tiles", cpu.prefetchTiles, distance);
  figure("prefetch_blocks", cpu.prefetchBlocks, distance);
  figure("prefetch_consecutive", cpu.prefetchConsecutive, distance);
  figure("prefetch_rows", cpu.prefetchRows, distance);
  figure("prefetch_wide_rows", cpu.prefetchWideRows, distance);
  figure("prefetch_row_lines", cpu.prefetchRowLines, FigureBounds{1, kWholeRow});
  figure("prefetch_elements", cpu.prefetchElements, distance);
  figure("prefetch_following", cpu.prefetchFollowing, yesOrNo);
  figure("prefetch_into_l2", cpu.prefetchIntoL2, yesOrNo);
  figure("prefetch_trees", cpu.prefetchTrees, distance);
  figure("entries_per_prefetch", cpu.entriesPerPrefetch, count);
  figure("vectors_per_prefetch", cpu.vectorsPerPrefetch, count);
  figure("gather_steps", cpu.gatherSteps, count);
}

/// A figure of a row and where it comes from: the number of a page in docs/experiments, "data sheet", or "not
/// measured: …" with the reason for the value.
struct CpuFigure {
  std::string_view name;
  int64_t value;
  std::string_view source;
};

/// What a processor has that the row it is like has not.
struct CpuRow {
  std::string_view name; ///< LLVM's of the processor (`llc -mcpu=help`), or of a level of its architecture
  std::string_view like; ///< an earlier row; empty of the first, which has every figure
  std::span<const CpuFigure> figures;
};
std::span<const CpuRow> cpuRows();

/// The processor that the first row stands for: what code is made for by default.
const Cpu &genericCpu();
/// The processor of the row; null where there is none of that name.
const Cpu *findCpu(std::string_view name);
/// The processor that LLVM calls so and that has the features LLVM calls so: its own row where there is one
/// whose vectors it has (a virtual machine may hide some), else that of its architecture's level.
Cpu chooseCpu(std::string_view llvmName, const std::function<bool(std::string_view)> &hasFeature);

/// Sets a figure; returns what is wrong with its name or value, or nothing.
std::string setFigure(Cpu &cpu, std::string_view name, int64_t value);

/// `znver5, l2 = 2097152`: the row, and what differs from it.
std::string printCpu(const Cpu &cpu);
/// The inverse of printCpu; throws support::SyntaxError.
Cpu parseCpu(std::string_view text);

} // namespace tulle::iteration
