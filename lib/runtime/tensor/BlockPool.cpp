// Small blocks are the allocator's; large ones are mapped, kept in a pool when they are freed, and taken
// again by who needs about as much.
#include "runtime/tensor/BlockPool.h"
#include "runtime/tensor/MemoryLimits.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace tulle::runtime {

namespace {

constexpr int64_t kSmallAlignment = 64;
constexpr int64_t kHugePage = int64_t(1) << 21;
constexpr int64_t kLarge = kHugePage / 4; ///< mapped by itself from here on
constexpr size_t kMostKept = 256;         ///< several for each thread

int64_t pageBytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

int64_t roundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Whole huge pages, where there is one.
int64_t wholePages(int64_t bytes) { return roundUp(bytes, bytes < kHugePage ? pageBytes() : kHugePage); }

/// Addresses for `bytes` that begin at a huge page: a block that does not has only small ones.
void *reserve(int64_t bytes, int protection) {
  int64_t mapped = bytes + kHugePage;
  void *found = mmap(nullptr, size_t(mapped), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED)
    return nullptr;
  auto begin = reinterpret_cast<intptr_t>(found), start = intptr_t(roundUp(begin, kHugePage));
  if (start > begin)
    munmap(found, size_t(start - begin));
  if (int64_t rest = begin + mapped - (start + bytes); rest > 0)
    munmap(reinterpret_cast<void *>(start + bytes), size_t(rest));
  return reinterpret_cast<void *>(start);
}

Block mapBlock(int64_t bytes) {
  void *data = reserve(bytes, PROT_READ | PROT_WRITE);
  if (!data)
    return {};
  (void)madvise(data, size_t(bytes), MADV_HUGEPAGE); // a refusal is harmless
  return {data, bytes};
}

/// The blocks freed last, up to a small fraction of the machine's memory.
class Pool {
public:
  /// The smallest block that holds `bytes` and wastes little.
  Block takeWhole(int64_t bytes) {
    std::lock_guard lock(mutex);
    auto best = find([&](const Block &block) {
      return block.bytes >= bytes && !wastes(block, bytes) ? INT64_MAX - block.bytes : 0;
    });
    return best == kept.end() ? Block() : remove(best);
  }

  /// One that has the addresses for `bytes`, and much memory; else one that is made longer. A block that
  /// moves costs every processor that runs one of the threads an interrupt for each huge page.
  Block takePart(int64_t bytes) {
    std::lock_guard lock(mutex);
    auto best = find([&](const Block &block) {
      return block.addresses >= bytes && !wastes(block, bytes) ? block.bytes : 0;
    });
    if (best == kept.end())
      return grown(bytes);
    Block block = remove(best);
    block.bytes = std::max(block.bytes, bytes);
    return block;
  }

  void give(Block block) {
    std::lock_guard lock(mutex);
    if (block.bytes > limit())
      return unmap(block);
    kept.push_back(block);
    total += block.bytes;
    while (total > limit() || kept.size() > kMostKept) { // the oldest go first
      total -= kept.front().bytes;
      unmap(kept.front());
      kept.erase(kept.begin());
    }
  }

  void release() {
    std::lock_guard lock(mutex);
    for (Block block : kept)
      unmap(block);
    kept.clear();
    total = 0;
  }

private:
  /// The block of the largest rank, the first of several; rank 0: none of them.
  template <class Rank> std::vector<Block>::iterator find(Rank rank) {
    auto best = std::ranges::max_element(kept, {}, rank);
    return best == kept.end() || rank(*best) == 0 ? kept.end() : best;
  }
  static bool wastes(const Block &block, int64_t bytes) {
    return block.bytes > bytes + bytes / 4 + kHugePage;
  }

  Block remove(std::vector<Block>::iterator at) {
    Block block = *at;
    kept.erase(at);
    total -= block.bytes;
    return block;
  }

  /// The largest block, made longer: blocks for an upper bound come back short, and their pages need not be
  /// cleared again.
  Block grown(int64_t bytes) {
    auto largest = find([&](const Block &block) { return block.bytes < bytes ? block.bytes : 0; });
    void *target = largest == kept.end() ? nullptr : reserve(bytes, PROT_NONE);
    if (!target)
      return {};
    Block old = *largest;
    void *data = mremap(old.data, size_t(old.bytes), size_t(bytes), MREMAP_MAYMOVE | MREMAP_FIXED, target);
    if (data == MAP_FAILED) {
      munmap(target, size_t(bytes));
      return {};
    }
    remove(largest);
    if (old.addresses > old.bytes)
      munmap(static_cast<char *>(old.data) + old.bytes, size_t(old.addresses - old.bytes));
    (void)madvise(data, size_t(bytes), MADV_HUGEPAGE); // a refusal is harmless
    return {data, bytes};
  }

public:
  static int64_t limit() {
    static const int64_t bytes =
        std::min<int64_t>(int64_t(1) << 30, sysconf(_SC_PHYS_PAGES) / 16 * pageBytes());
    return bytes;
  }

private:
  static void unmap(Block block) { munmap(block.data, size_t(block.addresses)); }

