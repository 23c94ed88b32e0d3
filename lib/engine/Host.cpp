// The processor that code is compiled for when nobody names another: this machine's, or one that $TULLE_CPU
// says.
#include "llvm/TargetParser/Host.h"
#include "engine/Codegen.h"
#include "iteration/CostModel.h"
#include "support/Errors.h"
#include "support/Suggest.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include <algorithm>
#include <cstdlib>
#include <unistd.h>
#include <vector>

namespace tulle::engine {

static void setCaches(iteration::Cpu &cpu) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  // A system that does not know says 0, which no figure may be: the row's stays then.
  iteration::setFigure(cpu, "l1", sysconf(_SC_LEVEL1_DCACHE_SIZE));
  iteration::setFigure(cpu, "l2", sysconf(_SC_LEVEL2_CACHE_SIZE));
  iteration::setFigure(cpu, "line", sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
#endif
}

static Target detected() {
  Target target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  const llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> names;
  for (const auto &feature : found)
    names.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(names.begin(), names.end()); // a map's order is not stable, a cache key must be
  for (const std::string &name : names)
    target.features += (target.features.empty() ? "" : ",") + name;
  target.plan = iteration::chooseCpu(
      target.cpu, [&](std::string_view name) { return found.lookup({name.data(), name.size()}); });
  setCaches(target.plan);
  return target;
}

/// A processor whose code this machine runs. Throws Error for others.
static Target named(const std::string &cpu) {
  llvm::InitializeNativeTarget();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), why);
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      target ? target->createMCSubtargetInfo(llvm::Triple(triple), "", "") : nullptr);
  if (!info)
    throw InternalError("LLVM has no code generator for " + triple + ": " + why);
  std::vector<std::string> known;
  for (const llvm::SubtargetSubTypeKV &processor : info->getAllProcessorDescriptions())
    known.emplace_back(processor.Key);
  if (std::ranges::count(known, cpu) == 0)
    throwError("TULLE_CPU='{}': LLVM knows no processor of that name{}", cpu,
               support::didYouMean(cpu, known));
  info->setDefaultFeatures(cpu, "", "");
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(info->getAllProcessorFeatures(), [&](const llvm::SubtargetFeatureKV &feature) {
      return std::string_view(feature.Key) == name && info->getFeatureBits()[feature.Value];
    });
  };
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (!feature.second && has(feature.first()))
      throwError("TULLE_CPU='{}': this machine's processor lacks {}, and could not run the code", cpu,
                 feature.first().str());
  Target chosen{triple, cpu, "", iteration::chooseCpu(cpu, has)};
  setCaches(chosen.plan);
  return chosen;
}

const Target &host() {
  static const Target value = [] {
    const char *cpu = std::getenv("TULLE_CPU");
    return cpu && *cpu ? named(cpu) : detected();
  }();
  return value;
}

} // namespace tulle::engine
