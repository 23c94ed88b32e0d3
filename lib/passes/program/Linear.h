// Indices as sums: what loops count, times constants, and what is added.
#pragma once
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace tulle::program {

/// A sum of multiples of other values, and a constant.
struct Linear {
  llvm::MapVector<mlir::Value, int64_t> terms; ///< of values that are no such sums; no factor is 0
  int64_t constant = 0;

  static Linear of(mlir::Value index);
  static Linear of(int64_t constant) { return {{}, constant}; }

  void add(const Linear &other, int64_t factor = 1);
  Linear minus(const Linear &other) const;
  bool isConstant() const { return terms.empty(); }
  bool operator==(const Linear &other) const;

  /// The sum, as arithmetic at a builder's place.
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// An index as a digit of another one: `(of / divisor) % modulus`, where a modulus of 0 is none.
struct DigitOf {
  mlir::Value of;
  int64_t divisor = 1, modulus = 0;

  explicit DigitOf(mlir::Value index);
};

} // namespace tulle::program
