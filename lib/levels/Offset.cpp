// offset: nothing is stored: the coordinate follows from those of the levels above.
#include "levels/Expression.h"
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Offset : LevelFormat {
  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    return {parent.position, emit.add(parent.position, 1)};
  }
  bool single(const Iterator &) const override { return true; }
  Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value) const override {
    return ExpressionEmitter(emit, {{}, parent.coordinates})(expression(emit));
  }
  bool hasPadding(const format::LevelFormat &) const override { return true; }
  Value valid(const LevelEmitter &emit, const Iterator &parent, Value, Value coordinate) const override {
    if (parent.bounded)
      return {};
    // One comparison for both ends: what is below the least coordinate wraps.
    Value offset = emit.builder.createOrFold<arith::SubIOp>(emit.loc, coordinate, emit.levelLow(emit.level));
    return emit.isBelow(offset, emit.size());
  }
  std::optional<Found> find(const LevelEmitter &emit, const Iterator &parent,
                            Value coordinate) const override {
    Value own = this->coordinate(emit, parent, parent.position);
    return Found{parent.position, emit.isEqual(own, coordinate)};
  }

  /// Where the coordinate is the parent's plus something, as along a diagonal: low <= c + rest < low + size
  /// bounds c, and so the loop over the level above runs without a test.
  std::optional<PositionRange> parentCoordinates(const LevelEmitter &emit,
                                                 const Iterator &grandparent) const override {
    if (slopeOf(expression(emit), emit.level - 1) != 1)
      return std::nullopt;
    OpBuilder &b = emit.builder;
    Location loc = emit.loc;
    SmallVector<Value, 4> coordinates(grandparent.coordinates);
    coordinates.push_back(emit.constant(0));
    Value rest = ExpressionEmitter(emit, {{}, coordinates})(expression(emit));
    Value begin = b.createOrFold<arith::SubIOp>(loc, emit.levelLow(emit.level), rest);
    Value end = b.createOrFold<arith::AddIOp>(loc, begin, emit.size());
    begin = b.createOrFold<arith::MaxSIOp>(loc, begin, emit.constant(0));
    end = b.createOrFold<arith::MinSIOp>(loc, end, emit.levelSize(emit.level - 1));
    // A diagonal that lies outside altogether has its end before its beginning.
    return PositionRange{begin, b.createOrFold<arith::MaxSIOp>(loc, begin, end)};
  }

  Insertion insertion() const override { return Insertion::Computed; }
  Value size(const Assembly &, LevelBuild &build) const override { return build.parents; }
  Value insert(const Assembly &, LevelBuild &, Value parent, Value) const override { return parent; }

private:
  static format::Expr expression(const LevelEmitter &emit) {
    return format::offsetCoordinate(emit.storage.encoding, emit.level);
  }

  /// The factor of the level's variable in a sum; nullopt where the expression is no sum in it.
  static std::optional<int64_t> slopeOf(const format::Expr &e, unsigned level) {
    using format::ExprKind;
    switch (e->kind) {
    case ExprKind::Constant:
      return 0;
    case ExprKind::Level:
      return e->value == int64_t(level);
    case ExprKind::Let:
    case ExprKind::Variable:
    case ExprKind::Unrank:
      return std::nullopt;
    default: {
      std::optional<int64_t> a = slopeOf(e->lhs, level), c = slopeOf(e->rhs, level);
      if (!a || !c)
        return std::nullopt;
      if (e->kind == ExprKind::Add || e->kind == ExprKind::Sub)
        return e->kind == ExprKind::Add ? *a + *c : *a - *c;
      return *a == 0 && *c == 0 ? a : std::nullopt;
    }
    }
  }
};

TULLE_LEVEL_FORMAT(Offset)

} // namespace tulle::levels
