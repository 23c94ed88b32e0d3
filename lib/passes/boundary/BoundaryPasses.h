// Declarations and registration of the passes around the stages.
#pragma once
#include "mlir/Pass/Pass.h"

namespace tulle::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/boundary/BoundaryPasses.h.inc"
} // namespace tulle::passes
