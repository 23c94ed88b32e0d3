// The splits of an index are a binary tree, whose leaves are loops: the last one visits coordinates of the
// index, the others count tiles. Loops over tiles fix no level of an operand, so that they are added to an
// order of the loops over coordinates.
#include "iteration/Tiles.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::iteration {

static bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::ranges::find(names, name) != names.end();
}

const Fused *Tiles::fusedOf(unsigned index) const {
  const auto found = std::ranges::find_if(
      fused, [&](const Fused &pair) { return pair.outer == index || pair.inner == index; });
  return found == fused.end() ? nullptr : &*found;
}

const Fused *Tiles::fusedNamed(const std::string &loop) const {
  const auto found = std::ranges::find(fused, loop, &Fused::name);
  return found == fused.end() ? nullptr : &*found;
}

std::string Tiles::innermostOf(unsigned index, const std::vector<std::string> &indices) const {
  return leavesOf(index, indices).back();
}

std::vector<std::string> Tiles::leavesOf(unsigned index, const std::vector<std::string> &indices) const {
  const Fused *pair = fusedOf(index);
  return leaves(pair ? pair->name : indices[index]);
}

bool Tiles::areOf(unsigned index) const {
  if (const Fused *pair = fusedOf(index))
    index = pair->index;
  return std::ranges::count(splits, index, &Split::index) > 0 ||
         std::ranges::count(counted, index, &Position::index) > 0;
}

const Split *Tiles::splitOf(const std::string &loop) const {
  const auto found = std::ranges::find(splits, loop, &Split::loop);
  return found == splits.end() ? nullptr : &*found;
}

const Split *Tiles::madeBy(const std::string &loop) const {
  const auto found = std::ranges::find_if(
      splits, [&](const Split &split) { return split.outer == loop || split.inner == loop; });
  return found == splits.end() ? nullptr : &*found;
}

const Position *Tiles::countedBy(const std::string &loop) const {
  const auto found = std::ranges::find(counted, loop, &Position::position);
  return found == counted.end() ? nullptr : &*found;
}

const Position *Tiles::positionOf(const std::string &loop) const {
  const auto found = std::ranges::find(counted, loop, &Position::loop);
  return found == counted.end() ? nullptr : &*found;
}

std::string Tiles::innermost(const std::string &loop) const { return leaves(loop).back(); }

std::vector<std::string> Tiles::leaves(const std::string &loop) const {
  if (const Position *position = positionOf(loop))
    return leaves(position->position);
  const Split *split = splitOf(loop);
  if (!split)
    return {loop};
  std::vector<std::string> all = leaves(split->outer);
  std::ranges::move(leaves(split->inner), std::back_inserter(all));
  return all;
}

std::vector<std::string> Tiles::boundsNeed(const std::string &loop) const {
  if (const Position *position = countedBy(loop))
    return boundsNeed(position->loop);
  const Split *split = madeBy(loop);
  if (!split)
    return {};
  std::vector<std::string> needed = boundsNeed(split->loop);
  if (split->inner == loop)
    needed.push_back(innermost(split->outer));
  return needed;
}

WantedOrder Tiles::untiled(const std::vector<std::string> &wanted,
                           const std::vector<std::string> &indices) const {
  // A loop over coordinates that is not named stands where the last loop over its tiles does.
  std::vector<std::pair<size_t, LoopVar>> places;
  for (unsigned i = 0; i < indices.size(); ++i) {
    std::vector<std::string> own = leavesOf(i, indices);
    if (fusedOf(i) && contains(wanted, indices[i]))
      own.push_back(indices[i]);
    for (size_t at = wanted.size(); at-- > 0;)
      if (std::ranges::find(own, wanted[at]) != own.end() &&
          (wanted[at] == own.back() || !contains(wanted, own.back()))) {
        places.emplace_back(at, LoopVar{i, 0, 0});
        break;
      }
  }
  for (size_t at = 0; at < wanted.size(); ++at)
    if (std::optional<LoopVar> digit = loopNamed(wanted[at], indices); digit && digit->stride != 0)
      places.emplace_back(at, *digit);
  // Of two that are fused, the inner one stands behind.
  std::ranges::sort(places, {}, [&](const std::pair<size_t, LoopVar> &place) {
    const Fused *pair = fusedOf(place.second.index);
    return std::pair(place.first, pair && pair->inner == place.second.index);
  });
  WantedOrder order;
  for (auto &[at, loop] : places)
    order.push_back(loop);
  return order;
}

