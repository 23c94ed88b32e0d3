// The ways in which threads share a loop. Each returns whether it applied.
#pragma once
#include "passes/parallel/SetLoops.h"

namespace tulle::parallel {

/// So many pieces for each part; one where there is one part.
Value severalEach(mlir::OpBuilder &b, mlir::Location loc, Value parts, Value each);

/// Rounds that store to places of their own: each part runs a piece of the loop.
bool shareRounds(Operation *loop, const Settings &settings);
/// The same, or rounds that add to values, in equal parts that may begin inside of a coordinate that holds
/// much: its inner loops are cut, too.
bool shareCutRounds(Operation *loop, const Settings &settings);
/// Values that the rounds add to (or the like): each part makes one of its own, which are added up.
bool sharePartials(Operation *loop, const Settings &settings);
/// The same in so many parts; `cut` makes the loop, in front of which the builder stands, be one of them.
/// Returns the sums.
mlir::ValueRange sharePartials(Operation *loop, Value parts,
                               llvm::function_ref<void(mlir::OpBuilder &, Value part)> cut);
/// What a loop combines its values with, for each result.
struct Combiners {
  llvm::SmallVector<Operation *> operations;
  llvm::SmallVector<mlir::TypedAttr> identities;
};
std::optional<Combiners> combinersOf(Operation *loop);
/// Whether the loop only adds to values (or the like).
bool addsToValues(Operation *loop);

/// Results stand so many elements apart: threads that write next to each other wait for each other.
inline constexpr int64_t kApart = 64;
/// Rounds of an inner loop over all coordinates of a dimension store to places of their own, in all rounds of
/// the loop: each part runs a piece of the inner one.
bool shareInside(Operation *loop, const Settings &settings);
/// Rounds add (or the like) to a dense tensor: each part has a copy of its own.
bool shareCopies(Operation *loop, const Settings &settings);

/// A start value for all of a tensor: each part writes a piece of the buffer.
void shareFill(dialect::FillOp fill, const Settings &settings);

/// The first of these that applies to a loop.
bool share(Operation *loop, const Settings &settings);

} // namespace tulle::parallel
