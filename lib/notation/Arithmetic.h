// What every operation of the notation means on one value of each type, and reductions as monoids: an
// operation and its identity.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// One operation on operands of type `operands` (see Program.h: they are converted already).
///
/// Integers wrap at their width; division and remainder by 0 give 0, and the most negative value divided by
/// -1 is itself; `/` truncates and `%` has the sign of the dividend. Shifts by a negative amount or by the
/// width or more give 0 (`<<`) or the sign (`>>`). A negative integer exponent gives 1 / (base ** -exponent)
/// truncated. Floats round to their type after every operation; min and max propagate nan and order -0 before
/// 0.
Scalar apply(Op op, ElementType operands, const std::vector<Scalar> &args);

/// Between any two types; float to integer truncates, saturates, and makes nan 0; integer to narrower integer
/// wraps; to bool is != 0; complex from real has imaginary part 0.
Scalar convert(const Scalar &value, ElementType from, ElementType to);

/// The value as an element of `type` holds it.
Scalar rounded(const Scalar &value, ElementType type);

struct Monoid {
  std::string_view assignment; ///< as the notation spells it: `+=`
  Op op;
};
/// The rows are in the order of Reduce.
inline constexpr Monoid monoids[] = {{"+=", Op::Add}, {"*=", Op::Mul}, {"min=", Op::Min}, {"max=", Op::Max},
                                     {"|=", Op::Or},  {"&=", Op::And}, {"^=", Op::Xor}};
constexpr const Monoid &monoid(Reduce reduce) { return monoids[size_t(reduce)]; }

/// `a` reduced with `b`.
Scalar combine(Reduce reduce, ElementType type, const Scalar &a, const Scalar &b);
/// The value that changes nothing: 0 of a sum, infinity of a minimum (integers: their largest value).
Scalar identity(Reduce reduce, ElementType type);

/// Equal as elements of the type; nan equals nan.
bool sameValue(ElementType type, const Scalar &a, const Scalar &b);

} // namespace tulle::notation
