// Parts of an encoding as text, for messages and comments.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

/// `j - i : squeezed`
std::string printLevel(const Encoding &encoding, unsigned level);
/// `(i, j) -> (j - i, i, j)`: what the levels' coordinates are.
std::string printRemapping(const Encoding &encoding);

} // namespace tulle::format
