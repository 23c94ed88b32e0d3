// Expressions of an encoding's map, emitted as index arithmetic.
#pragma once
#include "levels/Storage.h"

namespace tulle::levels {

/// The value of a counter or a rank.
using SpecialValue = llvm::function_ref<Value(const format::ExprNode &)>;

/// What the variables of an expression stand for.
struct Variables {
  ValueRange dims;           ///< per dimension: its coordinate (in bounds of levels: its size)
  ValueRange levels;         ///< per level: its coordinate
  SpecialValue special = {}; ///< without it, counters and ranks are 0
};

/// Emits the expression, each `let` once. Values are signed, but for those of dimensions and of digits of
/// these; divisions round down. `unrank` loads from the storage's permutation.
class ExpressionEmitter {
public:
  ExpressionEmitter(const Emitter &emit, Variables variables) : emit(emit), variables(variables) {}
  /// The bindings of one expression hold in those emitted after it, as in a map.
  Value operator()(const format::Expr &expr);

private:
  Value binary(const format::ExprNode &e, Value a, Value b);

  Emitter emit;
  Variables variables;
  std::map<std::string, Value> bound;
};

/// Quotient (FloorDiv) or remainder (Mod) of signed values by a positive divisor, rounded down; shifts and
/// masks where it is a power of two.
Value floorDivision(const Emitter &emit, format::ExprKind kind, Value a, Value b);

} // namespace tulle::levels
