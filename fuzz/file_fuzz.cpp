// Any bytes as a file whose name ends in .TULLE_FUZZ_ENDING: contents that hold together, or an Error.
#include "io_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tulle::fuzz::checkFile("fuzz." TULLE_FUZZ_ENDING, data, size);
  return 0;
}
