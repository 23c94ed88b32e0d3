// The regions of tulle.histogram and tulle.scatter_entries.
#pragma once
#include "passes/assemble/algorithms/Emit.h"

namespace tulle::assemble {

/// Emits the region at an entry: adds 1 to `counts[first + key]`, and returns what it was.
mlir::Value takeFromBucket(const levels::Emitter &emit, mlir::Region &keys, mlir::Value entry,
                           mlir::Value counts, mlir::Value first);

} // namespace tulle::assemble
