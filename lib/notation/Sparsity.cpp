// How zeros pass through operations is a column of the table of operations; the rest is rules on top of it.
#include "notation/Sparsity.h"
#include "notation/Arithmetic.h"
#include "notation/Operations.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

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
  if (node.op == Op::Convert || node.op == Op::Neg || node.op == Op::Abs ||
      (!node.args.empty() && operation(node.op).zero == ZeroRule::All))
    for (const Expr &arg : node.args)
      if (!isAbsent(arg, absent))
        return culprit(arg, absent);
  return node;
}

bool sameSubscripts(const Access &a, const Access &b) {
  return std::ranges::equal(a.subscripts, b.subscripts,
                            [](const Affine &x, const Affine &y) { return x.equals(y); });
}

} // namespace

bool isDense(const TensorDecl &tensor) { return format::isAllDense(tensor.encoding); }

std::vector<const Access *> accesses(const Statement &statement) {
  std::vector<const Access *> out = operandsOf(statement);
  for (const Indirection &given : statement.indirections)
    out.push_back(&given.source);
  return out;
}

std::vector<const Access *> operandsOf(const Statement &statement) {
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
  if (node.op == Op::Index) // 0 is a value of it like others
    return false;
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

std::optional<bool> admits(const Mask &mask, const AccessTest &isStored,
                           const std::function<std::optional<bool>(const Expr &)> &isTrue) {
  using Known = std::optional<bool>;
  auto negated = [](Known known) { return known ? Known(!*known) : known; };
  auto both = [](Known a, Known b) {
    return a == false || b == false ? Known(false) : a && b ? Known(true) : Known();
  };
  if (mask->op == Op::Access)
    return isStored(mask->access);
  if (isCondition(mask))
    return isTrue(mask);
  const Known lhs = admits(mask->args[0], isStored, isTrue);
  if (mask->op == Op::Not)
    return negated(lhs);
  const Known rhs = admits(mask->args[1], isStored, isTrue);
  if (mask->op == Op::Or)
    return negated(both(negated(lhs), negated(rhs)));
  return both(lhs, mask->op == Op::And ? rhs : negated(rhs));
}

bool maskEmpties(const Program &program, const Mask &mask, const AccessTest &absent) {
  if (mask->op == Op::Access)
    return absent(mask->access);
  if (isCondition(mask)) // false where it is absent
    return isAbsent(mask, [&](const Access &access) {
      return absent(access) && format::hasZeroFill(program.tensors[access.tensor].encoding);
    });
  const bool lhs = mask->op != Op::Not && maskEmpties(program, mask->args[0], absent);
  if (mask->op == Op::And)
    return lhs || maskEmpties(program, mask->args[1], absent);
  return lhs && (mask->op != Op::Or || maskEmpties(program, mask->args[1], absent));
}

namespace {

/// Decides where the result of a statement is stored.
class PatternRules {
public:
  PatternRules(const Program &program, const Statement &statement)
      : program(program), statement(statement), result(program.tensors[statement.lhs.tensor]) {
    forEachAccess(statement.rhs, [&](const Access &access) { accesses.push_back(&access); });
    forEachPattern(statement.where, [&](const Access &access) { masks.push_back(&access); });
  }

  ResultPattern decide() const {
    if (statement.concat.isWhole())
      return {PatternKind::Computed, nullptr, {}};
    if (result.like)
      return likeAnother();
    if (format::hasZeroFill(result.encoding) && !statement.accumulate && loopsFollow(result.encoding))
      if (const Access *owner = soleOwner(); owner && hasLevelsOf(program.tensors[owner->tensor].encoding))
        return {PatternKind::Operand, owner, {}};
    std::string reason = whyDense();
    return {reason.empty() ? PatternKind::Computed : PatternKind::Dense, nullptr, reason};
  }

private:
  const Program &program;
  const Statement &statement;
  const TensorDecl &result;
  std::vector<const Access *> accesses, masks;

  /// The mask that `like` is; of a result with the outer levels of another, an access to that one below which
  /// all contributions are.
  ResultPattern likeAnother() const {
    for (const Access *mask : masks)
      if (mask->tensor == *result.like && isPrefix(*mask))
        return {PatternKind::Operand, mask, {}};
    auto isLike = [&](const Access &access) {
      const bool has = access.tensor == *result.like || program.tensors[access.tensor].like == result.like;
      return has && isBelow(access);
    };
    for (const std::vector<const Access *> &owners : {ownersByMask(isLike), ownersByValue(isLike)})
      if (!owners.empty())
        return {PatternKind::Operand, owners[0], {}};
    const std::string &name = program.tensors[*result.like].name;
    return {PatternKind::Dense, nullptr,
            fmt::format("'{0}' has the outer levels of '{1}', and something would be written where '{1}' "
                        "stores nothing; multiply by an entry of '{1}' at the indices of '{0}' and further "
                        "ones, or restrict the statement to them with `where`",
                        result.name, name)};
  }

  /// Whether the access has the first subscripts of the left side.
  bool isPrefix(const Access &access) const {
    Access left = statement.lhs;
    left.subscripts.resize(std::min(left.subscripts.size(), access.subscripts.size()));
    return sameSubscripts(access, left);
  }

  /// Whether the access has the left side's subscripts, and further indices behind them, each once.
  bool isBelow(const Access &access) const {
    const size_t own = statement.lhs.subscripts.size();
    if (access.subscripts.size() <= own)
      return false;
    Access outer = access;
    outer.subscripts.resize(own);
    std::set<unsigned> below;
    auto isOther = [&](const Affine &subscript) {
      return subscript.isVariable() && below.insert(subscript.terms[0].first).second &&
             std::ranges::count(statement.reductionIndices, subscript.terms[0].first) > 0;
    };
    return sameSubscripts(outer, statement.lhs) &&
           std::all_of(access.subscripts.begin() + std::ptrdiff_t(own), access.subscripts.end(), isOther);
  }

  /// Whether loops can be over the levels, as over indices whose integers give others they have to be: a
  /// tensor that is only traversed as it is stored is converted for these, and lends no pattern.
  bool loopsFollow(const format::Encoding &encoding) const {
    auto isOrdered = [](const format::Level &level) { return level.format.ordered; };
    return statement.indirections.empty() ||
           (format::digits(encoding) && std::ranges::all_of(encoding.levels, isOrdered));
  }

  /// Whether the result can have the operand's levels, or the outer ones: another format may pad, or order,
  /// differently, and a slice stores what lies outside it as well.
  bool hasLevelsOf(const format::Encoding &operand) const {
    if (format::hasSlices(operand))
      return false;
    const std::optional<size_t> levels = format::outerLevels(operand, result.encoding.order());
    return levels == result.encoding.levels.size() &&
           format::haveEqualLevels(operand, result.encoding, *levels) &&
           (result.encoding.order() == operand.order() || hasWidthsOf(operand));
  }

  /// Levels with other widths would be converted, and outer levels alone are no tensor to convert.
  bool hasWidthsOf(const format::Encoding &operand) const {
    auto agree = [](unsigned own, unsigned other) { return own == 0 || other == 0 || own == other; };
    return operand.crdWidth != 2 && agree(result.encoding.posWidth, operand.posWidth) &&
           agree(result.encoding.crdWidth, operand.crdWidth);
  }

  /// Sparse accesses that may own the result's pattern and whose absence alone empties it, each once.
  std::vector<const Access *> owners(const std::vector<const Access *> &accesses, const AccessTest &mayOwn,
                                     const std::function<bool(const AccessTest &)> &empties) const {
    std::vector<const Access *> found;
    for (const Access *a : accesses) {
      auto same = [&](const Access &b) { return sameAccess(*a, b); };
      const TensorDecl &tensor = program.tensors[a->tensor];
      if (std::ranges::none_of(found, [&](const Access *f) { return same(*f); }) && !isDense(tensor) &&
          format::hasZeroFill(tensor.encoding) && mayOwn(*a) && empties(same))
        found.push_back(a);
    }
    return found;
  }
  std::vector<const Access *> ownersByMask(const AccessTest &mayOwn) const {
    return owners(masks, mayOwn,
                  [&](const auto &absent) { return maskEmpties(program, statement.where, absent); });
  }
  /// Reductions that do not start at 0 take in what is absent.
  std::vector<const Access *> ownersByValue(const AccessTest &mayOwn) const {
    const bool startsAtZero = statement.assign || statement.reduce == Reduce::Add ||
                              statement.reduce == Reduce::Or || statement.reduce == Reduce::Xor;
    return startsAtZero
               ? owners(accesses, mayOwn, [&](const auto &absent) { return isAbsent(statement.rhs, absent); })
               : std::vector<const Access *>();
  }

  /// The operand whose pattern is the result's, if there is exactly one: at the left side's subscripts, else
  /// with further ones behind them. Comparisons leave some of its entries out.
  const Access *soleOwner() const {
    if (hasConditions(statement.where))
      return nullptr;
    auto isSame = [&](const Access &access) { return sameSubscripts(access, statement.lhs); };
    if (std::optional<const Access *> same = soleOwner(isSame))
      return *same;
    return soleOwner([&](const Access &access) { return isBelow(access); }).value_or(nullptr);
  }
  /// Nullopt where there is none, null where there are several.
  std::optional<const Access *> soleOwner(const AccessTest &mayOwn) const {
    auto byMask = ownersByMask(mayOwn);
    const bool single = statement.where && statement.where->op == Op::Access;
    // A mask that names one pattern decides alone: it is what the user asked for.
    if (!byMask.empty())
      return single ? byMask[0] : nullptr;
    auto byValue = ownersByValue(mayOwn);
    return byValue.empty() ? std::nullopt : std::optional(byValue.size() == 1 ? byValue[0] : nullptr);
  }

  /// Why the result would be stored everywhere; empty when what is not stored leaves its fill.
  std::string whyDense() const {
    auto absent = [&](const Access &a) { return !isDense(program.tensors[a.tensor]); };
    auto isStored = [&](const Access &a) { return !absent(a); };
    auto isTrue = [&](const Expr &e) { return isAbsent(e, absent) ? std::optional(false) : std::nullopt; };
    if (statement.where && admits(statement.where, isStored, isTrue) != true)
      return "";
    if (writesSomewhere() || statement.isSet)
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

  /// Whether it is written at coordinates that a tensor gives, and only there.
  bool writesSomewhere() const {
    return std::ranges::any_of(statement.lhs.subscripts, [&](const Affine &subscript) {
      return !subscript.terms.empty() &&
             std::ranges::count(statement.indirections, subscript.terms[0].first, &Indirection::index) > 0;
    });
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
    if (node.op == Op::Index)
      return std::nullopt;
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

bool storesWhere(const Program &program, const Statement &statement, unsigned tensor) {
  if (isDense(program.tensors[statement.lhs.tensor]))
    return false;
  const ResultPattern pattern = resultPattern(program, statement);
  return pattern.operand && pattern.operand->tensor == tensor;
}

bool showsPattern(const Program &program, const Statement &statement, unsigned tensor) {
  bool masks = false;
  forEachPattern(statement.where, [&](const Access &access) { masks |= access.tensor == tensor; });
  return masks || (!isDense(program.tensors[statement.lhs.tensor]) &&
                   resultPattern(program, statement).kind == PatternKind::Computed);
}

} // namespace tulle::notation
