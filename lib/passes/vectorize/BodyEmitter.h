// The body of a planned loop, for one vector of iterations.
#pragma once
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/VectorizationLegality.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {

struct Lanes {
  int64_t count = 4;
  bool scalable = false;
  bool index32 = false;        ///< 32-bit indices stay non-negative as signed numbers
  bool gatherElements = false; ///< gathers are one load for each lane instead of an instruction

  mlir::VectorType of(mlir::Type element) const {
    return mlir::VectorType::get({count}, element, {scalable});
  }
  bool takesGathersApart() const { return gatherElements && !scalable; }
};

class BodyEmitter {
public:
  using Filter = llvm::function_ref<bool(mlir::Operation *)>;

  /// `first` is the induction variable's value in lane 0; lanes where `mask` (null: none) is false are off.
  BodyEmitter(mlir::OpBuilder &builder, const VectorizationLegality &plan, const Lanes &lanes,
              mlir::Value first, mlir::Value mask = {});

  /// Lane 0's value of the induction variable.
  mlir::Value first() const { return scalars.lookup(mlir::scf::ForOp(plan.loop).getInductionVar()); }

  /// Emits operations of the body that an outer loop does not change, ahead of that loop. What they read is
  /// in bounds only in iterations they run in: other lanes are masked off.
  void hoist(Filter isFixed);
  /// At run time: no lane is off in what `hoist` has emitted, nor for want of the element that `load` and
  /// `store` touch.
  mlir::Value allOn(mlir::memref::LoadOp load, mlir::memref::StoreOp store);
  /// What is emitted from here on runs only where `allOn`.
  void assumeAllOn();
  /// The elements that `load`, whose index is hoisted, would read.
  mlir::Value loadHoisted(mlir::memref::LoadOp load);
  /// `value` in all lanes.
  mlir::Value splat(mlir::Location loc, mlir::Type element, mlir::TypedAttr value);
  /// `streams`: past the caches; the place is a multiple of the vector's size then.
  void storeHoisted(mlir::memref::StoreOp store, mlir::Value value, bool streams = false);
  /// At run time: `condition`, and the first lane's element is at the beginning of a cache line.
  mlir::Value startsLine(mlir::memref::StoreOp store, mlir::Value condition);

  /// Values of operations outside of the loop that have copies.
  void bind(const mlir::IRMapping &outer);
  /// Takes `value` for what `load` reads, and leaves out `store`: the element stays in a register.
  void keepInRegister(mlir::memref::LoadOp load, mlir::Value value, mlir::memref::StoreOp store);
  /// What the element of keepInRegister is after the body.
  mlir::Value storedValue();

  /// A value of the body, of which no more is emitted than it needs.
  mlir::Value valueOf(mlir::Value value);

  /// What lanes that are off read is there, too: only the accumulators leave it out.
  void readWhereOff() { readsWhereOff = true; }
  /// Returns the combined accumulators.
  llvm::SmallVector<mlir::Value> emit(mlir::ValueRange accumulators);
  /// Asks, after emit, for what the loads of consecutive elements read so many iterations later. `offset`: of
  /// this vector in a tile, in which each cache line is asked for once. `which`: of those, all without it.
  void prefetch(int64_t iterations, int64_t offset = 0,
                llvm::function_ref<bool(mlir::memref::LoadOp)> which = nullptr);

private:
  mlir::OpBuilder &b;
  const VectorizationLegality &plan;
  Lanes lanes;
  mlir::Value baseMask;
  mlir::IRMapping scalars; ///< uniform values, and lane 0 of consecutive ones
  mlir::IRMapping vectors;
  mlir::memref::LoadOp keptLoad;
  mlir::memref::StoreOp keptStore;
  mlir::Value keptElement;
  llvm::SmallSetVector<mlir::Operation *, 4> hoistedBranches, hoistedLoads;
  bool readsWhereOff = false;
  bool allAreOn = false; ///< in hoisted branches, and where hoisted loads and stores are in bounds
  llvm::DenseMap<mlir::Operation *, mlir::Value> masks; ///< of what is directly in a branch or the loop

  void emitBlock(mlir::Block &block, Filter wanted);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::Value value);
  bool emitConstantLast(mlir::Operation *op);
  bool isEmitted(mlir::Value value) const { return vectors.contains(value) || scalars.contains(value); }
  mlir::Value asVector(mlir::Location loc, mlir::Value value);
  mlir::Value zeros(mlir::Location loc, mlir::Type element);
  mlir::Value laneNumbers(mlir::Location loc);
  /// The lanes in which the operation runs; null where all do.
  mlir::Value maskAt(mlir::Operation *op, Filter counts);
  mlir::Value maskAt(mlir::Operation *op);
  mlir::Value elementsLeft(mlir::Location loc, mlir::Value buffer, mlir::Value index);
  mlir::Value lanesInside(mlir::Location loc, mlir::Value buffer, mlir::Value index);
  mlir::Value hoistedMask(mlir::Operation *op, mlir::Value buffer, mlir::Value index);
  mlir::Value both(mlir::Location loc, mlir::Value a, mlir::Value c);
  mlir::Value emitLoad(mlir::memref::LoadOp load, mlir::Value mask);
  mlir::Value emitGather(mlir::memref::LoadOp load, mlir::Value mask);
  llvm::SmallVector<mlir::Value> placesApart(mlir::Location loc, mlir::Value index, mlir::Value mask);
  llvm::SmallVector<mlir::Value> storedPlaces(mlir::Location loc, mlir::Value index);
  void emitStore(mlir::memref::StoreOp store, mlir::Value value, mlir::Value mask, bool streams = false);
  void emitScatter(mlir::Location loc, mlir::Value value, mlir::Value buffer, mlir::Value places,
                   mlir::Value mask);
  mlir::Value everySecond(mlir::Location loc, mlir::Value index);
  mlir::Value loadEverySecond(mlir::Location loc, mlir::VectorType type, mlir::Value buffer,
                              mlir::Value first);
  mlir::Value narrowIndex(mlir::Location loc, mlir::Value index);
  mlir::Value combine(const Reduction &reduction, mlir::Value acc);
};

/// A mask of the first `count` lanes: all where there are fewer.
mlir::Value firstLanes(mlir::OpBuilder &b, mlir::Location loc, const Lanes &lanes, mlir::Value count);

/// Whether every buffer has an element.
mlir::Value hasFirstElements(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> buffers);

} // namespace tulle::passes
