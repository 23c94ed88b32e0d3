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

/// Returns what lies behind the first `bytes` bytes to the system, where that is a whole page of the block's.
/// A block of which little is left moves.
void trimBlock(Block &block, int64_t bytes);

/// Returns all blocks that are kept to the system.
void releaseBlocks();

/// For tests, which so learn of what generated code, that no sanitizer has seen, touches outside its buffers:
/// from now on, touching memory before a small block or behind it is a segmentation fault, and a write to the
/// bytes that its alignment leaves behind it ends the program when the block is given back.
void guardBlocks();

} // namespace tulle::runtime
