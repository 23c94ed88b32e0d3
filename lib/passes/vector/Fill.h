// Results that a loop of their own fills before a nest updates them.
#pragma once
#include "passes/vector/Nest.h"

namespace tulle::passes {

/// The start value of a nest's elements, stored by a loop before the nest.
struct Fill {
  mlir::TypedAttr value;
  mlir::Value
      replaced; ///< at run time: whether the nest covers the whole buffer, so that the loop does not run
};

/// Finds the loop that fills what the nest updates, where the nest is the only other use of the buffer and
/// runs once for each row of it; makes the loop run only when the nest does not cover the buffer.
std::optional<Fill> replaceFill(const Nest &nest);

} // namespace tulle::passes
