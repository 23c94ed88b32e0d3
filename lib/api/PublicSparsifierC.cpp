// The C interface over MLIR's own.
#include "dialect/Dialect.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "pipeline/Registration.h"
#include "pipeline/Sparsifier.h"
#include "tulle-c/sparsifier.h"
#include "tulle/sparsifier.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Tulle, tulle, tulle::dialect::TulleDialect)

void tulleRegisterDialects(MlirDialectRegistry registry) { tulle::registerSparsifier(*unwrap(registry)); }

void tulleRegisterPasses() { tulle::pipeline::registerAllPasses(); }

MlirLogicalResult tulleAddNestedSparsifier(MlirOpPassManager manager, const TulleSparsifierOptions *options) {
  const TulleSparsifierOptions given = options ? *options : TulleSparsifierOptions{};
  return wrap(tulle::pipeline::addSparsifier(*unwrap(manager), {.analysisOnly = given.analysisOnly,
                                                                .initializeBuffers = given.initializeBuffers,
                                                                .reassociate = given.reassociate,
                                                                .vectorIndices32 = given.vectorIndices32,
                                                                .vectorLength = given.vectorLength,
                                                                .cpu = given.cpu ? given.cpu : ""}));
}

MlirLogicalResult tulleAddSparsifier(MlirPassManager manager, const TulleSparsifierOptions *options) {
  return tulleAddNestedSparsifier(wrap(static_cast<mlir::OpPassManager *>(unwrap(manager))), options);
}
