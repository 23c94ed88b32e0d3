// Constant folding over a tree in which operands that are not stored have their fill, and others are unknown.
#include "notation/Arithmetic.h"
#include "notation/Sparsity.h"
#include <cmath>

namespace tulle::notation {
namespace {

bool isNumber(ElementType type) { return isFloat(type) || isInteger(type); }
bool isInfinite(ElementType type, const Scalar &s) { return isFloat(type) && std::isinf(s.f.real()); }

class Implied {
public:
  Implied(const Program &program, const AccessTest &absent) : program(program), absent(absent) {}

  std::optional<Scalar> value(const Expr &expr) const {
    const ExprNode &node = *expr;
    if (node.op == Op::Literal)
      return node.literal;
    auto isZero = [&](const Access &a) {
      return absent(a) && format::hasZeroFill(program.tensors[a.tensor].encoding);
    };
    if (isAbsent(expr, isZero))
      return Scalar{};
    if (node.op == Op::Access)
      return absent(node.access)
                 ? std::optional(format::fillValue(program.tensors[node.access.tensor].encoding, node.type))
                 : std::nullopt;
    if (node.op == Op::Select)
      return selected(node);
    std::vector<std::optional<Scalar>> args;
    for (const Expr &arg : node.args)
      args.push_back(value(arg));
    if (auto alone = args.size() == 2 ? decided(node, args[0], args[1]) : std::nullopt)
      return alone;
    return folded(node, args);
  }

private:
  std::optional<Scalar> selected(const ExprNode &node) const {
    if (auto condition = value(node.args[0]))
      return value(node.args[condition->i ? 1 : 2]);
    auto yes = value(node.args[1]), no = value(node.args[2]);
    return yes && no && sameValue(node.type, *yes, *no) ? yes : std::nullopt;
  }

  /// What one operand decides, whatever the other is.
  static std::optional<Scalar> decided(const ExprNode &node, const std::optional<Scalar> &a,
                                       const std::optional<Scalar> &b) {
    const ElementType type = node.args[0]->type;
    const bool isBool = type == ElementType::Bool, isAnd = node.op == Op::Mul || node.op == Op::Min,
               isOr = node.op == Op::Add || node.op == Op::Max;
    const Scalar no{}, ones = identity(Reduce::And, type);
    auto either = [&](const Scalar &s) {
      return (a && sameValue(type, *a, s)) || (b && sameValue(type, *b, s)) ? std::optional(s) : std::nullopt;
    };
    auto when = [](bool is, const Scalar &s) { return is ? std::optional(s) : std::nullopt; };
    if (node.op == Op::And || (isBool && isAnd))
      return either(no);
    if (node.op == Op::Or || (isBool && isOr))
      return either(ones);
    if (node.op == Op::Add) // an infinity that is not stored stays
      return a && isInfinite(type, *a) ? a : b && isInfinite(type, *b) ? b : std::nullopt;
    if (!b)
      return std::nullopt;
    if (node.op == Op::Div || node.op == Op::Mod) // division by 0 is 0
      return when(isInteger(type) && (b->i == 0 || (b->i == -1 && node.op == Op::Mod)), no);
    if (node.op == Op::Shl) // every bit moves out
      return when(b->i < 0 || b->i >= 8 * int64_t(byteWidth(type)), no);
    if (node.op == Op::Pow) // whatever is raised to 0 is 1, as C's pow has it; not so of complex numbers
      return when(isNumber(type) && sameValue(type, *b, {}), identity(Reduce::Mul, type));
    return std::nullopt;
  }

  /// The operation on values that are all known; of complex numbers, nothing is worth knowing.
  static std::optional<Scalar> folded(const ExprNode &node, const std::vector<std::optional<Scalar>> &args) {
    std::vector<Scalar> known;
    for (const auto &arg : args) {
      if (!arg)
        return std::nullopt;
      known.push_back(*arg);
    }
    ElementType type = node.args[0]->type;
    if (node.op == Op::Convert)
      return convertScalar(known[0], type, node.type);
    return isComplex(type) ? std::nullopt : std::optional(rounded(apply(node.op, type, known), node.type));
  }

  const Program &program;
  const AccessTest &absent;
};

} // namespace

std::optional<Scalar> impliedValue(const Program &program, const Expr &expr, const AccessTest &absent) {
  return Implied(program, absent).value(expr);
}

bool isNeutral(const Program &program, const Statement &statement, const AccessTest &absent) {
  ElementType type = statement.rhs->type;
  Scalar neutral = statement.assign ? format::fillValue(program.tensors[statement.lhs.tensor].encoding, type)
                                    : identity(statement.reduce, type);
  auto value = impliedValue(program, statement.rhs, absent);
  return value && sameValue(type, *value, neutral);
}

} // namespace tulle::notation
