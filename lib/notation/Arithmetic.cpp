#include "notation/Arithmetic.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tulle::notation {
namespace {

unsigned bits(ElementType type) { return 8 * byteWidth(type); }
int64_t smallest(ElementType type) {
  return bits(type) == 64 ? INT64_MIN : -(int64_t(1) << (bits(type) - 1));
}
int64_t largest(ElementType type) {
  return bits(type) == 64 ? INT64_MAX : (int64_t(1) << (bits(type) - 1)) - 1;
}

/// Keeps the low bits of the type, as two's complement.
int64_t wrap(uint64_t value, ElementType type) {
  unsigned unused = 64 - bits(type);
  return int64_t(value << unused) >> unused;
}

Scalar integer(int64_t value) { return {value, 0}; }
Scalar truth(bool value) { return {value, 0}; }

int64_t power(int64_t base, int64_t exponent, ElementType type) {
  if (exponent < 0) {
    if (base == 1 || base == -1)
      return exponent % 2 ? base : 1;
    return 0;
  }
  uint64_t result = 1, square = uint64_t(base);
  for (uint64_t e = uint64_t(exponent); e; e >>= 1, square *= square)
    if (e & 1)
      result *= square;
  return wrap(result, type);
}

/// Whether the operands, of an ordered type, compare as the operation says.
template <typename T> Scalar comparison(Op op, T a, T b) {
  switch (op) {
  case Op::Eq:
    return truth(a == b);
  case Op::Ne:
    return truth(a != b);
  case Op::Lt:
    return truth(a < b);
  case Op::Le:
    return truth(a <= b);
  case Op::Gt:
    return truth(a > b);
  default:
    return truth(a >= b);
  }
}

Scalar applyInteger(Op op, ElementType type, const std::vector<Scalar> &args) {
  int64_t a = args[0].i, b = args.size() > 1 ? args[1].i : 0;
  uint64_t ua = uint64_t(a), ub = uint64_t(b);
  bool outside = b < 0 || b >= int64_t(bits(type));
  switch (op) {
  case Op::Neg:
    return integer(wrap(0 - ua, type));
  case Op::Not:
    return integer(~a);
  case Op::Abs:
    return integer(wrap(a < 0 ? 0 - ua : ua, type));
  case Op::Relu:
    return integer(std::max<int64_t>(a, 0));
  case Op::Add:
    return integer(wrap(ua + ub, type));
  case Op::Sub:
    return integer(wrap(ua - ub, type));
  case Op::Mul:
    return integer(wrap(ua * ub, type));
  case Op::Div:
    return integer(b == 0 ? 0 : b == -1 ? wrap(0 - ua, type) : a / b);
  case Op::Mod:
    return integer(b == 0 || b == -1 ? 0 : a % b);
  case Op::Pow:
    return integer(power(a, b, type));
  case Op::Min:
    return integer(std::min(a, b));
  case Op::Max:
    return integer(std::max(a, b));
  case Op::And:
    return integer(a & b);
  case Op::Or:
    return integer(a | b);
  case Op::Xor:
    return integer(a ^ b);
  case Op::Shl:
    return integer(outside ? 0 : wrap(ua << b, type));
  case Op::Shr:
    return integer(outside ? (a < 0 ? -1 : 0) : a >> b);
  default:
    return comparison(op, a, b);
  }
}

Scalar applyBool(Op op, const std::vector<Scalar> &args) {
  if (op == Op::Not)
    return truth(!args[0].i);
  // Truth values are the integers 0 and 1 to every operation they have.
  return applyInteger(op, ElementType::I8, args);
}

/// `T` is the type the hardware computes in: rounding after every operation is C++'s own.
template <typename T> Scalar applyFloat(Op op, const std::vector<Scalar> &args) {
  T a = T(args[0].f.real()), b = args.size() > 1 ? T(args[1].f.real()) : T(0);
  auto real = [](T value) { return Scalar{0, double(value)}; };
  bool unordered = std::isnan(a) || std::isnan(b);
  T nan = std::numeric_limits<T>::quiet_NaN();
  switch (op) {
  case Op::Neg:
    return real(-a);
  case Op::Abs:
    return real(std::abs(a));
  case Op::Sqrt:
    return real(std::sqrt(a));
  case Op::Exp:
    return real(std::exp(a));
  case Op::Log:
    return real(std::log(a));
  case Op::Sin:
    return real(std::sin(a));
  case Op::Cos:
    return real(std::cos(a));
  case Op::Tanh:
    return real(std::tanh(a));
  case Op::Relu:
    return real(std::isnan(a) ? a : std::max(a, T(0)));
  case Op::Add:
    return real(a + b);
  case Op::Sub:
    return real(a - b);
  case Op::Mul:
    return real(a * b);
  case Op::Div:
    return real(a / b);
  case Op::Mod:
    return real(std::fmod(a, b));
  case Op::Pow:
    return real(std::pow(a, b));
  case Op::Min:
    return real(unordered ? nan : a == b ? (std::signbit(a) ? a : b) : std::min(a, b));
  case Op::Max:
    return real(unordered ? nan : a == b ? (std::signbit(a) ? b : a) : std::max(a, b));
  default:
    return comparison(op, a, b);
  }
}

template <typename T> Scalar applyComplex(Op op, const std::vector<Scalar> &args) {
  std::complex<T> a(args[0].f), b(args.size() > 1 ? args[1].f : 0);
  auto value = [](std::complex<T> v) { return Scalar{0, {double(v.real()), double(v.imag())}}; };
  switch (op) {
  case Op::Neg:
    return value(-a);
  case Op::Abs:
    return value(std::abs(a));
  case Op::Sqrt:
    return value(std::sqrt(a));
  case Op::Exp:
    return value(std::exp(a));
  case Op::Log:
    return value(std::log(a));
  case Op::Sin:
    return value(std::sin(a));
  case Op::Cos:
    return value(std::cos(a));
  case Op::Tanh:
    return value(std::tanh(a));
  case Op::Conj:
    return value(std::conj(a));
  case Op::Real:
    return value(a.real());
  case Op::Imag:
    return value(a.imag());
  case Op::Add:
    return value(a + b);
  case Op::Sub:
    return value(a - b);
  // The textbook product: operator* would recover infinities that the textbook one loses.
  case Op::Mul:
    return value({a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()});
  case Op::Div:
    return value(a / b);
  case Op::Pow:
    return value(std::pow(a, b));
  case Op::Eq:
    return truth(a == b);
  default:
    return truth(a != b);
  }
}

Op operation(Reduce reduce) {
  switch (reduce) {
  case Reduce::Add:
    return Op::Add;
  case Reduce::Mul:
    return Op::Mul;
  case Reduce::Min:
    return Op::Min;
  case Reduce::Max:
    return Op::Max;
  case Reduce::Or:
    return Op::Or;
  case Reduce::And:
    return Op::And;
  case Reduce::Xor:
    return Op::Xor;
  }
  return Op::Add;
}

int64_t saturate(double value, ElementType to) {
  if (std::isnan(value))
    return 0;
  if (value <= double(smallest(to)))
    return smallest(to);
  // double(largest) rounds up to 2^63 for i64, which is just outside.
  return value >= double(largest(to)) ? largest(to) : int64_t(value);
}

} // namespace

