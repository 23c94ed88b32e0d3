// Scalar expressions of the notation as arith, math and complex operations.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "notation/Program.h"
#include <functional>

namespace tulle::passes {

mlir::Type scalarType(mlir::MLIRContext &context, ElementType type);

/// Builds the body of one statement's linalg.generic.
class BodyBuilder {
public:
  using ValueOf = std::function<mlir::Value(const notation::Access &)>;
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc, bool strictFp, ValueOf valueOf)
      : b(builder), loc(loc), strictFp(strictFp), valueOf(std::move(valueOf)) {}

  mlir::Value expr(const notation::Expr &expr);
  /// The i1 that says whether the coordinate is in the set.
  mlir::Value mask(const notation::Mask &mask);
  /// `accumulator (op) value` of the monoid, in the element type of the result.
  mlir::Value reduce(notation::Reduce reduce, ElementType type, mlir::Value accumulator, mlir::Value value);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(b, loc, condition, yes, no);
  }
  mlir::Value constant(ElementType type, const Scalar &value);
  mlir::Value convert(mlir::Value x, ElementType from, ElementType to);

private:
  mlir::Value unary(notation::Op op, ElementType type, ElementType argType, mlir::Value x);
  mlir::Value binary(notation::Op op, ElementType argType, mlir::Value x, mlir::Value y);
  mlir::Value floatUnary(notation::Op op, mlir::Value x);
  mlir::Value complexUnary(notation::Op op, mlir::Value x);
  mlir::Value intBinary(notation::Op op, mlir::Value x, mlir::Value y);
  mlir::Value boolBinary(notation::Op op, mlir::Value x, mlir::Value y);
  mlir::Value floatBinary(notation::Op op, mlir::Value x, mlir::Value y);
  mlir::Value complexBinary(notation::Op op, mlir::Value x, mlir::Value y);
  mlir::Value compare(notation::Op op, ElementType argType, mlir::Value x, mlir::Value y);
  template <typename Division> mlir::Value divide(mlir::Value x, mlir::Value y);
  mlir::Value power(mlir::Value x, mlir::Value y);
  template <typename Shift> mlir::Value shift(mlir::Value x, mlir::Value y);
  mlir::Value floatToInt(mlir::Value x, ElementType from, ElementType to);
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value real(mlir::Type type, double value);
  template <typename T, typename... Args> mlir::Value fp(Args... args);
  template <typename T, typename... Args> mlir::Value plain(Args... args);
  template <size_t n, typename... Args>
  mlir::Value fromTable(const std::pair<notation::Op, mlir::Value (BodyBuilder::*)(Args...)> (&table)[n],
                        notation::Op op, Args... args);

  mlir::OpBuilder &b;
  mlir::Location loc;
  bool strictFp;
  ValueOf valueOf;
};

} // namespace tulle::passes
