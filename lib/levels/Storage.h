// A tensor as its buffers, and the small expressions that reading them needs.
#pragma once
#include "format/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tulle::levels {

/// The values that stand for one tensor: contract 3 of HACKING.md.
struct Storage {
  format::Encoding encoding;
  format::Layout layout;
  std::vector<format::Digit> digits;     ///< one per level; empty where the map is not made of digits
  mlir::Type element;                    ///< of the tensor; i1 is stored as i8
  llvm::SmallVector<mlir::Value> fields; ///< one memref<?xT> per field of the layout
  llvm::SmallVector<mlir::Value> dims;   ///< sizes as index, constants where static
  llvm::SmallVector<mlir::Value> sizes;  ///< per level: the element of its sizes field as index, else null

  /// Loads the size fields at the builder's insertion point: that of the tensor's definition.
  static std::unique_ptr<Storage> create(mlir::OpBuilder &builder, mlir::Location loc,
                                         const format::Encoding &encoding, mlir::Type element,
                                         mlir::ValueRange fields, mlir::ValueRange dims);
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

  /// Element `at` of a sizes, permutation, positions or coordinates field as index: sign-extended where
  /// coordinates can be negative, else zero-extended.
  mlir::Value load(unsigned field, mlir::Value at) const;
  /// Stores a value at element `at` of a field that is no value, truncated to its width: the caller knows
  /// that it fits.
  void store(unsigned field, mlir::Value at, mlir::Value value) const;
  /// Bit `at` of a bits field.
  mlir::Value loadBit(unsigned field, mlir::Value at) const;
  /// The ranked dimension's coordinate at a rank.
  mlir::Value permuted(mlir::Value rank) const;
  /// Number of coordinates level `level` can have: for digits ceil(dim / stride) or the modulus, for a dense
  /// counter level its count, else by the bounds of its expression.
  mlir::Value levelSize(unsigned level) const;
  /// The least coordinate of the level: 0 but for differences.
  mlir::Value levelLow(unsigned level) const;
};

} // namespace tulle::levels
