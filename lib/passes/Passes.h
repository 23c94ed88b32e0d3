// Declarations and registration of Tulle's passes.
#pragma once
#include "mlir/Pass/Pass.h"

namespace tulle::passes {

/// What is done with the iterations behind the last whole vector of a loop.
enum class Tail { Auto, Mask };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace tulle::passes
