// What upstream's passes ask of gathers and scatters.
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace tulle::transform {

/// Gives tulle.gather and tulle.scatter upstream's TilingInterface.
void registerTilingModels(mlir::DialectRegistry &registry);

/// Gives them upstream's BufferizableOpInterface, and SubsetExtractionOpInterface and
/// SubsetInsertionOpInterface, by which bufferization compares what ops read and write.
void registerBufferizationModels(mlir::DialectRegistry &registry);

} // namespace tulle::transform
