// Loops of stage 2, over one space or over a set of several, as far as sharing them among threads is
// concerned.
#pragma once
#include "dialect/Dialect.h"
#include "iteration/CostModel.h"

namespace tulle::parallel {

using mlir::Operation;
using mlir::Value;

struct Settings {
  bool deterministic = false;
  iteration::Costs costs = {};
};

bool isLoop(Operation *op);
dialect::LoopKind kindOf(Operation *loop);
mlir::MutableOperandRange initsOf(Operation *loop);
llvm::SmallVector<Value> initValues(Operation *loop);
/// Whether all that the loop's rounds hand on is storage that they write in place.
bool carriesTensorsOnly(Operation *loop);
/// Whether all of it is values, and there are some.
bool carriesValuesOnly(Operation *loop);

/// Whether the coordinates a loop visits can be cut into pieces.
bool canCut(Operation *loop);
/// Makes the loop visit one piece of its coordinates only; the builder stands where that can be computed.
void cutToPart(mlir::OpBuilder &b, Operation *loop, Value part, Value parts);
/// The same for the pieces from `part` on and before `to`.
void cutToParts(mlir::OpBuilder &b, dialect::IterateOp loop, Value part, Value to, Value parts);

/// The same piece of one of a coiterate's spaces, which may have been copied.
Value partOf(mlir::OpBuilder &b, dialect::CoiterateOp loop, Value space, Value part, Value parts);

/// The tensor whose stored entries say how much work a loop over a range has: one whose first, dense level is
/// located at the loop's coordinate and whose second level is walked below. Null without one.
Value weights(dialect::IterateOp loop);

/// How much work a loop has, in stored entries, times the lengths of dense loops inside.
Value work(mlir::OpBuilder &b, Operation *loop);

/// The bounds of a piece of 0 <= k < size.
std::pair<Value, Value> pieceOf(mlir::OpBuilder &b, mlir::Location loc, Value size, Value part, Value parts);
/// A loop over them, whose rounds are independent.
void forEach(mlir::OpBuilder &b, mlir::Location loc, std::pair<Value, Value> bounds,
             llvm::function_ref<void(mlir::OpBuilder &, Value)> body);

/// A parallel region that carries the tensors `inits`; the builder is left inside, before its end. `fill`
/// gets the part and the carried tensors, and returns what they are at the end.
mlir::ValueRange
region(mlir::OpBuilder &b, mlir::Location loc, Value parts, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<Value>(Value part, mlir::ValueRange carried)> fill);

} // namespace tulle::parallel
