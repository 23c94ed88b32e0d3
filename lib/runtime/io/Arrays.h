// Memory for the arrays a file fills.
#pragma once
#include <cstdint>
#include <sys/mman.h>
#include <vector>

namespace tulle::runtime::io {

/// Reserves `capacity` elements, in large pages where the system has them: the kernel's work on 4 KiB pages
/// would take as long as the parsing.
template <typename T> void reserveLarge(std::vector<T> &array, size_t capacity) {
  array.reserve(capacity);
  constexpr uintptr_t page = uintptr_t(1) << 21;
  const size_t bytes = capacity * sizeof(T), lead = -reinterpret_cast<uintptr_t>(array.data()) & (page - 1);
  if (lead + page <= bytes)
    madvise(reinterpret_cast<char *>(array.data()) + lead, (bytes - lead) & ~(page - 1), MADV_HUGEPAGE);
}

} // namespace tulle::runtime::io
