// The loops that make a dense tensor, as they can be restricted to a part of it.
#pragma once
#include "passes/program/TileReads.h"

namespace mlir::func {
class FuncOp;
}

namespace tulle::program {

/// The loops in whose iterations a loop's statement is to be computed; null where the schedule says nothing.
mlir::ArrayAttr placeOf(dialect::IterateOp loop);
/// The last of the loops that go on with what a loop makes, and have no other place.
dialect::IterateOp lastOfProducers(dialect::IterateOp loop);

/// Loops of one block, one after the other, each of which goes on with the tensor of the one before.
class TileProducers {
public:
  TileProducers(mlir::func::FuncOp function, dialect::IterateOp last, mlir::ArrayAttr place)
      : function(function), place(place), last(last) {}

protected:
  /// What a loop counts.
  struct Owned {
    unsigned level;
    int64_t offset; ///< of the level's coordinate from the loop's
    size_t axis, digit;
  };

  // Why these are not there; empty where they are.
  llvm::StringRef findProducers();
  llvm::StringRef findAccesses(llvm::ArrayRef<dialect::LoadOp> loads);
  llvm::StringRef findOwners(llvm::ArrayRef<TileAxis> axes);
  bool areOperandsReplaced(dialect::IterateOp tile);

  mlir::func::FuncOp function;
  mlir::ArrayAttr place;
  dialect::IterateOp last;
  llvm::SmallVector<dialect::IterateOp> producers; ///< in order
  dialect::FillOp fill;                            ///< null where the loops fill, or store all there is
  mlir::BlockArgument destination;
  llvm::SmallVector<mlir::Operation *> accesses;    ///< of the producers
  llvm::MapVector<mlir::Operation *, Owned> owners; ///< loops that count a level of which a tile has a part

private:
  bool isRepeated(mlir::Operation *loop, llvm::ArrayRef<TileAxis> axes);
};

} // namespace tulle::program
