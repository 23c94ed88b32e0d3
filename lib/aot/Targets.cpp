// LLVM knows which features a processor has; the tables here say by which bits the processor tells.
#include "aot/Targets.h"
#include "support/Errors.h"
#include "support/Suggest.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <map>
#include <memory>
#include <span>

namespace tulle::aot {

namespace {

/// A feature that LLVM's code generator uses on its own, and where the processor says that it has it.
struct FeatureBit {
  std::string_view feature;
  unsigned word, bit;
};

/// Words are those of runtime/cpu.c: cpuid 1 ecx, 1 edx, 7 ebx, 7 ecx, 7 edx, 7.1 eax, 7.1 edx, 80000001 ecx,
/// 80000001 edx, and XCR0.
constexpr FeatureBit kX86[] = {
    {"sse3", 0, 0},
    {"ssse3", 0, 9},
    {"fma", 0, 12},
    {"cx16", 0, 13},
    {"sse4.1", 0, 19},
    {"sse4.2", 0, 20},
    {"movbe", 0, 22},
    {"popcnt", 0, 23},
    {"xsave", 0, 26},
    {"avx", 0, 28},
    {"f16c", 0, 29},
    {"bmi", 2, 3},
    {"avx2", 2, 5},
    {"bmi2", 2, 8},
    {"avx512f", 2, 16},
    {"avx512dq", 2, 17},
    {"adx", 2, 19},
    {"avx512ifma", 2, 21},
    {"avx512cd", 2, 28},
    {"avx512bw", 2, 30},
    {"avx512vl", 2, 31},
    {"avx512vbmi", 3, 1},
    {"avx512vbmi2", 3, 6},
    {"gfni", 3, 8},
    {"vaes", 3, 9},
    {"vpclmulqdq", 3, 10},
    {"avx512vnni", 3, 11},
    {"avx512bitalg", 3, 12},
    {"avx512vpopcntdq", 3, 14},
    {"avx512vp2intersect", 4, 8},
    {"avx512fp16", 4, 23},
    {"avxvnni", 5, 4},
    {"avx512bf16", 5, 5},
    {"avxifma", 5, 23},
    {"avxvnniint8", 6, 4},
    {"avxneconvert", 6, 5},
    {"avxvnniint16", 6, 10},
    {"lahf_lm", 7, 0},
    {"sahf", 7, 0},
    {"lzcnt", 7, 5},
    {"sse4a", 7, 6},
    {"xop", 7, 11},
    {"fma4", 7, 16},
    {"tbm", 7, 21},
    {"avx", 9, 1},
    {"avx", 9, 2},
    {"avx512f", 9, 5},
    {"avx512f", 9, 6},
    {"avx512f", 9, 7},
};

/// Words are AT_HWCAP and AT_HWCAP2 of Linux.
constexpr FeatureBit kAArch64[] = {
    {"fp-armv8", 0, 0}, {"neon", 0, 1},     {"crc", 0, 7},        {"lse", 0, 8},    {"fullfp16", 0, 10},
    {"rdm", 0, 12},     {"jsconv", 0, 13},  {"complxnum", 0, 14}, {"rcpc", 0, 15},  {"dotprod", 0, 20},
    {"sve", 0, 22},     {"fp16fml", 0, 23}, {"rcpc-immo", 0, 26}, {"flagm", 0, 27}, {"sve2", 1, 1},
    {"altnzcv", 1, 7},  {"fptoint", 1, 8},  {"i8mm", 1, 13},      {"bf16", 1, 14},  {"sme", 1, 23},
};

/// What LLVM knows of a processor.
class Subtarget {
public:
  Subtarget(const std::string &triple, const std::string &cpu, const std::string &features = "") {
    std::string why;
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), why);
    if (found)
      info.reset(found->createMCSubtargetInfo(llvm::Triple(triple), cpu, features));
    if (!info)
      throw InternalError("LLVM has no code generator for " + triple + ": " + why);
  }

  bool has(std::string_view feature) const {
    for (const llvm::SubtargetFeatureKV &known : info->getAllProcessorFeatures())
      if (std::string_view(known.Key) == feature)
        return info->getFeatureBits()[known.Value];
    return false;
  }
  std::vector<std::string> cpus() const {
    std::vector<std::string> names;
    for (const llvm::SubtargetSubTypeKV &known : info->getAllProcessorDescriptions())
      names.emplace_back(known.Key);
    return names;
  }

private:
  std::unique_ptr<llvm::MCSubtargetInfo> info;
};

} // namespace

static void initializeTargets() {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    return true;
  }();
  (void)initialized;
}

std::string targetTriple(const std::string &text) {
  initializeTargets();
  if (text.empty())
    return targetTriple(engine::host().triple);
  const llvm::Triple triple(llvm::Triple::normalize(text));
  const bool known = triple.getArch() == llvm::Triple::x86_64 ||
                     (triple.getArch() == llvm::Triple::aarch64 && triple.isLittleEndian());
  if (!known || !triple.isOSLinux() || triple.isX32())
    throwError("--target {}: kernels are compiled for Linux on 64-bit processors of x86 and ARM: "
               "x86_64-linux-gnu or aarch64-linux-gnu",
               text);
  return triple.str();
}

static std::vector<Need> needsOf(const std::string &triple, const Subtarget &subtarget) {
  const bool isX86 = llvm::Triple(triple).getArch() == llvm::Triple::x86_64;
  std::map<uint64_t, uint64_t> words;
  for (const FeatureBit &bit :
       isX86 ? std::span<const FeatureBit>(kX86) : std::span<const FeatureBit>(kAArch64))
    if (subtarget.has(bit.feature))
      words[bit.word] |= uint64_t(1) << bit.bit;
  std::vector<Need> needs;
  for (auto [word, bits] : words)
    needs.push_back({word, bits});
  return needs;
}

Machine machineNamed(const std::string &triple, const std::string &march) {
  Machine machine{{triple, march, "", {}, /*isLinked=*/true}, march, {}};
  if (march == "native") {
    if (llvm::Triple(triple).getArch() != llvm::Triple(engine::host().triple).getArch())
      throwError("--march native is this machine's processor, which is none of {}; name one of those",
                 triple);
    machine.target = engine::host();
    machine.target.triple = triple;
    machine.target.isLinked = true;
    machine.needs = needsOf(triple, Subtarget(triple, machine.target.cpu, machine.target.features));
    return machine;
  }
  const std::vector<std::string> known = Subtarget(triple, "").cpus();
  if (std::ranges::count(known, march) == 0)
    throwError("--march {}: LLVM knows no processor of that name for {}{}", march, triple,
               support::didYouMean(march, known));
  const Subtarget subtarget(triple, march);
  machine.target.plan =
      iteration::chooseCpu(march, [&](std::string_view feature) { return subtarget.has(feature); });
  machine.needs = needsOf(triple, subtarget);
  return machine;
}

engine::Target baseline(const std::string &triple) {
  const bool isX86 = llvm::Triple(triple).getArch() == llvm::Triple::x86_64;
  return machineNamed(triple, isX86 ? "x86-64" : "generic").target;
}

} // namespace tulle::aot
