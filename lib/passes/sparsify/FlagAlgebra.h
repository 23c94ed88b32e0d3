// A statement's body where only running code knows which operands have an entry: flags say so.
#pragma once
#include "mlir/IR/Builders.h"
#include "passes/sparsify/Algebra.h"

namespace tulle::passes {

/// What the algebra makes of the body, as bits and selects over presence flags. Questions are answered by
/// decision diagrams: the algebra is asked under "this operand is absent" and "it is present", one operand
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
