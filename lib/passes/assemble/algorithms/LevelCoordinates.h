// Level expressions and their inverses, as emitted index arithmetic.
#pragma once
#include "format/Expr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tulle::assemble {

/// Emits the expressions of one map. A `let` is emitted once: its variable lives on in later expressions.
class Coordinates {
public:
  /// What a counter or a rank is here.
  using Special = llvm::function_ref<mlir::Value(const format::ExprNode &)>;

  /// Either of `dims` and `levels` may be empty; without `special`, counters and ranks are 0.
  Coordinates(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange dims, mlir::ValueRange levels,
              Special special = {})
      : b(b), loc(loc), dims(dims), levels(levels), special(special) {}

  /// The value, as index; coordinates of levels may be negative where their expressions are.
  mlir::Value operator()(const format::Expr &e);

private:
  mlir::Value binary(const format::ExprNode &e, mlir::Value x, mlir::Value y);
  mlir::Value modulo(const format::ExprNode &e, mlir::Value x, mlir::Value y);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::ValueRange dims, levels;
  Special special;
  std::map<std::string, mlir::Value> variables;
};

} // namespace tulle::assemble
