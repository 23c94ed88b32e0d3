#include "notation/Sparsity.h"
#include "notation/Arithmetic.h"
#include "notation/Monoid.h"
#include <algorithm>
#include <fmt/format.h>

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

/// Whether the value of `expr` is 0 when the accesses for which `absent` answers true are not stored. The one
/// function that knows how zeros pass through operations.
bool vanishes(const Expr &expr, const std::function<bool(const Access &)> &absent) {
  const ExprNode &node = *expr;
  auto arg = [&](unsigned i) { return vanishes(node.args[i], absent); };
  // A factor that is written as 0 is a value like others: 0 * inf is nan.
  auto factor = [&](unsigned i) { return node.args[i]->op != Op::Literal && arg(i); };
  switch (node.op) {
  case Op::Literal:
    return isZero(node.literal);
  case Op::Access:
    return absent(node.access);
  case Op::Convert:
  case Op::Neg:
  case Op::Abs:
  case Op::Sqrt:
  case Op::Sin:
  case Op::Tanh:
  case Op::Relu:
  case Op::Conj:
  case Op::Real:
  case Op::Imag:
    return arg(0);
  case Op::Not:
  case Op::Exp:
  case Op::Log:
  case Op::Cos:
    return false;
  case Op::Mul:
  case Op::And:
    return factor(0) || factor(1);
  case Op::Div:
  case Op::Mod:
  case Op::Shl:
  case Op::Shr:
    return factor(0);
  case Op::Pow:
    return isPositiveLiteral(node.args[1]) && factor(0);
  case Op::Add:
  case Op::Sub:
  case Op::Or:
  case Op::Xor:
  case Op::Min:
  case Op::Max:
    return arg(0) && arg(1);
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
    if (node.args[0]->op == Op::Literal || node.args[1]->op == Op::Literal)
      return arg(node.args[0]->op == Op::Literal ? 1 : 0) && zeroComparesFalse(node);
    return (node.op == Op::Ne || node.op == Op::Lt || node.op == Op::Gt) && arg(0) && arg(1);
  case Op::Select:
    return arg(2) && (arg(0) || arg(1));
  }
  return false;
}

/// The smallest sub-expression that makes `expr` nonzero although all its sparse operands are absent.
const ExprNode &culprit(const Expr &expr, const std::function<bool(const Access &)> &absent) {
  const ExprNode &node = *expr;
  bool additive = node.op == Op::Add || node.op == Op::Sub || node.op == Op::Or || node.op == Op::Xor ||
                  node.op == Op::Min || node.op == Op::Max || node.op == Op::Convert || node.op == Op::Neg ||
                  node.op == Op::Abs;
  if (additive)
    for (const Expr &arg : node.args)
      if (!vanishes(arg, absent))
        return culprit(arg, absent);
  return node;
}

void collect(const Expr &expr, std::vector<const Access *> &out) {
  if (expr->op == Op::Access)
    out.push_back(&expr->access);
  for (const Expr &arg : expr->args)
    collect(arg, out);
}
void collect(const Mask &mask, std::vector<const Access *> &out) {
  if (!mask)
    return;
  if (mask->op == MaskOp::Stored)
    out.push_back(&mask->access);
  collect(mask->lhs, out);
  collect(mask->rhs, out);
}

bool sameSubscripts(const Access &a, const Access &b) {
  return std::equal(
      a.subscripts.begin(), a.subscripts.end(), b.subscripts.begin(), b.subscripts.end(),
      [](const Affine &x, const Affine &y) { return x.terms == y.terms && x.constant == y.constant; });
}

/// Sparse accesses with the left side's subscripts whose absence alone empties the result, each once.
std::vector<const Access *>
owners(const Program &program, const Statement &statement, const std::vector<const Access *> &accesses,
       const std::function<bool(const std::function<bool(const Access &)> &)> &empties) {
  std::vector<const Access *> found;
  for (const Access *a : accesses) {
    bool known = std::any_of(found.begin(), found.end(), [&](const Access *f) { return sameAccess(*a, *f); });
    if (known || isDense(program.tensors[a->tensor]) ||
        !format::hasZeroFill(program.tensors[a->tensor].encoding) || !sameSubscripts(*a, statement.lhs))
      continue;
    if (empties([&](const Access &b) { return sameAccess(*a, b); }))
      found.push_back(a);
  }
  return found;
}

} // namespace

bool isDense(const TensorDecl &tensor) { return format::isAllDense(tensor.encoding); }

std::vector<const Access *> accesses(const Statement &statement) {
  std::vector<const Access *> out;
  collect(statement.rhs, out);
  collect(statement.where, out);
  return out;
}

bool sameAccess(const Access &a, const Access &b) { return a.tensor == b.tensor && sameSubscripts(a, b); }

