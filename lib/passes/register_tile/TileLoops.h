// The loops around a tile of elements that stay in registers.
#pragma once
#include "iteration/CostModel.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/register_tile/HoistFactors.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

/// Copies of a nest's outer loops that carry the vectors of a tile. What several entries are multiplied by is
/// taken out of their sum (HoistFactors.h), which is then a tile of its own.
class TileLoops {
public:
  TileLoops(mlir::OpBuilder &builder, const ReductionNest &nest, const iteration::CostModel &model,
            bool takesFactorsOut);

  /// The elements after the outermost loop's steps `begin` … `end - 1`. `parts`: an emitter for each vector.
  llvm::SmallVector<mlir::Value> run(mlir::Value begin, mlir::Value end, mlir::ValueRange elements,
                                     llvm::MutableArrayRef<BodyEmitter> parts, const Lanes &lanes);

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  /// How the innermost loops run: one in the other, the same with the rows of later entries fetched, with the
  /// rows that follow in memory fetched, or as one.
  enum class Walk { Each, Fetching, Following, Joined };
  struct Tile {
    llvm::MutableArrayRef<BodyEmitter> parts;
    const Lanes &lanes;
    Walk walk;
  };

  mlir::OpBuilder &b;
  mlir::Location loc;
  const ReductionNest &nest;
  const iteration::CostModel &model;
  PrefetchPlan ahead;
  size_t tree; ///< the first of the loops that each walk the segments of the one before
  std::optional<PrefetchPlan> segmentsAhead; ///< of the last but one, if the last walks its segments
  std::optional<HoistFactors> factors;

  size_t last() const { return nest.outers.size() - 1; }
  bool walksTree() const { return tree < last(); }
  bool isWide(const Tile &tile) const { return int64_t(tile.parts.size()) >= model.costs.prefetchMinVectors; }
  /// The first of the loops that are one.
  size_t innermost(Walk walk) const { return walk == Walk::Joined ? last() - 1 : last(); }
  bool isSum(size_t depth, Walk walk) const {
    return factors && depth < innermost(walk) && !factors->of[depth].empty();
  }
  Value constant(int64_t value);
  Value next(Value segment);
  Value is(mlir::arith::CmpIPredicate predicate, Value x, Value y);

  Values loopsFrom(size_t depth, Value begin, Value end, const mlir::IRMapping &map,
                   mlir::ValueRange elements, Tile tile);
  Values loopOver(size_t depth, Value begin, Value end, mlir::IRMapping map, mlir::ValueRange elements,
                  const Tile &tile);
  Values sumOf(size_t depth, Value begin, Value end, const mlir::IRMapping &map, mlir::ValueRange elements,
               const Tile &tile);
  Value hasEntries(size_t depth, Value begin, Value end, const mlir::IRMapping &map);
  int64_t fetchedAhead(Walk walk) const;
  Values update(const mlir::IRMapping &map, mlir::ValueRange elements, const Tile &tile);
  Value product(BodyEmitter &emitter, llvm::ArrayRef<Value> of, Value first = {});

  Value segmentStart(size_t depth, Value segment, mlir::IRMapping map);
  Values treeFrom(Value begin, Value end, const mlir::IRMapping &map, mlir::ValueRange elements, Tile tile);
  std::pair<Value, Value> lengths(Value begin, Value end, const mlir::IRMapping &map);
  Value areFar(Value segment, mlir::IRMapping map);
  Values joinedLoop(Value begin, Value end, mlir::IRMapping map, mlir::ValueRange elements, const Tile &tile);
  std::pair<Value, Value> segmentOf(Value position, Value segment, Value end, const mlir::IRMapping &map);
  void fetch(const PrefetchPlan &rows, Value step, const mlir::IRMapping &map, const Tile &tile,
             int64_t lineStep);
};

} // namespace tulle::passes
