#include "CompileTimes.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::differential {
namespace {

using testing::HasSubstr;

TEST(CompileTimes, PercentilesAreTimesThatSoManyProgramsKeepTo) {
  // 1,000 programs of 1 to 1000 ms, the seed with 9 before the time, in no order.
  std::vector<CompileTime> times;
  for (unsigned k = 0; k < 1000; ++k)
    times.push_back({double(k * 7 % 1000 + 1), 90000 + k * 7 % 1000 + 1});
  const std::string text = summary(times);
  EXPECT_THAT(text, HasSubstr("1000 programs compiled\n 50.0% take at most 500 ms\n"));
  EXPECT_THAT(text, HasSubstr(" 90.0% take at most 900 ms\n 99.0% take at most 990 ms\n"));
  EXPECT_THAT(text, HasSubstr(" 99.9% take at most 999 ms\n100.0% take at most 1000 ms\n"));
  EXPECT_THAT(text, HasSubstr("600 take more than 400 ms\n0 take more than 2000 ms\n"));
  EXPECT_THAT(text, HasSubstr("seed 91000: 1000 ms\nseed 90999: 999 ms\n"));
}

TEST(CompileTimes, FewProgramsAndNone) {
  EXPECT_EQ(summary({}), "0 programs compiled\n");
  EXPECT_THAT(summary({{2500, 7}}), HasSubstr("100.0% take at most 2500 ms\n1 take more than 400 ms\n"
                                              "1 take more than 2000 ms\nseed 7: 2500 ms\n"));
}

TEST(CompileTimes, TheSameProgramsEveryTime) {
  const std::vector<CompileTime> once = compileTimes(40, 6, 8), again = compileTimes(40, 6, 8);
  ASSERT_EQ(once.size(), 6u);
  ASSERT_EQ(again.size(), 6u);
  for (size_t n = 0; n < once.size(); ++n) {
    EXPECT_EQ(once[n].seed, again[n].seed);
    EXPECT_GE(once[n].seed, 40u);
    EXPECT_GT(once[n].ms, 0);
  }
}

} // namespace
} // namespace tulle::differential
