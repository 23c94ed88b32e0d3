#include "engine/Host.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <unistd.h>
#include <vector>

namespace tulle::engine {

const Host &host() {
  static const Host value = [] {
    Host h;
    h.triple = llvm::sys::getProcessTriple();
    h.cpu = llvm::sys::getHostCPUName().str();
    llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
    std::vector<std::string> names;
    for (const auto &feature : found)
      names.push_back((feature.second ? "+" : "-") + feature.first().str());
    std::sort(names.begin(), names.end()); // a map's order is not stable, a cache key must be
    for (const std::string &name : names)
      h.features += (h.features.empty() ? "" : ",") + name;
    return h;
  }();
  return value;
}

static iteration::Cpu detectCpu() {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  iteration::Cpu cpu = iteration::chooseCpu(
      host().cpu, [&](std::string_view name) { return features.lookup({name.data(), name.size()}); });
#ifdef _SC_LEVEL1_DCACHE_SIZE
  // A system that does not know says 0, which no figure may be: the row's stays then.
  iteration::setFigure(cpu, "l1", sysconf(_SC_LEVEL1_DCACHE_SIZE));
  iteration::setFigure(cpu, "l2", sysconf(_SC_LEVEL2_CACHE_SIZE));
  iteration::setFigure(cpu, "line", sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
#endif
  return cpu;
}

const iteration::Cpu &hostCpu() {
  static const iteration::Cpu cpu = detectCpu();
  return cpu;
}

} // namespace tulle::engine
