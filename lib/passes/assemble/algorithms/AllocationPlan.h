// How much memory a new tensor gets before its entries are known.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// An upper bound of the number of inserts: the op's own, else a copy of its loops counts them.
mlir::Value boundInserts(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op);
/// The op's own bound of the number of entries: of inserts, or of coordinates they are made at; null without.
mlir::Value leastBound(mlir::OpBuilder &b, dialect::AssembleOp op);
/// An upper bound of the number of entries: the op's own, else countEntries.
mlir::Value boundEntries(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op, const Order &order);
/// The same from a copy of the loops, or of one chunk of them, that counts the inserts: below each position
/// of the levels above the last stored one, as far as passes of a loop tell these apart, no more than that
/// level has coordinates.
mlir::Value countEntries(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op, const Order &order,
                         const parallel::Chunk *chunk = nullptr);
/// Bytes that an entry with `block` values can take.
mlir::Value bytesPerEntry(mlir::OpBuilder &b, const Target &target, mlir::Value block);
/// Whether that many bytes of memory are available (i1).
mlir::Value fitsMemory(mlir::OpBuilder &b, const Target &target, mlir::Value bytes);

/// The numbers of positions of a target's runs to allocate, for at most `entries` entries with `block` values
/// each: this bound for each where the op's plan, or without one the memory available, allows it; else what
/// `count()` computes.
Values planPositions(mlir::OpBuilder &b, Target &target, mlir::Value entries, unsigned runs,
                     mlir::Value block, llvm::function_ref<Values(mlir::OpBuilder &)> count);

} // namespace tulle::assemble
