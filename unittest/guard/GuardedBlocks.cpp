#include "GuardedBlocks.h"
#include "runtime/tensor/BlockPool.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace tulle::runtime {

namespace {

struct Mapping {
  char *begin;
  size_t bytes;
  int64_t requested; ///< bytes of the block that are its user's
};

std::mutex mutex;
/// By the block's first byte; never destroyed: tensors may be freed while the process ends.
std::unordered_map<void *, Mapping> &mappings() {
  static auto *all = new std::unordered_map<void *, Mapping>;
  return *all;
}

/// What no one has written: signaling nans, as f64 and in every other word as f32, which even adding 0 to
/// changes.
char untouched(int64_t at) {
  constexpr uint64_t pattern = 0x7ff400017fa00001;
  return char(pattern >> at % 8 * 8);
}

int64_t roundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

Block takeGuarded(int64_t bytes, int64_t alignment) {
  const int64_t page = sysconf(_SC_PAGESIZE), held = roundUp(std::max<int64_t>(bytes, 1), alignment);
  const int64_t inside = roundUp(held, page);
  const auto mapped = size_t(inside + 2 * page);
  void *found = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED)
    return {};
  char *begin = static_cast<char *>(found), *data = begin + page + inside - held;
  if (mprotect(begin + page, size_t(inside), PROT_READ | PROT_WRITE) != 0) {
    munmap(found, mapped);
    return {};
  }
  for (int64_t at = 0; at < held; ++at) // what is read before it is written is not 0 by chance
    data[at] = untouched(at);
  std::lock_guard lock(mutex);
  mappings()[data] = {begin, mapped, bytes};
  return {data, held};
}

/// False for a block that is not guarded.
bool giveGuarded(Block block) {
  std::lock_guard lock(mutex);
  auto found = mappings().find(block.data);
  if (found == mappings().end())
    return false;
  const Mapping mapping = found->second;
  const char *data = static_cast<const char *>(block.data);
  for (int64_t at = mapping.requested; at < block.bytes; ++at) {
    if (data[at] == untouched(at))
      continue;
    std::fprintf(stderr, "a block of %lld bytes was written behind its end\n",
                 static_cast<long long>(mapping.requested));
    std::abort();
  }
  mappings().erase(found);
  munmap(mapping.begin, mapping.bytes);
  return true;
}

} // namespace

void guardBlocks() {
  static constexpr SmallBlocks guarded = {takeGuarded, giveGuarded};
  replaceSmallBlocks(guarded);
}

} // namespace tulle::runtime
