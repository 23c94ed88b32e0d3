// What drivers that are built on MLIR are to know of Tulle: tulle-opt, tulle-lsp-server, and those that load
// libtulle.so as a plugin.
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace tulle::pipeline {

/// Makes every pass of Tulle known by its name, and the pipeline `tulle-sparsifier`.
void registerAllPasses();

/// Adds the dialect, its ops of the transform dialect, and what upstream's passes ask of its ops.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tulle::pipeline
