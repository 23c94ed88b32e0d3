// Which part takes an entry, and what each part then stores, counted by hand.
#include "engine/Split.h"
#include "Programs.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

//     1 2 . .
// A = . 3 . .
//     4 . 5 6
//     7 8 9 .
const std::vector<double> matrix = {1, 2, 0, 0, 0, 3, 0, 0, 4, 0, 5, 6, 7, 8, 9, 0};

notation::TensorDecl declaration() {
  notation::TensorDecl decl;
  decl.name = "A";
  decl.dims = {4, 4};
  decl.encoding = format::parseFormat("CSR", 2);
  return decl;
}

/// The values in each part.
std::vector<std::vector<double>> splitValues(const std::string &text, const char *format = "CSR") {
  notation::Decomposition decomposition;
  decomposition.parts = notation::parseParts(text, declaration(), "parts");
  decomposition.range = {0, text.size()};
  std::vector<std::vector<double>> values;
  for (const runtime::Tensor &part :
       split(doubles({4, 4}, matrix, format), decomposition, {text, "parts"}, "A")) {
    runtime::validate(part);
    values.push_back({});
    const runtime::Entries entries = runtime::unpack(part);
    for (int64_t e = 0; e < entries.count(); ++e)
      values.back().push_back(loadScalar(entries.type, entries.values.data() + 8 * e).f.real());
  }
  return values;
}

TEST(Split, firstPatternThatHoldsTakesAnEntry) {
  EXPECT_THAT(splitValues("[CSR @ j = i, CSR @ i < 3, CSR @ rest]"),
              ElementsAre(ElementsAre(1, 3, 5), ElementsAre(2, 4, 6), ElementsAre(7, 8, 9)));
  EXPECT_THAT(splitValues("[CSR @ j - i in {1, -2}, CSR @ rest]"),
              ElementsAre(ElementsAre(2, 4, 6, 8), ElementsAre(1, 3, 5, 7, 9)));
}

TEST(Split, countsAreOfWhatNoPartTook) {
  EXPECT_THAT(splitValues("[CSR @ count(j) = 1, CSR @ count(i) >= 3, CSR @ rest]"),
              ElementsAre(ElementsAre(3), ElementsAre(1, 4, 7), ElementsAre(2, 5, 6, 8, 9)));
  // Without the diagonal, rows have 1, 0, 2 and 3 entries.
  EXPECT_THAT(splitValues("[CSR @ j = i, CSR @ count(j) <= 2, CSR @ rest]"),
              ElementsAre(ElementsAre(1, 3, 5), ElementsAre(2, 4, 6), ElementsAre(7, 8, 9)));
  EXPECT_THAT(splitValues("[CSR @ count(i, j) > 9, CSR @ count(i, j) = 9]"),
              ElementsAre(ElementsAre(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9)));
}

TEST(Split, countsStayWithinBlocks) {
  // Of columns 0 and 1, and of 2 and 3, rows have 2, 1, 1, 2 and 0, 0, 2, 1 entries.
  EXPECT_THAT(splitValues("[CSR @ count(j within 2) = 2, CSR @ rest]"),
              ElementsAre(ElementsAre(1, 2, 5, 6, 7, 8), ElementsAre(3, 4, 9)));
  // Blocks of two rows and columns have 3, 0, 3 and 3 entries.
  EXPECT_THAT(splitValues("[BCSR(2,2) @ fill(2,2) > 3/4, CSR @ fill(2,2) >= 3/4 and i >= 2, CSR @ rest]"),
              ElementsAre(ElementsAre(), ElementsAre(4, 5, 6, 7, 8, 9), ElementsAre(1, 2, 3)));
}

TEST(Split, anyFormatIsSplit) {
  for (const char *format : {"COO", "CSC", "BCSR(2,2)", "ELL", "DIA", "dense", "bitmap"}) {
    const auto values = splitValues("[dense @ j mod 2 = 1, CSR @ rest]", format);
    std::vector<double> odd, even;
    for (double value : values[0])
      if (value != 0)
        odd.push_back(value);
    for (double value : values[1])
      if (value != 0)
        even.push_back(value);
    EXPECT_THAT(odd, ElementsAre(2, 3, 6, 8)) << format;
    EXPECT_THAT(even, ElementsAre(1, 4, 5, 7, 9)) << format;
  }
}

TEST(Split, bucketsOfRowsAreAShortList) {
  // Rows have 2, 1, 3 and 3 entries.
  EXPECT_THAT(splitValues("hyb(1,1)"),
              ElementsAre(ElementsAre(3), ElementsAre(1, 2), ElementsAre(4, 5, 6, 7, 8, 9)));
  // In columns 0 and 1 they have 2, 1, 1 and 2, in the others 0, 0, 2 and 1.
  EXPECT_THAT(splitValues("hyb(2,0)"),
              ElementsAre(ElementsAre(3, 4), ElementsAre(1, 2, 7, 8), ElementsAre(9), ElementsAre(5, 6)));
}

TEST(Split, whatIsInNoPartIsNamed) {
  try {
    splitValues("[CSR @ i = 0, CSR @ j < 2]");
    FAIL();
  } catch (const support::SyntaxError &error) {
    EXPECT_THAT(error.what(), HasSubstr("parts:1:1: error: the entry of 'A' at (2, 2) is in none"));
  }
}

TEST(Split, partsPrintToATextThatGivesThemBack) {
  const std::string text =
      "[CSR @ count(j within 2) <= 4 and i + 2 * j in {1, -2}, COO @ fill(2,2) >= 1/2, CSR @ rest]";
  const auto parts = notation::parseParts(text, declaration(), "parts");
  const std::string canonical = notation::print(parts);
  EXPECT_THAT(canonical, HasSubstr("@ count(j within 2) <= 4 and i + 2 * j in {1, -2}, "));
  EXPECT_EQ(notation::print(notation::parseParts(canonical, declaration(), "parts")), canonical);
}

} // namespace
} // namespace tulle::engine
