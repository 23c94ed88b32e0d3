// What MLIR's tools ask of a library that they load: mlir-opt --load-pass-plugin=libtulle.so, and
// --load-dialect-plugin.
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "pipeline/Registration.h"
#include "tulle/export.h"

extern "C" TULLE_EXPORT mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tulle", TULLE_VERSION, tulle::pipeline::registerAllPasses};
}

extern "C" TULLE_EXPORT mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tulle", TULLE_VERSION,
          [](mlir::DialectRegistry *registry) { tulle::pipeline::registerDialects(*registry); }};
}
