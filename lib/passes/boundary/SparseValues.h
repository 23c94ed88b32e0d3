// A sparse tensor outside of kernels: its fields (format::layout), then its sizes.
#pragma once
#include "format/Layout.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tulle::boundary {

/// Converts tensors with upstream's encodings, or ours, 1:N; all else stays.
struct SparseTypes : mlir::TypeConverter {
  SparseTypes();
  static bool isSparse(mlir::Type type);
};

/// The encoding in which a tensor is stored; nullopt where it is dense and has none.
std::optional<format::Encoding> encodingOf(mlir::Type type);

/// The buffer with elements of a type that has the same size in memory: i1 is stored as i8, and an index has
/// 64 bits.
mlir::Value withElements(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer, mlir::Type element);

/// A sparse tensor's values after the conversion.
struct SparseValue {
  format::Encoding encoding;
  format::Layout layout;
  llvm::SmallVector<mlir::Value> fields, sizes;

  /// What stands for a tensor of that type; nullopt where it is no sparse one.
  static std::optional<SparseValue> of(mlir::Type type, mlir::ValueRange values, const SparseTypes &types);

  /// Null where it depends on the data.
  mlir::Value levelSize(mlir::OpBuilder &b, mlir::Location loc, unsigned level) const;

  /// A field as upstream's ops show it: elements `offset`, `offset + stride`, …, in equally many for each
  /// coordinate of batch levels, which are dimensions of their own.
  mlir::Value view(mlir::OpBuilder &b, mlir::Location loc, mlir::Value field, mlir::MemRefType type,
                   unsigned offset = 0, unsigned stride = 1) const;
};

} // namespace tulle::boundary
