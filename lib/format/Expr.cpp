// Trees are immutable and shared: an inverse map refers to expressions of the map instead of copying them.
#include "format/Expr.h"
#include <algorithm>

namespace tulle::format {
namespace {

Expr make(ExprNode node) { return std::make_shared<const ExprNode>(std::move(node)); }

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<int64_t> apply(ExprKind kind, int64_t a, int64_t b) {
  int64_t exact = 0;
  auto unless = [&](bool overflows) { return overflows ? std::nullopt : std::optional(exact); };
  switch (kind) {
  case ExprKind::Add:
    return unless(__builtin_add_overflow(a, b, &exact));
  case ExprKind::Sub:
    return unless(__builtin_sub_overflow(a, b, &exact));
  case ExprKind::Mul:
    return unless(__builtin_mul_overflow(a, b, &exact));
  case ExprKind::FloorDiv:
    return b > 0 ? std::optional(floorDiv(a, b)) : std::nullopt;
  case ExprKind::Mod:
    return b > 0 ? std::optional(a % b < 0 ? a % b + b : a % b) : std::nullopt;
  case ExprKind::And:
    return a & b;
  case ExprKind::Or:
    return a | b;
  case ExprKind::Xor:
    return a ^ b;
  case ExprKind::Shl:
    exact = b >= 0 && b < 64 ? int64_t(uint64_t(a) << b) : 0;
    return unless(b < 0 || b >= 64 || exact >> b != a);
  case ExprKind::Shr:
    return b >= 0 && b < 64 ? std::optional(a >> b) : std::nullopt;
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  default:
    return std::nullopt;
  }
}

} // namespace

Expr constant(int64_t value) { return make({.kind = ExprKind::Constant, .value = value}); }
Expr dim(unsigned index) { return make({.kind = ExprKind::Dim, .value = index}); }
Expr levelVar(unsigned index) { return make({.kind = ExprKind::Level, .value = index}); }
Expr symbol(unsigned index) { return make({.kind = ExprKind::Symbol, .value = index}); }
Expr variable(std::string name, Expr bound) {
  return make({.kind = ExprKind::Variable, .name = std::move(name), .bound = std::move(bound)});
}
Expr counter(std::vector<unsigned> dims) {
  return make({.kind = ExprKind::Counter, .dims = std::move(dims)});
}
Expr rank(unsigned ranked, unsigned counted, int64_t within) {
  return make({.kind = ExprKind::Rank, .value = within, .dims = {ranked, counted}});
}
Expr unrank(Expr rank) { return make({.kind = ExprKind::Unrank, .lhs = std::move(rank)}); }
Expr let(std::string name, Expr bound, Expr body) {
  return make(
      {.kind = ExprKind::Let, .name = std::move(name), .lhs = std::move(bound), .rhs = std::move(body)});
}
Expr binary(ExprKind kind, Expr lhs, Expr rhs) {
  return make({.kind = kind, .lhs = std::move(lhs), .rhs = std::move(rhs)});
}

bool equal(const Expr &a, const Expr &b) {
  if (a == b)
    return true;
  return a && b && a->kind == b->kind && a->value == b->value && a->name == b->name && a->dims == b->dims &&
         equal(a->lhs, b->lhs) && equal(a->rhs, b->rhs);
}

const ExprNode *find(const Expr &e, ExprKind kind) {
  if (!e || e->kind == kind)
    return e.get();
  const ExprNode *left = find(e->lhs, kind);
  return left ? left : find(e->rhs, kind);
}

const Expr &body(const Expr &e) { return e->kind == ExprKind::Let ? body(e->rhs) : e; }

std::optional<int64_t> evaluate(const Expr &expr, const std::vector<int64_t> &dims,
                                const std::vector<int64_t> &levels, Bindings &bindings) {
  auto at = [&](const std::vector<int64_t> &values) {
    return size_t(expr->value) < values.size() ? std::optional(values[expr->value]) : std::nullopt;
  };
  switch (expr->kind) {
  case ExprKind::Constant:
    return expr->value;
  case ExprKind::Dim:
    return at(dims);
  case ExprKind::Level:
    return at(levels);
  case ExprKind::Variable: {
    auto it = bindings.find(expr->name);
    return it == bindings.end() ? std::nullopt : std::optional(it->second);
  }
  case ExprKind::Let: {
    auto bound = evaluate(expr->lhs, dims, levels, bindings);
    if (!bound)
      return std::nullopt;
    bindings[expr->name] = *bound;
    return evaluate(expr->rhs, dims, levels, bindings);
  }
  default: {
    auto a = isBinary(expr) ? evaluate(expr->lhs, dims, levels, bindings) : std::nullopt;
    auto b = a ? evaluate(expr->rhs, dims, levels, bindings) : std::nullopt;
    return b ? apply(expr->kind, *a, *b) : std::nullopt;
  }
  }
}

} // namespace tulle::format
