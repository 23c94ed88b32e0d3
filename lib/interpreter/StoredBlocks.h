// What a format stores besides the entries it is given.
#pragma once
#include "interpreter/Interpreter.h"

namespace tulle::interpreter {

/// Formats that store whole blocks store all elements below a stored coordinate of their last sparse level:
/// those become stored, with the values they have (the fill). Throws Error where a group of structured[n,m]
/// has entries, but not n, or has none although the levels above it hold every coordinate. Formats that
/// choose positions of their own (diagonals, rows of equal lengths, …) are left alone.
void storeBlocks(DenseTensor &tensor, const format::Encoding &encoding);

} // namespace tulle::interpreter
