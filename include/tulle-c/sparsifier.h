/* A drop-in for MLIR's pipeline `sparsifier`, for programs that use MLIR's C API, in the version that Tulle
 * was built with. Everything is in libtulle.so; MLIR's own functions are in its libMLIRCAPI….a, which must be
 * linked with the same libMLIR.so. */
#ifndef TULLE_C_SPARSIFIER_H
#define TULLE_C_SPARSIFIER_H
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/Support.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What of the options of MLIR's pipeline makes a difference; all zero is what it does without options. */
typedef struct {
  bool analysisOnly;      /**< test-bufferization-analysis-only: only say what would be written in place */
  bool initializeBuffers; /**< enable-buffer-initialization, of sparse_tensor.push_back */
  bool reassociate;       /**< reassociate-fp-reductions: vector reductions of dense code */
  bool vectorIndices32;   /**< enable-index-optimizations: indices of vector code have 32 bits */
  unsigned vectorLength;  /**< vl: elements of a vector; 0: chosen for the element type */
  const char *cpu;        /**< cpu: the processor that code is planned for, or native; null: a generic one */
} TulleSparsifierOptions;

/** mlirGetDialectHandle__tulle__: Tulle's dialect alone, for mlirDialectHandleRegisterDialect. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Tulle, tulle);

/** Adds Tulle's dialect, MLIR's, and the interfaces by which the pipeline lowers them. */
MLIR_CAPI_EXPORTED void tulleRegisterDialects(MlirDialectRegistry registry);

/** Makes Tulle's passes known to texts of pipelines (mlirParsePassPipeline), and `tulle-sparsifier` with the
 * options of MLIR's `sparsifier`. */
MLIR_CAPI_EXPORTED void tulleRegisterPasses(void);

/** Adds the pipeline to a pass manager of builtin.module. Fails, with a text on stderr, where it is one of
 * other ops. Options may be null: all zero. */
MLIR_CAPI_EXPORTED MlirLogicalResult tulleAddSparsifier(MlirPassManager manager,
                                                        const TulleSparsifierOptions *options);

/** The same for a manager that is part of another. */
MLIR_CAPI_EXPORTED MlirLogicalResult tulleAddNestedSparsifier(MlirOpPassManager manager,
                                                              const TulleSparsifierOptions *options);

#ifdef __cplusplus
}
#endif

#endif /* TULLE_C_SPARSIFIER_H */
