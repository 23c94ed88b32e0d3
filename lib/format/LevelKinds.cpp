// The table of level formats: name, integers in brackets, and which properties each may have, with the reason
// why not.
#include "format/LevelKinds.h"

namespace tulle::format {

const std::vector<LevelKindInfo> &levelKinds() {
  using K = LevelKind;
  constexpr std::string_view full = "it has every coordinate exactly once, in order";
  constexpr std::string_view implied = "its coordinates are implied, each once and in order";
  constexpr std::string_view stored = "'soa' and 'padded' belong to singleton levels";
  static const std::vector<LevelKindInfo> table = {
      // kind, name, integers, nonunique, nonordered, soa, padded, why
      {K::Dense, "dense", 0, 0, false, false, false, false, full},
      {K::Batch, "batch", 0, 0, false, false, false, false, full},
      {K::Compressed, "compressed", 0, 0, true, true, false, false, stored},
      {K::LooseCompressed, "loose_compressed", 0, 1, true, true, false, false, stored},
      {K::Singleton, "singleton", 0, 0, true, true, true, true, ""},
      {K::Structured, "structured", 2, 2, false, false, false, false,
       "its n coordinates of every m are distinct and in order"},
      {K::Ragged, "ragged", 0, 0, false, false, false, true, implied},
      {K::Fixed, "fixed", 0, 1, false, true, false, true, "every parent has its own distinct coordinates"},
      {K::Squeezed, "squeezed", 0, 0, false, true, false, false,
       "it holds the set of coordinates that occur, shared by all parents"},
      {K::Banded, "banded", 0, 0, false, false, false, false, implied},
      {K::Offset, "offset", 0, 0, false, false, false, false, implied},
      {K::Hashed, "hashed", 0, 0, false, true, false, false, "a table holds each coordinate once"},
      {K::Bitmap, "bitmap", 0, 0, false, false, false, false, full},
  };
  return table;
}

const LevelKindInfo &info(LevelKind kind) { return levelKinds()[size_t(kind)]; }

std::string_view name(LevelKind kind) { return info(kind).name; }

bool storesCoordinates(LevelKind kind) {
  using enum LevelKind;
  return isOneOf(kind, {Compressed, LooseCompressed, Singleton, Structured, Fixed, Squeezed, Banded, Hashed});
}

bool startsAtZero(const LevelFormat &format) {
  using enum LevelKind;
  return format.padded || isOneOf(format.kind, {Dense, Batch, Bitmap, Ragged, Fixed, Hashed, Banded});
}

bool storesPositions(LevelKind kind) {
  using enum LevelKind;
  return isOneOf(kind, {Compressed, LooseCompressed, Ragged, Banded, Hashed});
}

bool hasUnmarkedPadding(LevelKind kind) {
  using enum LevelKind;
  return isOneOf(kind, {Dense, Batch, Ragged, Squeezed, Banded});
}

} // namespace tulle::format
