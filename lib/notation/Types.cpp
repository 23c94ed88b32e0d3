#include "notation/Types.h"
#include "notation/Arithmetic.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tulle::notation {
namespace {

bool isComparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }

/// What the user wrote, for messages.
std::string spelling(Op op) {
  std::string_view text = syntax::operatorName(op);
  if (text.empty())
    text = syntax::functionName(op);
  return std::string(!text.empty() ? text : op == Op::Neg ? "-" : op == Op::Not ? "~" : "conversion");
}

ElementType realPart(ElementType type) {
  return type == ElementType::C64 ? ElementType::F32 : type == ElementType::C128 ? ElementType::F64 : type;
}

bool fits(int64_t value, ElementType type) {
  return convertScalar({value, 0}, ElementType::I64, type).i == value;
}

/// The type a literal of type `literal` and a value of type `other` meet in.
ElementType meet(const Typed &literal, ElementType other) {
  switch (literal.natural) {
  case ElementType::C128:
    if (isComplex(other))
      return other;
    return isFloat(other) && other != ElementType::F64 ? ElementType::C64 : ElementType::C128;
  case ElementType::F64:
    return isFloat(other) || isComplex(other) ? other : ElementType::F64;
  default:
    if (other == ElementType::Bool)
      return ElementType::I64;
    // A literal that does not fit the other side's width widens it.
    if (!isInteger(other) || literal.expr->op != Op::Literal)
      return other;
    for (ElementType wide = other; wide < ElementType::I64; wide = ElementType(uint8_t(wide) + 1))
      if (fits(literal.expr->literal.i, wide))
        return wide;
    return ElementType::I64;
  }
}

} // namespace

ElementType computeType(ElementType type) {
  return type == ElementType::BF16 || type == ElementType::F16 ? ElementType::F32 : type;
}

Expr Typer::convert(const Typed &value, ElementType target) const {
  if (value.expr->type == target)
    return value.expr;
  if (isComplex(value.expr->type) && !isComplex(target) && target != ElementType::Bool)
    resolved.fail(value.expr->range,
                  fmt::format("a {} value does not become {} by itself; write real(…), imag(…) or abs(…)",
                              name(value.expr->type), name(target)));
  auto node = std::make_shared<ExprNode>();
  node->type = target;
  node->range = value.expr->range;
  if (value.expr->op == Op::Literal) {
    node->op = Op::Literal;
    node->literal = rounded(convertScalar(value.expr->literal, value.expr->type, target), target);
  } else {
    node->op = Op::Convert;
    node->args = {value.expr};
  }
  return node;
}

ElementType Typer::common(const std::vector<Typed> &args, bool &weak) const {
  std::optional<ElementType> strong, loose;
  for (const Typed &a : args) {
    std::optional<ElementType> &kind = a.weak ? loose : strong;
    kind = kind ? promote(*kind, a.natural) : a.natural;
  }
  weak = !strong;
  if (!strong)
    return *loose;
  ElementType type = *strong;
  for (const Typed &a : args)
    if (a.weak)
      type = promote(type, meet(a, *strong));
  return type;
}

Typed Typer::build(Op op, const syntax::Node &source, std::vector<Typed> args, ElementType operands,
                   ElementType result, bool weak) const {
  auto node = std::make_shared<ExprNode>();
  node->op = op;
  node->range = source.range;
  node->type = computeType(result);
  for (const Typed &a : args)
    node->args.push_back(convert(a, computeType(operands)));
  return {node, result, weak};
}

Typed Typer::type(unsigned statement, const syntax::Expr &expr) const {
  const syntax::Node &source = *expr;
  if (source.op == Op::Literal || source.op == Op::Access) {
    auto node = std::make_shared<ExprNode>();
    node->op = source.op;
    node->range = source.range;
    if (source.op == Op::Literal) {
      node->literal = source.literal;
      node->type = source.type;
      return {node, source.type, source.type != ElementType::Bool};
    }
    node->access = resolved.access(statement, source.access);
    node->type = *types[node->access.tensor];
    return {node, node->type, false};
  }
  std::vector<Typed> args;
  for (const syntax::Expr &arg : source.args)
    args.push_back(type(statement, arg));
  if (source.op == Op::Convert)
    return {convert(args[0], source.type), source.type, false};
  if (source.op == Op::Select)
    return select(source, std::move(args));
  return args.size() == 1 ? unary(source, args[0]) : binary(source, std::move(args));
}

