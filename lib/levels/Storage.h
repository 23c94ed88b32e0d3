// A tensor as its buffers, and the small expressions that reading them needs.
#pragma once
#include "format/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tulle::levels {

/// The values that stand for one tensor argument: contract 3 of HACKING.md.
struct Storage {
  format::Encoding encoding;
  format::Layout layout;
  std::vector<format::Digit> digits;     ///< one per level
  mlir::Type element;                    ///< of the tensor; i1 is stored as i8
  llvm::SmallVector<mlir::Value> fields; ///< one memref<?xT> per field of the layout
  llvm::SmallVector<mlir::Value> dims;   ///< sizes as index, constants where static
};

/// The types of a tensor's buffers, in the order of the layout.
llvm::SmallVector<mlir::Type> fieldTypes(const format::Layout &layout, mlir::Type element);

/// Builds the index arithmetic of one tensor. Indices never wrap, and the flags say so: LLVM then widens and
/// vectorizes.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, const Storage &storage)
      : builder(builder), loc(loc), storage(storage) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Storage &storage;

  mlir::Value constant(int64_t value) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value sub(mlir::Value a, mlir::Value b) const;
  mlir::Value mul(mlir::Value a, mlir::Value b) const;
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) const;

  /// Element `at` of a positions or coordinates field, zero-extended to index.
  mlir::Value load(unsigned field, mlir::Value at) const;
  /// Stores a value at element `at` of a field that is no value, truncated to its width: the caller knows
  /// that it fits.
  void store(unsigned field, mlir::Value at, mlir::Value value) const;
  /// Number of coordinates level `level` can have: ceil(dim / stride), or the modulus.
  mlir::Value levelSize(unsigned level) const;
};

} // namespace tulle::levels
