// Where a statement's result is nonzero: the algebra that decides whether a sparse result can be had.
#pragma once
#include "notation/Program.h"
#include <functional>

namespace tulle::notation {

enum class PatternKind { Operand, Dense, Computed };

/// Where the result of a statement is stored, for a result whose format has sparse levels.
struct ResultPattern {
  PatternKind kind;
  const Access *operand = nullptr; ///< Operand: points into the program
  std::string reason;              ///< Dense, Computed: why, and the cure
};

/// Decides by the rules of README.md, "Sparse results":
///  - Operand: the result has exactly the stored pattern of one operand that is indexed by the left side's
///  variables in the
///    left side's order (scaling, sampled products, `where A`).
///  - Dense: the right-hand side is nonzero where nothing is stored; `reason` names the sub-expression.
///  - Computed: a union, a product of several patterns, a reduction over stored indices, an accumulation.
ResultPattern resultPattern(const Program &program, const Statement &statement);

/// Whether the format of a tensor stores every coordinate (no compressed, singleton, … level).
bool isDense(const TensorDecl &tensor);

/// Same tensor, same subscripts.
bool sameAccess(const Access &a, const Access &b);

/// Whether the value is 0, whatever the other operands are, when the accesses `isAccessAbsent` answers true
/// for are not stored: what lets `*` intersect.
bool isAbsent(const Expr &expr, const std::function<bool(const Access &)> &isAccessAbsent);

/// Whether a mask lets a point through, given which accesses are stored there.
bool admits(const Mask &mask, const std::function<bool(const Access &)> &isStored);

} // namespace tulle::notation
