// Levels that are sized by how many entries each parent has.
#pragma once
#include "levels/LevelFormat.h"

namespace tulle::levels {

/// Asks by counting: `build.work` has a number of `bits` bits for each parent.
class CountedLevelFormat : public LevelFormat {
public:
  explicit CountedLevelFormat(unsigned bits) : bits(bits) {}

  bool needsQuery(const format::Level &) const override { return true; }
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getIntegerType(bits), build.parents);
  }
  void query(const Assembly &a, LevelBuild &build, mlir::Value parent, mlir::Value,
             mlir::ValueRange) const override {
    a.take(build.work, parent, build.firstOccurrence);
  }

private:
  unsigned bits;
};

} // namespace tulle::levels
