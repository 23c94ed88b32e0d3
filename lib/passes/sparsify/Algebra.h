// What a statement's body yields when some operands store nothing: the algebra that decides sparsity; and the
// same where only running code knows which operands have an entry.
#pragma once
#include "format/Encoding.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <map>

namespace tulle::passes {

/// What is known about the inputs of a linalg.generic inside of some of its loops (bit k: input k). An input
/// in neither mask may or may not have an entry.
struct Presence {
  uint64_t absent = 0;  ///< no entry here
  uint64_t present = 0; ///< an entry here
};

/// Simplifies a generic's body under "these operands are absent" without building IR. A value simplifies to a
/// constant or to the value in the body that it equals. Absent operands have their fill, and it annihilates:
/// `0 * x`, `0 / x`, `0 & x` and `inf + x` are the fill for every x, infinities and nan included
/// (docs/design/language.md). A constant that comes from elsewhere is a value like others: `log(1) * nan` is
/// nan.
class BodyAlgebra {
public:
  explicit BodyAlgebra(mlir::linalg::GenericOp generic);

  /// The accumulator has this value everywhere the body is evaluated (nothing was accumulated before).
  void setAccumulator(mlir::Attribute value);

  mlir::OpFoldResult simplify(mlir::Value value, Presence at);
  mlir::OpFoldResult yielded(Presence at) { return simplify(yieldOperand(), at); }
  /// What the body yields and what stands for the accumulator in it. A body that widens the accumulator first
  /// and narrows it last (f16 in f32) is taken without these two conversions: sums stay wide until they are
  /// stored.
  mlir::Value yieldOperand() const { return yieldValue; }
  mlir::Value accumulatorArg() const { return accumulatorValue; }
  /// The body leaves the accumulator as it is: the coordinate need not be visited.
  bool isNoOp(Presence at);
  /// The body is a constant, or `accumulator (op) constant` for a monoid where doing that once is the same as
  /// doing it often.
  bool isIdempotentConstant(Presence at);
  /// What the body adds to the accumulator, once for each coordinate; null where it does something else, or
  /// where the product with a number of coordinates is not their sum.
  mlir::Value addend(Presence at);

  /// What the value depends on, as far as the algebra tells: inputs (bit k: input k), indices, the
  /// accumulator, and how many values.
  struct Reads {
    uint64_t inputs = 0;
    llvm::SmallDenseSet<unsigned, 4> indices;
    bool accumulator = false;
    unsigned values = 0;
  };
  Reads reads(mlir::Value value, Presence at);
  /// Equal for equal values that stay equal whatever else becomes known about the inputs.
  unsigned residual(mlir::Value value, Presence at) {
    llvm::DenseMap<mlir::Value, unsigned> numbered;
    return residual(value, at, numbered);
  }

private:
  unsigned residual(mlir::Value value, Presence at, llvm::DenseMap<mlir::Value, unsigned> &done);
  /// What a value has to be for lack of entries: 0, or the fill whatever that is.
  enum class Lack { Zero, Fill };
  bool vanishes(mlir::Value value, Presence at, Lack lack);
  bool isEmptied(mlir::Value value, mlir::Attribute constant, Presence at, Lack lack);
  bool annihilates(mlir::Value factor, Presence at, Lack lack = Lack::Zero);
  mlir::OpFoldResult rule(mlir::Operation *op, llvm::ArrayRef<mlir::OpFoldResult> args, Presence at);
  mlir::OpFoldResult compute(mlir::Operation *op, Presence at);

  mlir::linalg::GenericOp generic;
  mlir::Value accumulatorValue, yieldValue;
  mlir::Attribute accumulator;
  llvm::DenseMap<std::tuple<mlir::Value, uint64_t, uint64_t>, mlir::OpFoldResult> known;
  llvm::DenseMap<std::tuple<mlir::Value, uint64_t, uint64_t, unsigned>, bool> vanishing;
  std::map<std::vector<uintptr_t>, unsigned> residuals; ///< numbered as they come
};

/// What the algebra makes of the body, as bits and selects over presence flags. Questions are answered by
/// decision diagrams: the body is simplified under "this operand is absent" and "it is present", one operand
/// after the other, and what is the same either way is made once. A sum of n products has a diagram of 2 n
/// nodes.
class FlagAlgebra {
public:
  /// `uncertain`: the inputs (bit k: input k) of which `flags` tells; `tested`: those whose presence itself
  /// the body reads. Emits where the builder stands.
  FlagAlgebra(mlir::OpBuilder &b, mlir::Location loc, BodyAlgebra &algebra, Presence at, uint64_t uncertain,
              uint64_t tested, llvm::ArrayRef<mlir::Value> flags)
      : b(b), loc(loc), algebra(algebra), at(at), uncertain(uncertain), tested(tested), flags(flags) {}

  /// A bit: whether the body changes the accumulator; null where it does whatever is present.
  mlir::Value changes();
  /// The value of an operation of the body. `plain` is what it computes from the fills of what is absent: the
  /// same, unless an absent operand annihilates the others (0 * inf, 0 / 0).
  mlir::Value corrected(mlir::Value value, mlir::Value plain);

private:
  /// What is known of the value with this presence, if it is.
  using Known = llvm::function_ref<mlir::Attribute(Presence)>;
  struct Node {
    unsigned input = 0, with = 0, without = 0; ///< nodes
    bool known = false;                        ///< a leaf with the attribute (null: the plain value)
    mlir::Attribute attribute;
  };

  unsigned leaf(mlir::Attribute attribute);
  unsigned decide(mlir::Value root, Known known, Presence now, llvm::DenseMap<unsigned, unsigned> &done);
  mlir::Value emit(unsigned node, mlir::Value plain, llvm::DenseMap<unsigned, mlir::Value> &done);

  mlir::OpBuilder &b;
  mlir::Location loc;
  BodyAlgebra &algebra;
  Presence at;
  uint64_t uncertain, tested;
  llvm::ArrayRef<mlir::Value> flags;
  std::vector<Node> nodes;
};

} // namespace tulle::passes
