// Tensors as tensors of other dimensions, in their own buffers.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::dialect {

/// The encoding of a view: `digits` says what each dimension of the tensor with more of them is of those of
/// the other; with `expand`, that is the view. Nullopt where a level is no such digit.
std::optional<format::Encoding> viewEncoding(const format::Encoding &source,
                                             llvm::ArrayRef<format::Digit> digits, bool expand,
                                             unsigned order);

/// Levels in the order of the dimensions, compressed but for the rows of a matrix: a tensor of any format can
/// be converted to it, and it has views. Fill and widths are those of the other.
format::Encoding plainEncoding(const format::Encoding &like, unsigned order);

/// `tulle.reshape` of the source to this shape; null where there is no such view. Sizes that are not known
/// are computed from those of the source, unless they are given.
mlir::Value viewOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source,
                   llvm::ArrayRef<format::Digit> digits, bool expand, llvm::ArrayRef<int64_t> shape,
                   mlir::ValueRange sizes = {});
/// Expanded where levels hold several digits: as sums of them, which are followed as they are stored. Null
/// where there is no such view.
mlir::Value linearViewOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source,
                         llvm::ArrayRef<format::Digit> digits, llvm::ArrayRef<int64_t> shape);

} // namespace tulle::dialect
