// How zeros pass through operations is a column of the table of operations; the rest is rules on top of it.
#include "notation/Sparsity.h"
#include "notation/Arithmetic.h"
#include "notation/Operations.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {
namespace {

bool isZero(const Scalar &s) { return s.i == 0 && s.f == std::complex<double>(0); }
bool isPositiveLiteral(const Expr &e) {
  if (e->op == Op::Convert)
    return isPositiveLiteral(e->args[0]);
  return e->op == Op::Literal && (e->literal.i > 0 || (e->literal.f.imag() == 0 && e->literal.f.real() > 0));
}

/// Whether `0 <op> literal` (or `literal <op> 0`) is false, for a comparison.
bool zeroComparesFalse(const ExprNode &node) {
  auto value = [](const Expr &arg) { return arg->op == Op::Literal ? arg->literal : Scalar{}; };
  const ElementType type = node.args[0]->type;
  return apply(node.op, type, {value(node.args[0]), value(node.args[1])}).i == 0;
}

/// The smallest sub-expression that makes `expr` nonzero although all its sparse operands are absent.
const ExprNode &culprit(const Expr &expr, const AccessTest &absent) {
  const ExprNode &node = *expr;
  const bool isLeaf = node.op == Op::Literal || node.op == Op::Access;
  if (node.op == Op::Convert || node.op == Op::Neg || node.op == Op::Abs ||
      (!isLeaf && operation(node.op).zero == ZeroRule::All))
    for (const Expr &arg : node.args)
      if (!isAbsent(arg, absent))
        return culprit(arg, absent);
  return node;
}

bool sameSubscripts(const Access &a, const Access &b) {
  return std::ranges::equal(a.subscripts, b.subscripts, [](const Affine &x, const Affine &y) {
    return x.terms == y.terms && x.constant == y.constant;
  });
}

} // namespace

bool isDense(const TensorDecl &tensor) { return format::isAllDense(tensor.encoding); }

std::vector<const Access *> accesses(const Statement &statement) {
  std::vector<const Access *> out;
  auto collect = [&](const Access &access) { out.push_back(&access); };
  forEachAccess(statement.rhs, collect);
  forEachAccess(statement.where, collect);
  return out;
}

bool sameAccess(const Access &a, const Access &b) { return a.tensor == b.tensor && sameSubscripts(a, b); }

/// The one function that knows how zeros pass through operations.
bool isAbsent(const Expr &expr, const AccessTest &isAccessAbsent) {
  const ExprNode &node = *expr;
  if (node.op == Op::Literal)
    return isZero(node.literal);
  if (node.op == Op::Access)
    return isAccessAbsent(node.access);
  auto arg = [&](unsigned i) { return isAbsent(node.args[i], isAccessAbsent); };
  // A factor that is written as 0 is a value like others: 0 * inf is nan.
  auto factor = [&](unsigned i) { return node.args[i]->op != Op::Literal && arg(i); };
  switch (operation(node.op).zero) {
  case ZeroRule::Never:
    return false;
  case ZeroRule::First:
    return arg(0);
  case ZeroRule::Factor:
    return factor(0);
  case ZeroRule::EitherFactor:
    return factor(0) || factor(1);
  case ZeroRule::All:
    return arg(0) && arg(1);
  case ZeroRule::Special:
    break;
  }
  if (node.op == Op::Pow)
    return isPositiveLiteral(node.args[1]) && factor(0);
  if (node.op == Op::Select)
    return arg(2) && (arg(0) || arg(1));
  if (node.args[0]->op == Op::Literal || node.args[1]->op == Op::Literal)
    return arg(node.args[0]->op == Op::Literal ? 1 : 0) && zeroComparesFalse(node);
  return (node.op == Op::Ne || node.op == Op::Lt || node.op == Op::Gt) && arg(0) && arg(1);
}

bool admits(const Mask &mask, const AccessTest &isStored) {
  if (mask->op == MaskOp::Stored)
    return isStored(mask->access);
  const bool lhs = admits(mask->lhs, isStored);
  if (mask->op == MaskOp::Not)
    return !lhs;
  const bool rhs = admits(mask->rhs, isStored);
  return mask->op == MaskOp::And ? lhs && rhs : mask->op == MaskOp::Or ? lhs || rhs : lhs && !rhs;
}

/// Whether the mask is empty wherever the given accesses are not stored, whatever else is stored there.
static bool maskEmpties(const Mask &mask, const AccessTest &absent) {
  if (mask->op == MaskOp::Stored)
    return absent(mask->access);
  const bool lhs = mask->op != MaskOp::Not && maskEmpties(mask->lhs, absent);
  if (mask->op == MaskOp::And)
    return lhs || maskEmpties(mask->rhs, absent);
  return lhs && (mask->op != MaskOp::Or || maskEmpties(mask->rhs, absent));
}

namespace {

/// Decides where the result of a statement is stored.
class PatternRules {
public:
  PatternRules(const Program &program, const Statement &statement)
      : program(program), statement(statement), result(program.tensors[statement.lhs.tensor]) {
    forEachAccess(statement.rhs, [&](const Access &access) { accesses.push_back(&access); });
    forEachAccess(statement.where, [&](const Access &access) { masks.push_back(&access); });
  }

