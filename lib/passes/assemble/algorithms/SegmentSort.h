// The segments of one compressed level whose entries arrived in any order: sorted, and repeats combined.
#pragma once
#include "passes/assemble/algorithms/TargetAssembly.h"

namespace tulle::assemble {

/// Sorts the coordinates, with the values, of the segments of parents `first` … `last - 1`, the first of
/// which begins at `start`: stably, by counting where segments are short, by merging where they are long.
/// Their level is the last one, and its positions are final.
void sortSegments(const TargetAssembly &assembly, mlir::Value first, mlir::Value last, mlir::Value start);
/// Combines the values at equal coordinates of these segments, which are sorted, and closes the gaps. Returns
/// where the last one ends then.
mlir::Value combineRepeats(const TargetAssembly &assembly, mlir::Value first, mlir::Value last,
                           mlir::Value start);

} // namespace tulle::assemble
