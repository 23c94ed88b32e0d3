// Where reductions start.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// The value that changes nothing: 0 of a sum, infinity of a minimum (integers: their largest value).
Scalar identity(Reduce reduce, ElementType type);

/// Equal as elements of the type; nan equals nan.
bool sameValue(ElementType type, const Scalar &a, const Scalar &b);

} // namespace tulle::notation
