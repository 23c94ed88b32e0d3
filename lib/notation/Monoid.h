// Reductions as monoids: an operation and its identity.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

struct Monoid {
  std::string_view assignment; ///< as the notation spells it: `+=`
  Op op;
};
/// The rows are in the order of Reduce.
inline constexpr Monoid monoids[] = {{"+=", Op::Add}, {"*=", Op::Mul}, {"min=", Op::Min}, {"max=", Op::Max},
                                     {"|=", Op::Or},  {"&=", Op::And}, {"^=", Op::Xor}};
constexpr const Monoid &monoid(Reduce reduce) { return monoids[size_t(reduce)]; }

/// The value that changes nothing: 0 of a sum, infinity of a minimum (integers: their largest value).
Scalar identity(Reduce reduce, ElementType type);

/// Equal as elements of the type; nan equals nan.
bool sameValue(ElementType type, const Scalar &a, const Scalar &b);

} // namespace tulle::notation
