// The segments of one compressed level whose entries arrived in any order: sorted, and repeats combined.
#pragma once
#include "passes/assemble/Queries.h"

namespace tulle::assemble {

/// Sorts the coordinates, with the values, of every parent's segment: stably, by counting where segments are
/// short, by merging where they are long. The level is the last one, and its positions are final.
void sortSegments(const TargetAssembly &assembly, const levels::LevelBuild &build);
/// Those of the parents `first` … `last - 1`; the first one's begins at `start`.
void sortSegments(const TargetAssembly &assembly, const levels::LevelBuild &build, mlir::Value first,
                  mlir::Value last, mlir::Value start);

/// Combines the values at equal coordinates of sorted segments, and closes the gaps; coordinates and values
/// end behind the last entry then.
void combineRepeats(const TargetAssembly &assembly, const levels::LevelBuild &build);
/// The same for the parents `first` … `last - 1`, whose segments begin at `start` and stay there: returns
/// where the last one ends then.
mlir::Value combineRepeats(const TargetAssembly &assembly, const levels::LevelBuild &build, mlir::Value first,
                           mlir::Value last, mlir::Value start);

} // namespace tulle::assemble
