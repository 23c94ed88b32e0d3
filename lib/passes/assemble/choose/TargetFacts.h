// What is known of a new tensor before any code is emitted.
#pragma once
#include "dialect/Dialect.h"
#include "levels/LevelFormat.h"

namespace tulle::assemble {

/// The format of a tensor in the making. `storage` holds no values: Target fills these in.
class TargetFacts {
public:
  TargetFacts(mlir::RankedTensorType tensor, dialect::Combine combine, dialect::AssemblyPlan plan);

  mlir::RankedTensorType tensor;
  dialect::Combine combine;
  dialect::AssemblyPlan plan;
  levels::Storage storage;

  const format::Encoding &encoding() const { return storage.encoding; }
  unsigned levels() const { return unsigned(storage.encoding.levels.size()); }
  const format::LevelFormat &format(unsigned level) const { return storage.encoding.levels[level].format; }
  mlir::RankedTensorType type() const { return tensor; }
  /// The level as it is written, for comments.
  std::string levelText(unsigned level) const;
  /// Dense or batch: positions are computed.
  bool isFull(unsigned level) const;
  /// One more than the last level that is not full.
  unsigned storedLevels() const;
  /// One more than the last level that shares the positions of `level`: the singletons below it.
  unsigned positionsEnd(unsigned level) const;
  /// The values below each position of the last stored level; nullopt where no static size bounds them by
  /// `most`.
  std::optional<int64_t> blockSize(int64_t most) const;
  /// Bytes of a value, at most.
  int64_t valueBytes() const;
  /// Whether the fill is the value that `combine` leaves alone.
  bool fillIsIdentity() const;
};

/// What upstream calls a combination of values of the type, which is not complex. Truth values are ordered,
/// and their sum is whether one holds.
mlir::arith::AtomicRMWKind kindOf(mlir::Type type, dialect::Combine combine);
/// The value that a combination leaves alone.
mlir::Attribute identityOf(mlir::Type type, dialect::Combine combine);

} // namespace tulle::assemble
