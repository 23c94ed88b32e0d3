// Tensors that have the structure of others.
#pragma once
#include "Case.h"

namespace tulle::differential {

/// By a generator of its own, as slices are: now and then an input has the structure of another.
void lendToInputs(Case &c);
/// The same for results.
void lendToResults(Case &c);
/// The format of the operand whose pattern the result has; empty when it has one of its own, `dense` when
/// it would be stored everywhere.
std::string formatOfPattern(const Case &c, const std::string &name);

} // namespace tulle::differential
