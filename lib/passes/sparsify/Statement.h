// A linalg.generic read as a sparse statement: operands with level maps and subscripts, and where the result
// starts.
#pragma once
#include "dialect/Dialect.h"
#include "iteration/Plan.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/sparsify/Algebra.h"

namespace tulle::passes {

/// One input, or (last) the result.
struct SparseOperand {
  mlir::Value tensor;
  dialect::EncodingAttr encoding;
  std::vector<format::Digit> digits; ///< one per level; none where the map is not made of digits
  std::vector<iteration::Subscript> subscripts;
  bool sparse = false; ///< some level does not store every coordinate
  bool extent = false; ///< only says how far an index runs; never read
  /// No loop over a dimension follows its levels, because they are no digits of dimensions or not in order:
  /// it can only be walked as it is stored.
  bool byStorage = false;
  /// An operand before it that stores the same coordinates at the same positions: that one is walked for
  /// both.
  std::optional<unsigned> leader;
};

struct SparseStatement {
  mlir::linalg::GenericOp generic;
  std::vector<SparseOperand> operands; ///< inputs, then the result
  std::vector<bool> reduction;         ///< per index
  mlir::Value init;                    ///< the result's storage before any fill
  mlir::Attribute start;               ///< every slot's value before the statement, if a constant
  std::optional<unsigned> pattern;     ///< input whose pattern a sparse result shares
  bool assembled = false;              ///< the result is a new sparse tensor: the loops insert its entries

  /// The operand that is walked for this one.
  unsigned leaderOf(unsigned operand) const { return operands[operand].leader.value_or(operand); }
  SparseOperand &result() { return operands.back(); }
  const SparseOperand &result() const { return operands.back(); }
  std::vector<iteration::Operand> planOperands() const;
  format::Encoding storedOrder() const;

  /// Fails with a diagnostic for what is not a statement over tensors that can hold data: several results,
  /// semi-affine subscripts, a sparse result with neither `tulle.like` nor `tensor.empty`.
  static mlir::FailureOr<SparseStatement> read(mlir::linalg::GenericOp generic);
};

/// What the user calls the indices, else `d0`, `d1`, ….
std::vector<std::string> nameOfIndices(mlir::linalg::GenericOp generic);
/// What the user calls an operand: its tensor's name, else its number.
std::string nameOfOperand(mlir::linalg::GenericOp generic, unsigned operand);

} // namespace tulle::passes
