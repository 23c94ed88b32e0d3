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

/// The same of several rows: so many vectors of each; and for so many groups of rows after each other.
struct RowTile {
  int64_t rows, groups;
  int64_t vectors;
  unsigned elements;
  bool operator==(const RowTile &) const = default;
};

/// What was chosen, and one line that says against what, with the figures.
template <typename T> struct Choice {
  T value{};
  std::string reason;
};

/// Thresholds that a pass reads as they are. Where no other page is cited, figures that were measured are
/// those of experiment 020.
struct Costs {
  /// An intersection of two lists: from this ratio of their lengths on, a galloping search in the longer one
  /// replaces the comparison of blocks.
  int64_t blockGallopRatio = 2;
  /// The same where coordinates cannot be compared by whole vectors: a merge takes a step for every entry of
  /// both, a search two logarithms of the ratio.
  int64_t mergeGallopRatio = 32;

  /// A level selected by coordinates: prefetch distances, in iterations, of its segment's bounds and entries;
  /// and the cache lines of these to prefetch, as the hardware prefetcher covers later ones.
  int64_t prefetchSegmentBounds = 8, prefetchSegmentEntries = 4, prefetchSegmentLines = 2;
  /// The distance of prefetches of indirect stores: an iteration does little, so that more of them pass
  /// meanwhile.
  int64_t prefetchStores = 16;
  /// The least vectors of a tile for which the prefetch of a dense row is profitable, and one into L2.
  int64_t prefetchMinVectors = 4;
  int64_t prefetchMinVectorsIntoL2 = 2;
  /// Segments with a smaller mean length are traversed by one coalesced loop.
  int64_t shortSegment = 2;
  /// A prefetch from the core's own outer cache brings the adjacent line, too: one of so many lines is
  /// prefetched. From memory every line is.
  int64_t prefetchLineStride = 2;
  /// Rows that are reduced at a time: of those that coordinates select, fewer, since each has an address in a
  /// register, and fewer yet at the end of a segment (experiments 060 and 069).
  int64_t reducedRows = 16, reducedRemoteRows = 8, fewestReducedRows = 4;
  /// Cache lines of a row from which on fewer rows are in flight at a time.
  int64_t wideRow = 8;

  /// Loops over at least `Cpu::sampledRows` are sampled at so many rows. Rows from so many entries on count
  /// as not cache-resident.
  int64_t rowSamples = 32, remoteRowEntries = 8;
  /// Segments of more vectors are reduced by several accumulators first (experiment 082).
  int64_t longSegmentVectors = 16;

  /// Cache blocking of rows of a result that share rows of an operand: so many rows of the result, where at
  /// least so many of the operand's fit the L1 cache, and each row of the result reads one of so many of the
  /// operand's.
  int64_t cacheBlockResultRows = 16, cacheBlockOperandRows = 32, cacheBlockSparsity = 3;

  /// Loops that run block by block: entries of a block, or elements of a tensor that is stored in it, so that
  /// what one loop stores and the next reads stays in the core's own caches.
  int64_t fusedBlockEntries = 16384;
  /// Of less, some blocks that threads can share, of so many entries or more.
  int64_t fewestBlockEntries = 4096, someBlocks = 8;

  /// Rows of a tile that shares what the iterations of a reduction read (experiment 110).
  int64_t sharedTileRows = 32;

  /// Rows that are summed of so many entries in the mean are summed in loops of their own, before what reads
  /// them (experiment 063).
  int64_t longSummedRow = 8;

  /// Segments that several loops traverse: up to so many vectors stay in registers from one to the next.
  int64_t registerVectors = 2;

  /// Where an inner loop is longer than this, the streams of its operand evict each other: so many iterations
  /// of the outer loop (diagonals) are jammed.
  int64_t longLoop = 4096, jammedIterations = 6;

  /// So many iterations of a reduction update the elements of a sampled product at once (experiment 097).
  int64_t jammedUpdates = 4;

  /// An array with an element for every coordinate of a level: profitable for a level of this size, and for a
  /// larger one while it has at most so many coordinates per entry.
  int64_t smallLevel = int64_t(1) << 20, sparsest = 16;
  /// Marks of such an array are bytes rather than bits, which wait for each other but are fewer to visit,
  /// from so many entries for each coordinate of a fiber on, while the level has at most so many coordinates
  /// for each; a sample of so many chunks of the outermost loop tells, one of so many (experiment 098).
  int64_t meetingEntries = 6, sparsestBytes = 512, chunkSamples = 16, chunksPerSample = 128;
  /// Traversing a row of one factor for every entry of the other, against a merge of two rows for every entry
  /// of the mask: a step of a merge, which is mispredicted or compares whole vectors, in steps of that
  /// traversal.
  double mergeStep = 4;

  /// Loop orders, in the time one entry takes to be converted: a result whose entries do not arrive in row
  /// order has its loops run twice, and its entries scattered.
  double convert = 1, insertOutOfOrder = 2;

