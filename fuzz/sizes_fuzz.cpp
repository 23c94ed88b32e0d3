// Any encoding at any sizes: refused with an Error, or stored, converted and summed right. TULLE_SIZES_TRACE
// names each before it runs.
#include "../unittest/differential/Sizes.h"
#include <cstdio>
#include <cstdlib>

using namespace tulle::differential;

/// Debian's LLVM does not mark the arenas it shares with our code, and keeps what it made for the next
/// module.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Random random(std::span(data, size));
  const std::optional<Storing> storing = drawStoring(random);
  if (!storing)
    return -1; // no input worth keeping
  if (std::getenv("TULLE_SIZES_TRACE"))
    std::fprintf(stderr, "%s\n", storing->describe().c_str());
  bool refused = false;
  const std::string wrong = judgeStoring(*storing, refused);
  if (wrong.empty())
    return 0;
  std::fprintf(stderr, "%s\n%s\n", wrong.c_str(), storing->describe().c_str());
  std::abort();
}
