// Element types by promotion from the leaves up; conversions become nodes.
#include "notation/Arithmetic.h"
#include "notation/Operations.h"
#include "notation/Resolve.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::notation {
namespace {

uint8_t classOf(ElementType type) {
  return type == ElementType::Bool ? Bools : isInteger(type) ? Integers : isFloat(type) ? Floats : Complexes;
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

/// Types of a tree from its leaves up; each operation converts its operands.
class Typer {
public:
  Typer(const ParsedProgram &program, const std::vector<std::optional<ElementType>> &types)
      : program(program), types(types) {}

  Typed type(const Expr &expr) const {
    if (expr->op == Op::Literal)
      return {expr, expr->type, expr->type != ElementType::Bool};
    if (expr->op == Op::Access) {
      auto node = std::make_shared<ExprNode>(*expr);
      node->type = *types[node->access.tensor];
      return {node, node->type, false};
    }
    if (expr->op == Op::Index)
      return {expr, ElementType::I64, false};
    std::vector<Typed> args;
    for (const Expr &arg : expr->args)
      args.push_back(type(arg));
    if (expr->op == Op::Convert)
      return {convert(args[0], expr->type), expr->type, false};
    if (expr->op == Op::Select)
      return select(*expr, args);
    return args.size() == 1 ? unary(*expr, args[0]) : binary(*expr, args);
  }

  Expr convert(const Typed &value, ElementType target) const { return convertTo(program, value, target); }

private:
  const ParsedProgram &program;
  const std::vector<std::optional<ElementType>> &types;

  /// Refuses operands that the operation is not defined on, as it is spelled.
  void checkDefined(const ExprNode &node, ElementType type) const {
    const Operation &row = operation(node.op);
    if (!(row.types & classOf(type)))
      program.fail(node.range, fmt::format("'{}' is not defined on {} values; {}",
                                           row.sign.empty() ? row.function : row.sign, name(type), row.cure));
  }

  ElementType common(const std::vector<Typed> &args, bool &weak) const {
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

  Typed build(Op op, const ExprNode &source, const std::vector<Typed> &args, ElementType operands,
              ElementType result, bool weak) const {
    auto node = std::make_shared<ExprNode>();
    node->op = op;
    node->range = source.range;
    node->type = computeType(result);
    for (const Typed &a : args)
      node->args.push_back(convert(a, computeType(operands)));
    return {node, result, weak};
  }

  Typed unary(const ExprNode &node, const Typed &arg) const {
    ElementType t = arg.natural;
    const bool takesComplexApart = node.op == Op::Conj || node.op == Op::Real;
    if ((node.op == Op::Abs && t == ElementType::Bool) || (takesComplexApart && !isComplex(t)))
      return arg;
    checkDefined(node, t);
    if (node.op == Op::Neg && arg.expr->op == Op::Literal) {
      auto literal = std::make_shared<ExprNode>(*arg.expr);
      literal->literal.i = -literal->literal.i;
      literal->literal.f = -literal->literal.f;
      literal->range = node.range;
      return {literal, t, arg.weak};
    }
    if (node.op >= Op::Sqrt && node.op <= Op::Tanh && (classOf(t) & Bits))
      t = ElementType::F64;
    const bool isReal = node.op == Op::Abs || node.op == Op::Real || node.op == Op::Imag;
    return build(node.op, node, {arg}, t, isReal ? realPart(t) : t, arg.weak);
  }

  Typed binary(const ExprNode &node, const std::vector<Typed> &args) const {
    bool weak = false;
    const ElementType t = common(args, weak);
    checkDefined(node, t);
    Op op = node.op;
    // The semiring of truth values: + and max are or, * and min are and.
    if (t == ElementType::Bool && (op == Op::Add || op == Op::Max))
      op = Op::Or;
    else if (t == ElementType::Bool && (op == Op::Mul || op == Op::Min))
      op = Op::And;
    if (op >= Op::Eq && op <= Op::Ge)
      return build(op, node, args, t, ElementType::Bool, false);
    return build(op, node, args, t, t, weak);
  }

  Typed select(const ExprNode &source, const std::vector<Typed> &args) const {
    bool weak = false;
    const ElementType t = common({args[1], args[2]}, weak);
    auto node = std::make_shared<ExprNode>(source);
    node->type = computeType(t);
    node->args = {convert(args[0], ElementType::Bool), convert(args[1], node->type),
                  convert(args[2], node->type)};
    return {node, t, weak};
  }
};

} // namespace

ElementType computeType(ElementType type) {
  return type == ElementType::BF16 || type == ElementType::F16 ? ElementType::F32 : type;
}

Expr convertTo(const ParsedProgram &program, const Typed &value, ElementType target) {
  if (value.expr->type == target)
    return value.expr;
  if (isComplex(value.expr->type) && !isComplex(target) && target != ElementType::Bool)
    program.fail(value.expr->range,
                 fmt::format("a {} value does not become {} by itself; write real(…), imag(…) or abs(…)",
                             name(value.expr->type), name(target)));
  ExprNode node{.op = Op::Convert, .type = target, .args = {value.expr}, .range = value.expr->range};
  if (value.expr->op == Op::Literal)
    node = {.type = target,
            .literal = rounded(convertScalar(value.expr->literal, value.expr->type, target), target),
            .range = value.expr->range};
  return std::make_shared<const ExprNode>(std::move(node));
}

Typed decideTypes(const ParsedProgram &program, const std::vector<std::optional<ElementType>> &types,
                  const Expr &expr) {
  return Typer(program, types).type(expr);
}

} // namespace tulle::notation
