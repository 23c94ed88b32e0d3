// Room for the arrays a file fills.
#pragma once
#include <cstdint>
#include <sys/mman.h>
#include <vector>

namespace tulle::runtime::io {

/// Room for `capacity` elements, in large pages where the system has them: the kernel's work on 4 KiB pages
/// would take as long as the parsing.
template <typename T> void reserveLarge(std::vector<T> &array, size_t capacity) {
  array.reserve(capacity);
  constexpr uintptr_t page = uintptr_t(1) << 21;
  uintptr_t begin = (reinterpret_cast<uintptr_t>(array.data()) + page - 1) & ~(page - 1);
  uintptr_t end = (reinterpret_cast<uintptr_t>(array.data()) + capacity * sizeof(T)) & ~(page - 1);
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

} // namespace tulle::runtime::io
