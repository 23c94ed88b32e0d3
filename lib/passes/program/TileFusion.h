// Statements computed in the tiles of what reads them: an iteration of the reader's loop makes what it needs.
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::func {
class FuncOp;
}

namespace tulle::program {

/// Why statements whose place is a loop over tiles cannot be computed there, by their names.
using TileObstacles = llvm::MapVector<llvm::StringRef, llvm::StringRef>;

/// Moves loops whose place (`compute_at`) is a loop that visits other coordinates into that loop, restricted
/// to what an iteration reads, of which alone there is memory.
TileObstacles fuseTiles(mlir::func::FuncOp function);

} // namespace tulle::program
