// Scalar expressions of the notation as arith, math and complex operations.
#pragma once
#include "dialect/ScalarConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "notation/Program.h"
#include <functional>

namespace tulle::passes {

using dialect::scalarType;

/// Builds the body of one statement's linalg.generic.
class BodyBuilder {
public:
  using ValueOf = std::function<mlir::Value(const notation::Access &)>;
  using LoopOf = std::function<unsigned(unsigned index)>;
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc, bool strictFp, ValueOf valueOf, LoopOf loopOf)
      : b(builder), loc(loc), strictFp(strictFp), valueOf(std::move(valueOf)), loopOf(std::move(loopOf)) {}

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
  using Value = mlir::Value;
  using Unary = Value (BodyBuilder::*)(Value);
  using Binary = Value (BodyBuilder::*)(Value, Value);
  template <typename Build> struct Row; ///< of a table of operations
  template <typename Build, size_t rows>
  static Build find(const Row<Build> (&table)[rows], notation::Op op, ElementType argType);

  Value unary(notation::Op op, ElementType argType, Value x);
  Value binary(notation::Op op, ElementType argType, Value x, Value y);
  Value boolBinary(notation::Op op, Value x, Value y);
  Value compare(notation::Op op, ElementType argType, Value x, Value y);
  Value compareInts(mlir::arith::CmpIPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  template <typename Division> Value divide(Value x, Value y);
  Value power(Value x, Value y);
  template <typename Shift> Value shift(Value x, Value y);
  Value indexValue(const notation::Affine &value);
  Value integer(mlir::Type type, int64_t value);
  Value real(mlir::Type type, double value);
  /// A floating-point operation with the flags that let reductions reassociate, unless the user forbids it.
  template <typename T, typename... Args> Value fp(Args... args);
  /// An operation without such flags.
  template <typename T, typename... Args> Value plain(Args... args);

  mlir::OpBuilder &b;
  mlir::Location loc;
  bool strictFp;
  ValueOf valueOf; ///< of operands
  LoopOf loopOf;   ///< the dimension of the iteration space that an index is
};

} // namespace tulle::passes
