// What every operation of the notation means on one value of each type.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// One operation on operands of type `operands` (see Program.h: they are converted already).
///
/// Integers wrap at their width; division and remainder by 0 give 0, and the most negative value divided by
/// -1 is itself;
/// `/` truncates and `%` has the sign of the dividend. Shifts by a negative amount or by the width or more
/// give 0 (`<<`) or the sign
/// (`>>`). A negative integer exponent gives 1 / (base ** -exponent) truncated. Floats round to their type
/// after every operation; min and max propagate nan and order -0 before 0.
Scalar apply(Op op, ElementType operands, const std::vector<Scalar> &args);

/// Between any two types; float to integer truncates, saturates, and makes nan 0; integer to narrower integer
/// wraps; to bool is != 0; complex from real has imaginary part 0.
Scalar convert(const Scalar &value, ElementType from, ElementType to);

/// `a` reduced with `b`.
Scalar combine(Reduce reduce, ElementType type, const Scalar &a, const Scalar &b);

/// The value as an element of `type` holds it.
Scalar rounded(const Scalar &value, ElementType type);

} // namespace tulle::notation