void Typer::refuse(const syntax::Node &node, ElementType type, std::string_view cure) const {
  resolved.fail(node.range,
                fmt::format("'{}' is not defined on {} values; {}", spelling(node.op), name(type), cure));
}

Typed Typer::unary(const syntax::Node &node, Typed arg) const {
  ElementType t = arg.natural;
  switch (node.op) {
  case Op::Neg:
    if (t == ElementType::Bool)
      refuse(node, t, "negate with ~, or convert with i32(…)");
    if (arg.expr->op == Op::Literal) {
      auto literal = std::make_shared<ExprNode>(*arg.expr);
      literal->literal.i = -literal->literal.i;
      literal->literal.f = -literal->literal.f;
      literal->range = node.range;
      return {literal, t, arg.weak};
    }
    break;
  case Op::Not:
    if (t != ElementType::Bool && !isInteger(t))
      refuse(node, t, "convert to an integer or compare first");
    break;
  case Op::Abs:
    if (t == ElementType::Bool)
      return arg;
    return build(node.op, node, {arg}, t, realPart(t), arg.weak);
  case Op::Relu:
    if (isComplex(t) || t == ElementType::Bool)
      refuse(node, t, "it needs an order with a zero");
    break;
  case Op::Conj:
  case Op::Real:
    if (!isComplex(t))
      return arg;
    return build(node.op, node, {arg}, t, node.op == Op::Real ? realPart(t) : t, arg.weak);
  case Op::Imag:
    if (!isComplex(t))
      refuse(node, t, "its imaginary part is 0");
    return build(node.op, node, {arg}, t, realPart(t), arg.weak);
  default: // sqrt, exp, log, sin, cos, tanh
    if (isInteger(t) || t == ElementType::Bool)
      t = ElementType::F64;
    break;
  }
  return build(node.op, node, {arg}, t, t, arg.weak);
}

Typed Typer::binary(const syntax::Node &node, std::vector<Typed> args) const {
  bool weak = false;
  ElementType t = common(args, weak);
  Op op = node.op;
  bool integral = isInteger(t) || t == ElementType::Bool;
  switch (op) {
  case Op::Add:
  case Op::Mul:
  case Op::Min:
  case Op::Max:
    // The semiring of truth values: + and max are or, * and min are and.
    if (t == ElementType::Bool)
      op = op == Op::Add || op == Op::Max ? Op::Or : Op::And;
    else if ((op == Op::Min || op == Op::Max) && isComplex(t))
      refuse(node, t, "complex numbers have no order; compare abs(…)");
    break;
  case Op::Sub:
  case Op::Div:
  case Op::Pow:
    if (t == ElementType::Bool)
      refuse(node, t, "convert with i32(…) or f64(…)");
    break;
  case Op::Mod:
    if (t == ElementType::Bool || isComplex(t))
      refuse(node, t, "it needs integers or real numbers");
    break;
  case Op::And:
  case Op::Or:
  case Op::Xor:
    if (!integral)
      refuse(node, t, "it works on bool and integers; convert with i64(…)");
    break;
  case Op::Shl:
  case Op::Shr:
    if (!isInteger(t))
      refuse(node, t, "it works on integers; convert with i64(…)");
    break;
  default:
    if (isComplex(t) && op != Op::Eq && op != Op::Ne)
      refuse(node, t, "complex numbers have no order; compare abs(…)");
    break;
  }
  if (isComparison(op))
    return build(op, node, std::move(args), t, ElementType::Bool, false);
  return build(op, node, std::move(args), t, t, weak);
}

Typed Typer::select(const syntax::Node &source, std::vector<Typed> args) const {
  bool weak = false;
  ElementType t = common({args[1], args[2]}, weak);
  auto node = std::make_shared<ExprNode>();
  node->op = Op::Select;
  node->range = source.range;
  node->type = computeType(t);
  node->args = {convert(args[0], ElementType::Bool), convert(args[1], node->type),
                convert(args[2], node->type)};
  return {node, t, weak};
}

Mask Typer::mask(unsigned statement, const syntax::Mask &source) const {
  if (!source)
    return nullptr;
  auto node = std::make_shared<MaskNode>();
  node->op = source->op;
  node->range = source->range;
  if (source->op == MaskOp::Stored)
    node->access = resolved.access(statement, source->access);
  node->lhs = mask(statement, source->lhs);
  node->rhs = mask(statement, source->rhs);
  return node;
}

} // namespace tulle::notation
