// Memory in blocks. Large ones are kept for a while after they are freed: the pages of a new one cost more
// to get from the system than a conversion costs to fill.
#pragma once
#include <cstdint>

namespace tulle::runtime {

/// `bytes` is what the block holds, at least what was requested. So many `addresses` are its own: behind what
/// a large block holds there is no memory, but it can hold more another time without moving.
struct Block {
  void *data = nullptr;
  int64_t bytes = 0;
  int64_t addresses = bytes;
};

/// A block of at least `bytes` bytes with any content, 64-byte aligned; pages that were never touched cost
/// nothing. Large blocks are whole pages, of the huge ones where they can. `data` is null when the system
/// refuses. Thread-safe, as all of these.
Block takeBlock(int64_t bytes);

/// The same of what is kept, where a block has the memory already; else `data` is null.
Block takeKeptBlock(int64_t bytes);

/// Gives a block back.
void giveBlock(Block block);

/// What every element of memory is: so many bytes (1, 2, 4 or 8) with these bits.
struct Element {
  int64_t bytes = 1;
  uint64_t bits = 0;
  bool operator==(const Element &) const = default;
};

/// A block, and where in it the memory begins whose elements are all the same.
struct FilledBlock {
  Block block;
  int64_t offset = 0, bytes = 0;
  Element element;
};

/// A block with at least `bytes` bytes of such elements that `giveFilledBlock` has kept; else `data` is null.
FilledBlock takeFilledBlock(int64_t bytes, Element element);
/// Gives a block back that is to be taken again as it is.
void giveFilledBlock(const FilledBlock &block);

/// Returns what lies behind the first `bytes` bytes to the system, where that is a whole page of the block's.
/// A block of which little is left moves.
void trimBlock(Block &block, int64_t bytes);

/// Returns all blocks that are kept to the system.
void releaseBlocks();

/// Takes and gives small blocks in the place of the allocator, from now on; `give` returns false for a block
/// that `take` did not make. For tests, which learn of what generated code touches outside its buffers.
struct SmallBlocks {
  Block (*take)(int64_t bytes, int64_t alignment);
  bool (*give)(Block block);
};
void replaceSmallBlocks(const SmallBlocks &blocks);

} // namespace tulle::runtime
