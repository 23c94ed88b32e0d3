#include "runtime/io/H5Library.h"

namespace tulle::runtime::io {

std::mutex LibraryUse::mutex;

LibraryUse::LibraryUse() : lock(mutex) {
  H5Eget_auto2(H5E_DEFAULT, &printer, &printerData);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryUse::~LibraryUse() { H5Eset_auto2(H5E_DEFAULT, printer, printerData); }

std::string lastH5Error() {
  std::string message;
  auto take = [](unsigned, const H5E_error2_t *error, void *user) -> herr_t {
    auto &text = *static_cast<std::string *>(user);
    if (text.empty() && error->desc)
      text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &message);
  H5Eclear2(H5E_DEFAULT);
  return message.empty() ? "unknown reason" : message;
}

} // namespace tulle::runtime::io
