// Expressions of an encoding's map, emitted as index arithmetic.
#pragma once
#include "levels/Storage.h"

namespace tulle::levels {

/// What the variables of an expression stand for.
struct Variables {
  llvm::ArrayRef<mlir::Value> dims;   ///< per dimension: its coordinate (in bounds of levels: its size)
  llvm::ArrayRef<mlir::Value> levels; ///< per level: its coordinate
  /// The value of a counter or a rank; expressions that have neither need none.
  std::function<mlir::Value(const format::ExprNode &)> special = {};
};

/// Emits the expression, each `let` once. Values are signed; divisions round down. `unrank` loads from the
/// storage's permutation.
class ExpressionEmitter {
public:
  ExpressionEmitter(const Emitter &emit, Variables variables) : emit(emit), variables(std::move(variables)) {}
  /// The bindings of one expression hold in those emitted after it, as in a map.
  mlir::Value operator()(const format::Expr &expr);

private:
  mlir::Value binary(format::ExprKind kind, mlir::Value a, mlir::Value b);

  const Emitter &emit;
  Variables variables;
  std::map<std::string, mlir::Value> bound;
};

} // namespace tulle::levels
