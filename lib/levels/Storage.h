// A tensor as its buffers, and the small expressions that reading them needs.
#pragma once
#include "format/Layout.h"
#include "levels/Control.h"

namespace tulle::levels {

/// Half-open range of positions.
struct PositionRange {
  Value begin, end;
};

/// The values that stand for one tensor: contract 3 of HACKING.md.
struct Storage {
  format::Encoding encoding;
  format::Layout layout;
  std::vector<format::Digit> digits; ///< one per level; empty where the map is not made of digits
  Type element;                      ///< of the tensor; i1 is stored as i8
  llvm::SmallVector<Value> fields;   ///< one memref<?xT> per field of the layout
  llvm::SmallVector<Value> dims;     ///< sizes as index, constants where static
  llvm::SmallVector<Value> sizes;    ///< per level: the element of its sizes field as index, else null
  bool noPadding = false;            ///< every position is an entry, though levels may have padding
  Value firstValue;                  ///< the position of the first value in memory; null where it is 0

  /// Loads the size fields at the builder's insertion point: that of the tensor's definition.
  static std::unique_ptr<Storage> create(OpBuilder &builder, Location loc, const format::Encoding &encoding,
                                         Type element, ValueRange fields, ValueRange dims);
};

/// The types of a tensor's buffers, in the order of the layout.
llvm::SmallVector<Type> fieldTypes(const format::Layout &layout, Type element);

/// Builds the index arithmetic of one tensor. Indices never wrap, and the flags say so: LLVM then widens and
/// vectorizes.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, const Storage &storage)
      : builder(builder), loc(loc), storage(storage) {}

  OpBuilder &builder;
  Location loc;
  const Storage &storage;