Scalar apply(Op op, ElementType operands, const std::vector<Scalar> &args) {
  switch (operands) {
  case ElementType::Bool:
    return applyBool(op, args);
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
    return applyInteger(op, operands, args);
  case ElementType::C64:
    return applyComplex<float>(op, args);
  case ElementType::C128:
    return applyComplex<double>(op, args);
  case ElementType::F64:
    return applyFloat<double>(op, args);
  case ElementType::BF16:
  case ElementType::F16:
  case ElementType::F32:
    return applyFloat<float>(op, args);
  }
  return {};
}

Scalar convert(const Scalar &value, ElementType from, ElementType to) {
  bool fromInteger = isInteger(from) || from == ElementType::Bool;
  if (to == ElementType::Bool)
    return truth(fromInteger ? value.i != 0 : value.f != std::complex<double>(0));
  if (isInteger(to))
    return integer(fromInteger ? wrap(uint64_t(value.i), to) : saturate(value.f.real(), to));
  if (fromInteger) // once, not through f64: rounding twice is not rounding
    return to == ElementType::F32 || to == ElementType::C64 ? Scalar{0, double(float(value.i))}
                                                            : rounded({0, double(value.i)}, to);
  return rounded(value, to);
}

Scalar combine(Reduce reduce, ElementType type, const Scalar &a, const Scalar &b) {
  return apply(operation(reduce), type, {a, b});
}

Scalar rounded(const Scalar &value, ElementType type) {
  alignas(16) unsigned char element[16];
  storeScalar(type, element, value);
  return loadScalar(type, element);
}

} // namespace tulle::notation
