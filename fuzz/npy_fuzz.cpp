// Any bytes as a .npy file: contents that hold together, or an Error.
#include "io_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tulle::fuzz::checkParser(
      data, size, [](std::string_view bytes) { return tulle::runtime::parseNpy(bytes, "fuzz.npy"); });
  return 0;
}
