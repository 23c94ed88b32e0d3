// Looks level formats up by their kind, and defines what families of formats share.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

#define LEVEL_FORMAT(NAME) const LevelFormat &formatOf##NAME();
#include "levels/LevelFormats.def"
#undef LEVEL_FORMAT
const LevelFormat &formatOfDeclared(const format::LevelDeclaration &declaration);

const LevelFormat *find(const format::LevelFormat &format) {
  switch (format.kind) {
  case format::LevelKind::Declared:
    return &formatOfDeclared(*format.declaration);
#define LEVEL_FORMAT(NAME)                                                                                   \
  case format::LevelKind::NAME:                                                                              \
    return &formatOf##NAME();
#include "levels/LevelFormats.def"
#undef LEVEL_FORMAT
  default:
    return nullptr;
  }
}

Value LevelFormat::locate(const LevelEmitter &, const Iterator &, Value) const {
  llvm_unreachable("only full levels are located; tulle.locate verifies this");
}

void FullLevelFormat::query(const Assembly &a, LevelBuild &build, Value, Value coordinate, ValueRange) const {
  Value zero = a.constant(0), count = a.add(coordinate, 1);
  a.write(build.work, zero, a.umax(a.read(build.work, zero), count));
}

Value FullLevelFormat::size(const Assembly &a, LevelBuild &build) const {
  build.size = build.work ? a.read(build.work, a.constant(0)) : a.levelSize(build.level);
  if (build.work) {
    // A counter `#i[n]` has n slices, whatever the entries need.
    if (const int64_t slices = a.made.encoding.levels[build.level].expr->value; slices > 0) {
      Value most = a.constant(slices), found = build.size;
      when(a, a.isAbove(found, most), [&] { a.refuseGroup(build.level, a.constant(0), found, most); });
      build.size = most;
    }
    a.makeSize(build.level, build.size);
  }
  return a.positions(build.level, build.parents, build.size);
}

Value ConsecutiveLevelFormat::coordinate(const LevelEmitter &emit, const Iterator &parent,
                                         Value position) const {
  Value least = first(emit, parent.position);
  return emit.add(least, emit.sub(position, positions(emit, parent).begin));
}

std::optional<Found> ConsecutiveLevelFormat::find(const LevelEmitter &emit, const Iterator &parent,
                                                  Value coordinate) const {
  PositionRange range = positions(emit, parent);
  // A coordinate below the first one wraps to one beyond the last.
  Value offset = emit.builder.createOrFold<arith::SubIOp>(emit.loc, coordinate, first(emit, parent.position));
  Value found = emit.isBelow(offset, emit.sub(range.end, range.begin));
  return Found{arith::AddIOp::create(emit.builder, emit.loc, range.begin, offset), found};
}

Value ConsecutiveLevelFormat::insert(const Assembly &a, LevelBuild &build, Value parent,
                                     Value coordinate) const {
  Value begin = a.load(*a.made.layout.positions[build.level], parent);
  return a.add(begin, a.sub(coordinate, first({a, build.level}, parent)));
}

} // namespace tulle::levels
