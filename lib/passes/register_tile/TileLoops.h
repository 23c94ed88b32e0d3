// The loops around a tile of elements that stay in registers.
#pragma once
#include "iteration/CostModel.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

/// `for i: for j: for p: for k: C[k] += v[p] * B[i, k] * D[j, k] * E[p, k]` (MTTKRP). By distributivity B
/// and D are factored out of the sums of the loops inside theirs: C[k] += B[i, k] * Σ_j D[j, k] * Σ_p ….
struct HoistFactors {
  /// For each of the nest's outer loops, the factors that follow its sum, a row of them among these; none
  /// where there is no row. Of the innermost one, those that are summed.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> of;
  mlir::arith::FastMathFlagsAttr flags;
};

/// Copies of a nest's outer loops that carry the vectors of a tile. What several entries are multiplied by is
/// factored out of their sum (HoistFactors), which is then a tile of its own.
class TileLoops : levels::IndicesAt {
public:
  TileLoops(mlir::OpBuilder &builder, const ReductionNest &nest, const iteration::CostModel &model,
            bool hoistsFactors);

  /// The elements after iterations `begin` … `end - 1` of the outermost loop. `parts`: an emitter for each
  /// vector.
  llvm::SmallVector<mlir::Value> run(mlir::Value begin, mlir::Value end, mlir::ValueRange elements,
                                     llvm::MutableArrayRef<BodyEmitter> parts, const Lanes &lanes);

private:
  using Values = llvm::SmallVector<Value>;

  /// How the innermost loops run: nested, the same with software prefetch of the rows of later entries, or of
  /// the rows that follow in memory, or coalesced.
  enum class Form { Nested, PrefetchRemote, PrefetchConsecutive, Coalesced };
  struct Tile {
    llvm::MutableArrayRef<BodyEmitter> parts;
    const Lanes &lanes;
    Form form;
  };

  const ReductionNest &nest;
  const iteration::CostModel &model;
  PrefetchPlan rows;
  size_t tree; ///< the first of the loops that each iterate over the segments of the one before
  std::optional<PrefetchPlan> segmentRows; ///< of the last but one, if the last iterates over its segments
  std::optional<HoistFactors> factors;

  size_t last() const { return nest.outers.size() - 1; }
  bool hasSegmentTree() const { return tree < last(); }
  /// Whether the rows of a tile are worth a prefetch; one that L1 waits for is not, of narrow ones.
  bool isPrefetched(const Tile &tile) const {
    const bool narrow = model.cpu.prefetchIntoL2 && !hasSegmentTree();
    return int64_t(tile.parts.size()) >=
           (narrow ? model.costs.prefetchMinVectorsIntoL2 : model.costs.prefetchMinVectors);
  }
  /// The first of the loops that are coalesced.
  size_t innermost(Form form) const { return form == Form::Coalesced ? last() - 1 : last(); }
  bool isSum(size_t depth, Form form) const {
    return factors && depth < innermost(form) && !factors->of[depth].empty();
  }
  Value next(Value segment) { return add(segment, constant(1)); }

  Values loopsFrom(size_t depth, Value begin, Value end, const mlir::IRMapping &map,
                   mlir::ValueRange elements, Tile tile);
  Values loopOver(size_t depth, Value begin, Value end, mlir::IRMapping map, mlir::ValueRange elements,
                  const Tile &tile);
  Values sumOf(size_t depth, Value begin, Value end, const mlir::IRMapping &map, mlir::ValueRange elements,
               const Tile &tile);
  Value hasEntries(size_t depth, Value begin, Value end, const mlir::IRMapping &map);
  int64_t prefetchDistance(Form form) const;
  Values guardedUpdate(mlir::IRMapping map, mlir::ValueRange elements, const Tile &tile);
  Values update(const mlir::IRMapping &map, mlir::ValueRange elements, const Tile &tile);
  Value product(BodyEmitter &emitter, llvm::ArrayRef<Value> of, Value first = {});

  Value segmentStart(size_t depth, Value segment, mlir::IRMapping map);
  Values segmentLoops(Value begin, Value end, const mlir::IRMapping &map, mlir::ValueRange elements,
                      Tile tile);
  std::pair<Value, Value> lengths(Value begin, Value end, const mlir::IRMapping &map);
  Value areRowsRemote(Value segment, mlir::IRMapping map);
  Values coalescedLoop(Value begin, Value end, mlir::IRMapping map, mlir::ValueRange elements,
                       const Tile &tile);
  std::pair<Value, Value> segmentOf(Value position, Value segment, Value end, const mlir::IRMapping &map);
  void prefetch(PrefetchPlan &plan, Value iteration, const mlir::IRMapping &map, const Tile &tile,
                int64_t lineStep);
};

} // namespace tulle::passes
