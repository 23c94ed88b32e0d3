// A tensor's entries, in the order in which they are stored.
#pragma once
#include "dialect/SliceArguments.h"

namespace tulle::assemble {

/// The expression as MLIR writes it; null where it is not affine.
mlir::AffineExpr affine(const format::Expr &e, mlir::MLIRContext *context);

/// The order of a tensor's storage, for `order` of tulle.assemble: the expressions of its leading levels, as
/// far as these hold their coordinates in ascending order and are affine. Of a slice, coordinates are its
/// own.
mlir::AffineMap storageOrder(const format::Encoding &encoding, mlir::MLIRContext *context);
/// No coordinates are stored twice.
bool storesOnce(const format::Encoding &encoding);

/// Where a traversal stands, and what it is part of.
struct Surroundings {
  llvm::SmallVector<mlir::Value>
      outer;            ///< the coordinates of the first levels, which loops outside have reached
  mlir::Value iterator; ///< of the last of these; null without any
  llvm::SmallVector<mlir::Value> origin; ///< is added to the coordinates of each dimension, if given
};

/// Emits loops over the tensor, or below its first levels, level by level, where the builder stands; `leaf`
/// emits what happens at an entry, given the coordinates of the dimensions and the value. `inverse` is
/// format::inverseMap of its encoding. What lies outside the slices of dimensions, if some are given, is left
/// out, and coordinates are theirs.
void traverseStored(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, mlir::ValueRange sizes,
                    const std::vector<format::Expr> &inverse, const dialect::Slices &slices,
                    llvm::function_ref<void(mlir::ValueRange, mlir::Value)> leaf,
                    const Surroundings &surroundings = {});

} // namespace tulle::assemble
