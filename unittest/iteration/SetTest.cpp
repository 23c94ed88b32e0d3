#include "iteration/Set.h"
#include <gtest/gtest.h>

using tulle::iteration::CoordinateSet;
using tulle::iteration::distinguish;
using tulle::iteration::minimalOf;
using tulle::iteration::Minterm;

static std::vector<Minterm> minterms(std::string_view text, unsigned operands) {
  std::string error;
  auto set = CoordinateSet::parse(text, operands, &error);
  EXPECT_TRUE(set) << text << ": " << error;
  return set ? set->minterms() : std::vector<Minterm>{};
}

TEST(Set, Operators) {
  EXPECT_EQ(minterms("a & b", 2), (std::vector<Minterm>{3}));
  EXPECT_EQ(minterms("a | b", 2), (std::vector<Minterm>{1, 2, 3}));
  EXPECT_EQ(minterms("a \\ b", 2), (std::vector<Minterm>{1}));
  EXPECT_EQ(minterms("~a", 1), (std::vector<Minterm>{0}));
  EXPECT_EQ(minterms("1", 2), (std::vector<Minterm>{0, 1, 2, 3}));
  EXPECT_EQ(minterms("0", 2), (std::vector<Minterm>{}));
}

TEST(Set, ProductsBindTighterThanUnions) {
  EXPECT_EQ(minterms("a | b & c", 3), minterms("a | (b & c)", 3));
  EXPECT_EQ(minterms("a | b \\ c", 3), minterms("a | (b \\ c)", 3));
  EXPECT_EQ(minterms("a & b \\ c", 3), (std::vector<Minterm>{3}));
  EXPECT_EQ(minterms("~a & b", 2), (std::vector<Minterm>{2}));
  EXPECT_EQ(minterms("~(a & b)", 2), (std::vector<Minterm>{0, 1, 2}));
}

TEST(Set, MinimalMinterms) {
  EXPECT_EQ(minimalOf({1, 2, 3}), (std::vector<Minterm>{1, 2}));
  EXPECT_EQ(minimalOf({3, 7, 5}), (std::vector<Minterm>{3, 5}));
  EXPECT_EQ(minimalOf({}), (std::vector<Minterm>{}));
}

TEST(Set, OperandsThatTellAMintermFromOthers) {
  EXPECT_EQ(distinguish(3, {}), 0u);
  EXPECT_EQ(distinguish(3, {2}), 1u); // a tells a & b from b
  EXPECT_EQ(distinguish(3, {1, 2}), 3u);
  EXPECT_EQ(distinguish(5, {1, 3, 7}), 6u); // not b, and c
}

TEST(Set, ErrorsNameTheCharacter) {
  std::string error;
  EXPECT_FALSE(CoordinateSet::parse("a & ", 2, &error));
  EXPECT_EQ(error, "expected an operand, '~' or '(' at character 5");
  error.clear();
  EXPECT_FALSE(CoordinateSet::parse("a & c", 2, &error));
  EXPECT_EQ(error, "operand 'c' is not one of the 2 given at character 5");
  error.clear();
  EXPECT_FALSE(CoordinateSet::parse("(a", 2, &error));
  EXPECT_EQ(error, "expected ')' at character 3");
  error.clear();
  EXPECT_FALSE(CoordinateSet::parse("a b", 2, &error));
  EXPECT_EQ(error, "expected '&', '|' or '\\' at character 3");
  EXPECT_FALSE(CoordinateSet::parse(std::string(100000, '('), 2, &error));
  EXPECT_FALSE(CoordinateSet::parse(std::string(100000, '~'), 2, &error));
  EXPECT_FALSE(CoordinateSet::parse("a", 60, &error));
}

TEST(Set, PrintsTheShortForm) {
  EXPECT_EQ(CoordinateSet(2, {3}).print(), "a & b");
  EXPECT_EQ(CoordinateSet(2, {1, 2, 3}).print(), "a | b");
  EXPECT_EQ(CoordinateSet(2, {1}).print(), "a \\ b");
  EXPECT_EQ(CoordinateSet(2, {0, 1, 2, 3}).print(), "1");
  EXPECT_EQ(CoordinateSet(1, {0}).print(), "~a");
  EXPECT_EQ(CoordinateSet(3, {1, 2, 3, 4, 5, 6, 7}).print(), "a | b | c");
  EXPECT_EQ(CoordinateSet(3, {7}).print(), "a & b & c");
  EXPECT_EQ(CoordinateSet(3, {3, 5, 7}).print(), "a & b | a & c");
}

TEST(Set, PrintParsesBackForEverySetOfThree) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    std::vector<Minterm> members;
    for (Minterm m = 0; m < 8; ++m)
      if (bits >> m & 1)
        members.push_back(m);
    CoordinateSet set(3, members);
    EXPECT_EQ(minterms(set.print(), 3), set.minterms()) << set.print();
  }
  CoordinateSet wide(7, {1, 64, 127});
  EXPECT_EQ(minterms(wide.print(), 7), wide.minterms()) << wide.print();
}

TEST(Set, Properties) {
  EXPECT_TRUE(CoordinateSet(2, {0, 1}).needsUniverse());
  EXPECT_FALSE(CoordinateSet(2, {1}).needsUniverse());
}

static std::optional<tulle::iteration::SetExpression> expression(std::string_view text, unsigned operands) {
  return tulle::iteration::SetExpression::parse(text, operands);
}

TEST(SetExpression, NamesGoOnAfterTheAlphabet) {
  using tulle::iteration::operandName;
  EXPECT_EQ(operandName(0), "a");
  EXPECT_EQ(operandName(25), "z");
  EXPECT_EQ(operandName(26), "a1");
  EXPECT_EQ(operandName(53), "b2");
  for (unsigned k = 0; k < 80; ++k) {
    auto set = expression(operandName(k), 80);
    ASSERT_TRUE(set) << k;
    EXPECT_EQ(set->operand, k);
  }
  EXPECT_FALSE(expression("c2", 54));
  EXPECT_FALSE(expression("a01", 80));
  EXPECT_FALSE(expression("a99999999999999999999", 80));
}

TEST(SetExpression, WhatTheExpressionShows) {
  auto masked = expression("a & (b | c)", 3);
  EXPECT_TRUE(masked->isWithin(0));
  EXPECT_FALSE(masked->isWithin(1));
  EXPECT_FALSE(masked->isUnion(3));
  EXPECT_FALSE(masked->needsUniverse());
  EXPECT_TRUE(expression("a | c | b", 3)->isUnion(3));
  EXPECT_FALSE(expression("a | c", 3)->isUnion(3));
  EXPECT_TRUE(expression("1", 3)->isUnion(3));
  EXPECT_TRUE(expression("1", 3)->needsUniverse());
  EXPECT_TRUE(expression("~a", 1)->needsUniverse());
  EXPECT_FALSE(expression("b \\ a", 2)->needsUniverse());
  EXPECT_TRUE(expression("b \\ a", 2)->isWithin(1));
  EXPECT_TRUE(expression("a & b | a & c", 3)->isWithin(0));
  EXPECT_FALSE(expression("a & b | c", 3)->isWithin(0));
}
