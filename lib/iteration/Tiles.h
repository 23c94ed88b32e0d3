// Loops that are split into one over tiles and one within a tile, of coordinates or of positions: plain
// values, no IR.
#pragma once
#include "iteration/Plan.h"

namespace tulle::iteration {

/// The loop over an index, or what an earlier split has made of it, becomes two: `outer` counts tiles, and
/// `inner` visits the coordinates of one.
struct Split {
  unsigned index;
  std::string loop, outer, inner;
  int64_t size; ///< of a tile, or with `divides` how many there are
  bool divides;
};

/// Two loops, one right inside of the other, are one over pairs of their coordinates. What it is split into
/// are loops over tiles outside of both; within a tile there are the two.
struct Fused {
  unsigned outer, inner; ///< indices
  std::string name;
  unsigned index; ///< the one of the two that loops over tiles count as: a reduction, if one is
};

/// The loop over an index, or over a tile of it, or a fused loop, counts what an operand stores there: what
/// `position` is split into are tiles of positions.
struct Position {
  unsigned index;
  std::string loop, position;
  std::string operand; ///< by name
};

/// What the loops of a statement become, by its schedule.
class Tiles {
public:
  Tiles() = default;
  explicit Tiles(std::vector<Split> splits, std::vector<Position> positions = {},
                 std::vector<Fused> fused = {})
      : splits(std::move(splits)), counted(std::move(positions)), fused(std::move(fused)) {}

  bool empty() const { return splits.empty() && counted.empty() && fused.empty(); }
  bool areOf(unsigned index) const;
  const std::vector<Position> &positions() const { return counted; }
  const std::vector<Fused> &fusedLoops() const { return fused; }
  /// The pair that an index is one of; null without one.
  const Fused *fusedOf(unsigned index) const;
  /// The same by the name of the fused loop.
  const Fused *fusedNamed(const std::string &loop) const;
  /// The split that has made the loop, as its outer or its inner one; null of an index.
  const Split *madeBy(const std::string &loop) const;
  /// What has made the loop count positions; null of a loop that does not, or is a part of one.
  const Position *countedBy(const std::string &loop) const;
  /// The loop whose coordinates are those of the one named: the innermost of what that is split into.
  std::string innermost(const std::string &loop) const;
  /// What visits the coordinates of the index within tiles: a loop, or the two that are fused.
  std::string innermostOf(unsigned index, const std::vector<std::string> &indices) const;
  /// The loops that are there in the end, of an index or of what it is split into, outermost first.
  std::vector<std::string> leaves(const std::string &loop) const;

  /// The order that the loops over whole indices have where these are the loops wanted, by name.
  WantedOrder untiled(const std::vector<std::string> &wanted, const std::vector<std::string> &indices) const;
  /// Adds the loops over tiles to a plan, each as far inside as it may be. Returns why that cannot be; empty
  /// otherwise.
  std::string addTo(Plan &plan, const std::vector<std::string> &wanted,
                    const std::vector<std::string> &indices) const;

private:
  std::vector<Split> splits;
  std::vector<Position> counted;
  std::vector<Fused> fused;

  const Split *splitOf(const std::string &loop) const;
  const Position *positionOf(const std::string &loop) const;
  /// The loops that are there in the end instead of the one over an index, or of the two of a fused one.
  std::vector<std::string> leavesOf(unsigned index, const std::vector<std::string> &indices) const;
  /// The loops whose coordinates say where a loop begins and ends.
  std::vector<std::string> boundsNeed(const std::string &loop) const;
};

} // namespace tulle::iteration
