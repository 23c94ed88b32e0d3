// Assembly by several threads: each appends the entries of its part of the loops, and the parts are joined.
#pragma once
#include "passes/assemble/Appender.h"
#include "passes/assemble/Clone.h"

namespace tulle::assemble {

/// The parts of the outermost loop of an assembly, and what each of them appends: to scratch buffers all of
/// them share, where each has room of its own for all its inserts. Parts are consecutive pieces of a loop
/// over the target's first level, so that joined in order they are the tensor that one thread makes.
class Shares {
public:
  /// Whether the loops can be cut so. The target's levels are full ones and then one run.
  static bool possible(const Target &target, dialect::AssembleOp op, const Order &order);

  /// How many parts are worth while, and room for each: for `bound` inserts, or without one for as many as
  /// copies of the loops count.
  Shares(mlir::OpBuilder &b, Target &target, mlir::Value bound);

  /// At most so many inserts run.
  mlir::Value inserts() const { return most; }
  /// Whether there are several parts, and memory for them with `block` values for each insert (i1).
  mlir::Value worthwhile(mlir::OpBuilder &b, int64_t block) const;

  /// Emits what makes the target's buffers: `appendPart(b, scratch, piece, …)` emits the loops of one part.
  /// It hands its appender to `begin` first and to `end` last.
  using OnAppender = llvm::function_ref<void(Appender &)>;
  using AppendPart = llvm::function_ref<void(mlir::OpBuilder &b, Target &scratch, const Piece &piece,
                                             OnAppender begin, OnAppender end)>;
  void assemble(mlir::OpBuilder &b, const Order &order, AppendPart appendPart);

private:
  mlir::Value table(mlir::OpBuilder &b, mlir::Value size) const;
  mlir::Value load(mlir::OpBuilder &b, mlir::Value table, mlir::Value part) const;
  void store(mlir::OpBuilder &b, mlir::Value value, mlir::Value table, mlir::Value part) const;
  /// Values at `part` of a table become where its running sum begins; returns the sum.
  mlir::Value accumulate(mlir::OpBuilder &b, mlir::Value table) const;
  mlir::Value joinPositions(mlir::OpBuilder &b, const Target &scratch, unsigned field) const;
  void move(mlir::OpBuilder &b, const Target &scratch, unsigned run, mlir::Value block,
            mlir::Value part) const;

  Target &target;
  mlir::Location loc;
  mlir::Value parts, most;
  mlir::Value total;         ///< positions of all rooms
  mlir::Value starts;        ///< per part: the first position of its room in the scratch buffers
  mlir::Value ends;          ///< per part: behind its last position there
  mlir::Value bases;         ///< per part: its first position in the result
  mlir::Value firsts, lasts; ///< per part: the elements of the positions field it has written
};

} // namespace tulle::assemble
