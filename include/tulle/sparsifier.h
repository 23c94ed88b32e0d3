// A drop-in for MLIR's pipeline `sparsifier`, for programs that are built on MLIR themselves, in the version
// that Tulle was built with. The other headers do not include this one.
#pragma once
#include "tulle/error.h"
#include "tulle/export.h"
#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace tulle {

/// What of the options of MLIR's pipeline makes a difference.
struct SparsifierOptions {
  bool analysisOnly = false; ///< test-bufferization-analysis-only: only say what would be written in place
  bool initializeBuffers = false; ///< enable-buffer-initialization, of sparse_tensor.push_back
  bool reassociate = false;       ///< reassociate-fp-reductions: vector reductions of dense code
  bool vectorIndices32 = false;   ///< enable-index-optimizations: indices of vector code have 32 bits
  bool parallel = false;          ///< threads, and a parallelization-strategy: loops run on OpenMP's threads
  unsigned vectorLength = 0;      ///< vl: elements of a vector; 0: chosen for the element type
  std::string cpu; ///< cpu: the processor that code is planned for, or native; empty: a generic one
};

/// Adds Tulle's dialect, MLIR's, and the interfaces by which the pipeline lowers them. Call it before the
/// context is made, or append the registry to the context.
TULLE_EXPORT void registerSparsifier(mlir::DialectRegistry &registry);

/// Adds the pipeline to a pass manager of builtin.module: a module that mixes sparse_tensor with other
/// dialects becomes one of the LLVM dialect. Throws Error where the manager is one of other ops.
TULLE_EXPORT void addSparsifier(mlir::OpPassManager &manager, const SparsifierOptions &options = {});

} // namespace tulle
