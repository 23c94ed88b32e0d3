// The cost model: every figure by which the compiler chooses between loops, in one place. Plain values: what
// is known of the processor and of the operands goes in, a choice and its reason come out.
#pragma once
#include "iteration/Cpu.h"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::iteration {

/// Results that stay in registers: so many vectors of so many elements.
struct Tile {
  int64_t vectors;
  unsigned elements;
  bool operator==(const Tile &) const = default;
};

/// What was chosen, and one line that says against what, with the figures.
template <typename T> struct Choice {
  T value{};
  std::string reason;
};

/// Thresholds that a pass reads as they are, each with the measurement it comes from (AMD Zen 4, f64, 32-bit
/// coordinates, unless it says otherwise).
struct Costs {
  /// An intersection of two lists: from this ratio of their lengths on, each coordinate of the shorter list
  /// is looked for in the longer one.
  int64_t blockGallopRatio = 2;
  /// The same where coordinates cannot be compared by whole vectors: a merge takes a step for every entry of
  /// both, a search two logarithms of the ratio.
  int64_t mergeGallopRatio = 32;

  /// A level selected by coordinates: so many rounds before its segment is reached its bounds are fetched,
  /// and its entries; and so many cache lines of these, as later ones are foreseen by the hardware.
  int64_t prefetchSegmentBounds = 8, prefetchSegmentEntries = 4, prefetchSegmentLines = 2;
  /// Rounds ahead for places to store at: a round does little, so that more of them pass meanwhile.
  int64_t prefetchStores = 16;
  /// The least vectors of a tile for which the fetch of a dense row pays.
  int64_t prefetchMinVectors = 4;
  /// Segments that hold fewer positions each, in the mean, are walked by one loop: MTTKRP with 32 columns on
  /// fibers of 1.5 entries takes 0.8 of the time of a loop for each, and with both operands fetched 0.7; on
  /// fibers of 2.2 entries (KG_JF17K_3) a loop for each takes 0.9 of the time of one.
  int64_t shortSegment = 2;
  /// What is fetched from an outer cache of the core's own comes with the line beside it: one of so many
  /// lines is asked for (MTTKRP: 0.9 of the time of all lines). From memory every line is (SpMM with 128
  /// columns on `uniform:200000:200000:16`: 255 ms, 281 ms with one of two).
  int64_t prefetchLineStride = 2;
  /// Cache lines of a row from which on fewer rows are on their way at a time.
  int64_t wideRow = 8;

  /// Loops over so many rows are sampled at so many places: a processor learns the lengths of fewer by heart.
  /// Rows count as far from so many entries on. (SpMV by hand, Zen 3, a vector that reads on against a scalar
  /// rest: `rmat:17:16` 0.87, `ct2010` 0.65, `grid2d:1000` 1.3; far rows of 16, 17, 19 and 5 entries 0.85,
  /// 0.87, 0.92 and 1.25. Asking for the places of 64 entries later as well: 0.82, 0.83, 0.81, 1.35 by hand,
  /// no gain in generated code, which takes 10 ms longer to compile.)
  int64_t sampledRows = 8192, rowSamples = 32, remoteRowEntries = 8;

  /// Rows of a result that share the rows of an operand while these are in the innermost cache: so many rows,
  /// where at least so many of the operand's fit there (48 rows of 256 bytes and 16 of the result: MTTKRP
  /// takes 27 ms, 38 ms without; 64 and 8: 32 ms), and each row of the result names one of so many of the
  /// operand's.
  int64_t cacheBlockResultRows = 16, cacheBlockOperandRows = 32, cacheBlockSparsity = 3;

  /// Where an inner loop is longer than this, its operand's streams displace each other from the cache: so
  /// many steps of the outer loop (diagonals) are done at a time. Best of 4 to 27.
  int64_t longLoop = 4096, jammedIterations = 6;

  /// An array with an element for every coordinate of a level: worth while for a level of this size, and for
  /// a larger one while it has at most so many coordinates for each entry.
  int64_t smallLevel = int64_t(1) << 20, sparsest = 16;
  /// Walking a row of one factor for every entry of the other, against a merge of two rows for every entry of
  /// the mask: a step of a merge, which is mispredicted or compares whole vectors, in steps of that walk.
  double mergeStep = 4;

  /// Loop orders, in the time one entry takes to be converted: a result whose entries do not arrive row after
  /// row has its loops run twice, and its entries scattered.
  double convert = 1, insertOutOfOrder = 2;

  /// Operations of a statement's loops, roughly, up to which each set of operands that may meet has a case of
  /// its own; beyond, operands come with presence flags. A sum of five CSR matrices has 1,800 (100,000 rows
  /// of 8: cases 6.8 ms, flags 8.8), of six 4,100 (8.7 and 10.1), of eight 15,000 (26 and 19).
  int64_t codeBudget = 2000;
  /// From so many operations of one copy of the loops on, where LLVM sees so many instructions as well, it
  /// neither unrolls nor vectorizes what tulle-vectorize left: each of many loops would become several.
  /// (`max(A(i,j,k), B(j,k) + C(i,k,j) * D(j,i) + E(i))` in five formats: 14,000 lines of assembly in 1,180
  /// ms, 3,900 in 240 ms.)
  int64_t largeStatement = 400, largeModule = 2000;
  /// The loops of a new tensor stand in the code so often: they count and store.
  int64_t assemblyCopies = 3;

