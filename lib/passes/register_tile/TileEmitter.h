// The vectors of one register tile: their initial values, the loops that update them, and their stores.
#pragma once
#include "passes/register_tile/FusedInit.h"
#include "passes/register_tile/TileLoops.h"

namespace tulle::passes {

/// Emits tiles of a nest. Invariant: elements are loaded, or initialized, once before the outer loops and
/// stored once after them.
class TileEmitter : levels::IndicesAt {
public:
  TileEmitter(mlir::OpBuilder &builder, const ReductionNest &nest, const iteration::CostModel &model,
              bool hoistsFactors)
      : IndicesAt(builder, nest.top().getLoc()), nest(nest), model(model),
        loops(builder, nest, model, hoistsFactors) {}

  /// The initialization that is fused, and when tiles start from it: `starts`, `nonTemporal` are known at run
  /// time, where the builder stands.
  void setInit(const FusedInit &fused, Value starts, Value nonTemporal) {
    init = fused;
    startsFromInit = starts;
    storesNonTemporally = nonTemporal;
  }

  /// A tile of so many whole vectors from element `first` on, for iterations begin … end - 1 of the outermost
  /// loop.
  void emitFull(Value begin, Value end, Value first, int64_t vectors, const Lanes &lanes);
  /// One vector from element `first` on, masked from `upper` on.
  void emitMasked(Value begin, Value end, Value first, Value upper, const Lanes &lanes);

private:
  using Parts = llvm::MutableArrayRef<BodyEmitter>; ///< an emitter for each vector of the tile

  const ReductionNest &nest;
  const iteration::CostModel &model;
  TileLoops loops;
  std::optional<FusedInit> init;
  Value startsFromInit;
  Value storesNonTemporally; ///< null: never

  BodyEmitter part(Value first, Value mask, const Lanes &lanes);
  void update(Value begin, Value end, Parts parts, const Lanes &lanes);
  llvm::SmallVector<Value> initialElements(Parts parts);
  void store(Parts parts, llvm::ArrayRef<Value> values, const Lanes &lanes);
};

} // namespace tulle::passes
