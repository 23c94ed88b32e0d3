// The body of a planned loop, for one vector of iterations.
#pragma once
#include "mlir/IR/IRMapping.h"
#include "passes/vector/LoopPlan.h"

namespace tulle::passes {

struct Lanes {
  int64_t count = 4;
  bool scalable = false;
  bool index32 = false; ///< 32-bit indices stay non-negative as signed numbers

  mlir::VectorType of(mlir::Type element) const {
    return mlir::VectorType::get({count}, element, {scalable});
  }
};

class BodyEmitter {
public:
  /// `outer` maps values defined outside of the loop, where they have copies.
  BodyEmitter(mlir::OpBuilder &builder, const LoopPlan &plan, const Lanes &lanes, mlir::IRMapping outer = {})
      : b(builder), plan(plan), lanes(lanes), scalars(std::move(outer)) {}

  /// Takes `value` for what `load` reads, and leaves out `store`: the element stays in a register.
  void keepInRegister(mlir::memref::LoadOp load, mlir::Value value, mlir::memref::StoreOp store);
  /// What `store` of keepInRegister would have stored.
  mlir::Value storedValue() { return asVector(keptStore->getLoc(), keptStore.getValueToStore()); }

  /// Returns the combined accumulators; `first` is the induction variable's value in lane 0.
  llvm::SmallVector<mlir::Value> emit(mlir::Value first, mlir::ValueRange accumulators);

private:
  mlir::OpBuilder &b;
  const LoopPlan &plan;
  Lanes lanes;
  mlir::IRMapping scalars; ///< uniform values, and lane 0 of consecutive ones
  mlir::IRMapping vectors;
  mlir::memref::StoreOp keptStore;

  void emit(mlir::Operation *op);
  mlir::Value asVector(mlir::Location loc, mlir::Value value);
  mlir::Value splat(mlir::Location loc, mlir::Type element, mlir::TypedAttr value);
  mlir::Value laneNumbers(mlir::Location loc);
  mlir::Value emitLoad(mlir::memref::LoadOp load);
  mlir::Value everySecond(mlir::Location loc, mlir::Value index);
  mlir::Value loadEverySecond(mlir::Location loc, mlir::VectorType type, mlir::Value buffer,
                              mlir::Value first);
  mlir::Value gatherIndex(mlir::Location loc, mlir::Value index);
  mlir::Value combine(const Reduction &reduction, mlir::Value acc);
};

} // namespace tulle::passes
