// The body of a loop as vector code, for one vector of iterations.
#pragma once
#include "levels/Indices.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/VectorizationLegality.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {

/// The vectors of a loop.
struct Lanes {
  int64_t count = 4;
  bool scalable = false;
  bool index32 = false;          ///< 32-bit indices stay non-negative as signed numbers
  bool scalarizeGathers = false; ///< gathers are one load for each lane instead of an instruction

  mlir::VectorType of(mlir::Type element) const {
    return mlir::VectorType::get({count}, element, {scalable});
  }
};

/// Emits operations of the body. Invariant: `scalars` maps values that are uniform, and lane 0 of consecutive
/// ones; `vectors` maps what has been emitted, or broadcast, as a vector.
class BodyEmitter : levels::IndicesAt {
public:
  using Filter = llvm::function_ref<bool(mlir::Operation *)>;

  /// `first` is the induction variable's value in lane 0; lanes where `mask` (null: none) is false are
  /// inactive.
  BodyEmitter(mlir::OpBuilder &builder, const VectorizationLegality &legality, const Lanes &lanes,
              Value first, Value mask = {});

  /// Lane 0's value of the induction variable.
  Value first() const { return scalars.lookup(mlir::scf::ForOp(legality.loop).getInductionVar()); }

  /// Emits operations of the body that are invariant in an outer loop, before that loop. Their accesses are
  /// in bounds only in iterations that execute them: other lanes are masked, by the conditions that are known
  /// before that loop.
  void hoist(Filter isInvariant, llvm::function_ref<bool(mlir::Value)> isKnown);
  /// At run time: all lanes are active in what `hoist` has emitted, and where `load` and `store` access.
  Value allLanesActive(mlir::memref::LoadOp load, mlir::memref::StoreOp store);
  /// Code from here on runs only where `allLanesActive`.
  void assumeAllLanesActive();
  /// Emits `load`, whose index is hoisted.
  Value loadHoisted(mlir::memref::LoadOp load);
  /// `value` in all lanes.
  Value splat(mlir::Type element, mlir::TypedAttr value);
  /// `nonTemporal`: the address is a multiple of the vector's size then.
  void storeHoisted(mlir::memref::StoreOp store, Value value, bool nonTemporal = false);
  /// At run time: `condition`, and the first lane's element is at the beginning of a cache line.
  Value isLineAligned(mlir::memref::StoreOp store, Value condition);

  /// Values of operations outside of the loop that have clones.
  void bind(const mlir::IRMapping &outer);
  /// Takes `value` for the result of `load`, and omits `store`: the element stays in a register.
  void keepInRegister(mlir::memref::LoadOp load, Value value, mlir::memref::StoreOp store);
  /// Takes `value` for the result of `load`, which a register holds.
  void holdInRegister(mlir::memref::LoadOp load, Value value) { vectors.map(load.getResult(), value); }
  /// What the element of keepInRegister is after the body.
  Value storedValue();

  /// A value of the body, with its backward slice.
  Value valueOf(Value value);

  /// Inactive lanes are in bounds: no load is masked, only the accumulators are.
  void readInactiveLanes() { readsInactiveLanes = true; }
  /// Stores without a mask go past the caches: their addresses are at the beginning of a cache line.
  void storeLines() { storesLines = true; }
  /// Returns the combined accumulators.
  llvm::SmallVector<Value> emit(mlir::ValueRange accumulators);
  /// Prefetches, after emit or where there are no vectors, what the consecutive loads access so many
  /// iterations later. `offset`: of this vector in a tile, in which each cache line is prefetched once.
  /// `which`: of those, all without it.
  void prefetch(int64_t iterations, int64_t offset = 0,
                llvm::function_ref<bool(mlir::memref::LoadOp)> which = nullptr);

private:
  const VectorizationLegality &legality;
  Lanes lanes;
  Value baseMask;
  mlir::IRMapping scalars, vectors;
  mlir::memref::LoadOp keptLoad;
  mlir::memref::StoreOp keptStore;
  Value keptElement;
  llvm::SmallSetVector<mlir::Operation *, 4> hoistedBranches, hoistedLoads;
  bool readsInactiveLanes = false, storesLines = false;
  bool allActive = false; ///< in hoisted branches, and where hoisted loads and stores are in bounds
  llvm::DenseMap<mlir::Operation *, Value> masks; ///< of what is directly in a branch or the loop

  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(Value value);
  /// Whether the value has been emitted, or can be where there may be no iteration: nothing is loaded for it.
  bool isKnown(Value index);
  bool reassociateConstant(mlir::Operation *op);
  bool isEmitted(Value value) const { return vectors.contains(value) || scalars.contains(value); }
  bool isInLoop(mlir::Operation *op) const { return op->getParentOp() == legality.loop; }
  LaneShape shapeOf(Value value) const { return legality.shapeOf(value); }
  Value scalar(Value value) const { return scalars.lookupOrDefault(value); }
  Value asVector(Value value);
  Value zeros(mlir::Type element);
  Value stepVector();
  Value asIndex(Value value);
  /// The lanes in which the operation is active; null where all are.
  Value maskAt(mlir::Operation *op, Filter counts);
  Value maskAt(mlir::Operation *op);
  Value conjunction(Value a, Value c) { return a && c ? both(a, c) : a ? a : c; }
  Value elementsLeft(Value buffer, Value index);
  Value lanesInBounds(Value buffer, Value index);
  Value hoistedMask(mlir::Operation *op, Value buffer, Value index);
  Value emitLoad(mlir::memref::LoadOp load, Value mask);
  Value emitGather(mlir::memref::LoadOp load, Value mask);
  void forEachLane(Value index, Value mask, llvm::function_ref<void(Value)> emit);
  bool forEachReloaded(Value index, llvm::function_ref<void(Value)> emit);
  void emitPrefetches(mlir::memref::PrefetchOp prefetch);
  void emitStore(mlir::memref::StoreOp store, Value value, Value mask, bool nonTemporal = false);
  void emitScatter(Value value, Value buffer, Value indices, Value mask);
  Value strideTwoStart(Value index);
  Value loadStrideTwo(mlir::VectorType type, Value buffer, Value first);
  Value narrowIndex(Value index);
  Value combine(const Reduction &reduction, Value acc);
};

/// A mask of the first `count` lanes, or of all.
mlir::Value activeLanes(mlir::OpBuilder &b, mlir::Location loc, const Lanes &lanes, mlir::Value count);

/// At run time: whether every buffer has an element.
mlir::Value areNonEmpty(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> buffers);

} // namespace tulle::passes