bool isAbsent(const Expr &expr, const std::function<bool(const Access &)> &isAccessAbsent) {
  return vanishes(expr, isAccessAbsent);
}

bool admits(const Mask &mask, const std::function<bool(const Access &)> &isStored) {
  switch (mask->op) {
  case MaskOp::Stored:
    return isStored(mask->access);
  case MaskOp::And:
    return admits(mask->lhs, isStored) && admits(mask->rhs, isStored);
  case MaskOp::Or:
    return admits(mask->lhs, isStored) || admits(mask->rhs, isStored);
  case MaskOp::Minus:
    return admits(mask->lhs, isStored) && !admits(mask->rhs, isStored);
  case MaskOp::Not:
    return !admits(mask->lhs, isStored);
  }
  return true;
}

/// Whether the mask is empty wherever the given accesses are not stored, whatever else is stored there.
static bool maskEmpties(const Mask &mask, const std::function<bool(const Access &)> &absent) {
  switch (mask->op) {
  case MaskOp::Stored:
    return absent(mask->access);
  case MaskOp::And:
    return maskEmpties(mask->lhs, absent) || maskEmpties(mask->rhs, absent);
  case MaskOp::Or:
    return maskEmpties(mask->lhs, absent) && maskEmpties(mask->rhs, absent);
  case MaskOp::Minus:
    return maskEmpties(mask->lhs, absent);
  case MaskOp::Not:
    return false;
  }
  return false;
}

namespace {

/// Decides where the result of a statement is stored.
class PatternRules {
public:
  PatternRules(const Program &program, const Statement &statement)
      : program(program), statement(statement), result(program.tensors[statement.lhs.tensor]) {
    collect(statement.rhs, accesses);
    collect(statement.where, masks);
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
    return !format::hasSlices(a) &&
           std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(), b.levels.end(),
                      [](const format::Level &x, const format::Level &y) {
                        return x.format == y.format && format::equal(x.expr, y.expr);
                      });
  }

  /// The operand whose pattern is the result's, if there is exactly one.
  const Access *soleOwner() const {
    if (statement.where) {
      auto byMask = owners(program, statement, masks,
                           [&](const auto &absent) { return maskEmpties(statement.where, absent); });
      bool single = statement.where->op == MaskOp::Stored;
      // A mask that names one pattern decides alone: it is what the user asked for.
      if (byMask.size() == 1 && single)
        return byMask[0];
      if (!byMask.empty() && !single)
        return nullptr;
    }
    auto byValue = owners(program, statement, accesses,
                          [&](const auto &absent) { return isAbsent(statement.rhs, absent); });
    bool startsAtZero = statement.assign || statement.reduce == Reduce::Add ||
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
          result.name, orWhere());
    return "";
  }

  std::string takesInGaps() const {
    return fmt::format(
        "the result would be dense: the reduction takes in what is not stored, and starts from "
        "a value other than that; {}give {} a dense format",
        addWhere(), result.name);
  }

  std::string nonzero() const {
    auto sparse = [&](const Access &a) {
      return !isDense(program.tensors[a.tensor]) && format::hasZeroFill(program.tensors[a.tensor].encoding);
    };
    const ExprNode &node = culprit(statement.rhs, sparse);
    bool zero = format::hasZeroFill(result.encoding);
    return fmt::format(
        "the result would be dense: {} is {} where nothing is stored; {}give {} a dense format",
        print(program, std::make_shared<const ExprNode>(node)),
        zero ? "nonzero" : "not the fill of " + result.name, addWhere(), result.name);
  }

  /// The mask that would leave only what is stored: the result's pattern if an operand has it, else all
  /// factors.
  std::string mask() const {
    std::vector<const Access *> sparse;
    for (const Access *a : accesses)
      if (!isDense(program.tensors[a->tensor]) &&
          std::none_of(sparse.begin(), sparse.end(), [&](const Access *s) { return sameAccess(*s, *a); }))
        sparse.push_back(a);
    for (const Access *a : sparse)
      if (sameSubscripts(*a, statement.lhs))
        return print(program, *a);
    std::string text;
    for (const Access *a : sparse)
      if (isAbsent(statement.rhs, [&](const Access &b) { return sameAccess(*a, b); }))
        text += (text.empty() ? "" : " & ") + print(program, *a);
    return text;
  }
  std::string addWhere() const {
    std::string text = statement.where ? "" : mask();
    return text.empty() ? "" : fmt::format("add `where {}`, or ", text);
  }
  std::string orWhere() const {
    std::string text = statement.where ? "" : mask();
    return text.empty() ? "" : fmt::format(", or add `where {}`", text);
  }
};

} // namespace

ResultPattern resultPattern(const Program &program, const Statement &statement) {
  return PatternRules(program, statement).decide();
}

} // namespace tulle::notation
