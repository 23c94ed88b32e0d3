// From one checked statement to its function.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/Import.h"

namespace tulle::passes {

struct ImportedStatement {
  mlir::func::FuncOp function;
  /// The tensor that stores the same coordinates at the same positions as the result, after the statement.
  std::optional<unsigned> hasPatternOf;
};

/// What holds of a tensor in the whole program.
struct TensorFacts {
  llvm::SmallVector<int64_t> sizes;    ///< by dimension, numbers that are equal for equal sizes
  llvm::SmallVector<int64_t> disjoint; ///< by dimension, the number of a group that no two members of have
                                       ///< entries at one coordinate, or -1; empty where nothing is known
  std::vector<bool> fixed;             ///< by dimension, whether its size is a constant
  bool noPadding = false;              ///< every position is an entry
};

/// Makes `@statement<number>` where the builder stands. `patterns` are those of the tensors before the
/// statement, as numbers. Throws SyntaxError for a sparse result that would be dense.
ImportedStatement importStatement(mlir::OpBuilder &b, const notation::Program &program, unsigned number,
                                  const ImportOptions &options, llvm::ArrayRef<int64_t> patterns,
                                  llvm::ArrayRef<TensorFacts> facts);

} // namespace tulle::passes
