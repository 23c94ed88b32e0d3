// A drop-in for upstream's pipeline `sparsifier`: modules that mix sparse_tensor with other dialects, as
// LLVM.
#pragma once
#include "mlir/Pass/PassManager.h"
#include <string>

namespace tulle::pipeline {

/// What of upstream's options changes anything here.
struct SparsifierOptions {
  bool analysisOnly = false;      ///< only say what would be written in place
  bool initializeBuffers = false; ///< of sparse_tensor.push_back
  bool reassociate = false;       ///< vector reductions of dense code
  bool vectorIndices32 = false;   ///< vector code of dense loops takes indices for 32 bits
  bool parallel = false;          ///< loops of kernels run on OpenMP's threads
  unsigned vectorLength = 0;      ///< elements of a vector; 0: chosen for the element type
  std::string cpu;                ///< that kernels are planned for, or native; empty: generic
};

/// The passes of the pipeline as text, on a builtin.module. Any pass of them may run alone, in this order.
std::string sparsifierPasses(const SparsifierOptions &options);

/// Adds the pipeline to a pass manager on builtin.module; fails, with a text on stderr, on another.
mlir::LogicalResult addSparsifier(mlir::OpPassManager &manager, const SparsifierOptions &options);

/// Makes `--tulle-sparsifier` known to drivers. It takes upstream's options, but those for other targets.
void registerSparsifier();

} // namespace tulle::pipeline
