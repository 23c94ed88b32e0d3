// Loops over blocks of a space, and what iterations of a loop do at coordinates of their own.
#pragma once
#include "dialect/Dialect.h"
#include "iteration/CostModel.h"

namespace tulle::program {

/// The chunk of a space that each iteration of a loop over blocks visits; null for other loops.
dialect::PartitionOp blockOf(dialect::IterateOp loop);

/// What the iterations of a loop visit together: its space, or what it visits in blocks.
mlir::Value spaceOf(dialect::IterateOp loop);

/// A partition of a space into blocks: so many, of about as many entries of `estimate`.
struct Blocks {
  mlir::Value range; ///< of their numbers
  mlir::Value space, count, estimate;
};
/// Blocks of about as many entries of the loop's space, or elements of a tensor that it stores, as stay in a
/// cache; `estimate` may be null.
Blocks blocksOf(mlir::OpBuilder &b, dialect::IterateOp loop, mlir::Value estimate,
                const iteration::Costs &costs);
/// The blocks of a loop over blocks.
Blocks blocksOf(dialect::IterateOp loop, dialect::PartitionOp block);
/// Puts the loop into a loop over these blocks of its space, which is returned.
dialect::IterateOp inBlocks(dialect::IterateOp loop, const Blocks &blocks);
/// Equal blocks in the body of a loop that was several become one.
void unifyBlocks(dialect::IterateOp loop);

/// Whether a loop is in no other loop, or in one over blocks only.
bool isOutermostBesidesBlocks(dialect::IterateOp loop);
/// Whether loops stand in the loop.
bool hasLoops(dialect::IterateOp loop);

/// The one level at which all reads and stores of a tensor value inside of a loop, and of what becomes of it
/// there, are at the loop's own coordinate: accesses of different iterations are then apart.
class OwnAccesses {
public:
  explicit OwnAccesses(dialect::IterateOp loop) : loop(loop) {}

  /// False if the tensor is accessed elsewhere, too, or something else uses it.
  bool add(mlir::Value tensor);
  /// Null without any access.
  std::optional<uint64_t> level() const { return at; }
  /// The values that the tensor is, from those added on.
  bool isOf(mlir::Value tensor) const { return seen.contains(tensor); }

private:
  bool isOwn(mlir::Value iterator);

  dialect::IterateOp loop;
  std::optional<uint64_t> at;
  llvm::DenseSet<mlir::Value> seen;
};

/// The argument of a loop's body that is its carried value of that number.
mlir::BlockArgument carriedArgument(dialect::IterateOp loop, unsigned number);

} // namespace tulle::program
