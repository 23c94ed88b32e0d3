// Loops that are split into one over tiles and one within a tile: plain values, no IR.
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

/// All splits of a statement, in the order of its schedule.
class Tiles {
public:
  Tiles() = default;
  explicit Tiles(std::vector<Split> splits) : splits(std::move(splits)) {}

  bool empty() const { return splits.empty(); }
  bool areOf(unsigned index) const;
  /// The split that has made the loop, as its outer or its inner one; null of an index.
  const Split *madeBy(const std::string &loop) const;
  /// The loop whose coordinates are those of the one named: the innermost of what that is split into.
  std::string innermost(std::string loop) const;

  /// The order that the loops over whole indices have where these are the loops wanted, by name.
  WantedOrder untiled(const std::vector<std::string> &wanted, const std::vector<std::string> &indices) const;
  /// Adds the loops over tiles to a plan, each as far inside as it may be. Returns why that cannot be; empty
  /// otherwise.
  std::string addTo(Plan &plan, const std::vector<std::string> &wanted,
                    const std::vector<std::string> &indices) const;

private:
  std::vector<Split> splits;

  const Split *splitOf(const std::string &loop) const;
  /// The loops whose coordinates say where a loop begins and ends.
  std::vector<std::string> boundsNeed(const std::string &loop) const;
  /// The loops that are there in the end, of an index or of what it is split into, outermost first.
  std::vector<std::string> leaves(const std::string &loop) const;
};

} // namespace tulle::iteration
