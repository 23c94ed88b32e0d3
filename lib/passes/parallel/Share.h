// The ways in which threads share a loop. Each returns whether it applied.
#pragma once
#include "passes/parallel/Loops.h"

namespace tulle::parallel {

/// So many pieces for each part; one where there is one part.
Value severalEach(mlir::OpBuilder &b, mlir::Location loc, Value parts, Value each);

/// Rounds that store to places of their own: each part runs a piece of the loop.
bool shareRounds(Operation *loop, const Settings &settings);
/// The same, but what one coordinate alone holds more than a share of is shared by itself: its inner loop is.
bool shareHeavyRounds(Operation *loop, const Settings &settings);
/// Values that the rounds add to (or the like): each part makes one of its own, which are added up. `parts`:
/// how many, where that is known.
bool sharePartials(Operation *loop, const Settings &settings);
void sharePartials(Operation *loop, Value parts);
/// Whether the loop only adds to values.
bool addsToValues(Operation *loop);
/// Rounds of an inner loop over all coordinates of a dimension store to places of their own, in all rounds of
/// the loop: each part runs a piece of the inner one.
bool shareInside(Operation *loop, const Settings &settings);
/// Rounds add (or the like) to a dense tensor: each part has a copy of its own.
bool shareCopies(Operation *loop, const Settings &settings);

/// A start value for all of a tensor: each part writes a piece of the buffer.
void shareFill(dialect::FillOp fill);

/// The first of these that applies to a loop.
bool share(Operation *loop, const Settings &settings);

} // namespace tulle::parallel
