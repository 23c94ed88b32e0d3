// Eigen's sparse matrices, where Eigen is installed (its name then is in the table; Tulle does not need it).
#pragma once
#include "Loops.h"
#include <functional>
#include <optional>

namespace tulle::bench {

/// Sums and products over copies of the operands, 32-bit indices; nullopt without Eigen. The result is kept
/// until the next call.
std::optional<std::function<void()>> eigenSum(const CsrView &a, const CsrView &b);
std::optional<std::function<void()>> eigenProduct(const CsrView &a, const CsrView &b);
/// Row-major to column-major.
std::optional<std::function<void()>> eigenTranspose(const CsrView &a);

} // namespace tulle::bench
