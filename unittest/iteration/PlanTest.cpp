#include "iteration/Plan.h"
#include <gtest/gtest.h>

namespace tulle::iteration {
namespace {

/// `A(i,j)` in a format, subscripts as index numbers.
Operand operand(const char *format, std::vector<unsigned> indices) {
  Operand result{format::parseFormat(format, indices.size()), {}};
  for (unsigned i : indices)
    result.subscripts.push_back({{{i, 1}}, 0});
  return result;
}

std::string order(const std::variant<Plan, Conversion> &planned) {
  std::string result;
  for (const LoopVar &v : std::get<Plan>(planned).order) {
    result += "ijklmn"[v.index];
    if (v.stride != 1)
      result += "/" + std::to_string(v.stride);
    if (v.modulus != 0)
      result += "%" + std::to_string(v.modulus);
    result += " ";
  }
  return result;
}

constexpr unsigned i = 0, j = 1, k = 2;

TEST(Plan, SpmvFollowsTheMatrix) {
  EXPECT_EQ(
      order(plan({false, true}, {operand("CSR", {i, j}), operand("Dense", {j}), operand("Dense", {i})})),
      "i j ");
  EXPECT_EQ(
      order(plan({false, true}, {operand("CSC", {i, j}), operand("Dense", {j}), operand("Dense", {i})})),
      "j i ");
}

TEST(Plan, DenseColumnsOfSpmmAreInnermost) {
  EXPECT_EQ(order(plan({false, false, true},
                       {operand("CSR", {i, k}), operand("Dense", {k, j}), operand("Dense", {i, j})})),
            "i k j ");
}

TEST(Plan, RowsOfADenseOperandOnTheLeftAreOutermost) {
  const std::vector<bool> reduction{false, false, true};
  const std::vector<Operand> product{operand("Dense", {i, k}), operand("CSR", {k, j}),
                                     operand("Dense", {i, j})};
  const auto planned = plan(reduction, product);
  EXPECT_EQ(order(planned), "i k j ");
  EXPECT_EQ(explainOrder(std::get<Plan>(planned), product, {"i", "j", "k"}, {"A", "B", "C"}),
            "loop order i, k, j: B is stored by k, then j; i outermost: no operand is consecutive in it");
  // Each row would find what two operands have in common once more.
  EXPECT_EQ(order(plan(reduction, {operand("Dense", {i, k}), operand("CSR", {k, j}), operand("CSR", {k, j}),
                                   operand("Dense", {i, j})})),
            "k j i ");
}

TEST(Plan, RowsOfABlockStandAroundItsColumns) {
  const char *groups = "(i, j) -> (i floordiv 4 : dense, j : compressed, i mod 4 : dense)";
  const auto product = [&](const char *format) {
    return order(plan({false, false, true},
                      {operand(format, {i, k}), operand("Dense", {k, j}), operand("Dense", {i, j})}));
  };
  EXPECT_EQ(product(groups), "i/4 i%4 k j ");
  EXPECT_EQ(product("BCSR(4,1)"), "i/4 i%4 k k%1 j ");
  EXPECT_EQ(product("(i, j) -> (i floordiv 8 : dense, j : compressed, i floordiv 2 mod 4 : dense, "
                    "i mod 2 : dense)"),
            "i/8 i/2%4 i%2 k j ");
  // Columns of a block are summed with its rows.
  EXPECT_EQ(product("BCSR(4,2)"), "i/4 k/2 i%4 k%2 j ");
  // Without rows of the result, those of a block are its vectors.
  EXPECT_EQ(
      order(plan({false, true}, {operand(groups, {i, j}), operand("Dense", {j}), operand("Dense", {i})})),
      "i/4 j i%4 ");
}

TEST(Plan, SumsThatStrideStandAroundRows) {
  const std::vector<bool> reduction{false, false, true};
  const auto sampled = [&](std::vector<unsigned> second, Operand result) {
    return order(plan(reduction, {operand("CSR", {i, j}), operand("Dense", {i, k}),
                                  operand("Dense", std::move(second)), std::move(result)}));
  };
  EXPECT_EQ(sampled({k, j}, operand("Dense", {i, j})), "i k j ");
  EXPECT_EQ(sampled({j, k}, operand("Dense", {i, j})), "i j k ");
  // Rows of a new tensor are assembled once.
  Operand made = operand("COO", {i, j});
  made.assembled = true;
  EXPECT_EQ(sampled({k, j}, std::move(made)), "i j k ");
}

TEST(Plan, AWantedOrderHoldsForTheLoopsThatItNames) {
  const std::vector<bool> reduction{false, false, true};
  const std::vector<Operand> product{operand("CSR", {i, k}), operand("Dense", {k, j}),
                                     operand("Dense", {i, j})};
  EXPECT_EQ(order(plan(reduction, product, {{j, 0, 0}, {i, 0, 0}})), "j i k ");
  EXPECT_EQ(order(plan(reduction, product, {{i, 0, 0}, {j, 0, 0}, {k, 0, 0}})), "i j k ");
  const auto refused = plan(reduction, product, {{k, 0, 0}, {i, 0, 0}});
  ASSERT_TRUE(std::holds_alternative<Conversion>(refused));
  EXPECT_EQ(std::get<Conversion>(refused).operand, 0u);
  EXPECT_EQ(format::displayName(std::get<Conversion>(refused).target), "CSC");
  const std::vector<Operand> blocks{operand("BCSR(2,3)", {i, j}), operand("Dense", {j}),
                                    operand("Dense", {i})};
  EXPECT_EQ(order(plan({false, true}, blocks, {{j, 1, 3}, {i, 1, 2}})), "i/2 j/3 j%3 i%2 ");
}

TEST(Plan, AWantedOrderDoesNotLeaveThePatternOfTheResult) {
  std::vector<Operand> operands{operand("CSR", {j, i}), operand("CSR", {i, j}), operand("CSR", {i, j})};
  operands[1].keep = true;
  operands[2].follows = 1;
  const auto refused = plan({false, false}, operands, {{j, 0, 0}, {i, 0, 0}});
  ASSERT_TRUE(std::holds_alternative<Conversion>(refused));
  EXPECT_EQ(std::get<Conversion>(refused).operand, 1u);
}

TEST(Plan, LoopsAreNamedAsTheyArePrinted) {
  const std::vector<std::string> indices{"i", "j"};
  for (const LoopVar &loop : {LoopVar{0, 4, 0}, LoopVar{1, 1, 4}, LoopVar{1, 2, 8}})
    EXPECT_EQ(loopNamed(nameOf(loop, indices), indices), loop);
  EXPECT_TRUE(isMeant({1, 4, 0}, *loopNamed("j", indices)));
  EXPECT_FALSE(isMeant({1, 4, 0}, *loopNamed("j/2", indices)));
  for (const char *wrong : {"", "k", "i/", "i/0", "i%1", "i/4x", "i/-4", "i%4/2"})
    EXPECT_FALSE(loopNamed(wrong, indices)) << wrong;
}

TEST(Plan, BlocksBecomeDigits) {
  EXPECT_EQ(order(plan({false, true},
                       {operand("BCSR(2,3)", {i, j}), operand("Dense", {j}), operand("Dense", {i})})),
            "i/2 j/3 i%2 j%3 ");
}

TEST(Plan, PaddedDigitsStandInsideTheBlocksThatAreWalked) {
  // j%2 could stand outside, as B asks for both of j before i: the last block's padding would be visited.
  EXPECT_EQ(order(plan({false, false, true},
                       {operand("BCSC(2,2)", {j, k}),
                        operand("(a, b, c) -> (a : compressed, b : dense, c : compressed)", {k, j, i}),
                        operand("Dense", {i, j})})),
            "k j/2 j%2 i ");
}

TEST(Plan, WalksSparseLevelsAndLocatesDenseOnes) {
  auto planned = plan({false, true}, {operand("CSR", {i, j}), operand("Dense", {j}), operand("Dense", {i})});
  const auto &levels = std::get<Plan>(planned).levels;
  EXPECT_EQ(levels[0][0].mode, LevelMode::Locate);
  EXPECT_EQ(levels[0][1].mode, LevelMode::Drive);
  EXPECT_EQ(levels[0][1].loop, 1u);
  EXPECT_EQ(levels[1][0].mode, LevelMode::Locate);
}

/// The operand converted in A(i,j) + B(i,j), whose orders clash.
unsigned converted(int64_t entriesOfA, int64_t entriesOfB, Operand result) {
  std::vector<Operand> operands{operand("CSC", {i, j}), operand("CSR", {i, j}), std::move(result)};
  operands[0].entries = entriesOfA;
  operands[1].entries = entriesOfB;
  return std::get<Conversion>(plan({false, false}, operands)).operand;
}

TEST(Plan, TheSmallerOperandIsConverted) {
  EXPECT_EQ(converted(1 << 20, 1 << 10, operand("Dense", {i, j})), 1u);
  EXPECT_EQ(converted(1 << 10, 1 << 20, operand("Dense", {i, j})), 0u);
  // As written where nothing is known, or the difference is small.
  EXPECT_EQ(converted(-1, 1 << 20, operand("Dense", {i, j})), 1u);
  EXPECT_EQ(converted(1000, 1100, operand("Dense", {i, j})), 1u);
}

TEST(Plan, AConversionIsCheaperThanAResultOutOfOrder) {
  Operand rows = operand("Dense", {i, j}), columns = operand("denseColMajor", {i, j});
  rows.assembled = columns.assembled = true;
  EXPECT_EQ(converted(1 << 20, 1 << 10, rows), 0u);
  EXPECT_EQ(converted(1 << 10, 1 << 20, rows), 0u);
  EXPECT_EQ(converted(1 << 20, 1 << 10, columns), 1u);
  EXPECT_EQ(converted(1 << 10, 1 << 20, columns), 1u);
}

/// In y(k,i,j,l) = A(i,k+1) * B(i,j) * C(l,j,k), A in the blocks of B would be followed from the second k on,
/// and with C through every pair of rows: what it costs to convert B is less.
TEST(Plan, ConversionsAreJudgedByThePartsThatAreFollowedThen) {
  constexpr unsigned l = 3;
  Operand a = operand("CSC", {i, k}),
          b = operand("(i, j) -> (j : dense, i floordiv 4 : dense, i mod 4 : compressed)", {i, j}),
          c = operand("(i, j, k) -> (j : compressed, i : dense, k : compressed)", {l, j, k}),
          y = operand("dense", {k, i, j, l});
  a.subscripts[1].constant = 1;
  a.subscripts[1].isInterval = true;
  a.entries = 1;
  b.entries = 4;
  c.entries = 64;
  const auto planned = plan({false, false, false, false}, {a, b, c, y});
  EXPECT_EQ(std::get<Conversion>(planned).operand, 1u);
}

TEST(Plan, TheOrderIsExplained) {
  std::vector<Operand> operands{operand("CSR", {i, k}), operand("Dense", {k, j}), operand("Dense", {i, j})};
  auto planned = plan({false, false, true}, operands);
  EXPECT_EQ(explainOrder(std::get<Plan>(planned), operands, {"i", "j", "k"}, {"A", "X", "C"}),
            "loop order i, k, j: A is stored by i, then k; j innermost: consecutive in X, C");
}

TEST(Plan, ADiagonalIsSearched) {
  auto planned = plan({false}, {operand("CSR", {i, i}), operand("Dense", {i})});
  EXPECT_EQ(std::get<Plan>(planned).levels[0][1].mode, LevelMode::Search);
}

TEST(Plan, AClashConvertsTheSecondOperand) {
  auto planned =
      plan({false, false}, {operand("CSR", {i, j}), operand("CSC", {i, j}), operand("Dense", {i, j})});
  const auto &c = std::get<Conversion>(planned);
  EXPECT_EQ(c.operand, 1u);
  EXPECT_EQ(format::displayName(c.target), "CSR");
}

TEST(Plan, InnerProductsConvert) {
  auto planned =
      plan({false, false, true}, {operand("CSR", {i, k}), operand("CSC", {k, j}), operand("Dense", {i, j})});
  const auto &c = std::get<Conversion>(planned);
  EXPECT_EQ(c.operand, 1u);
  EXPECT_EQ(format::displayName(c.target), "CSR");
}

/// `C(i,j) = A(i,k) * B(k,j) where M`, whose result has the mask's pattern.
std::vector<Operand> maskedProduct(int64_t factors, int64_t mask) {
  std::vector<Operand> operands = {operand("CSR", {i, k}), operand("CSR", {k, j}), operand("CSR", {i, j}),
                                   operand("CSR", {i, j})};
  operands[0].entries = operands[1].entries = factors;
  operands[2].entries = mask;
  operands[2].keep = true;
  operands[3].follows = 2;
  return operands;
}

TEST(Plan, RowsOfTheMaskOfAProductAreLookedUp) {
  EXPECT_EQ(order(plan({false, false, true}, maskedProduct(-1, -1))), "i k j ");
  EXPECT_EQ(order(plan({false, false, true}, maskedProduct(1000, 1000))), "i k j ");
}

TEST(Plan, AMaskWithFewEntriesHasAProductOfRowsForEach) {
  auto planned = plan({false, false, true}, maskedProduct(1000, 10));
  const auto &c = std::get<Conversion>(planned);
  EXPECT_EQ(c.operand, 1u);
  EXPECT_EQ(format::displayName(c.target), "CSC");
}

TEST(Plan, ThePatternOfTheResultStays) {
  Operand pattern = operand("CSC", {i, j}), result = operand("CSC", {i, j});
  pattern.keep = true;
  result.follows = 1;
  auto planned = plan({false, false}, {operand("CSR", {i, j}), pattern, result});
  EXPECT_EQ(std::get<Conversion>(planned).operand, 0u);
}

TEST(Plan, ConvertedOperandsStayConverted) {
  // Two operands of which each has an outer index the other lacks: no format of theirs avoids visiting pairs.
  constexpr unsigned l = 3;
  std::vector<Operand> operands = {operand("CSF", {i, j, k}), operand("COO", {l, i, k}),
                                   operand("Dense", {i, l, k})};
  auto planned = plan({false, true, false, false}, operands);
  for (int repetition = 0; repetition < 2; ++repetition)
    if (auto *conversion = std::get_if<Conversion>(&planned)) {
      operands[conversion->operand].encoding = conversion->target;
      planned = plan({false, true, false, false}, operands);
    }
  EXPECT_TRUE(std::holds_alternative<Plan>(planned));
}

TEST(Plan, MasksAreNotPadded) {
  // B must follow the blocks of A. As a factor its blocks may be padded with zeros, as a mask not.
  std::vector<Operand> operands = {operand("BCSR(2,2)", {i, j}), operand("CSC", {i, j}),
                                   operand("Dense", {i, j})};
  for (bool exact : {false, true}) {
    operands[1].exact = exact;
    auto planned = plan({false, false}, operands);
    auto *conversion = std::get_if<Conversion>(&planned);
    ASSERT_TRUE(conversion);
    ASSERT_EQ(conversion->operand, 1u);
    EXPECT_EQ(conversion->target.levels.back().format.kind,
              exact ? format::LevelKind::Compressed : format::LevelKind::Dense);
  }
}

TEST(Plan, UnpaddedBlocksFollowTheLoops) {
  // B's rows are whole, so both digits of j stand outside i; C must not walk j's low digit inside i.
  std::vector<Operand> operands = {
      operand("(d0, d1) -> (d0 floordiv 4 : compressed, d1 : dense, d0 mod 4 : dense)", {j, j}),
      operand("CSR", {j, i}), operand("COO", {j, i}), operand("Dense", {i, j})};
  operands[2].exact = true;
  auto planned = plan({false, false}, operands);
  auto *conversion = std::get_if<Conversion>(&planned);
  ASSERT_TRUE(conversion);
  ASSERT_EQ(conversion->operand, 2u);
  operands[2].encoding = conversion->target;
  EXPECT_TRUE(std::holds_alternative<Plan>(plan({false, false}, operands)));
}

TEST(Plan, LowDigitsOfUnpaddedBlocksStandInsideHighOnes) {
  std::vector<Operand> operands = {
      operand("(d0, d1) -> (d1 : compressed, d0 floordiv 2 : compressed, d0 mod 2 : dense)", {j, k}),
      operand("DCSR", {j, i}), operand("Dense", {i, j, k})};
  operands[0].keep = operands[1].exact = true;
  auto planned = plan({false, false, false}, operands);
  while (auto *conversion = std::get_if<Conversion>(&planned)) {
    ASSERT_NE(operands[conversion->operand].encoding, conversion->target);
    operands[conversion->operand].encoding = conversion->target;
    planned = plan({false, false, false}, operands);
  }
  std::string loops = order(planned);
  EXPECT_LT(loops.find("j/2"), loops.find("j%2")) << loops;
}

/// A format whose loops stand in an order that blocks do not allow: what is left of the division outside.
constexpr const char *byRemainder = "(i, j) -> (j mod 2 : dense, j floordiv 2 : compressed, i : compressed)";

/// Converts until there is a plan, and returns its loops.
std::string settledOrder(std::vector<Operand> operands, const std::vector<bool> &reduction) {
  auto planned = plan(reduction, operands);
  while (auto *conversion = std::get_if<Conversion>(&planned)) {
    if (operands[conversion->operand].keep || operands[conversion->operand].encoding == conversion->target)
      return "none";
    operands[conversion->operand].encoding = conversion->target;
    planned = plan(reduction, operands);
  }
  return order(planned);
}

TEST(Plan, WhatNoBlocksFollowIsConverted) {
  for (bool exact : {false, true})
    for (int64_t entries : {-1, 1000}) {
      std::vector<Operand> operands{operand(byRemainder, {i, j}), operand("CSR", {i, j}),
                                    operand("Dense", {i, j})};
      operands[0].entries = entries;
      operands[0].exact = operands[1].exact = exact;
      auto planned = plan({false, false}, operands);
      EXPECT_EQ(std::get<Conversion>(planned).operand, exact ? 0u : 1u);
      EXPECT_NE(settledOrder(operands, {false, false}), "none");
    }
}

TEST(Plan, WhatStaysIsFollowedInAnyOrder) {
  std::vector<Operand> operands{operand(byRemainder, {i, j}), operand("CSR", {i, j}), operand("CSC", {i, j}),
                                operand(byRemainder, {i, j})};
  operands[0].keep = true;
  operands[3].follows = 0;
  for (bool exact : {false, true}) {
    operands[1].exact = operands[2].exact = exact;
    EXPECT_EQ(settledOrder(operands, {false, false}), "j%2 j/2 i ");
  }
}

/// A new tensor that the loops insert into.
Operand inserted(const char *format, std::vector<unsigned> indices) {
  Operand result = operand(format, indices);
  for (format::Level &level : result.encoding.levels)
    level.format = {};
  result.assembled = true;
  return result;
}

TEST(Plan, OperandsOfUnknownSizeAreConvertedForTheResult) {
  for (bool exact : {false, true}) {
    std::vector<Operand> operands{operand(byRemainder, {i, j}), operand("CSR", {i, j}),
                                  inserted("CSR", {i, j})};
    operands[0].exact = operands[1].exact = exact;
    auto planned = plan({false, false}, operands);
    EXPECT_EQ(std::get<Conversion>(planned).operand, 0u);
    EXPECT_EQ(format::displayName(std::get<Conversion>(planned).target), "CSR");
    EXPECT_EQ(settledOrder(operands, {false, false}), "i j ");
  }
}

// Every row of the product is finished before the next: Gustavson's order, by rows or by columns.
TEST(Plan, RowsOfNewTensorsAreFinishedOneAfterTheOther) {
  std::vector<bool> product = {false, false, true};
  EXPECT_EQ(order(plan(product, {operand("CSR", {i, k}), operand("CSR", {k, j}), inserted("CSR", {i, j})})),
            "i k j ");
  EXPECT_EQ(order(plan(product, {operand("CSC", {i, k}), operand("CSC", {k, j}), inserted("CSC", {i, j})})),
            "j k i ");
  auto clash = plan(product, {operand("CSC", {i, k}), operand("CSC", {k, j}), inserted("CSR", {i, j})});
  EXPECT_EQ(std::get<Conversion>(clash).operand, 0u);
  EXPECT_EQ(format::displayName(std::get<Conversion>(clash).target), "CSR");
}

// Loops that no operand decides follow the levels of the new tensor; sums into its last level need nothing.
TEST(Plan, NewTensorsDecideWhatIsLeft) {
  const char *vector = "(i) -> (i : compressed)";
  EXPECT_EQ(
      order(plan({false, false}, {operand(vector, {i}), operand(vector, {j}), inserted("CSR", {i, j})})),
      "i j ");
  EXPECT_EQ(
      order(plan({false, false}, {operand(vector, {i}), operand(vector, {j}), inserted("CSC", {i, j})})),
      "j i ");
  EXPECT_EQ(order(plan({true, false}, {operand("CSR", {i, j}), inserted(vector, {j})})), "i j ");
}

TEST(Plan, BlockRowsOfNewTensorsStayOutside) {
  EXPECT_EQ(order(plan({false, false, true}, {operand("BCSR(2,2)", {i, k}), operand("BCSR(2,2)", {k, j}),
                                              inserted("BCSR(2,2)", {i, j})})),
            "i/2 k/2 j/2 i%2 k%2 j%2 ");
}

} // namespace
} // namespace tulle::iteration
