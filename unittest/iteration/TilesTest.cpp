#include "iteration/Tiles.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace tulle::iteration {
namespace {

const std::vector<std::string> indices{"i", "j"};

/// The loops of a plan over i, then j, where `wanted` is asked for; or why there are none.
std::string order(const Tiles &tiles, const std::vector<std::string> &wanted) {
  Plan plan{{{0}, {1}}, {{{LevelMode::Drive, 0}, {LevelMode::Drive, 1}}}};
  const std::string why = tiles.addTo(plan, wanted, indices);
  if (!why.empty())
    return why;
  // Levels are still those of the loops over coordinates.
  for (unsigned l : {0U, 1U}) {
    const LoopVar &loop = plan.order[plan.levels[0][l].loop];
    EXPECT_EQ(loop.index, l);
    EXPECT_FALSE(loop.isOverTiles);
  }
  return fmt::format("{}", fmt::join(plan.names, " "));
}

TEST(Tiles, standAroundTheirCoordinates) {
  const Tiles tiles({{1, "j", "j0", "j1", 4, false}});
  EXPECT_EQ(order(tiles, {}), "i j0 j1");
  EXPECT_EQ(order(tiles, {"j0", "i", "j1"}), "j0 i j1");
  EXPECT_EQ(order(tiles, {"j0", "i"}), "j0 i j1");
  EXPECT_EQ(order(tiles, {"j1", "j0"}), "j1 is within a tile of j0, and stands inside of it");
}

TEST(Tiles, areSplitAgain) {
  const Tiles tiles(
      {{1, "j", "j0", "j1", 4, false}, {1, "j0", "a", "b", 2, true}, {1, "j1", "c", "d", 2, false}});
  EXPECT_EQ(tiles.innermost("j"), "d");
  EXPECT_EQ(tiles.innermost("j0"), "b");
  EXPECT_EQ(order(tiles, {}), "i a b c d");
  EXPECT_EQ(order(tiles, {"a", "i", "b"}), "a i b c d");
  EXPECT_EQ(order(tiles, {"b", "a"}), "a loop within tiles stands outside of the loop over them");
}

TEST(Tiles, leaveTheOrderOfCoordinates) {
  const Tiles tiles({{0, "i", "i0", "i1", 4, false}, {1, "j", "j0", "j1", 4, false}});
  auto untiled = [&](const std::vector<std::string> &wanted) {
    std::string names;
    for (const LoopVar &loop : tiles.untiled(wanted, indices))
      names += indices[loop.index];
    return names;
  };
  EXPECT_EQ(untiled({"i0", "j0", "j1", "i1"}), "ji");
  EXPECT_EQ(untiled({"j0", "i0"}), "ji");
  EXPECT_EQ(untiled({"j0", "i0", "i1"}), "ji");
  EXPECT_EQ(untiled({}), "");
  EXPECT_EQ(order(tiles, {"i0", "j0", "i1", "j1"}), "i0 j0 i1 j1");
}

TEST(Tiles, ofPositionsStandAsOthersDo) {
  const Tiles tiles({{1, "p", "p0", "p1", 4, false}}, {{1, "j", "p", "A"}});
  EXPECT_TRUE(tiles.areOf(1));
  EXPECT_EQ(tiles.innermost("j"), "p1");
  EXPECT_EQ(order(tiles, {}), "i p0 p1");
  EXPECT_EQ(order(tiles, {"p0", "i", "p1"}), "p0 i p1"); // what leads to the positions is known to the caller
  EXPECT_EQ(tiles.countedBy("p")->operand, "A");
  EXPECT_EQ(tiles.countedBy("p1"), nullptr);
}

TEST(Tiles, standAroundBothOfAFusedPair) {
  const Tiles tiles({{1, "p", "p0", "p1", 4, false}, {1, "p0", "a", "b", 2, false}}, {{1, "f", "p", "A"}},
                    {{0, 1, "f", 1}});
  EXPECT_TRUE(tiles.areOf(0) && tiles.areOf(1));
  EXPECT_EQ(order(tiles, {}), "a b i j");
  EXPECT_EQ(order(tiles, {"a", "b", "p1"}), "a b i j");
  EXPECT_EQ(order(tiles, {"p1", "a"}), "the loop over a cannot stand inside of that over i");
  auto untiled = [&](const std::vector<std::string> &wanted) {
    std::string names;
    for (const LoopVar &loop : tiles.untiled(wanted, indices))
      names += indices[loop.index];
    return names;
  };
  EXPECT_EQ(untiled({"a", "b", "p1"}), "ij");
  EXPECT_EQ(untiled({"i", "j"}), "ij");
  const Tiles backwards({}, {}, {{1, 0, "f", 0}});
  EXPECT_FALSE(backwards.areOf(0));
  std::string names;
  for (const LoopVar &loop : backwards.untiled({"f"}, indices))
    names += indices[loop.index];
  EXPECT_EQ(names, "ji");
}

} // namespace
} // namespace tulle::iteration