  ResultPattern decide() const {
    if (format::hasZeroFill(result.encoding) && !statement.accumulate)
      if (const Access *owner = soleOwner();
          owner && sameLevels(program.tensors[owner->tensor].encoding, result.encoding))
        return {PatternKind::Operand, owner, {}};
    std::string reason = whyDense();
    return {reason.empty() ? PatternKind::Computed : PatternKind::Dense, nullptr, reason};
  }

private:
  const Program &program;
  const Statement &statement;
  const TensorDecl &result;
  std::vector<const Access *> accesses, masks;

  /// Stored alike: another format may pad, or order, differently, and a slice stores what lies outside it as
  /// well.
  static bool sameLevels(const format::Encoding &a, const format::Encoding &b) {
    auto same = [](const format::Level &x, const format::Level &y) {
      return x.format == y.format && format::equal(x.expr, y.expr);
    };
    return !format::hasSlices(a) && std::ranges::equal(a.levels, b.levels, same);
  }

  /// Sparse accesses with the left side's subscripts whose absence alone empties the result, each once.
  std::vector<const Access *> owners(const std::vector<const Access *> &accesses,
                                     const std::function<bool(const AccessTest &)> &empties) const {
    std::vector<const Access *> found;
    for (const Access *a : accesses) {
      auto same = [&](const Access &b) { return sameAccess(*a, b); };
      const TensorDecl &tensor = program.tensors[a->tensor];
      if (std::ranges::none_of(found, [&](const Access *f) { return same(*f); }) && !isDense(tensor) &&
          format::hasZeroFill(tensor.encoding) && sameSubscripts(*a, statement.lhs) && empties(same))
        found.push_back(a);
    }
    return found;
  }

  /// The operand whose pattern is the result's, if there is exactly one.
  const Access *soleOwner() const {
    if (statement.where) {
      auto byMask = owners(masks, [&](const auto &absent) { return maskEmpties(statement.where, absent); });
      const bool single = statement.where->op == MaskOp::Stored;
      // A mask that names one pattern decides alone: it is what the user asked for.
      if (byMask.size() == 1 && single)
        return byMask[0];
      if (!byMask.empty() && !single)
        return nullptr;
    }
    auto byValue = owners(accesses, [&](const auto &absent) { return isAbsent(statement.rhs, absent); });
    const bool startsAtZero = statement.assign || statement.reduce == Reduce::Add ||
                              statement.reduce == Reduce::Or || statement.reduce == Reduce::Xor;
    return byValue.size() == 1 && startsAtZero ? byValue[0] : nullptr;
  }

  /// Why the result would be stored everywhere; empty when what is not stored leaves its fill.
  std::string whyDense() const {
    auto absent = [&](const Access &a) { return !isDense(program.tensors[a.tensor]); };
    if (statement.where && !admits(statement.where, [&](const Access &a) { return !absent(a); }))
      return "";
    if (!isNeutral(program, statement, absent))
      return impliedValue(program, statement.rhs, absent) && !statement.assign ? takesInGaps() : nonzero();
    ElementType type = statement.rhs->type;
    if (!statement.assign && !statement.accumulate &&
        !sameValue(type, identity(statement.reduce, type), format::fillValue(result.encoding, type)))
      return fmt::format(
          "the result would be dense: the reduction starts from a value other than the fill of "
          "{0}; give {0} that fill, or a dense format{1}",
          result.name, where(", or add `where {}`"));
    return "";
  }

  std::string takesInGaps() const {
    return fmt::format(
        "the result would be dense: the reduction takes in what is not stored, and starts from "
        "a value other than that; {}give {} a dense format",
        where("add `where {}`, or "), result.name);
  }

  std::string nonzero() const {
    auto sparse = [&](const Access &a) {
      return !isDense(program.tensors[a.tensor]) && format::hasZeroFill(program.tensors[a.tensor].encoding);
    };
    return fmt::format(
        "the result would be dense: {} is {} where nothing is stored; {}give {} a dense format",
        print(program, std::make_shared<const ExprNode>(culprit(statement.rhs, sparse))),
        format::hasZeroFill(result.encoding) ? "nonzero" : "not the fill of " + result.name,
        where("add `where {}`, or "), result.name);
  }

  /// The advice with the mask that would leave only what is stored: the result's pattern if an operand has
  /// it, else all factors. Empty where there is none, or one already.
  std::string where(fmt::format_string<std::string &> advice) const {
    std::vector<std::string> names;
    for (const Access *a : accesses) {
      auto same = [&](const Access &b) { return sameAccess(*a, b); };
      if (isDense(program.tensors[a->tensor]))
        continue;
      if (sameSubscripts(*a, statement.lhs)) {
        names = {print(program, *a)};
        break;
      }
      if (isAbsent(statement.rhs, same) && std::ranges::count(names, print(program, *a)) == 0)
        names.push_back(print(program, *a));
    }
    std::string text = fmt::format("{}", fmt::join(names, " & "));
    return statement.where || text.empty() ? "" : fmt::format(advice, text);
  }
};

} // namespace

ResultPattern resultPattern(const Program &program, const Statement &statement) {
  return PatternRules(program, statement).decide();
}

} // namespace tulle::notation
