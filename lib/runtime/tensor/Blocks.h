// Memory in blocks. Large ones are kept for a while after they are freed: the pages of a fresh one cost more
// to get from the system than a conversion costs to fill.
#pragma once
#include <cstdint>

namespace tulle::runtime {

/// `bytes` is what the block holds, at least what was asked for.
struct Block {
  void *data = nullptr;
  int64_t bytes = 0;
};

/// A block of at least `bytes` bytes with any content, 64-byte aligned; pages that were never touched cost
/// nothing. Large blocks ask for huge pages. `data` is null when the system
/// refuses. Thread-safe, as all of these.
Block takeBlock(int64_t bytes);

/// Gives a block back.
void giveBlock(Block block);

/// Returns what lies behind the first `bytes` bytes to the system, where that is a page or more. A block of
/// which little is left moves.
void trimBlock(Block &block, int64_t bytes);

/// Returns all blocks that are kept to the system.
void releaseBlocks();

} // namespace tulle::runtime
