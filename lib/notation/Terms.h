// Sums whose terms run over different indices. Private to this folder.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// The summation convention: in `y(i) = b(i) - A(i,j) * x(j)` each term is summed over its own indices, so
/// that y = b - A x. A statement whose terms do not all have the same reduction indices becomes one statement
/// per set of indices, the later ones added to the first. Products are expanded where that separates terms.
/// Only sums split: `max=` and the like take the right side as a whole.
std::vector<Statement> splitTerms(const Statement &statement);

} // namespace tulle::notation
