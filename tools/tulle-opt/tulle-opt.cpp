// mlir-opt with Tulle's dialect, passes and transform ops, and what upstream's passes ask of its ops.
#include "dialect/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "pipeline/Sparsifier.h"
#include "transform/ScheduleOps.h"
#include "transform/SubsetModels.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  tulle::passes::registerTullePasses();
  tulle::pipeline::registerSparsifier();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<tulle::dialect::TulleDialect>();
  tulle::transform::registerScheduleOps(registry);
  tulle::transform::registerTilingModels(registry);
  tulle::transform::registerBufferizationModels(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tulle's optimizer driver\n", registry));
}
