// What each level format is called and which integers and properties it takes: one table, read by parser,
// printer and checks.
#pragma once
#include "format/Encoding.h"
#include <algorithm>
#include <initializer_list>

namespace tulle::format {

struct LevelKindInfo {
  LevelKind kind;
  std::string_view name;
  unsigned minIntegers, maxIntegers;
  bool mayNonunique, mayNonordered, maySoa, mayPadded;
  std::string_view why; ///< why it takes no other property, for messages
};

/// A property of a level format: where it is kept, and what it sets there.
struct Property {
  std::string_view name;
  bool LevelKindInfo::*allowed;
  bool LevelFormat::*field;
  bool value;
};
inline constexpr Property levelProperties[] = {
    {"nonunique", &LevelKindInfo::mayNonunique, &LevelFormat::unique, false},
    {"nonordered", &LevelKindInfo::mayNonordered, &LevelFormat::ordered, false},
    {"padded", &LevelKindInfo::mayPadded, &LevelFormat::padded, true},
    {"soa", &LevelKindInfo::maySoa, &LevelFormat::soa, true}};

inline bool isOneOf(LevelKind kind, std::initializer_list<LevelKind> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

const LevelKindInfo &info(LevelKind kind);
/// Every level format's row, in the order of LevelKind.
const std::vector<LevelKindInfo> &levelKinds();

/// Whether the level stores a coordinate for each of its positions in a buffer.
bool storesCoordinates(LevelKind kind);
/// Whether the level's coordinates count from 0: those that positions or bits imply, and where there may be
/// padding.
bool startsAtZero(const LevelFormat &format);
/// Whether the level stores positions.
bool storesPositions(LevelKind kind);
/// Whether a position of the level may have no entry, and nothing marks it.
bool hasUnmarkedPadding(LevelKind kind);

} // namespace tulle::format
