// mlir-opt with Tulle's dialect, passes and transform ops.
#include "dialect/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "transform/ScheduleOps.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  tulle::passes::registerTullePasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<tulle::dialect::TulleDialect>();
  tulle::transform::registerScheduleOps(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tulle's optimizer driver\n", registry));
}
