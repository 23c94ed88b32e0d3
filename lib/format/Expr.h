// Level expressions: how a level's coordinate follows from the dimensions' coordinates, and back.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tulle::format {

enum class ExprKind : uint8_t {
  Constant, ///< `value`
  Dim,      ///< dimension variable number `value`
  Level,    ///< level variable number `value` (inverse maps only)
  Symbol,   ///< symbol number `value` of `[c](…)`
  Variable, ///< a variable bound by an enclosing `let`, by `name`
  Add, Sub, Mul, FloorDiv, Mod, And, Or, Xor, Shl, Shr,
  Counter, ///< `#i` or `#(i,j)`: `dims`
  Let,     ///< `let name = lhs in rhs`
  Rank     ///< `rank(i by count(j) within s)`: dims = {i, j}; value = s, or -1 without `within`
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

/// An immutable expression tree.
struct ExprNode {
  ExprKind kind;
  int64_t value = 0;
  std::string name;
  std::vector<unsigned> dims;
  Expr lhs, rhs;
};

Expr constant(int64_t value);
Expr dim(unsigned index);
Expr levelVar(unsigned index);
Expr binary(ExprKind kind, Expr lhs, Expr rhs);
bool equal(const Expr &a, const Expr &b);

} // namespace tulle::format
