// What a new tensor stores as the tensor its entries come from does: whole buffers, aliased or copied as they
// stand.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Entries that are those of one tensor, in its order, and each has a position of its own in the target: the
/// k-th value of one is the k-th of the other, and so are coordinates that both store for each entry.
class BufferReuse {
public:
  /// Nullopt where not even the values are the same. With `share`, buffers may be the source's own.
  static std::optional<BufferReuse> find(const Target &target, const Stream &stream, bool share);

  /// The target's fields, values among them, that `alias` and `copy` see to.
  llvm::ArrayRef<unsigned> fields() const { return targetFields; }
  /// Where all fields of the target but one of positions are among those: the source's coordinates, one for
  /// each entry, of the dimension that the target's first level is. Else null.
  mlir::Value outerCoordinates(const Target &target) const;
  /// Gives the target, before it is allocated, those buffers of the source that it may have.
  void alias(Target &target) const;
  /// Copies a chunk of the other fields; the target's buffers are allocated.
  void copy(const Target &target, mlir::Value chunk, mlir::Value chunks) const;

private:
  bool isAliased(const Target &target, size_t number) const;
  mlir::Value buffer(const Target &target, mlir::Type type, std::optional<unsigned> level) const;
  mlir::Value buffer(const Target &target, size_t number) const;
  mlir::Attribute valueOfAll(const Target &target) const;

  mlir::Value source;
  bool aliases;
  std::vector<unsigned> targetFields;
  std::vector<unsigned> sourceLevels; ///< for each field but the last one, the level that has the coordinates
  std::optional<unsigned> outerLevel; ///< the one that has those of the target's first level
};

} // namespace tulle::assemble
