// What a level format must say about itself so that loops can be made over it. One class per format, one file
// per class.
#pragma once
#include "dialect/Dialect.h"
#include "levels/Storage.h"

namespace tulle::levels {

/// A place at a level. Where the coordinate may be stored several times (a nonunique level), the segment of
/// all of them.
struct Iterator {
  mlir::Value position; ///< the (first) position
  mlir::Value end;      ///< of the segment, exclusive; null where the place is a single position
  mlir::Value batch;    ///< linear coordinate of the enclosing batch levels; null without batch levels
};

/// Half-open range of positions.
struct PositionRange {
  mlir::Value begin, end;
};

/// Emits the code that reads one level. Everything is emitted inline: there is no call and no dispatch at run
/// time.
class LevelFormat {
public:
  virtual ~LevelFormat() = default;

  /// Every coordinate below the level's size exists, so that `locate` is an address computation.
  virtual bool full() const { return false; }
  /// Each batch has arrays of its own: what lies below is not packed across it.
  virtual bool separatesBatches() const { return false; }

  /// The positions below a parent. At level 0 the parent's position is 0.
  virtual PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const = 0;
  /// The coordinate at a position of `positions(parent)`, as index.
  virtual mlir::Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                                 mlir::Value position) const = 0;
  /// The position of a coordinate (full levels only).
  virtual mlir::Value locate(const Emitter &emit, unsigned level, const Iterator &parent,
                             mlir::Value coordinate) const;

protected:
  /// Element of the coordinates buffer that belongs to `position`: what every level that stores coordinates
  /// shares.
  static mlir::Value storedCoordinate(const Emitter &emit, unsigned level, mlir::Value position);
};

/// What the full levels share: position = parent's position * level size + coordinate.
class FullLevelFormat : public LevelFormat {
public:
  bool full() const override { return true; }
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override;
  mlir::Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                         mlir::Value position) const override;
  mlir::Value locate(const Emitter &emit, unsigned level, const Iterator &parent,
                     mlir::Value coordinate) const override;
};

/// The class of a level kind. Kinds without one cannot hold data (format::whyNotExecutable says so first).
const LevelFormat *find(format::LevelKind kind);

/// Defines the function that LevelFormats.def names; one per format, in the format's file.
#define TULLE_LEVEL_FORMAT(NAME)                                                                             \
  const LevelFormat &formatOf##NAME() {                                                                      \
    static const NAME instance;                                                                              \
    return instance;                                                                                         \
  }

} // namespace tulle::levels
