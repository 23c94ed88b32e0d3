// Where the loops of a statement stand, besides what its operands demand.
#pragma once
#include "iteration/Shape.h"
#include <set>

namespace tulle::iteration {

/// From the outside.
enum class Place {
  Outermost,  ///< dense, and outside of all that is stored
  Stored,     ///< needed to iterate over what is stored
  BeforeRows, ///< dense, and around the loops of `Rows`
  Rows,       ///< the innermost stored coordinates, which BeforeRows traverses again
  Inside      ///< dense
};

/// The places of all loops of a nest. `before[v]`: the loops that must be outside of loop v.
class Places {
public:
  Places(const std::vector<bool> &reduction, const std::vector<Shape> &shapes,
         const std::vector<LoopVar> &loops, const std::vector<std::set<unsigned>> &before);

  Place of(unsigned loop) const { return places[loop]; }

private:
  const std::vector<bool> &reduction;
  const std::vector<Shape> &shapes;
  std::vector<Place> places;

  bool isOutermost(const LoopVar &v) const;
  bool stridesMore(const LoopVar &v, const LoopVar &rows) const;
  bool isRowOfBlock(const LoopVar &v, const LoopVar &rows, const std::vector<LoopVar> &loops) const;
  bool coiterates() const;
};

/// How good the digit is as the innermost dense loop: operands it traverses with stride 1.
int unitStride(const std::vector<Shape> &shapes, const LoopVar &v);

} // namespace tulle::iteration
