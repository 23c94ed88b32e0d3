// Only the variables that a declaration has buffers for are loaded.
#include "runtime/tensor/DeclaredLevel.h"
#include <algorithm>

namespace tulle::runtime {

using format::Expr;
using format::ExprKind;
using format::LevelDeclaration;

/// In 64 bits, which wrap as those of compiled code do: what it found to agree must be read alike.
static int64_t evaluate(const Expr &e, const format::LevelVariables &values) {
  if (e->kind == ExprKind::Constant)
    return e->value;
  if (e->kind == ExprKind::Level)
    return values[size_t(e->value)];
  const int64_t a = evaluate(e->lhs, values), b = evaluate(e->rhs, values);
  switch (e->kind) {
  case ExprKind::Add:
    return int64_t(uint64_t(a) + uint64_t(b));
  case ExprKind::Sub:
    return int64_t(uint64_t(a) - uint64_t(b));
  case ExprKind::Mul:
    return int64_t(uint64_t(a) * uint64_t(b));
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  default: { // by a positive constant, rounded down
    const int64_t rest = a % b;
    if (e->kind == ExprKind::Mod)
      return rest < 0 ? rest + b : rest;
    return a / b - (rest < 0 ? 1 : 0);
  }
  }
}

std::optional<int64_t> DeclaredLevel::slots() const {
  if (!shape.declaration->slots)
    return std::nullopt;
  format::LevelVariables values(format::kVariables, 0);
  values[format::kLevelSize] = shape.size;
  values[format::kStoredSize] = shape.n;
  return evaluate(shape.declaration->slots, values);
}

int64_t DeclaredLevel::begin(int64_t parent) const {
  return shape.declaration->length ? fields.position(parent) : parent * slots().value_or(0);
}

std::pair<int64_t, int64_t> DeclaredLevel::positions(int64_t parent) const {
  return {begin(parent), begin(parent + 1)};
}

int64_t DeclaredLevel::coordinate(int64_t parent, int64_t position) const {
  const LevelDeclaration &declaration = *shape.declaration;
  if (declaration.storesCoordinates)
    return fields.coordinate(position);
  format::LevelVariables values(format::kVariables, 0);
  values[format::kParent] = parent;
  values[format::kPosition] = position;
  values[format::kLevelSize] = shape.size;
  values[format::kStoredSize] = shape.n;
  if (declaration.length) {
    values[format::kBegin] = fields.position(parent);
    values[format::kEnd] = fields.position(parent + 1);
  }
  if (declaration.firstCoordinate)
    values[format::kParentCoordinate] = fields.coordinate(parent);
  return evaluate(declaration.coordinate, values);
}

} // namespace tulle::runtime