  /// Work that pays for another thread: waking one takes some ten microseconds, as long as so many entries
  /// take one.
  int64_t workPerThread = 1 << 15;
  /// What an intersection costs for each entry of its shortest operand at most, in entries that a loop walks:
  /// a leap through a much longer list misses the cache once or twice.
  int64_t gallopWork = 32;
  /// Chunks per thread where chunks of as many entries can differ in work: the imbalance that is left is a
  /// fraction of one chunk.
  int64_t unevenChunksPerThread = 4;
  /// Chunks per thread at most, and the entries that make one more profitable. A fiber with more entries than
  /// such a chunk is split.
  int64_t chunksPerThread = 16, workPerChunk = 1 << 16;
  /// A parallel loop over the coordinates of a dimension inside of other loops: the fewest coordinates per
  /// chunk, as every chunk repeats the loops outside.
  int64_t innerChunk = 8;
  /// Elements of a buffer that are filled in the time that one entry takes.
  int64_t fillsPerEntry = 4;

  /// Assembly by several threads: the entries of a chunk, which its staging buffer holds, and the fewest
  /// where each entry may add a block. Chunks per thread are chunksPerThread.
  int64_t workPerAssembledChunk = 1 << 15, leastAssembledChunk = 1 << 11;
  /// Entries that stay in the cache in whatever order they are stored: no partition by destination.
  int64_t cachedEntries = 1 << 17;
  /// A partition by destination: entries per bucket, so that a bucket stays in L2 while it is built; and the
  /// most buckets, so that the ends of all of them stay in L1.
  int64_t entriesPerBucket = 1 << 14, mostBuckets = 256;
  /// The sample that estimates the locality of the entries' destinations: so many runs of so many entries, in
  /// a direct-mapped model of a small cache whose lines hold so many parents.
  int64_t localityRuns = 8, localityRunEntries = 2048, localityLines = 1024, localityLineParents = 8;
  /// One of so many accesses that hit makes prefetching cheaper than the partition.
  int64_t localityHits = 8;
  /// Bits of a digit of the radix sort: the counters of one digit stay in the cache.
  int64_t radixBits = 11;
  /// Buffers of more elements are in no cache: they are written by streaming stores.
  int64_t streamedElements = 1 << 21;
};

class CostModel {
public:
  explicit CostModel(const Cpu &cpu = genericCpu()) : cpu(cpu) {}

  Cpu cpu;
  Costs costs;

  /// Elements of a vector for an innermost sparse loop over elements of so many bits. `asked`: what an option
  /// says, or 0; `gathers`: the loop does.
  Choice<unsigned> vectorLength(unsigned elementBits, unsigned asked = 0, bool gathers = false) const;
  /// Elements of a vector for a reduction along rows of a dense operand, where vectors of other loops have
  /// `elements`: a cache line where the processor has such vectors.
  unsigned rowVectorLength(unsigned elementBits, unsigned elements) const;
  /// How many of a statement's loops, from the outermost on, merge with presence flags instead of a case for
  /// each set of operands: as few as the budget allows, since cases run faster; one more than there are
  /// loops: what is searched inside has flags, too. `size(n)`: the operations where n have flags. No reason
  /// where there is nothing to choose.
  Choice<unsigned> flaggedLoops(unsigned loops, const std::function<int64_t(unsigned)> &size) const;
  /// Steps of an outer loop, each with streams of its own, that run over a long inner loop together.
  int64_t jammedIterations(bool gathers) const;
  /// costs.blockGallopRatio; where one instruction compares blocks, leaps gain later (experiment 016).
  int64_t blockGallopRatio() const { return cpu.intersects ? 20 : costs.blockGallopRatio; }
  /// Coordinates of 32 bits compared all with all: those of a vector; as few as `fewestCompared`, which
  /// others have in AVX2's.
  static constexpr int64_t fewestCompared = 8;
  int64_t comparedLanes() const { return cpu.vectorBits >= 512 ? 16 : fewestCompared; }
  /// Whether a vector holds a cache line.
  bool hasWholeLines() const { return cpu.vectorBits >= unsigned(cpu.line * 8); }
  /// Tiles of a row that stays in registers while a loop adds to it, widest first. `elements`: those of a
  /// vector; `regular`: nothing speaks against wider ones; `gathers`: a load for each lane.
  Choice<std::vector<Tile>> tiles(unsigned elementBits, unsigned elements, bool regular, bool gathers) const;
};

/// Entry counts as far as loop orders depend on them: powers of four relative to the smallest, so that code
/// compiled for some tensors serves for those of about the same proportions. Unknown ones (-1) count as the
/// smallest.
std::vector<double> relativeEntries(const std::vector<int64_t> &entries);

} // namespace tulle::iteration
