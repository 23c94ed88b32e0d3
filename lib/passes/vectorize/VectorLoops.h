// The loops of whole vectors, and the epilogue, that a loop becomes.
#pragma once
#include "iteration/CostModel.h"
#include "levels/Indices.h"
#include "passes/vectorize/VectorAccumulator.h"

namespace tulle::passes {

/// How one loop is vectorized.
struct VectorShape {
  Lanes lanes;
  unsigned rowLanes;      ///< of the wider vectors that long rows of a reduction begin with
  bool overReads = false; ///< the last vector of a row may over-read into the next row
};

/// Rewrites a legal loop: loops of whole vectors, then a scalar or an over-reading epilogue.
class VectorLoops : levels::Indices {
public:
  VectorLoops(VectorizationLegality legality, const VectorShape &shape, const iteration::CostModel &model);

  void emit();
  /// The loops around that carry vectors now: what they were, and what they are.
  llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> replaced() const {
    return accumulator.replaced();
  }

private:
  using Values = llvm::SmallVector<Value>;
  /// Where the vectors of a loop end, and its vector accumulators there.
  struct State {
    Value position;
    Values partial;
  };

  VectorizationLegality legality;
  Lanes lanes;
  unsigned rowLanes;
  const iteration::CostModel &model;
  VectorAccumulator accumulator;
  Value upper;     ///< where the vectors end
  Value endOfRows; ///< where the last row ends, if vectors may over-read into the next one; else null

  Values initial();
  State vectorLoops(State from, Value step);
  State wideLoops(Value position);
  State vectorLoop(State from, Value step, int64_t vectors, int64_t chains);
  State scalarizeWhereLocal(llvm::ArrayRef<Value> coordinates, State from, Value step);
  Value areRowsLocal(llvm::ArrayRef<Value> coordinates, Value lower, Value step);
  Values reduced(Values partial);
  Value lastEntry(mlir::scf::ForOp rows);
  void overReadingEpilogue(const State &end);
  void scalarEpilogue(Value position, mlir::ValueRange inits);
};

} // namespace tulle::passes
