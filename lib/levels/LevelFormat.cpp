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

Value LevelFormat::coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const {
  return storedCoordinate(emit, level, position);
}

Value LevelFormat::locate(const Emitter &, unsigned, const Iterator &, Value) const {
  llvm_unreachable("only full levels are located; tulle.locate verifies this");
}

Value LevelFormat::size(const Assembly &, LevelBuild &) const {
  llvm_unreachable("only levels with a placement are built by position");
}

Value LevelFormat::insert(const Assembly &, LevelBuild &, Value, Value) const {
  llvm_unreachable("only levels with a placement are built by position");
}

bool LevelFormat::single(const Iterator &) const { return false; }

Value LevelFormat::valid(const Emitter &, unsigned, const Iterator &, Value, Value) const { return {}; }

std::optional<Found> LevelFormat::find(const Emitter &, unsigned, const Iterator &, Value) const {
  return std::nullopt;
}

std::optional<PositionRange> LevelFormat::parentCoordinates(const Emitter &, unsigned,
                                                            const Iterator &) const {
  return std::nullopt;
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

// Only a counter's size depends on the entries: it is the longest count.
bool FullLevelFormat::needsQuery(const format::Level &level) const {
  return level.expr->kind == format::ExprKind::Counter;
}

void FullLevelFormat::startQuery(const Assembly &a, LevelBuild &build) const {
  build.work = a.cell(a.constant(0));
}

void FullLevelFormat::query(const Assembly &a, LevelBuild &build, Value, Value coordinate, ValueRange) const {
  Value count = a.add(coordinate, a.constant(1));
  Value most = arith::MaxUIOp::create(a.builder, a.loc, a.read(build.work, a.constant(0)), count);
  a.write(build.work, a.constant(0), most);
}

Value FullLevelFormat::size(const Assembly &a, LevelBuild &build) const {
  if (build.work) {
    build.size = a.read(build.work, a.constant(0));
    a.makeSize(build.level, build.size);
  } else {
    build.size = a.levelSize(build.level);
  }
  return a.positions(build.level, build.parents, build.size);
}

Value FullLevelFormat::insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const {
  return a.add(a.mul(parent, build.size), coordinate);
}

PositionRange LevelFormat::storedRange(const Emitter &emit, unsigned level, Value at) {
  Value positions = emit.storage.fields[*emit.storage.layout.positions[level]];
  auto segment = dialect::SegmentOp::create(emit.builder, emit.loc, positions, at);
  return {segment.getBegin(), segment.getEnd()};
}

Value LevelFormat::storedCoordinate(const Emitter &emit, unsigned level, Value position) {
  const format::CoordinateRef &ref = *emit.storage.layout.coordinates[level];
  Value at = position;
  if (ref.stride != 1)
    at = emit.add(emit.mul(position, emit.constant(ref.stride)), emit.constant(ref.offset));
  return emit.load(ref.field, at);
}

Value LevelFormat::isEntry(const Emitter &emit, unsigned level, Value coordinate) {
  unsigned width = emit.storage.layout.fields[emit.storage.layout.coordinates[level]->field].width;
  int64_t empty = width == 0 || width >= 64 ? -1 : (int64_t(1) << width) - 1;
  return emit.compare(arith::CmpIPredicate::ne, coordinate, emit.constant(empty));
}

} // namespace tulle::levels
