// See Declared.h; the fuzzer `levels` draws without end. TULLE_DECLARED_COUNT says how many,
// TULLE_DECLARED_FIRST from which seed, TULLE_DECLARED_TRACE names each before it runs.
#include "Declared.h"
#include "Environment.h"
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace tulle::differential {
namespace {

TEST(Declared, storedRightOrRefused) {
  const uint64_t count = environment("TULLE_DECLARED_COUNT", 40);
  uint64_t drawn = 0, stored = 0;
  for (uint64_t seed = environment("TULLE_DECLARED_FIRST", 0); drawn < count; ++seed) {
    Random random(seed);
    const std::string declaration = drawDeclaration(random);
    const std::optional<Storing> storing = drawDeclared(random, declaration);
    if (!storing)
      continue;
    ++drawn;
    const std::string text = "seed " + std::to_string(seed) + ": " + storing->describe();
    if (std::getenv("TULLE_DECLARED_TRACE"))
      std::fprintf(stderr, "%s\n", text.c_str());
    bool refused = false;
    EXPECT_EQ(judgeDeclared(*storing, refused), "") << text;
    stored += !refused;
  }
  EXPECT_GT(stored, drawn / 2); // refusing everything is no answer
}

} // namespace
} // namespace tulle::differential
