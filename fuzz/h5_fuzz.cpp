// Any bytes as a binsparse .h5 file: contents that hold together, or an Error. The HDF5 library runs in a
// child process, where its crashes are answers like any other.
#include "io_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tulle::fuzz::checkParser(data, size,
                           [](std::string_view bytes) { return tulle::runtime::parseH5(bytes, "fuzz.h5"); });
  return 0;
}
