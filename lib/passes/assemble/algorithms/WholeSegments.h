// Segments whose entries are all appended, one behind the other.
#pragma once
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/choose/InsertLoops.h"

namespace tulle::assemble {

/// Whether the loop visits the positions of a segment, each of which is an entry, and reduces nothing.
bool visitsSegment(dialect::IterateOp loop);
/// Whether the loop inserts one entry for each position of a segment, and does nothing else that others see:
/// how many there are, and where each goes, is known ahead.
bool insertsSegment(dialect::IterateOp loop);

/// Appends the entries of such a loop, which ends with the insert: a parallel loop over the positions takes
/// its place, or, where the appender counts, nothing but their number.
void appendSegment(const Target &target, Appender &appender, dialect::InsertOp insert);

} // namespace tulle::assemble
