// See ScheduleTexts.h; the fuzzer `schedules` draws without end. TULLE_SCHEDULES_COUNT says how many,
// TULLE_SCHEDULES_FIRST from which seed, TULLE_SCHEDULES_TRACE names each before it runs.
#include "ScheduleTexts.h"
#include "Environment.h"
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tulle::differential {
namespace {

TEST(ScheduleTexts, refusedOrRight) {
  const uint64_t count = environment("TULLE_SCHEDULES_COUNT", 250);
  uint64_t drawn = 0, refused = 0, skipped = 0;
  for (uint64_t seed = environment("TULLE_SCHEDULES_FIRST", 0); drawn < count; ++seed) {
    Random random(seed);
    const std::optional<ScheduledCase> one = drawScheduled(random);
    if (!one) {
      ASSERT_LT(++skipped, 50 + drawn) << "most programs are refused by the checker";
      continue;
    }
    ++drawn;
    const std::string text = fmt::format("seed {}\n{}", seed, one->describe());
    if (std::getenv("TULLE_SCHEDULES_TRACE"))
      std::fprintf(stderr, "%s\n", text.c_str());
    bool isRefused = false;
    EXPECT_EQ(judgeScheduled(*one, isRefused), "") << text;
    refused += isRefused;
  }
  fmt::print("{} of {} texts were refused\n", refused, drawn);
  EXPECT_GT(drawn - refused, drawn / 8); // refusing everything is no answer
}

} // namespace
} // namespace tulle::differential
