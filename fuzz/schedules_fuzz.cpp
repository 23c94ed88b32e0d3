// Any text as the schedule of a small program: refused with an error that points into it, or compiled, run
// and right. TULLE_SCHEDULES_TRACE names each before it runs.
#include "../unittest/differential/ScheduleTexts.h"
#include <cstdio>
#include <cstdlib>

using namespace tulle::differential;

/// See sizes_fuzz.cpp.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Random random(std::span(data, size));
  const std::optional<ScheduledCase> drawn = drawScheduled(random);
  if (!drawn)
    return -1; // no input worth keeping
  if (std::getenv("TULLE_SCHEDULES_TRACE"))
    std::fprintf(stderr, "%s\n", drawn->describe().c_str());
  bool refused = false;
  const std::string wrong = judgeScheduled(*drawn, refused);
  if (wrong.empty())
    return 0;
  std::fprintf(stderr, "%s\n%s\n", wrong.c_str(), drawn->describe().c_str());
  std::abort();
}
