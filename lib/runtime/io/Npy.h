// The header of NumPy's .npy files.
#pragma once
#include "runtime/io/Text.h"

namespace tulle::runtime::io {

/// Magic, version and dictionary for a row-major little-endian array, padded so that the data is 64-byte
/// aligned. Throws Error for bf16, which NumPy cannot name.
std::string npyHeader(ElementType type, const std::vector<int64_t> &dims);

/// The text that a .npy file of NumPy's kinds S and U holds. Throws Error when it is no such file, or holds
/// several texts.
std::string readNpyText(const Text &text);

} // namespace tulle::runtime::io
