// How much memory a new tensor gets before its entries are known.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// An upper bound of the number of inserts: the stream's own, else a copy of its loops counts them.
mlir::Value boundInserts(const levels::Emitter &e, const Stream &stream);
/// An upper bound of the number of entries: the stream's own, else countEntries.
mlir::Value boundEntries(const Target &target, const Stream &stream);
/// The same from a copy of the loops, or of one chunk of them, that counts the inserts: below each position
/// of the levels above the last stored one, as far as iterations of a loop tell these apart, no more than
/// that level has coordinates.
mlir::Value countEntries(const Target &target, const Stream &stream, const parallel::Chunk *chunk = nullptr);
/// A count that does not wrap when it is multiplied by the size of something: what would, does not fit
/// memory.
mlir::Value saturated(const levels::Emitter &e, mlir::Value count);
/// Whether so many (saturated) entries with `block` values each fit the memory available (i1).
mlir::Value fitEntries(const Target &target, mlir::Value count, mlir::Value block);
/// The same of bytes.
mlir::Value fitBytes(const levels::Emitter &e, mlir::Value bytes);

/// The numbers of positions of the target's groups of levels (Appender) to allocate, for at most `entries`
/// entries (null: not known) with `block` values each: this bound for each where the target's plan, or
/// without one the memory available, allows it; else what `count()` computes.
Values planPositions(const Target &target, mlir::Value entries, mlir::Value block,
                     llvm::function_ref<Values()> count);

} // namespace tulle::assemble
