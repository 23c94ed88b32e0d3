// Sparse tensors as lists of their entries: what files and constants are, before they are converted.
#pragma once
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tulle::boundary {

/// Upstream's coordinate list of that rank, with a buffer of 64-bit coordinates for each level, which is a
/// dimension: entries in any order, or in that of their coordinates.
mlir::sparse_tensor::SparseTensorEncodingAttr listEncoding(mlir::AffineMap order, bool ordered);
mlir::sparse_tensor::SparseTensorEncodingAttr listEncoding(mlir::MLIRContext *context, int64_t rank,
                                                           bool ordered);

/// The tensor of the type's shape and elements that these buffers make up (`tulle.storage`): positions, the
/// coordinates of each dimension, and values.
mlir::Value listOf(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, mlir::ValueRange buffers,
                   mlir::ValueRange sizes);

} // namespace tulle::boundary
