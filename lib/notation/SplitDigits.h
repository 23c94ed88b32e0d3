// Which statements have digits of an index as loops of their own.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// Whether a sparse tensor is read at digits of which it is no tensor of whole indices: it has a part of them
/// only, as in `A(l / 64)`, or its levels have them in another order.
bool readsAsDigits(const Program &program, const Access &access);

/// Whether each index at whose digits the statement reads a tensor so can be these digits, as loops: the
/// result is dense, and the digits are those of one number system.
bool canSplitDigits(const Program &program, const Statement &statement);

} // namespace tulle::notation
