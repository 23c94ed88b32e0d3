// Results that a loop of their own fills before a nest updates them.
#pragma once
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

/// `for i in 0..size: buffer[place + i] = value`; place is null where there is none.
struct InitLoop {
  mlir::scf::ForOp loop;
  mlir::Value place, size;
  mlir::TypedAttr value;
};

/// The loop before `op`, in its block, that fills the buffer, where nothing between the two touches the
/// buffer.
std::optional<InitLoop> findFill(mlir::Operation *op, mlir::Value buffer);

/// What an index adds to the loop's: null where nothing; fails where the index is computed otherwise.
std::optional<mlir::Value> placeOf(mlir::Value index, mlir::scf::ForOp loop);

/// The start value of a nest's elements, stored by a loop before the nest.
struct Fill {
  mlir::TypedAttr value;
  mlir::Value size;     ///< elements the loop fills
  mlir::Value replaced; ///< at run time: whether the nest stores the same elements, so that the loop need not
  mlir::Value large;    ///< at run time: that, and the buffer is larger than caches; null where nothing says
};

/// Finds the loop before the nest that fills what the nest updates, and makes it run only where the nest
/// does not store all of that. Where the nest's bounds move, its first steps are to fill what they do not
/// update.
std::optional<Fill> replaceFill(const ReductionNest &nest);

} // namespace tulle::passes
