// Fiber boundaries: where consecutive entries of a sorted stream differ in the coordinates of the target's
// outer levels.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/FiberAnalysis.h"

namespace tulle::assemble {

/// The fibers of a stream that is sorted by the target's first `levels` levels. Emits, into a copy of the
/// loops, what runs when a fiber is complete.
class FiberBoundaries {
public:
  FiberBoundaries(const Target &target, const Order &order, unsigned levels);

  /// To be called at every insert of the copy, before anything is emitted there.
  void atInsert(mlir::ValueRange dims);
  /// To be called behind the copy: `complete(coordinates)` emits what follows a fiber, at its end where
  /// each iteration of a loop is one fiber, else where the next one begins, and behind the loops.
  void finish(llvm::function_ref<void(mlir::ValueRange)> complete);

private:
  using Complete = llvm::function_ref<void(mlir::ValueRange)>;

  Values coordinates(const FiberAnalysis::Insert &insert) const;
  void checkAt(const FiberAnalysis::Insert &insert, Complete complete) const;

  const Target &target;
  unsigned levels;
  FiberAnalysis analysis;
  std::vector<Register> current; ///< coordinates of the newest fiber
};

} // namespace tulle::assemble
