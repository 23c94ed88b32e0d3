// Declarations and registration of Tulle's passes.
#pragma once
#include "mlir/Pass/Pass.h"

namespace tulle::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace tulle::passes
