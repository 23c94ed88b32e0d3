// Random schedules of checked programs.
#pragma once
#include "Random.h"
#include "notation/Program.h"
#include <atomic>

namespace tulle::differential {

/// How many programs were given a schedule, and how many of these the passes refused.
struct ScheduleTally {
  std::atomic<uint64_t> tried = 0, refused = 0;
};
extern ScheduleTally scheduleTally;

/// Puts random primitives on the program, those that its statements can have: their text.
std::string scheduleRandomly(notation::Program &program, Random random);

/// One primitive for the program, which may be refused; or nothing.
std::string randomPrimitive(const notation::Program &program, Random &random);

} // namespace tulle::differential
