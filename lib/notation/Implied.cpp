// Values that follow from what is not stored alone.
#include "notation/Monoid.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <cmath>

namespace tulle::notation {
namespace {

using Absent = std::function<bool(const Access &)>;

Scalar rounded(const Scalar &value, ElementType type) {
  alignas(16) unsigned char element[16];
  storeScalar(type, element, value);
  return loadScalar(type, element);
}

bool isNumber(ElementType type) { return isFloat(type) || isInteger(type); }
bool isInfinite(ElementType type, const Scalar &s) { return isFloat(type) && std::isinf(s.f.real()); }

/// Ordered operations on two known values; nothing for what is not worth knowing.
std::optional<Scalar> combine(Op op, ElementType type, const Scalar &a, const Scalar &b) {
  if (!isNumber(type))
    return std::nullopt;
  bool exact = isInteger(type);
  double x = a.f.real(), y = b.f.real();
  auto wrap = [](uint64_t value) { return Scalar{int64_t(value), 0}; };
  switch (op) {
  case Op::Add:
    return rounded(exact ? wrap(uint64_t(a.i) + uint64_t(b.i)) : Scalar{0, x + y}, type);
  case Op::Sub:
    return rounded(exact ? wrap(uint64_t(a.i) - uint64_t(b.i)) : Scalar{0, x - y}, type);
  case Op::Mul:
    return rounded(exact ? wrap(uint64_t(a.i) * uint64_t(b.i)) : Scalar{0, x * y}, type);
  case Op::Min:
  case Op::Max:
    if (std::isnan(x) || std::isnan(y))
      return std::nullopt;
    if (exact ? a.i < b.i : x < y)
      return op == Op::Min ? a : b;
    return op == Op::Min ? b : a;
  default:
    return std::nullopt;
  }
}

std::optional<Scalar> implied(const Program &program, const Expr &expr, const Absent &absent);

std::optional<Scalar> binary(const Program &program, const ExprNode &node, const Absent &absent) {
  auto a = implied(program, node.args[0], absent), b = implied(program, node.args[1], absent);
  // What is not stored annihilates: an infinity that is added to, a truth that is united with.
  for (const auto &x : {a, b})
    if (x && ((node.op == Op::Add && isInfinite(node.type, *x)) ||
              (node.op == Op::Or && node.type == ElementType::Bool && x->i)))
      return x;
  return a && b ? combine(node.op, node.type, *a, *b) : std::nullopt;
}

std::optional<Scalar> implied(const Program &program, const Expr &expr, const Absent &absent) {
  const ExprNode &node = *expr;
  if (node.op == Op::Literal)
    return node.literal;
  auto isZero = [&](const Access &a) {
    return absent(a) && format::hasZeroFill(program.tensors[a.tensor].encoding);
  };
  if (isAbsent(expr, isZero))
    return Scalar{};
  switch (node.op) {
  case Op::Access:
    if (!absent(node.access))
      return std::nullopt;
    return format::fillValue(program.tensors[node.access.tensor].encoding, node.type);
  case Op::Convert:
    if (auto x = implied(program, node.args[0], absent))
      return convertScalar(*x, node.args[0]->type, node.type);
    return std::nullopt;
  case Op::Neg:
    if (auto x = implied(program, node.args[0], absent))
      return combine(Op::Sub, node.type, {}, *x);
    return std::nullopt;
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Min:
  case Op::Max:
  case Op::Or:
    return binary(program, node, absent);
  case Op::Pow: // whatever is raised to 0 is 1, as C's pow has it; not so of complex numbers
    if (auto y = implied(program, node.args[1], absent);
        y && sameValue(node.args[1]->type, *y, {}) && isNumber(node.type))
      return identity(Reduce::Mul, node.type);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<Scalar> impliedValue(const Program &program, const Expr &expr, const Absent &absent) {
  return implied(program, expr, absent);
}

bool isNeutral(const Program &program, const Statement &statement, const Absent &absent) {
  ElementType type = statement.rhs->type;
  Scalar neutral = statement.assign ? format::fillValue(program.tensors[statement.lhs.tensor].encoding, type)
                                    : identity(statement.reduce, type);
  auto value = impliedValue(program, statement.rhs, absent);
  return value && sameValue(type, *value, neutral);
}

} // namespace tulle::notation
