// `tulle doctor`: is this machine able to compile and run kernels, and if not, what is missing.
#include "Commands.h"
#include "Inputs.h"
#include "Report.h"
#include "engine/DiskCache.h"
#include "engine/Engine.h"
#include "engine/Parallel.h"
#include "support/Errors.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace tulle::cli {

static bool canWrite(std::filesystem::path folder) {
  while (!folder.empty() && !std::filesystem::exists(folder))
    folder = folder.parent_path();
  return access(folder.c_str(), W_OK) == 0;
}

/// What the kernel cache holds, or why there is none.
static std::string cacheState() {
  const std::filesystem::path path = engine::cacheDirectory();
  constexpr const char *anew = "kernels are compiled anew each time";
  if (path.empty())
    return fmt::format("none, {}: TULLE_CACHE_DIR, XDG_CACHE_HOME and HOME are not set", anew);
  const int64_t limit = engine::cacheLimit();
  const std::string size = fmt::format("{:.4g} MiB (TULLE_CACHE_SIZE)", double(limit) / (1 << 20));
  engine::CacheFolder folder(path, /*create=*/false);
  if (!folder.why().empty())
    return fmt::format("{}, NOT used, {}: {}; remove it, or set TULLE_CACHE_DIR", path.string(), anew,
                       folder.why());
  if (!canWrite(path))
    return fmt::format("{}, NOT writable: {}; set TULLE_CACHE_DIR", path.string(), anew);
  if (!folder)
    return fmt::format("{}, writable, made for the first kernel; at most {}", path.string(), size);
  const engine::CacheFolder::Contents all = folder.contents();
  std::string text = fmt::format("{}, writable, {} kernels, {:.1f} of {}", path.string(), all.kernels,
                                 double(all.bytes) / (1 << 20), size);
  if (all.foreign > 0)
    text += fmt::format("; {} more NOT used: of another owner, or others may write to them", all.foreign);
  return text;
}

static std::string vectorUnits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::string found;
  for (const char *name : {"sse4.2", "avx2", "fma", "f16c", "avx512f", "avx512vl", "amx-tile", "neon", "sve"})
    if (features.lookup(name))
      found += std::string(found.empty() ? "" : " ") + name;
  return found.empty() ? "none known" : found;
}

static std::string tryKernel() {
  ProgramOptions program;
  program.text = "y(i) = A(i,j) * x(j)";
  program.tensors = {"A=grid2d:3", "x=iota"};
  engine::Options options;
  options.diskCache = false;
  LoadedProgram loaded = load(program, true, options, /*keep=*/true);
  auto executable = engine::compile(loaded.program, options);
  Tensors tensors = loaded.tensors;
  executable->run(tensors);
  checkAgainstInterpreter(loaded, tensors);
  return fmt::format("ok, compiled in {:.0f} ms", executable->compileMs());
}

/// What the kernels make of OMP_NUM_THREADS.
static std::string threadsOfKernels() {
  const int64_t used = engine::threadSettings({}).threads;
  std::optional<int64_t> wanted = engine::ompNumThreads();
  std::string why = !wanted           ? ""
                    : *wanted == used ? ", as OMP_NUM_THREADS says"
                                      : fmt::format(", of the {} that OMP_NUM_THREADS asks for", *wanted);
  return fmt::format("kernels use {}{}", used, why);
}

static void doctor() {
  auto line = [](const char *what, const std::string &text) { fmt::print("{:14}  {}\n", what, text); };
  line("MLIR and LLVM", LLVM_VERSION_STRING);
  line("processor", llvm::sys::getHostCPUName().str());
  line("vector units", vectorUnits());
  line("threads", fmt::format("{}; {}", std::thread::hardware_concurrency(), threadsOfKernels()));
  line("memory", fmt::format("{:.1f} GiB",
                             double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / (1 << 30)));
  line("kernel cache", cacheState());
  try {
    line("test kernel", tryKernel());
  } catch (const Error &error) {
    throwError("test kernel     failed: {}\nThis installation cannot compile; reinstall tulle and LLVM {}.",
               error.what(), LLVM_VERSION_STRING);
  }
}

void addDoctor(CLI::App &app) {
  CLI::App *command = app.add_subcommand("doctor", "Check that this machine can compile and run kernels");
  command->footer("Example:\n  tulle doctor");
  command->callback([] { doctor(); });
}

} // namespace tulle::cli