  Value constant(int64_t value) const { return constantInt(builder.getIndexType(), value); }
  Value constantInt(Type type, int64_t value) const;
  Value add(Value a, Value b) const;
  Value sub(Value a, Value b) const;
  Value mul(Value a, Value b) const;
  Value umin(Value a, Value b) const { return arith::MinUIOp::create(builder, loc, a, b); }
  Value umax(Value a, Value b) const { return arith::MaxUIOp::create(builder, loc, a, b); }
  Value divide(Value a, Value b) const { return arith::DivUIOp::create(builder, loc, a, b); }
  Value both(Value a, Value b) const { return arith::AndIOp::create(builder, loc, a, b); }
  Value shiftLeft(Value a, Value bits) const { return arith::ShLIOp::create(builder, loc, a, bits); }
  Value shiftRight(Value a, Value bits) const { return arith::ShRUIOp::create(builder, loc, a, bits); }
  Value select(Value which, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, which, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value isEqual(Value a, Value b) const { return compare(arith::CmpIPredicate::eq, a, b); }
  Value isDifferent(Value a, Value b) const { return compare(arith::CmpIPredicate::ne, a, b); }
  /// Unsigned: what is below 0 wraps to a number above all others.
  Value isBelow(Value a, Value b) const { return compare(arith::CmpIPredicate::ult, a, b); }
  Value isAbove(Value a, Value b) const { return compare(arith::CmpIPredicate::ugt, a, b); }

  /// The same with a constant, of the type of the first operand.
  Value add(Value a, int64_t b) const { return add(a, constantInt(a.getType(), b)); }
  Value sub(Value a, int64_t b) const { return sub(a, constantInt(a.getType(), b)); }
  Value mul(Value a, int64_t b) const { return mul(a, constantInt(a.getType(), b)); }
  Value umin(Value a, int64_t b) const { return umin(a, constantInt(a.getType(), b)); }
  Value umax(Value a, int64_t b) const { return umax(a, constantInt(a.getType(), b)); }
  Value divide(Value a, int64_t b) const { return divide(a, constantInt(a.getType(), b)); }
  Value both(Value a, int64_t b) const { return both(a, constantInt(a.getType(), b)); }
  Value shiftRight(Value a, int64_t b) const { return shiftRight(a, constantInt(a.getType(), b)); }
  Value compare(arith::CmpIPredicate predicate, Value a, int64_t b) const {
    return compare(predicate, a, constantInt(a.getType(), b));
  }
  Value isEqual(Value a, int64_t b) const { return compare(arith::CmpIPredicate::eq, a, b); }
  Value isDifferent(Value a, int64_t b) const { return compare(arith::CmpIPredicate::ne, a, b); }
  Value isBelow(Value a, int64_t b) const { return compare(arith::CmpIPredicate::ult, a, b); }
  Value isAbove(Value a, int64_t b) const { return compare(arith::CmpIPredicate::ugt, a, b); }

  /// An integer that is not negative, as index.
  Value toIndex(Value integer) const;
  /// Element `at` of a sizes, permutation, positions or coordinates field as index: sign-extended where
  /// coordinates can be negative, else zero-extended.
  Value load(unsigned field, Value at) const;
  /// Stores a value at element `at` of a field that is no value, truncated to its width: the caller knows
  /// that it fits.
  void store(unsigned field, Value at, Value value) const;
  /// Bit `at` of a bits field.
  Value loadBit(unsigned field, Value at) const;
  /// The ranked dimension's coordinate at a rank.
  Value permuted(Value rank) const;
  /// Number of coordinates level `level` can have: for digits ceil(dim / stride) or the modulus, for a dense
  /// counter level its count, else by the bounds of its expression.
  Value levelSize(unsigned level) const;
  /// The least coordinate of the level: 0 but for differences.
  Value levelLow(unsigned level) const;
};

//===--- Control flow where an emitter stands ---===//

/// `body(iv)` for lo <= iv < hi; for iv < count.
template <typename Body>
void forEach(const Emitter &e, Value lo, Value hi, dialect::LoopKind kind, Body body) {
  forEach(e.builder, e.loc, lo, hi, kind, body);
}
template <typename Body> void forEach(const Emitter &e, Value count, dialect::LoopKind kind, Body body) {
  forEach(e, e.constant(0), count, kind, body);
}

/// `body(iv, carried) -> carried` for lo <= iv < hi, in order; for iv < count.
template <typename Body> Values reduce(const Emitter &e, Value lo, Value hi, ValueRange inits, Body body) {
  return forLoop(e.builder, e.loc, lo, hi, dialect::LoopKind::Reduction, inits, body);
}
template <typename Body> Values reduce(const Emitter &e, Value count, ValueRange inits, Body body) {
  return reduce(e, e.constant(0), count, inits, body);
}

/// While `condition(carried)`, `body(carried) -> carried`.
template <typename Condition, typename Body>
Values whileLoop(const Emitter &e, ValueRange inits, Condition condition, Body body) {
  return whileLoop(e.builder, e.loc, inits, condition, body);
}

/// `condition ? then() : otherwise()`, both of the given types.
template <typename Then, typename Else>
Values either(const Emitter &e, Value condition, mlir::TypeRange types, Then then, Else otherwise) {
  return ifElse(e.builder, e.loc, condition, types, then, otherwise);
}

/// `body()` where the condition holds.
void when(const Emitter &e, Value condition, llvm::function_ref<void()> body);

/// The same for one level of the tensor.
class LevelEmitter : public Emitter {
public:
  LevelEmitter(const Emitter &emit, unsigned level) : Emitter(emit), level(level) {}

  unsigned level;

  const format::LevelFormat &format() const { return storage.encoding.levels[level].format; }
  Value size() const { return levelSize(level); }
  /// From element `at` of the level's positions to the next one.
  PositionRange storedRange(Value at) const;
  /// Element of the coordinates buffer that belongs to `position`.
  Value storedCoordinate(Value position) const;
  /// Whether a stored coordinate is that of an entry: all bits set mark padding.
  Value isEntry(Value coordinate) const;
};

} // namespace tulle::levels
