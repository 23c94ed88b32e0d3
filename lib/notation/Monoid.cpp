#include "notation/Monoid.h"
#include <cmath>
#include <limits>

namespace tulle::notation {

Scalar identity(Reduce reduce, ElementType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool exact = isInteger(type) || type == ElementType::Bool;
  unsigned bits = type == ElementType::Bool ? 2 : 8 * byteWidth(type); // bool: 0 and 1
  int64_t largest = exact ? int64_t((uint64_t(1) << (bits - 1)) - 1) : 0;
  switch (reduce) {
  case Reduce::Add:
  case Reduce::Or:
  case Reduce::Xor:
    return {};
  case Reduce::Mul:
    return exact ? Scalar{1, 0} : Scalar{0, 1};
  case Reduce::Min:
    return exact ? Scalar{largest, 0} : Scalar{0, infinity};
  case Reduce::Max:
    return exact ? Scalar{type == ElementType::Bool ? 0 : -largest - 1, 0} : Scalar{0, -infinity};
  case Reduce::And:
    return {type == ElementType::Bool ? 1 : -1, 0};
  }
  return {};
}

bool sameValue(ElementType type, const Scalar &a, const Scalar &b) {
  if (isInteger(type) || type == ElementType::Bool)
    return a.i == b.i;
  auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return same(a.f.real(), b.f.real()) && same(a.f.imag(), b.f.imag());
}

} // namespace tulle::notation
