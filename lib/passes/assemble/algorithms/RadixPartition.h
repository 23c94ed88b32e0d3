// Entries that arrive far from each other are partitioned by where they go, and then go there.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"

namespace tulle::assemble {

/// Whether nothing but the parents of a compressed level below dense ones decides where an entry goes.
bool fitsRadixPartition(const TargetFacts &target, const Stream &stream);
/// Makes the buffers of such a target. Entries whose positions are far apart are brought together first; else
/// threads that have a histogram of the parents each store them at once, or `direct` does. Its argument says
/// whether positions that are stored to after each other are in the cache (i1).
void partitionOrElse(Target &target, const Stream &stream, bool parallel,
                     llvm::function_ref<void(mlir::Value cacheResident)> direct);

} // namespace tulle::assemble
