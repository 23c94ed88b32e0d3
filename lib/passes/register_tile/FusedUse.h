// The loop that reads what a nest has stored, element by element.
#pragma once
#include "passes/analysis/ReductionNest.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

/// A parallel loop behind a reduction nest over the same range, which alone reads what the nest stores:
/// `v[k] = g(C[k], …)`. A tile's vectors of C need not be stored where it takes them from the registers.
class FusedUse {
public:
  /// The loop, where there is one, a loop before the nest initializes the same elements, and nothing but these
  /// three accesses the buffer while they run.
  static std::optional<FusedUse> find(const ReductionNest &nest);

  /// What is computed between the two is moved before the nest.
  void fuse(mlir::Operation *nest);
  /// What the loop does with one vector of elements, from iteration `first` on. `row`, if any: what became of
  /// values outside of the loop.
  void emit(mlir::OpBuilder &b, mlir::Value first, mlir::Value mask, const Lanes &lanes, mlir::Value elements,
            const mlir::IRMapping *row = nullptr) const;
  /// The loop, which is done with the nest.
  mlir::scf::ForOp done() const { return legality.loop; }

private:
  FusedUse(VectorizationLegality legality, mlir::memref::LoadOp load,
           llvm::SmallVector<mlir::Operation *> between)
      : legality(std::move(legality)), load(load), between(std::move(between)) {}

  VectorizationLegality legality;
  mlir::memref::LoadOp load;
  llvm::SmallVector<mlir::Operation *> between;
};

/// Erases a buffer that nothing reads or writes.
void eraseUnused(mlir::memref::AllocOp buffer);

} // namespace tulle::passes
