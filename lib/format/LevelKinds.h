// What each level format is called and which integers and properties it takes: one table, read by parser,
// printer and checks.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

struct LevelKindInfo {
  LevelKind kind;
  std::string_view name;
  unsigned minIntegers, maxIntegers;
  bool mayNonunique, mayNonordered, maySoa, mayPadded;
  std::string_view why; ///< why it takes no other property, for messages
};

const LevelKindInfo &info(LevelKind kind);
/// Every level format's row, in the order of formats.md.
const std::vector<LevelKindInfo> &levelKinds();

/// Whether the level stores a coordinate for each of its positions in a buffer.
bool storesCoordinates(LevelKind kind);
/// Whether the level's coordinates count from 0: those that positions or bits imply, and where slots can be
/// empty.
bool startsAtZero(const LevelFormat &format);
/// Whether the level stores positions.
bool storesPositions(LevelKind kind);

} // namespace tulle::format
