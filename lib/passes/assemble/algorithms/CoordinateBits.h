// The coordinates of one fiber, as a set that is emptied in order.
#pragma once
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// The words of 64 bits for so many bits.
mlir::Value wordsFor(const Target &target, mlir::Value bits);
/// Visits the bits of a word that are set, in ascending order, as `base` and their numbers.
void eachBit(const Target &target, mlir::Value word, mlir::Value base,
             llvm::function_ref<void(mlir::Value)> visit);

/// Filled in any order, visited in ascending order, and emptied by the visit. One bit per key, and above
/// every 64 words of these one word that says which are not empty. Only the summary words between the
/// smallest and the largest that were touched are looked at.
class CoordinateBits {
public:
  /// An empty set of keys below `size`; memory of the call.
  CoordinateBits(const Target &target, mlir::Value size);

  /// Returns whether the key is new (i1).
  mlir::Value insert(mlir::Value key) const;
  /// Visits the keys in ascending order and empties the set.
  void drain(llvm::function_ref<void(mlir::Value)> visit) const;
  /// The set is empty.
  void free() const;

private:
  mlir::Value emptyWords(mlir::Value count) const;
  mlir::Value numberInWord(mlir::Value key) const;
  std::pair<mlir::Value, mlir::Value> setBit(mlir::Value words, mlir::Value key) const;
  void eachKey(mlir::Value words, mlir::Value at, llvm::function_ref<void(mlir::Value)> visit) const;
  void forget() const;

  const Target &target;
  mlir::OpBuilder &b;
  mlir::Value words, summary;
  Register least, most; ///< the summary words that were touched lie between these
};

} // namespace tulle::assemble
