// The loops around the inserts of a tulle.assemble or a tulle.entries.
#pragma once
#include "passes/assemble/choose/Order.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

/// The inserts of the ops that are not of an assembly, or of entries, inside.
llvm::SmallVector<dialect::InsertOp> insertsIn(llvm::ArrayRef<mlir::Operation *> ops);
llvm::SmallVector<dialect::InsertOp> insertsOf(mlir::Region &loops);
/// The loop, over one space or a set of several, that everything with an effect is in; null without one.
mlir::Operation *outermostLoop(llvm::ArrayRef<mlir::Operation *> ops);
mlir::Operation *outermostLoop(mlir::Region &loops);
/// The loops that everything with an effect is in, one behind the other; none where something is in no loop.
llvm::SmallVector<mlir::Operation *> outermostLoops(llvm::ArrayRef<mlir::Operation *> ops);
llvm::SmallVector<mlir::Operation *> outermostLoops(mlir::Region &loops);
/// Whether these are loops over levels of tensors without results, of which each inserts at larger
/// coordinates of one dimension, the target's first level, than those before: chunks of the first loop, then
/// of the second, and so on, follow each other as chunks of one loop do.
bool followEachOther(mlir::Region &loops, const format::Encoding &target);
/// Whether the region is one loop over one space that can be partitioned into chunks.
bool canPartition(mlir::Region &loops);
/// How many coordinates of that loop the target's first level stores together, where it has one position for
/// each block of them (BCSR): chunks begin at multiples. 1 where it stores them one by one; null where chunks
/// could divide what it stores together.
std::optional<int64_t> alignmentOf(mlir::Region &loops, const format::Encoding &target);
/// The dimension whose coordinates the iterations of the outermost loop are, one each; null without one.
std::optional<unsigned> iterationDimension(mlir::Region &loops);
/// The dimension that tells the entries of different chunks of that loop apart: each of its coordinates is
/// one iteration's; null without one.
std::optional<unsigned> dimensionOfChunks(mlir::Region &loops);
/// Moves what the loops' bounds are computed from, as far as it is known before them, out of the region: the
/// number of iterations is needed before the region, which assembly erases.
void hoistBounds(dialect::AssembleOp op);

/// The loops that make one block, from the outermost: over the entries of one level, then over ranges.
using BlockLoops = llvm::SmallVector<dialect::IterateOp>;
/// Those around the only insert, up to the loop whose coordinate is the last stored level's. Whether each has
/// an iteration is known before it.
std::optional<BlockLoops> matchBlockLoops(const TargetFacts &target, const Stream &stream);
/// The encoding of the tensor that a space is of.
const format::Encoding &encodingOf(dialect::SpaceOp space);

//===--- Fibers ---===//

/// The inserts of a stream that is sorted by the target's first `levels` levels: entries that agree on these
/// coordinates, a fiber, arrive one after the other. Says from where on in the loops a fiber's coordinates
/// are known, and whether each iteration of some loop is one fiber.
class FiberAnalysis {
public:
  /// A point in the loops: behind `after`, or at the start of the block.
  struct Point {
    mlir::Block *block = nullptr;
    mlir::Operation *after = nullptr;
    bool operator==(const Point &) const = default;
  };
  struct Insert {
    mlir::Operation *marker; ///< stands before all that the insert became, or is it
    llvm::SmallVector<mlir::Value> dims;
    Point point; ///< from where on the fiber's coordinates are known
  };

  /// `root` holds the loops.
  FiberAnalysis(const Order &order, unsigned levels, mlir::Block *root)
      : order(order), levels(levels), root(root) {}

  /// Whether each iteration of some loop of the stream is one fiber, so that its end is known without
  /// comparing coordinates.
  static bool oneIterationEach(const Stream &stream, unsigned levels);

  void add(mlir::Operation *marker, mlir::ValueRange dims);
  /// Whether each fiber ends with an iteration of a loop.
  bool endsKnown() const;
  bool canHoist(const Insert &insert) const;
  /// The dimensions whose coordinates make the fiber.
  std::vector<unsigned> fiberDims() const;

  llvm::SmallVector<Insert> inserts;

private:
  Point definedAt(mlir::Value value) const;
  Point laterOf(const Point &a, const Point &c) const;
  mlir::arith::AddIOp shiftOf(mlir::Operation *op) const;
  bool isOneIteration(const Insert &insert) const;

  const Order &order;
  unsigned levels;
  mlir::Block *root;
};

} // namespace tulle::assemble
