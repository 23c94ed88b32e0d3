// Integers compute in 64 bits and wrap to their width; floats compute in the C++ type of their width.
#include "notation/Arithmetic.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tulle::notation {
namespace {

unsigned bits(ElementType type) { return 8 * byteWidth(type); }

/// Keeps the low bits of the type, as two's complement.
int64_t wrap(uint64_t value, ElementType type) {
  unsigned unused = 64 - bits(type);
  return int64_t(value << unused) >> unused;
}

Scalar integer(int64_t value) { return {value, 0}; }
Scalar truth(bool value) { return {value, 0}; }

int64_t power(int64_t base, int64_t exponent, ElementType type) {
  if (exponent < 0)
    return base != 1 && base != -1 ? 0 : exponent % 2 ? base : 1;
  uint64_t result = 1, square = uint64_t(base);
  for (uint64_t e = uint64_t(exponent); e; e >>= 1, square *= square)
    if (e & 1)
      result *= square;
  return wrap(result, type);
}

/// Whether the operands, of an ordered type, compare as the operation says.
template <typename T> Scalar comparison(Op op, T a, T b) {
  return truth(op == Op::Eq   ? a == b
               : op == Op::Ne ? a != b
               : op == Op::Lt ? a < b
               : op == Op::Le ? a <= b
               : op == Op::Gt ? a > b
                              : a >= b);
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

/// What floats and complex numbers have in common: `T` is one of their types, in which C++ computes and
/// rounds.
template <typename T> std::optional<T> applyField(Op op, const T &a, const T &b) {
  struct Row {
    Op op;
    T (*function)(const T &, const T &);
  };
  constexpr Row table[] = {{Op::Neg, [](const T &a, const T &) { return -a; }},
                           {Op::Abs, [](const T &a, const T &) { return T(std::abs(a)); }},
                           {Op::Sqrt, [](const T &a, const T &) { return std::sqrt(a); }},
                           {Op::Exp, [](const T &a, const T &) { return std::exp(a); }},
                           {Op::Log, [](const T &a, const T &) { return std::log(a); }},
                           {Op::Sin, [](const T &a, const T &) { return std::sin(a); }},
                           {Op::Cos, [](const T &a, const T &) { return std::cos(a); }},
                           {Op::Tanh, [](const T &a, const T &) { return std::tanh(a); }},
                           {Op::Add, [](const T &a, const T &b) { return a + b; }},
                           {Op::Sub, [](const T &a, const T &b) { return a - b; }},
                           {Op::Div, [](const T &a, const T &b) { return a / b; }},
                           {Op::Pow, [](const T &a, const T &b) { return std::pow(a, b); }}};
  const Row *row = std::ranges::find(table, op, &Row::op);
  return row == std::end(table) ? std::nullopt : std::optional(row->function(a, b));
}

template <typename T> Scalar applyFloat(Op op, const std::vector<Scalar> &args) {
  T a = T(args[0].f.real()), b = args.size() > 1 ? T(args[1].f.real()) : T(0);
  auto real = [](T value) { return Scalar{0, double(value)}; };
  if (auto result = applyField(op, a, b))
    return real(*result);
  bool unordered = std::isnan(a) || std::isnan(b);
  T nan = std::numeric_limits<T>::quiet_NaN();
  switch (op) {
  case Op::Relu:
    return real(std::isnan(a) ? a : std::max(a, T(0)));
  case Op::Mul:
    return real(a * b);
  case Op::Mod:
    return real(std::fmod(a, b));
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
  if (auto result = applyField(op, a, b))
    return value(*result);
  switch (op) {
  case Op::Conj:
    return value(std::conj(a));
  case Op::Real:
    return value(a.real());
  case Op::Imag:
    return value(a.imag());
  // The textbook product: operator* would recover infinities that the textbook one loses.
  case Op::Mul:
    return value({a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()});
  case Op::Eq:
    return truth(a == b);
  default:
    return truth(a != b);
  }
}

} // namespace

Scalar apply(Op op, ElementType operands, const std::vector<Scalar> &args) {
  // Truth values are the integers 0 and 1 to every operation they have.
  if (operands == ElementType::Bool)
    return op == Op::Not ? truth(!args[0].i) : applyInteger(op, ElementType::I8, args);
  if (isInteger(operands))
    return applyInteger(op, operands, args);
  if (isComplex(operands))
    return operands == ElementType::C64 ? applyComplex<float>(op, args) : applyComplex<double>(op, args);
  return operands == ElementType::F64 ? applyFloat<double>(op, args) : applyFloat<float>(op, args);
}

Scalar convert(const Scalar &value, ElementType from, ElementType to) {
  if (isInteger(to) || to == ElementType::Bool)
    return convertScalar(value, from, to);
  const bool fromInteger = isInteger(from) || from == ElementType::Bool;
  if (fromInteger && (to == ElementType::F32 || to == ElementType::C64))
    return {0, double(float(value.i))}; // once, not through f64: rounding twice is not rounding
  return rounded(convertScalar(value, from, to), to);
}

Scalar combine(Reduce reduce, ElementType type, const Scalar &a, const Scalar &b) {
  return apply(monoid(reduce).op, type, {a, b});
}

Scalar rounded(const Scalar &value, ElementType type) {
  alignas(16) unsigned char element[16];
  storeScalar(type, element, value);
  return loadScalar(type, element);
}

Scalar identity(Reduce reduce, ElementType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool exact = isInteger(type) || type == ElementType::Bool;
  const int64_t largest = type == ElementType::Bool ? 1 : exact ? INT64_MAX >> (64 - bits(type)) : 0;
  switch (reduce) {
  case Reduce::Mul:
    return exact ? Scalar{1, 0} : Scalar{0, 1};
  case Reduce::Min:
    return exact ? Scalar{largest, 0} : Scalar{0, infinity};
  case Reduce::Max:
    return exact ? Scalar{type == ElementType::Bool ? 0 : -largest - 1, 0} : Scalar{0, -infinity};
  case Reduce::And:
    return {type == ElementType::Bool ? 1 : -1, 0};
  default:
    return {};
  }
}

bool sameValue(ElementType type, const Scalar &a, const Scalar &b) {
  if (isInteger(type) || type == ElementType::Bool)
    return a.i == b.i;
  auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return same(a.f.real(), b.f.real()) && same(a.f.imag(), b.f.imag());
}

} // namespace tulle::notation
