// Entries in memory, as a list of their coordinates and values.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Emits accesses to a list of entries, each a record: its coordinates and its value next to each other, in
/// whole words. Entries that are moved to many addresses write one line each, not one for each dimension and
/// one for the value.
class CoordinateList {
public:
  /// The list that a buffer holds, of entries of the target.
  CoordinateList(const Target &target, mlir::Value list);

  /// Memory for `bound` entries.
  mlir::Value allocate(mlir::Value bound) const;
  /// Reports sizes of dimensions that the coordinates of records do not hold.
  void checkSizes() const;
  int64_t wordCount() const { return words; }
  mlir::Value buffer() const { return list; }

  void put(mlir::Value at, mlir::ValueRange dims, mlir::Value value) const;
  /// The dimensions' coordinates of one entry, and its value.
  Values dims(mlir::Value at) const;
  mlir::Value value(mlir::Value at) const;

private:
  /// A number, and the bits of a word it takes.
  struct Field {
    mlir::Type type;
    int64_t word;
    unsigned shift;
  };

  void add(mlir::Type type);
  mlir::Value address(mlir::Value at, int64_t word) const;
  mlir::Value load(mlir::Value at, const Field &field) const;

  const Target &target;
  mlir::Value list;
  bool narrow;                     ///< coordinates have 32 bits
  llvm::SmallVector<Field> fields; ///< of the dimensions, then of the value
  int64_t words = 0;
  unsigned used = 64; ///< bits of the last word
};

/// Makes the target's buffers from entries in any order: tulle.collect, tulle.sort by as many levels as the
/// order leaves open, tulle.append.
void sortAndAppend(Target &target, dialect::EntriesOp entries, bool parallel);

} // namespace tulle::assemble