  /// Operations of a statement's loops, roughly, up to which each set of operands that may meet has a case of
  /// its own; beyond, operands come with presence flags.
  int64_t codeBudget = 2000;
  /// From so many operations of one copy of the loops on, where LLVM sees so many instructions as well, it
  /// neither unrolls nor vectorizes what tulle-vectorize left: each of many loops would become several.
  int64_t largeStatement = 250, largeModule = 1000;
  /// The same for other statements: what is that long has vectors and tiles already (experiment 055).
  int64_t longModule = 3000;
  /// From so many instructions on, LLVM only does what takes time in proportion to the code (experiment 054).
  int64_t hugeModule = 4000;
  /// So many loops of one function are code to LLVM that takes no more time than as many functions; beyond,
  /// each becomes a function (experiment 065).
  int64_t mostLoops = 16;
  /// The loops of a new tensor are emitted so often: they count and store.
  int64_t assemblyCopies = 3;

  /// Work that makes another thread profitable: so many entries take ten microseconds. OpenMP's threads wait
  /// actively between calls that follow each other, and begin within two (experiment 125).
  int64_t workPerThread = 1 << 14;
  /// An upper bound of the cost of an intersection per entry of its shortest operand, in traversed entries: a
  /// step of a galloping search through a much longer list misses the cache once or twice.
  int64_t gallopWork = 32;
  /// Chunks per thread where chunks of as many entries can differ in work: the imbalance that is left is a
  /// fraction of one chunk.
  int64_t unevenChunksPerThread = 4;
  /// Chunks per thread at most, and the entries that make one more profitable. A fiber with more entries than
  /// such a chunk is split (experiment 021).
  int64_t chunksPerThread = 16, workPerChunk = 1 << 16;
  /// A parallel loop over the coordinates of a dimension inside of other loops: the fewest coordinates per
  /// chunk, as every chunk repeats the loops outside.
  int64_t innerChunk = 8;
  /// Its fewest bits of a row that is stored, two cache lines; and the work of such loops for each element of
  /// a copy of the result that makes copies cheaper (experiment 080).
  int64_t rowChunkBits = 1024, workPerCopiedElement = 4;
  /// Loops whose tasks have ranges of the rows that integers select: so many integers at a time, and the
  /// sample that tells how often rows are selected, in so many ranges of them (experiment 083). Rows have
  /// `rowChunkBits` at least, since each task goes over all integers.
  int64_t destinationBlock = 4096, destinationSamples = 4096, destinationBuckets = 1024;
  /// Integers checked at a time by loops that read them next, from the first cache (experiment 107).
  int64_t checkedBlock = 64;
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
  /// The same of all that a loop writes, in bytes (docs/experiments/126).
  int64_t streamedBytes = 1 << 24;
};

class CostModel {
public:
  explicit CostModel(const Cpu &cpu = genericCpu()) : cpu(cpu) {}

  Cpu cpu;
  Costs costs;

  /// Elements of a vector for an innermost sparse loop over elements of so many bits. `asked`: what an option
  /// says, or 0; `gathers`: the loop does.
  Choice<unsigned> vectorLength(unsigned elementBits, unsigned asked = 0, bool gathers = false) const;
  /// The same, of a loop that has so many iterations at most, where that is known: one vector with a mask
  /// holds them, if some vector of the processor does.
  Choice<unsigned> vectorLengthFor(std::optional<int64_t> most, unsigned elementBits, unsigned asked) const;
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
  /// costs.blockGallopRatio; where one instruction compares blocks, galloping is profitable later (experiment
  /// 016).
  int64_t blockGallopRatio() const { return cpu.intersects ? 20 : costs.blockGallopRatio; }
  /// Coordinates of 32 bits compared all with all: those of a vector; as few as `fewestCompared`, which
  /// others have in AVX2's.
  static constexpr int64_t fewestCompared = 8;
  int64_t comparedLanes() const { return cpu.vectorBits >= 512 ? 16 : fewestCompared; }
  /// Whether a vector holds a cache line.
  bool hasWholeLines() const { return cpu.vectorBits >= unsigned(cpu.line * 8); }
  /// Tiles of a row that stays in registers while a loop adds to it, widest first. `elements`: those of a
  /// vector; `regular`: nothing speaks against wider ones; `gathers`: scalarized ones.
  Choice<std::vector<Tile>> tiles(unsigned elementBits, unsigned elements, bool regular, bool gathers) const;
  /// Lengths of such a row that are one tile, and worth a version of the loop over rows; ascending, from one
  /// vector on.
  Choice<std::vector<int64_t>> oneTileLengths(unsigned elementBits, unsigned elements) const;
  /// A tile of several rows that stay in registers while a loop adds to them what they share. `asked`:
  /// elements of a vector, or 0.
  Choice<RowTile> rowTile(unsigned elementBits, unsigned asked = 0) const;
};

/// Entry counts as far as loop orders depend on them: powers of four relative to the smallest, so that code
/// compiled for some tensors serves for those of about the same proportions. Unknown ones (-1) count as the
/// smallest.
std::vector<double> relativeEntries(const std::vector<int64_t> &entries);

} // namespace tulle::iteration
