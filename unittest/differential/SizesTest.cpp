// See Sizes.h; the fuzzer of that name draws without end. TULLE_SIZES_COUNT says how many, TULLE_SIZES_FIRST
// from which seed, TULLE_SIZES_TRACE names each before it runs.
#include "Sizes.h"
#include "Environment.h"
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace tulle::differential {
namespace {

TEST(Sizes, storedRightOrRefused) {
  const uint64_t count = environment("TULLE_SIZES_COUNT", 200);
  uint64_t drawn = 0, stored = 0;
  for (uint64_t seed = environment("TULLE_SIZES_FIRST", 0); drawn < count; ++seed) {
    Random random(seed);
    const std::optional<Storing> storing = drawStoring(random);
    if (!storing)
      continue;
    ++drawn;
    const std::string text = "seed " + std::to_string(seed) + ": " + storing->describe();
    if (std::getenv("TULLE_SIZES_TRACE"))
      std::fprintf(stderr, "%s\n", text.c_str());
    bool refused = false;
    const std::string wrong = judgeStoring(*storing, refused);
    EXPECT_EQ(wrong, "") << text;
    stored += !refused;
  }
  EXPECT_GT(stored, drawn / 8); // refusing everything is no answer
}

} // namespace
} // namespace tulle::differential
