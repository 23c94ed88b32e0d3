#include "iteration/CostModel.h"
#include <gtest/gtest.h>

namespace tulle::iteration {
namespace {

TEST(CostModel, VectorsAreOf256BitsWhereTheProcessorHasThem) {
  Cpu wide = genericCpu();
  wide.vectorBits = 512;
  EXPECT_EQ(CostModel(wide).vectorLength(64).value, 4u);
  EXPECT_EQ(CostModel(wide).vectorLength(32).value, 8u);
  Cpu narrow = genericCpu();
  narrow.vectorBits = 128;
  EXPECT_EQ(CostModel(narrow).vectorLength(32).value, 4u);
  EXPECT_EQ(CostModel(narrow).vectorLength(64).value, 2u);
}

TEST(CostModel, PlacesOfGathersTakeRegisters) {
  Cpu apart = genericCpu();
  apart.gathers = false;
  EXPECT_EQ(CostModel(apart).vectorLength(32, 0, /*gathers=*/true).value, 4u);
  EXPECT_EQ(CostModel(apart).vectorLength(32, 8, /*gathers=*/true).value, 8u);
  EXPECT_EQ(CostModel(apart).vectorLength(32).value, 8u);
  EXPECT_EQ(CostModel().vectorLength(32, 0, /*gathers=*/true).value, 8u);
}

TEST(CostModel, WhatIsAskedForIsWhatComes) {
  Choice<unsigned> choice = CostModel().vectorLength(64, 16);
  EXPECT_EQ(choice.value, 16u);
  EXPECT_NE(choice.reason.find("asked for"), std::string::npos);
}

TEST(CostModel, ReasonsNameTheAlternative) {
  Cpu wide = genericCpu();
  wide.vectorBits = 512;
  EXPECT_NE(CostModel(wide).vectorLength(64).reason.find("512 bits"), std::string::npos);
  EXPECT_EQ(CostModel().vectorLength(64).reason.find("512 bits"), std::string::npos);
}

TEST(CostModel, CasesWhereTheyFitTheBudget) {
  CostModel model;
  unsigned asked = 0;
  Choice<unsigned> choice = model.flaggedLoops(2, [&](unsigned) {
    ++asked;
    return model.costs.codeBudget;
  });
  EXPECT_EQ(choice.value, 0u);
  EXPECT_EQ(choice.reason, "");
  EXPECT_EQ(asked, 1u);
}

TEST(CostModel, AsFewLoopsHaveFlagsAsTheBudgetAllows) {
  CostModel model;
  const int64_t budget = model.costs.codeBudget;
  const std::vector<int64_t> sizes{9 * budget, 3 * budget, budget, 10, 10};
  Choice<unsigned> choice = model.flaggedLoops(3, [&](unsigned outer) { return sizes.at(outer); });
  EXPECT_EQ(choice.value, 2u);
  EXPECT_EQ(choice.reason, "presence flags in the outermost 2 loops: " + std::to_string(budget) +
                               " operations; a case for each set of operands would be more than " +
                               std::to_string(4 * budget) + ", over the budget of " + std::to_string(budget) +
                               " operations");
}

TEST(CostModel, BeyondTheBudgetTheLeastCodeIsTaken) {
  CostModel model;
  const int64_t budget = model.costs.codeBudget;
  // Flags in what is searched inside are one more than the loops.
  const std::vector<int64_t> sizes{3 * budget, 4 * budget, 2 * budget, 2 * budget};
  EXPECT_EQ(model.flaggedLoops(2, [&](unsigned outer) { return sizes.at(outer); }).value, 2u);
  Choice<unsigned> none = model.flaggedLoops(2, [&](unsigned) { return 3 * budget; });
  EXPECT_EQ(none.value, 0u);
  EXPECT_NE(none.reason.find("over the budget"), std::string::npos);
}

TEST(CostModel, TilesAreOfWholeCacheLinesWhereTheyMayBe) {
  const CostModel model;
  EXPECT_EQ(model.tiles(64, 4, true, false).value, (std::vector<Tile>{{4, 8}, {2, 8}, {1, 8}, {1, 4}}));
  EXPECT_EQ(model.tiles(32, 8, true, false).value, (std::vector<Tile>{{4, 16}, {2, 16}, {1, 16}, {1, 8}}));
  EXPECT_EQ(model.tiles(64, 4, false, false).value, (std::vector<Tile>{{8, 4}, {2, 4}}));
  EXPECT_EQ(model.tiles(64, 4, false, true).value, (std::vector<Tile>{{4, 4}, {2, 4}}));
  Cpu wide = genericCpu();
  wide.vectorBits = 512;
  EXPECT_EQ(CostModel(wide).tiles(64, 4, true, false).value,
            (std::vector<Tile>{{8, 8}, {4, 8}, {2, 8}, {1, 8}, {1, 4}}));
  Cpu narrow = genericCpu(); // a line would take four of its registers
  narrow.vectorBits = 128;
  EXPECT_EQ(CostModel(narrow).tiles(64, 2, true, false).value, (std::vector<Tile>{{8, 2}, {2, 2}}));
}

TEST(CostModel, RowsThatAreOneTileAreAVectorALineAndTwoLines) {
  const CostModel model;
  EXPECT_EQ(model.oneTileLengths(64, 4).value, (std::vector<int64_t>{4, 8, 16}));
  EXPECT_EQ(model.oneTileLengths(32, 8).value, (std::vector<int64_t>{8, 16, 32}));
  EXPECT_EQ(model.oneTileLengths(64, 8).value, (std::vector<int64_t>{8, 16})); // a vector is a line
  EXPECT_EQ(model.oneTileLengths(64, 32).value, (std::vector<int64_t>{32}));   // as a schedule says
}

TEST(CostModel, TilesOfSeveralRowsTakeHalfOfTheRegisters) {
  Cpu wide = genericCpu();
  wide.vectorBits = 512;
  wide.registers = 32;
  EXPECT_EQ(CostModel(wide).rowTile(64).value, (RowTile{8, 8, 2, 8}));
  EXPECT_EQ(CostModel(wide).rowTile(32).value, (RowTile{8, 8, 2, 16}));
  EXPECT_EQ(CostModel(wide).rowTile(32, 4).value, (RowTile{8, 8, 2, 4}));
  wide.vectorBits = 256;
  wide.registers = 16;
  EXPECT_EQ(CostModel(wide).rowTile(64).value, (RowTile{4, 8, 2, 4}));
}

TEST(CostModel, RowsAreReducedByWholeCacheLinesWhereThereAreSuchVectors) {
  Cpu wide = genericCpu();
  wide.vectorBits = 512;
  EXPECT_EQ(CostModel(wide).rowVectorLength(64, 4), 8u);
  EXPECT_EQ(CostModel(wide).rowVectorLength(32, 8), 16u);
  EXPECT_EQ(CostModel().rowVectorLength(64, 4), 4u);
}

TEST(CostModel, FewerStepsShareALongLoopWhereStreamsAreNotForeseen) {
  Cpu cpu = genericCpu();
  EXPECT_EQ(CostModel(cpu).jammedIterations(/*gathers=*/true), 6);
  cpu.hardwarePrefetch = false;
  EXPECT_EQ(CostModel(cpu).jammedIterations(true), 3);
  EXPECT_EQ(CostModel(cpu).jammedIterations(false), 6);
}

TEST(CostModel, EntriesCountInPowersOfFour) {
  EXPECT_EQ(relativeEntries({1000, 4100, 64000, -1}), (std::vector<double>{1, 4, 64, 1}));
  // About as many is as many, and only proportions count.
  EXPECT_EQ(relativeEntries({1000, 1200}), (std::vector<double>{1, 1}));
  EXPECT_EQ(relativeEntries({16000, 64 * 16000}), relativeEntries({1000, 64 * 1000}));
  EXPECT_EQ(relativeEntries({0, 16}), (std::vector<double>{1, 16}));
  EXPECT_EQ(relativeEntries({-1, -1}), (std::vector<double>{1, 1}));
}

} // namespace
} // namespace tulle::iteration
