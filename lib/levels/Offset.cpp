// offset: nothing is stored: the coordinate follows from those of the levels above.
#include "levels/Expression.h"
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Offset : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned, const Iterator &parent) const override {
    return {parent.position, emit.add(parent.position, emit.constant(1))};
  }
  bool single(const Iterator &) const override { return true; }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent, Value) const override {
    return ExpressionEmitter(emit, {{}, parent.coordinates})(
        format::offsetCoordinate(emit.storage.encoding, level));
  }
  bool hasPadding(const format::LevelFormat &) const override { return true; }
  Value valid(const Emitter &emit, unsigned level, const Iterator &parent, Value,
              Value coordinate) const override {
    if (parent.bounded)
      return {};
    // One comparison for both ends: what is below the least coordinate wraps.
    Value offset = emit.builder.createOrFold<arith::SubIOp>(emit.loc, coordinate, emit.levelLow(level));
    return emit.compare(arith::CmpIPredicate::ult, offset, emit.levelSize(level));
  }
  std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                            Value coordinate) const override {
    Value own = this->coordinate(emit, level, parent, parent.position);
    return Found{parent.position, emit.compare(arith::CmpIPredicate::eq, own, coordinate)};
  }

  /// Where the coordinate is the parent's plus something, as along a diagonal: low <= c + rest < low + size
  /// bounds c, and so the loop over the level above runs without a test.
  std::optional<PositionRange> parentCoordinates(const Emitter &emit, unsigned level,
                                                 const Iterator &grandparent) const override {
    int64_t slope = 0;
    if (!slopeOf(format::offsetCoordinate(emit.storage.encoding, level), level - 1, slope) || slope != 1)
      return std::nullopt;
    OpBuilder &b = emit.builder;
    Location loc = emit.loc;
    SmallVector<Value, 4> coordinates(grandparent.coordinates);
    coordinates.push_back(emit.constant(0));
    Value rest =
        ExpressionEmitter(emit, {{}, coordinates})(format::offsetCoordinate(emit.storage.encoding, level));
    Value begin = b.createOrFold<arith::SubIOp>(loc, emit.levelLow(level), rest);
    Value end = b.createOrFold<arith::AddIOp>(loc, begin, emit.levelSize(level));
    begin = b.createOrFold<arith::MaxSIOp>(loc, begin, emit.constant(0));
    end = b.createOrFold<arith::MinSIOp>(loc, end, emit.levelSize(level - 1));
    // A diagonal that lies outside altogether has its end before its beginning.
    return PositionRange{begin, b.createOrFold<arith::MaxSIOp>(loc, begin, end)};
  }

  Insertion insertion() const override { return Insertion::Computed; }
  Value size(const Assembly &, LevelBuild &build) const override { return build.parents; }
  Value insert(const Assembly &, LevelBuild &, Value parent, Value) const override { return parent; }

private:
  /// The factor of the level's variable in a sum; false where the expression is no sum in it.
  static bool slopeOf(const format::Expr &e, unsigned level, int64_t &slope) {
    using format::ExprKind;
    slope = 0;
    switch (e->kind) {
    case ExprKind::Constant:
      return true;
    case ExprKind::Level:
      slope = e->value == int64_t(level);
      return true;
    case ExprKind::Let:
    case ExprKind::Variable:
    case ExprKind::Unrank:
      return false;
    default: {
      int64_t a = 0, c = 0;
      if (!slopeOf(e->lhs, level, a) || !slopeOf(e->rhs, level, c))
        return false;
      if (e->kind == ExprKind::Add || e->kind == ExprKind::Sub)
        slope = e->kind == ExprKind::Add ? a + c : a - c;
      return e->kind == ExprKind::Add || e->kind == ExprKind::Sub || (a == 0 && c == 0);
    }
    }
  }
};

TULLE_LEVEL_FORMAT(Offset)

} // namespace tulle::levels
