// Only the variables that a declaration has buffers for are loaded.
#include "runtime/tensor/DeclaredLevel.h"

namespace tulle::runtime {

using format::LevelDeclaration;

std::optional<int64_t> DeclaredLevel::slots() const {
  if (!shape.declaration->slots)
    return std::nullopt;
  format::LevelVariables values(format::kVariables, 0);
  values[format::kLevelSize] = shape.size;
  values[format::kStoredSize] = shape.n;
  format::Bindings none;
  return format::evaluate(shape.declaration->slots, {}, values, none);
}

std::pair<int64_t, int64_t> DeclaredLevel::positions(int64_t parent) const {
  if (shape.declaration->length)
    return {fields.position(parent), fields.position(parent + 1)};
  const int64_t each = slots().value_or(0);
  return {parent * each, parent * each + each};
}

std::optional<int64_t> DeclaredLevel::coordinate(int64_t parent, int64_t position) const {
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
  format::Bindings none;
  return format::evaluate(declaration.coordinate, {}, values, none);
}

} // namespace tulle::runtime