std::string Tiles::addTo(Plan &plan, const std::vector<std::string> &wanted,
                         const std::vector<std::string> &indices) const {
  std::vector<std::string> names;
  std::vector<std::pair<unsigned, std::string>> left; // loops over tiles, with their indices
  for (const LoopVar &loop : plan.order)
    names.push_back(areOf(loop.index) && !fusedOf(loop.index) ? innermostOf(loop.index, indices)
                                                              : nameOf(loop, indices));
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (areOf(i) && std::ranges::count(plan.order, i, &LoopVar::index) != 1)
      return fmt::format("{} has several loops already, over blocks of an operand and within them",
                         indices[i]);
    std::vector<std::string> own = leavesOf(i, indices);
    own.pop_back();
    const Fused *pair = fusedOf(i);
    for (std::string &name : own)
      if (!pair || pair->inner == i)
        left.emplace_back(pair ? pair->index : i, std::move(name));
  }
  auto pairOf = [&](const std::string &loop) {
    const auto found = std::ranges::find_if(
        fused, [&](const Fused &pair) { return loop == indices[pair.outer] || loop == indices[pair.inner]; });
    return found == fused.end() ? nullptr : &*found;
  };
  // Two that are fused are within the same tiles, and wanted by what is left of the pair.
  auto needs = [&](const std::string &loop) {
    const Fused *pair = pairOf(loop);
    return boundsNeed(pair ? innermostOf(pair->inner, indices) : loop);
  };
  auto placeOf = [&](const std::string &loop) {
    const Fused *pair = contains(wanted, loop) ? nullptr : pairOf(loop);
    return std::ranges::find(wanted, pair ? innermostOf(pair->inner, indices) : loop);
  };
  auto isWantedInside = [&](const std::string &loop, const std::string &outside) {
    const auto outer = placeOf(outside), inner = placeOf(loop);
    return outer < inner && inner != wanted.end();
  };
  auto isInside = [&](const std::string &loop, const std::string &outside) {
    return contains(needs(loop), outside) || isWantedInside(loop, outside);
  };
  while (!left.empty()) {
    const auto next = std::ranges::find_if(left, [&](const auto &tile) {
      return std::ranges::none_of(left,
                                  [&](const auto &other) { return isInside(other.second, tile.second); });
    });
    if (next == left.end())
      return "a loop within tiles stands outside of the loop over them";
    const auto [index, name] = *next;
    left.erase(next);
    const auto at =
        std::ranges::find_if(names, [&](const std::string &loop) { return isInside(loop, name); });
    const auto depth = at - names.begin();
    names.insert(at, name);
    plan.order.insert(plan.order.begin() + depth, LoopVar{index, 1, 0, /*isOverTiles=*/true});
    for (std::vector<LevelPlan> &levels : plan.levels)
      for (LevelPlan &level : levels)
        if (level.mode == LevelMode::Drive && level.loop >= unsigned(depth))
          ++level.loop;
  }
  for (size_t outer = 0; outer < names.size(); ++outer)
    for (size_t inner = outer + 1; inner < names.size(); ++inner)
      if (isInside(names[outer], names[inner]))
        return contains(needs(names[inner]), names[outer])
                   ? fmt::format("{} is within a tile of {}, and stands inside of it", names[inner],
                                 names[outer])
                   : fmt::format("the loop over {} cannot stand inside of that over {}", names[outer],
                                 names[inner]);
  plan.names = std::move(names);
  return "";
}

} // namespace tulle::iteration
