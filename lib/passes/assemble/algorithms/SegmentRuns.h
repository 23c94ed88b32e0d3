// Segments that are appended as they stand, all at once.
#pragma once
#include "passes/assemble/algorithms/ChunkedAppend.h"

namespace tulle::assemble {

/// The loops of a stream each of which traverses the segments of one tensor, whose entries become the
/// target's: what one position stores says what is appended for it, and the segments of a chunk follow each
/// other without gaps. So one loop is over all their positions, and one over their ends (concatenations one
/// below the other, conversions to other widths).
class SegmentRuns : public AppendLoops {
public:
  static bool fits(const Target &target, const Stream &stream);

  SegmentRuns(Target &target, const Stream &stream) : target(target), stream(stream) {}

  void append(Appender &appender, const parallel::Chunk *chunk) override;

  /// The loops around an insert, over the segments of a tensor and the entries of each.
  struct Run {
    dialect::IterateOp rows, entries;
    mlir::Value tensor;
  };

private:
  void appendRun(Appender &appender, dialect::InsertOp insert) const;
  void storeEntries(const Run &run, dialect::InsertOp insert, dialect::BoundsBelowOp positions,
                    llvm::function_ref<mlir::Value(mlir::Value)> moved) const;
  void storeEnds(const Run &run, mlir::Value row, llvm::function_ref<mlir::Value(mlir::Value)> moved) const;

  Target &target;
  const Stream &stream;
};

} // namespace tulle::assemble
