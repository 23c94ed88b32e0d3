// Where a statement's result stores entries, and whether that pattern is sparse: decided from the expression,
// its mask and the operands' fills.
#pragma once
#include "notation/Program.h"
#include <functional>

namespace tulle::notation {

using AccessTest = std::function<bool(const Access &)>;

enum class PatternKind { Operand, Dense, Computed };

/// Where the result of a statement is stored, for a result whose format has sparse levels.
struct ResultPattern {
  PatternKind kind;
  const Access *operand = nullptr; ///< Operand: points into the program
  std::string reason;              ///< Dense: why, and the cure
};

/// Decides by the rules of README.md, "Sparse results":
///  - Operand: the result has exactly the stored pattern of one operand that is indexed by the left side's
///    variables in the left side's order (scaling, sampled products, `where A`).
///  - Dense: the right-hand side is not the result's fill where nothing is stored; `reason` names the
///    sub-expression.
///  - Computed: a pattern of its own: a union, an intersection, a product, a reduction, a transpose, an
///    accumulation.
ResultPattern resultPattern(const Program &program, const Statement &statement);

/// Whether the format of a tensor stores every coordinate (no compressed, singleton, … level).
bool isDense(const TensorDecl &tensor);

/// Whether the result of a statement is stored where the operand is.
bool storesWhere(const Program &program, const Statement &statement, unsigned tensor);
/// Whether the mask, or the pattern of the result, is made from what the operand stores.
bool showsPattern(const Program &program, const Statement &statement, unsigned tensor);

/// Every access of the right-hand side, then of the mask, in the order of the text.
std::vector<const Access *> operandsOf(const Statement &statement);
/// These, and those that give indices.
std::vector<const Access *> accesses(const Statement &statement);

/// Same tensor, same subscripts.
bool sameAccess(const Access &a, const Access &b);

/// Whether the value is 0, whatever the other operands are, when the accesses `isAccessAbsent` answers true
/// for are not stored: what lets `*` intersect.
bool isAbsent(const Expr &expr, const AccessTest &isAccessAbsent);

/// The value the expression has when the accesses `isAccessAbsent` answers true for are not stored (each then
/// has its fill), whatever the others are; nothing when it depends on them. 0 where isAbsent says so; an
/// infinity that is not stored stays, whatever is added to it.
std::optional<Scalar> impliedValue(const Program &program, const Expr &expr,
                                   const AccessTest &isAccessAbsent);

/// Whether a point where these accesses are not stored contributes nothing to the result: the identity of the
/// reduction, or what the result does not store anyway.
bool isNeutral(const Program &program, const Statement &statement, const AccessTest &isAccessAbsent);

/// Whether the mask is empty wherever the given accesses are not stored, whatever else is stored there.
bool maskEmpties(const Program &program, const Mask &mask, const AccessTest &isAccessAbsent);

/// Whether a mask lets a point through, given which accesses are stored there and which comparisons are true
/// (nothing: that is not known).
std::optional<bool> admits(const Mask &mask, const AccessTest &isStored,
                           const std::function<std::optional<bool>(const Expr &)> &isTrue);

} // namespace tulle::notation
