// What a new tensor stores as the tensor its entries come from does: whole buffers, copied as they stand.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Entries that are those of one tensor, in its order, and each has a position of its own in the target: the
/// k-th value of one is the k-th of the other, and so are coordinates that both store for each entry.
class Verbatim {
public:
  /// Nullopt where not even the values are the same.
  static std::optional<Verbatim> find(const Target &target, dialect::AssembleOp op, const Order &order);

  /// The target's fields, values among them, that `copy` writes.
  llvm::ArrayRef<unsigned> fields() const { return targetFields; }
  /// Copies share `part` of `parts`; the target's buffers are allocated.
  void copy(mlir::OpBuilder &b, const Target &target, mlir::Value part, mlir::Value parts) const;

private:
  mlir::Value source;
  std::vector<unsigned> targetFields;
  std::vector<unsigned> sourceLevels; ///< for each field but the last one, the level that has the coordinates
};

} // namespace tulle::assemble
