// Two loops in one block, the first of which makes what the second uses, or reads what it reads: whether they
// can be one, whether that pays off (FusionProfit.cpp), and the loop that does what both did.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::program {

/// A pair of loops that tulle-fuse-loops may make one.
class LoopPair {
public:
  LoopPair(dialect::IterateOp first, dialect::IterateOp second) : first(first), second(second) {}

  /// Why the loops cannot be one; empty if they can.
  llvm::StringRef whyNot();
  /// Why one loop cannot be what the schedule says of both; empty where it can.
  llvm::StringRef whyNotAsScheduled();

  /// Whether one loop over coordinates takes less time than two: of outermost loops, and of others.
  bool isProfitable();
  /// Whether one loop over blocks does, each of which does its part of both loops: a block stays in the
  /// cache, so that what the inner loops of both read is read from memory once.
  bool isProfitableInBlocks();
  /// Whether the second does something with each element of rows that the first sums, and nothing else reads:
  /// tiles of a row go from one to the other in registers.
  bool takesFromRegisters();
  /// Whether neither loop needs the other, and both read elements of a tensor at their own coordinate, which
  /// one loop reads from memory once.
  bool readsTogether();
  /// Why neither may be.
  llvm::StringRef whyNotProfitable();

  /// Puts each loop that is not yet over blocks into one.
  void splitIntoBlocks();
  /// The one loop, for the reason that explanations give.
  dialect::IterateOp fuse(llvm::StringRef reason);

private:
  bool keepsTasksApart();
  bool collectBetween();
  void moveBetween();
  bool passesTensorsOnly();
  bool isPassed(mlir::OpResult result);
  bool keepsOrder();

  bool isProfitableOutermost();
  bool disappears(mlir::OpResult result);
  bool chainsReductions();
  bool sumsLongRows();
  bool exceedsSharedCache();
  bool waitsForReduction();
  bool staysInRegisters();
  bool leavesFunctionsToBlocks();
  bool wastesLanes();

  dialect::LoopAttr attr();
  dialect::IterateOp build(llvm::ArrayRef<mlir::Value> inits, llvm::ArrayRef<unsigned> slots);

  dialect::IterateOp first, second;
  llvm::SmallVector<mlir::Operation *> between; ///< what the second needs from behind the first, in order
};

} // namespace tulle::program
