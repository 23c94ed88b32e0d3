// mlir-opt with Tulle's dialect, passes and transform ops, and what upstream's passes ask of its ops.
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pipeline/Registration.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  tulle::pipeline::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  tulle::pipeline::registerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tulle's optimizer driver\n", registry));
}
