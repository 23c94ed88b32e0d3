// Any bytes as a .tns file: contents that hold together, or an Error.
#include "io_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tulle::fuzz::checkParser(
      data, size, [](std::string_view bytes) { return tulle::runtime::parseTns(bytes, "fuzz.tns"); });
  return 0;
}
