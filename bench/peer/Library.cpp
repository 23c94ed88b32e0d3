#include "Library.h"
#include "measure/Measure.h"
#include <cstdlib>
#include <dlfcn.h>
#include <sstream>

namespace tulle::bench {

static std::vector<std::string> folders() {
  std::vector<std::string> list;
  if (const char *path = std::getenv("TULLE_BENCH_PEERS")) {
    std::stringstream text(path);
    for (std::string folder; std::getline(text, folder, ':');)
      list.push_back(folder + "/");
  }
  for (const char *below : {"/local/lib/", "/lib/"})
    list.push_back(TULLE_BENCH_INSTALLED + std::string(below));
  list.push_back("");
  return list;
}

Library::Library(std::string called, const std::vector<std::string> &names) : called(std::move(called)) {
  for (const std::string &folder : folders())
    for (const std::string &name : names)
      if (!handle)
        handle = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Absent(this->called + " is not installed (scripts/setup-bench installs it)");
}

void *Library::find(const char *symbol) const {
  if (void *address = dlsym(handle, symbol))
    return address;
  throw Absent(called + " has no " + symbol);
}

int threadCount() {
  const char *text = std::getenv("OMP_NUM_THREADS");
  return text ? std::max(1, std::atoi(text)) : 1;
}

} // namespace tulle::bench