  std::mutex mutex;
  std::vector<Block> kept; ///< in the order in which they came
  int64_t total = 0;
};

Pool &pool() {
  static auto *blocks = new Pool; // never destroyed: tensors may be freed while the process ends
  return *blocks;
}

/// Workspaces as their last users left them, up to a fraction of what the pool may keep.
class FilledPool {
public:
  static constexpr int64_t small = 1 << 14; ///< to fill less is cheap

  /// The smallest that suffices; a much larger one waits for who needs that much.
  FilledBlock take(int64_t bytes, Element element) {
    if (bytes < small)
      return {};
    std::lock_guard lock(mutex);
    auto best = kept.end();
    for (auto at = kept.begin(); at != kept.end(); ++at)
      if (at->element == element && at->bytes >= bytes && at->bytes / 2 <= bytes &&
          (best == kept.end() || at->bytes < best->bytes))
        best = at;
    if (best == kept.end())
      return {};
    FilledBlock found = *best;
    kept.erase(best);
    total -= found.block.bytes;
    return found;
  }

  void give(const FilledBlock &filled) {
    std::lock_guard lock(mutex);
    kept.push_back(filled);
    total += filled.block.bytes;
    while (total > Pool::limit() / 4 || kept.size() > kMostKept)
      dropOldest();
  }

  void release() {
    std::lock_guard lock(mutex);
    while (!kept.empty())
      dropOldest();
  }

private:
  void dropOldest() {
    total -= kept.front().block.bytes;
    giveBlock(kept.front().block);
    kept.erase(kept.begin());
  }

  std::mutex mutex;
  std::vector<FilledBlock> kept; ///< in the order in which they came
  int64_t total = 0;
};

FilledPool &filledPool() {
  static auto *blocks = new FilledPool; // as the other
  return *blocks;
}

/// An aligned part of what malloc gives, which is found again before it: glibc's aligned_alloc takes nothing
/// of what the thread has freed, and leaves the rest of each chunk behind (experiment 099).
Block smallBlock(int64_t bytes) {
  const int64_t rounded = std::max(roundUp(bytes, kSmallAlignment), kSmallAlignment);
  void *found = std::malloc(size_t(rounded + kSmallAlignment));
  if (!found)
    return {};
  // malloc aligns to 16 bytes, so that there is room for an address before the next multiple of 64.
  auto *data = reinterpret_cast<void **>(roundUp(reinterpret_cast<intptr_t>(found) + 1, kSmallAlignment));
  data[-1] = found;
  return {data, rounded};
}

void freeSmall(void *data) {
  if (data)
    std::free(static_cast<void **>(data)[-1]);
}

/// What tests put in the place of the allocator.
const SmallBlocks *replaced = nullptr;

} // namespace

void replaceSmallBlocks(const SmallBlocks &blocks) { replaced = &blocks; }

Block takeKeptBlock(int64_t bytes) {
  constexpr int64_t most = INT64_MAX - 2 * kHugePage;
  return bytes < kLarge || bytes > most ? Block() : pool().takeWhole(wholePages(bytes));
}

Block takeBlock(int64_t bytes) {
  if (bytes > INT64_MAX - 2 * kHugePage)
    return {};
  // What a block holds says where it goes when it is given back.
  if (replaced && bytes < kLarge - kSmallAlignment)
    return replaced->take(bytes, kSmallAlignment);
  if (bytes <= kLarge - kSmallAlignment)
    return smallBlock(bytes);
  if (Block block = takeKeptBlock(bytes); block.data)
    return block;
  bytes = wholePages(bytes);
  if (Block block = pool().takePart(bytes); block.data)
    return block;
  return mapBlock(bytes);
}

void giveBlock(Block block) {
  if (block.bytes >= kLarge)
    pool().give(block);
  else if (!replaced || !replaced->give(block))
    freeSmall(block.data);
}

void trimBlock(Block &block, int64_t bytes) {
  if (bytes >= kLarge) {
    int64_t wanted = wholePages(bytes);
    if (block.bytes <= wanted)
      return;
    char *behind = static_cast<char *>(block.data) + wanted;
    block.bytes = wanted;
    if (addressLimit()) { // addresses without memory count
      munmap(behind, size_t(block.addresses - wanted));
      block.addresses = wanted;
    } else {
      (void)madvise(behind, size_t(block.addresses - wanted), MADV_DONTNEED); // private pages: not refused
    }
    return;
  }
  if (block.bytes - bytes < pageBytes())
    return;
  Block smaller = takeBlock(bytes);
  if (!smaller.data)
    return;
  std::memcpy(smaller.data, block.data, size_t(bytes));
  giveBlock(block);
  block = smaller;
}

FilledBlock takeFilledBlock(int64_t bytes, Element element) { return filledPool().take(bytes, element); }

/// Tests that replace the allocator want all of their blocks back.
void giveFilledBlock(const FilledBlock &block) {
  if (block.bytes < FilledPool::small || (replaced && block.block.bytes < kLarge))
    giveBlock(block.block);
  else
    filledPool().give(block);
}

void releaseBlocks() {
  filledPool().release();
  pool().release();
}

} // namespace tulle::runtime
