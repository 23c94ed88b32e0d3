// Sizes are computed with overflow checks and compared with the machine's memory before anything is
// allocated.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::runtime {

/// Throws Error "out of memory: <what> needs N bytes, M are available" when `bytes` do not fit into what the
/// machine (and its control group) can still give.
void requireMemory(int64_t bytes, std::string_view what);

/// Whether that many bytes do.
bool fitsMemory(int64_t bytes);

/// The limit of the process's addresses (`ulimit -v`), where there is one.
std::optional<int64_t> addressLimit();

/// a * b and a + b for sizes (non-negative); throw Error "out of memory: <what> needs more than 2^63 bytes".
int64_t checkedMul(int64_t a, int64_t b, std::string_view what);
int64_t checkedAdd(int64_t a, int64_t b, std::string_view what);
/// The product of sizes, 0 where one of them is.
int64_t checkedProduct(const std::vector<int64_t> &sizes, std::string_view what);

} // namespace tulle::runtime
