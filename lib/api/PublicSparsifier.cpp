#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "pipeline/Registration.h"
#include "pipeline/Sparsifier.h"
#include "tulle/sparsifier.h"

void tulle::registerSparsifier(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  pipeline::registerDialects(registry);
}

void tulle::addSparsifier(mlir::OpPassManager &manager, const SparsifierOptions &options) {
  if (mlir::failed(pipeline::addSparsifier(manager, {.analysisOnly = options.analysisOnly,
                                                     .initializeBuffers = options.initializeBuffers,
                                                     .reassociate = options.reassociate,
                                                     .vectorIndices32 = options.vectorIndices32,
                                                     .parallel = options.parallel,
                                                     .vectorLength = options.vectorLength,
                                                     .cpu = options.cpu})))
    throw Error("expected a pass manager of builtin.module for the sparsifier");
}
