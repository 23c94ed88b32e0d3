// Level expressions: how a level's coordinate follows from the dimensions' coordinates, and back.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tulle::format {

enum class ExprKind : uint8_t {
  Constant, ///< `value`
  Dim,      ///< dimension variable number `value`
  Level,    ///< level variable number `value` (inverse maps only)
  Symbol,   ///< symbol number `value` of `[c](…)`
  Variable, ///< a variable bound by an enclosing `let`, by `name`
  Add,
  Sub,
  Mul,
  FloorDiv,
  Mod,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Min, ///< the smaller of two; in declarations of levels only
  Max,
  Counter, ///< `#i` or `#(i,j)`: `dims`
  Let,     ///< `let name = lhs in rhs`
  Rank,    ///< `rank(i by count(j) within s)`: dims = {i, j}; value = s, or -1 without `within`
  Unrank   ///< inverse maps only: the coordinate whose rank is `lhs`
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

/// An immutable expression tree.
struct ExprNode {
  ExprKind kind;
  int64_t value = 0;
  std::string name{};
  std::vector<unsigned> dims{};
  Expr lhs{}, rhs{};
  Expr bound{}; ///< of Variable: the value that its `let` gives it
};

Expr constant(int64_t value);
Expr dim(unsigned index);
Expr levelVar(unsigned index);
Expr symbol(unsigned index);
Expr variable(std::string name, Expr bound);
Expr counter(std::vector<unsigned> dims);
/// `within` is -1 where the whole dimension is ranked at once.
Expr rank(unsigned ranked, unsigned counted, int64_t within);
Expr unrank(Expr rank);
Expr let(std::string name, Expr bound, Expr body);
Expr binary(ExprKind kind, Expr lhs, Expr rhs);
bool equal(const Expr &a, const Expr &b);
/// The first expression of this kind in `e`, which may be null; null if there is none. Variables are not
/// followed.
const ExprNode *find(const Expr &e, ExprKind kind);
inline bool contains(const Expr &e, ExprKind kind) { return find(e, kind) != nullptr; }
/// The expression below the leading `let`s.
const Expr &body(const Expr &e);
/// Whether the expression is an operation on two others: `Add` … `Max`.
inline bool isBinary(const Expr &e) { return e->kind >= ExprKind::Add && e->kind <= ExprKind::Max; }

/// The values of the variables that `let` has bound. A binding made in one level's expression holds in later
/// levels.
using Bindings = std::map<std::string, int64_t>;
/// The value at given dimension and level coordinates (either may be empty); nullopt where it depends on more
/// than these (symbols, counters, ranks) or does not exist (division by zero, a value on the way that leaves
/// 64 bits).
std::optional<int64_t> evaluate(const Expr &expr, const std::vector<int64_t> &dims,
                                const std::vector<int64_t> &levels, Bindings &bindings);

} // namespace tulle::format
