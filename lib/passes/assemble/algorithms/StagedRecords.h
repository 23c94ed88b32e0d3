// Entries in memory.
#pragma once
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// Coordinates and value of an entry next to each other, in whole words: entries that go to many places at a
/// time write one line for each place, not one for each dimension and one for the value.
class StagedRecords {
public:
  /// For entries of the target, whose coordinates have this type (i32 or i64).
  StagedRecords(const Target &target, mlir::Type coordinate);

  /// Memory for `bound` entries.
  mlir::Value allocate(mlir::OpBuilder &b, mlir::Value bound) const;
  void put(mlir::OpBuilder &b, mlir::Value records, mlir::Value at, mlir::ValueRange dims,
           mlir::Value value) const;
  /// The dimensions' coordinates of one entry.
  Values dims(mlir::OpBuilder &b, mlir::Value records, mlir::Value at) const;
  mlir::Value value(mlir::OpBuilder &b, mlir::Value records, mlir::Value at) const;
  int64_t wordCount() const { return words; }

private:
  /// A number, and the bits of a word it takes.
  struct Field {
    mlir::Type type;
    int64_t word;
    unsigned shift;
  };

  void add(mlir::Type type);
  mlir::Value place(mlir::OpBuilder &b, mlir::Value at, int64_t word) const;
  mlir::Value load(mlir::OpBuilder &b, mlir::Value records, mlir::Value at, const Field &field) const;

  const Target &target;
  mlir::Location loc;
  llvm::SmallVector<Field> fields; ///< of the dimensions, then of the value
  int64_t words = 0;
  unsigned used = 64; ///< bits of the last word
};

} // namespace tulle::assemble
