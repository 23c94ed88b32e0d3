// Reads a declared level of a stored tensor: its declaration's expressions, evaluated.
#pragma once
#include "format/LevelDeclaration.h"
#include "runtime/tensor/LevelShapes.h"

namespace tulle::runtime {

/// The positions and coordinates of one level. `fields` must have the positions and coordinates that the
/// declaration reads.
class DeclaredLevel {
public:
  DeclaredLevel(const LevelShape &shape, const LevelFields &fields) : shape(shape), fields(fields) {}

  /// The positions that each parent has; nullopt where they are stored.
  std::optional<int64_t> slots() const;
  /// The first position of a parent, which may be the one behind the last.
  int64_t begin(int64_t parent) const;
  /// The same, and one behind the last position.
  std::pair<int64_t, int64_t> positions(int64_t parent) const;
  /// At a position of the parent.
  int64_t coordinate(int64_t parent, int64_t position) const;

private:
  const LevelShape &shape;
  const LevelFields &fields;
};

} // namespace tulle::runtime
