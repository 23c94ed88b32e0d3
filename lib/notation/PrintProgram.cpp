// Canonical text of checked trees, with the parentheses that precedence needs.
#include "notation/Arithmetic.h"
#include "notation/Operations.h"
#include "notation/Resolve.h"
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {
namespace {

std::string number(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string literal(const ExprNode &node) {
  if (node.type == ElementType::Bool)
    return node.literal.i ? "true" : "false";
  if (isInteger(node.type))
    return std::to_string(node.literal.i);
  if (!isComplex(node.type))
    return number(node.literal.f.real());
  double imag = node.literal.f.imag();
  // `inf` and `nan` have no imaginary spelling of their own.
  std::string imaginary = std::isfinite(imag) ? number(imag) + "i" : number(imag) + " * 1.0i";
  return node.literal.f.real() == 0 ? imaginary
                                    : fmt::format("({} + {})", number(node.literal.f.real()), imaginary);
}

std::string print(const Program &program, const Expr &expr, int outer);

std::string arguments(const Program &program, const ExprNode &node) {
  std::vector<std::string> texts;
  for (const Expr &arg : node.args)
    texts.push_back(print(program, arg, 0));
  return fmt::format("({})", fmt::join(texts, ", "));
}

/// The value of an index, or of what compute_inline has put in its place.
std::string indexValue(const Program &program, const Affine &value, int outer) {
  const std::string text = print(value, program.indices, "");
  return value.isVariable() || outer <= (text.starts_with("-") ? 0 : 6) ? text : "(" + text + ")";
}

/// `outer`: how tightly the surrounding operator binds.
std::string print(const Program &program, const Expr &expr, int outer) {
  const ExprNode &node = *expr;
  auto within = [&](int level, std::string text) { return outer > level ? "(" + text + ")" : text; };
  if (node.op == Op::Literal) {
    std::string text = literal(node);
    return within(text.starts_with("-") ? 0 : outer, text);
  }
  if (node.op == Op::Access)
    return print(program, node.access);
  if (node.op == Op::Index)
    return indexValue(program, node.access.subscripts[0], outer);
  if (node.op == Op::Convert)
    return std::string(name(node.type)) + arguments(program, node);
  const Operation &op = operation(node.op);
  if (node.op == Op::Neg || node.op == Op::Not)
    return within(7, std::string(op.sign) + print(program, node.args[0], 9));
  if (op.sign.empty() || node.op == Op::Pow)
    return std::string(op.function) + arguments(program, node);
  const int level = op.precedence;
  // A comparison's operands may not be comparisons, and other operators group to the left.
  return within(level, fmt::format("{} {} {}", print(program, node.args[0], level == 1 ? 2 : level), op.sign,
                                   print(program, node.args[1], level + 1)));
}

std::string printMask(const Program &program, const Mask &mask, int outer) {
  if (mask->op == Op::Access)
    return print(program, mask->access);
  if (mask->op == Op::Not)
    return "~" + printMask(program, mask->args[0], 3);
  if (isCondition(mask))
    return "(" + print(program, mask) + ")";
  const int level = mask->op == Op::Or ? 0 : mask->op == Op::Sub ? 1 : 2;
  std::string text =
      fmt::format("{} {} {}", printMask(program, mask->args[0], level),
                  std::string_view("|\\&").substr(level, 1), printMask(program, mask->args[1], level + 1));
  return level < outer ? "(" + text + ")" : text;
}

std::string_view assignment(const Statement &statement) {
  const bool isSum =
      !statement.accumulate && statement.reduce == Reduce::Add && !statement.reductionIndices.empty();
  return statement.assign || isSum ? "=" : monoid(statement.reduce).assignment;
}

} // namespace

std::string print(const Program &program) {
  std::string text;
  std::vector<const Loop *> open;
  auto line = [&](const std::string &what, std::string_view separator) {
    text += text.empty() || text.ends_with('{') ? "" : separator;
    text += (text.empty() ? "" : "\n") + std::string(2 * open.size(), ' ') + what;
  };
  auto next = program.loops.begin();
  for (unsigned s = 0; s < program.statements.size(); ++s) {
    for (; next != program.loops.end() && next->begin == s; open.push_back(&*next++))
      line(fmt::format("repeat {} {{", next->most), ";");
    const Statement &statement = program.statements[s];
    const bool isContinued = statement.concat.role == Concatenation::Role::Next;
    if (!program.tensors[statement.lhs.tensor].condition && !isContinued)
      line(print(program, statement), ";");
    while (!open.empty() && open.back()->end == s + 1) {
      const bool hasCondition = open.back()->until.has_value();
      open.pop_back();
      line(hasCondition ? "} until " + print(program, statement.rhs) : "}", "");
    }
  }
  return text + "\n";
}

std::string print(const Affine &affine, const std::vector<IndexVar> &indices, std::string_view nothing) {
  std::string text;
  Outside outside = Outside::Error;
  bool unique = false;
  for (const auto &[index, coefficient] : affine.terms) {
    int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    text += coefficient < 0 ? "-" : text.empty() ? "" : "+";
    text += (magnitude == 1 ? "" : std::to_string(magnitude) + "*") + indices[index].name;
    outside = std::max(outside, indices[index].outside);
    unique |= indices[index].unique;
  }
  if (affine.constant != 0 || text.empty() || (affine.startsAtZero() && !affine.isVariable()))
    text += (affine.constant < 0 || text.empty() ? "" : "+") + std::to_string(affine.constant);
  if (affine.divisor != 1)
    text += "/" + std::to_string(affine.divisor);
  if (affine.modulus != 0)
    text += "%" + std::to_string(affine.modulus);
  if (unique)
    text += " unique";
  if (outside == Outside::Nothing)
    text += nothing;
  return outside == Outside::Nearest ? text + " clamp" : text;
}

static std::string print(const Program &program, const Access &access, std::string_view nothing) {
  std::string text;
  for (const Affine &a : access.subscripts)
    text += (text.empty() ? "" : ",") + print(a, program.indices, nothing);
  return program.tensors[access.tensor].name + "(" + text + ")";
}

std::string print(const Program &program, const Access &access) { return print(program, access, " else 0"); }

std::string print(const Program &program, const Expr &expr) { return print(program, expr, 0); }

static std::string print(const Program &program, const Concatenation &concat) {
  std::vector<std::string> names;
  for (const Access &part : concat.parts)
    names.push_back(program.tensors[part.tensor].name);
  return fmt::format("{}({}; {})", concat.stacks ? "stack" : "concat", fmt::join(names, ", "),
                     fmt::join(concat.dims, ", "));
}

std::string print(const Program &program, const Statement &statement) {
  if (const Concatenation &concat = statement.concat;
      !concat.isNone() && concat.role != Concatenation::Role::Next)
    return fmt::format("{} = {}", print(program, concat.result), print(program, concat));
  std::string text =
      fmt::format("{} {} ", print(program, statement.lhs, " else skip"), assignment(statement));
  if (statement.isSet)
    return fmt::format("{}set({})", text, printMask(program, statement.where, 0));
  text += print(program, statement.rhs, 0);
  return statement.where ? text + " where " + printMask(program, statement.where, 0) : text;
}

} // namespace tulle::notation
