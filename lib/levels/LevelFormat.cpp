#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

#define LEVEL_FORMAT(NAME) const LevelFormat &formatOf##NAME();
#include "levels/LevelFormats.def"
#undef LEVEL_FORMAT

const LevelFormat *find(format::LevelKind kind) {
  switch (kind) {
#define LEVEL_FORMAT(NAME)                                                                                   \
  case format::LevelKind::NAME:                                                                              \
    return &formatOf##NAME();
#include "levels/LevelFormats.def"
#undef LEVEL_FORMAT
  default:
    return nullptr;
  }
}

Value LevelFormat::locate(const Emitter &, unsigned, const Iterator &, Value) const {
  llvm_unreachable("only full levels are located; tulle.locate verifies this");
}

static Value base(const Emitter &emit, unsigned level, const Iterator &parent) {
  return emit.mul(parent.position, emit.levelSize(level));
}

PositionRange FullLevelFormat::positions(const Emitter &emit, unsigned level, const Iterator &parent) const {
  Value begin = base(emit, level, parent);
  return {begin, emit.add(begin, emit.levelSize(level))};
}

Value FullLevelFormat::coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                                  Value position) const {
  return emit.sub(position, base(emit, level, parent));
}

Value FullLevelFormat::locate(const Emitter &emit, unsigned level, const Iterator &parent,
                              Value coordinate) const {
  return emit.add(base(emit, level, parent), coordinate);
}

Value LevelFormat::storedCoordinate(const Emitter &emit, unsigned level, Value position) {
  const format::CoordinateRef &ref = *emit.storage.layout.coordinates[level];
  Value at = position;
  if (ref.stride != 1)
    at = emit.add(emit.mul(position, emit.constant(ref.stride)), emit.constant(ref.offset));
  return emit.load(ref.field, at);
}

} // namespace tulle::levels
