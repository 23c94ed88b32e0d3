// Buffers of tensors, and how much memory the machine and its control group can still give.
#include "runtime/tensor/BlockPool.h"
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Tensor.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace tulle::runtime {

namespace {

// Asking the system costs a file read; small buffers are left to the allocator.
constexpr int64_t kCheckedFrom = int64_t(1) << 24;

int64_t readNumber(const char *path) {
  std::ifstream in(path);
  int64_t value = -1;
  return in >> value ? value : -1;
}

int64_t availableMemory() {
  int64_t available = std::numeric_limits<int64_t>::max();
  std::ifstream info("/proc/meminfo");
  for (std::string key; info >> key; info.ignore(256, '\n'))
    if (int64_t kilobytes; key == "MemAvailable:" && info >> kilobytes) {
      available = kilobytes * 1024;
      break;
    }
  int64_t limit = readNumber("/sys/fs/cgroup/memory.max"), used = readNumber("/sys/fs/cgroup/memory.current");
  if (limit >= 0 && used >= 0)
    available = std::min(available, std::max<int64_t>(limit - used, 0));
  // It counts the whole address space, what is mapped already included.
  int64_t pages = readNumber("/proc/self/statm");
  if (std::optional<int64_t> space = addressLimit(); space && pages >= 0)
    available = std::min(available, std::max<int64_t>(*space - pages * sysconf(_SC_PAGESIZE), 0));
  return available;
}

/// Whether so much is free, by far, and no limit of a group or of the process stands below it: what is
/// available is more, but takes a tenth of a millisecond to learn.
bool isFree(int64_t bytes) {
  struct sysinfo info;
  return !addressLimit() && readNumber("/sys/fs/cgroup/memory.max") < 0 && sysinfo(&info) == 0 &&
         uint64_t(bytes) / info.mem_unit < info.freeram / 2;
}

[[noreturn]] void outOfMemory(std::string_view what) {
  throwError("out of memory: {} needs more than 2^63 bytes; use smaller sizes or a sparse format", what);
}

} // namespace

std::optional<int64_t> addressLimit() {
  rlimit space{};
  const bool limited = getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY;
  return limited ? std::optional(int64_t(space.rlim_cur)) : std::nullopt;
}

bool fitsMemory(int64_t bytes) {
  if (bytes < kCheckedFrom || isFree(bytes) || bytes <= availableMemory())
    return true;
  releaseBlocks(); // memory that is only kept does not stand in the way
  return bytes <= availableMemory();
}

void requireMemory(int64_t bytes, std::string_view what) {
  if (!fitsMemory(bytes))
    throwError("out of memory: {} needs {} bytes, {} are available; use smaller sizes or a sparser format",
               what, bytes, availableMemory());
}

int64_t checkedMul(int64_t a, int64_t b, std::string_view what) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    outOfMemory(what);
  return result;
}

int64_t checkedAdd(int64_t a, int64_t b, std::string_view what) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result))
    outOfMemory(what);
  return result;
}

int64_t checkedProduct(const std::vector<int64_t> &sizes, std::string_view what) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return 0;
  int64_t product = 1;
  for (int64_t size : sizes)
    product = checkedMul(product, size, what);
  return product;
}

Buffer Buffer::allocate(int64_t count, int64_t bytes, bool zeroed, std::string_view what) {
  return allocate(count, bytes, zeroed, [what] { return std::string(what); });
}

Buffer Buffer::allocate(int64_t count, int64_t bytes, bool zeroed, const std::function<std::string()> &what) {
  if (!fitsMemory(bytes))
    requireMemory(bytes, what());
  Block block = takeBlock(bytes);
  if (!block.data)
    throwError("out of memory: {} needs {} bytes", what(), bytes);
  if (zeroed)
    std::memset(block.data, 0, bytes);
  return {std::shared_ptr<void>(block.data, [block](void *) { giveBlock(block); }), block.data, count, bytes,
          /*own=*/true};
}

Buffer Buffer::copyOf(const void *data, int64_t count, int64_t bytes, std::string_view what) {
  Buffer copy = allocate(count, bytes, /*zeroed=*/false, what);
  if (bytes > 0)
    std::memcpy(copy.data, data, size_t(bytes));
  return copy;
}

Buffer Buffer::borrow(void *data, int64_t count, int64_t bytes, std::shared_ptr<void> keepAlive) {
  return {std::move(keepAlive), data, count, bytes};
}

} // namespace tulle::runtime
