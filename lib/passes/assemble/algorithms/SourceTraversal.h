// A tensor's entries, in the order in which they are stored.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::assemble {

/// The expression as MLIR writes it; null where it is not affine.
mlir::AffineExpr affine(const format::Expr &e, mlir::MLIRContext *context);

/// The order of a tensor's storage, for `order` of tulle.assemble: the expressions of its leading levels, as
/// far as these hold their coordinates in ascending order and are affine. Of a slice, coordinates are its
/// own.
mlir::AffineMap storageOrder(const format::Encoding &encoding, mlir::MLIRContext *context);
/// No coordinates are stored twice.
bool storesOnce(const format::Encoding &encoding);

/// The first levels of a tensor as loops outside have reached them.
struct OuterLevels {
  llvm::SmallVector<mlir::Value> coordinates; ///< one for each
  mlir::Value iterator;                       ///< of the last of them; null without any
};

/// Emits loops over the tensor below some of its levels, level by level, where the builder stands; `leaf`
/// emits what happens at an entry, given the coordinates of the dimensions and the value. `inverse` is
/// format::inverseMap of its encoding. What lies outside the slices of dimensions, if some are given, is left
/// out, and coordinates are theirs.
void traverseStored(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, mlir::ValueRange sizes,
                    const std::vector<format::Expr> &inverse,
                    llvm::ArrayRef<std::optional<format::Slice>> slices,
                    llvm::function_ref<void(mlir::ValueRange, mlir::Value)> leaf,
                    const OuterLevels &outer = {});

} // namespace tulle::assemble
