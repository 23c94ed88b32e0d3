// What each level format is called and which integers and properties it takes: one table, read by parser,
// printer and checks.
#pragma once
#include "format/LevelDeclaration.h"
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

/// Every level format's row, in the order of LevelKind.
inline constexpr LevelKindInfo levelKinds[] = {
    // kind, name, integers, nonunique, nonordered, soa, padded, why
    {LevelKind::Dense, "dense", 0, 0, 0, 0, 0, 0, "it has every coordinate exactly once, in order"},
    {LevelKind::Batch, "batch", 0, 0, 0, 0, 0, 0, "it has every coordinate exactly once, in order"},
    {LevelKind::Compressed, "compressed", 0, 0, 1, 1, 0, 0, "'soa' and 'padded' belong to singleton levels"},
    {LevelKind::LooseCompressed, "loose_compressed", 0, 1, 1, 1, 0, 0,
     "'soa' and 'padded' belong to singleton levels"},
    {LevelKind::Singleton, "singleton", 0, 0, 1, 1, 1, 1, ""},
    {LevelKind::Structured, "structured", 2, 2, 0, 0, 0, 0,
     "its n coordinates of every m are distinct and in order"},
    {LevelKind::Ragged, "ragged", 0, 0, 0, 0, 0, 1, "its coordinates are implied, each once and in order"},
    {LevelKind::Fixed, "fixed", 0, 1, 0, 1, 0, 1, "every parent has its own distinct coordinates"},
    {LevelKind::Squeezed, "squeezed", 0, 0, 0, 1, 0, 0,
     "it holds the set of coordinates that occur, shared by all parents"},
    {LevelKind::Banded, "banded", 0, 0, 0, 0, 0, 0, "its coordinates are implied, each once and in order"},
    {LevelKind::Offset, "offset", 0, 0, 0, 0, 0, 0, "its coordinates are implied, each once and in order"},
    {LevelKind::Hashed, "hashed", 0, 0, 0, 1, 0, 0, "a table holds each coordinate once"},
    {LevelKind::Bitmap, "bitmap", 0, 0, 0, 0, 0, 0, "it has every coordinate exactly once, in order"},
    {LevelKind::Jagged, "jagged", 0, 0, 0, 0, 0, 0, "its coordinates are implied, each once and in order"},
    {LevelKind::Declared, "declared", 0, 0, 0, 0, 0, 0, "its declaration says what it has"},
};
inline const LevelKindInfo &info(LevelKind kind) { return levelKinds[size_t(kind)]; }

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

/// Whether the level stores coordinates in a buffer, be it one for each of its positions or for each parent.
inline bool storesCoordinates(const LevelFormat &format) {
  using enum LevelKind;
  if (format.kind == Declared)
    return format.declaration->storesCoordinates || format.declaration->firstCoordinate;
  return isOneOf(format.kind,
                 {Compressed, LooseCompressed, Singleton, Structured, Fixed, Squeezed, Banded, Hashed});
}
/// Whether the level's coordinates count from 0: those that positions or bits imply, and where there may be
/// padding.
inline bool startsAtZero(const LevelFormat &format) {
  using enum LevelKind;
  return format.padded ||
         isOneOf(format.kind, {Dense, Batch, Bitmap, Ragged, Jagged, Fixed, Hashed, Banded, Declared});
}
/// Whether the level stores positions.
inline bool storesPositions(const LevelFormat &format) {
  using enum LevelKind;
  if (format.kind == Declared)
    return format.declaration->length != nullptr;
  return isOneOf(format.kind, {Compressed, LooseCompressed, Ragged, Jagged, Banded, Hashed});
}
/// Whether the level stores where each segment ends besides where it begins: segments lie anywhere.
inline bool storesEnds(LevelKind kind) {
  using enum LevelKind;
  return isOneOf(kind, {LooseCompressed, Jagged});
}
/// Whether a position of the level may have no entry, and nothing marks it.
inline bool hasUnmarkedPadding(const LevelFormat &format) {
  using enum LevelKind;
  if (format.kind == Declared)
    return format.declaration->hasUnmarkedPadding();
  return isOneOf(format.kind, {Dense, Batch, Ragged, Jagged, Squeezed, Banded});
}

} // namespace tulle::format
