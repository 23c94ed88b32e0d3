#include "pipeline/Registration.h"
#include "dialect/Dialect.h"
#include "passes/Passes.h"
#include "pipeline/Sparsifier.h"
#include "transform/ScheduleOps.h"
#include "transform/SubsetModels.h"

namespace tulle::pipeline {

void registerAllPasses() {
  passes::registerTullePasses();
  registerSparsifier();
}

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<dialect::TulleDialect>();
  transform::registerScheduleOps(registry);
  transform::registerTilingModels(registry);
  transform::registerBufferizationModels(registry);
}

} // namespace tulle::pipeline
