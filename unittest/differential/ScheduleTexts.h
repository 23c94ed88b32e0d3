// Texts of schedules, legal or not, for small programs: what the fuzzer `schedules` and a unit test draw.
#pragma once
#include "Case.h"
#include "Random.h"

namespace tulle::differential {

/// A program with data, and a text that may be a schedule of it.
struct ScheduledCase {
  Case program;
  std::vector<std::string> primitives;
  unsigned threads = 1;
  std::string describe() const;
};
/// Nothing where the checker refuses the program.
std::optional<ScheduledCase> drawScheduled(Random &random);

/// What is wrong: the text is neither refused, by an error that points into it, nor right. Empty where
/// nothing is. What is refused is tried without its last primitive, so that most programs run: `refused` of
/// the whole.
std::string judgeScheduled(const ScheduledCase &drawn, bool &refused);

} // namespace tulle::differential
