#include "Compile.h"
#include "engine/Conversion.h"
#include "engine/Engine.h"
#include "tulle/error.h"
#include <filesystem>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

/// The product as text number `serial`: a text of its own is a kernel of its own in every cache.
static notation::Program product(const std::string &format, uint64_t serial) {
  std::map<std::string, notation::Binding> bindings;
  bindings["A"] = {ElementType::F64, std::vector<int64_t>{1000, 1000},
                   format::resolveWidths(format::parseFormat(format, 2), 1000, 100000), true};
  bindings["x"] = {ElementType::F64, std::vector<int64_t>{1000}, format::denseEncoding(1), true};
  return notation::check(fmt::format("y(i) = A(i,j) * x(j) * {}.0", serial + 1), bindings);
}

void compileTexts(uint64_t first, uint64_t count) {
  for (uint64_t k = first; k < first + count; ++k)
    engine::compile(product("CSR", k));
}

namespace {

/// A disk cache that another process filled; it goes with the competitor.
struct FilledCache {
  std::string folder = (std::filesystem::temp_directory_path() / "tulle-bench-XXXXXX").string();
  static constexpr int64_t count = 60;
  uint64_t next;

  FilledCache() {
    // A text that this process once had from a disk cache is in its memory.
    static uint64_t caches = 0;
    const uint64_t first = next = (1u << 20) + caches++ * uint64_t(count);
    if (!mkdtemp(folder.data()))
      throw Absent("no temporary folder for a disk cache");
    setenv("TULLE_CACHE_DIR", folder.c_str(), 1);
    const std::string begin = std::to_string(first), texts = std::to_string(count);
    const pid_t process = fork();
    if (process == 0) {
      execl("/proc/self/exe", "tulle-bench", "--compile-only", begin.c_str(), texts.c_str(), nullptr);
      _exit(127);
    }
    int status = -1;
    waitpid(process, &status, 0);
    if (status != 0)
      throw Absent("the disk cache could not be filled");
  }
  ~FilledCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

} // namespace

static Runner fromDisk() {
  auto cache = std::make_shared<FilledCache>();
  return {[cache] {
            const notation::Program program = product("CSR", cache->next++);
            std::shared_ptr<engine::Executable> made;
            const double ms = timed([&] { made = engine::compile(program); });
            if (made->origin() != std::string("disk cache"))
              throw std::runtime_error("the disk cache missed");
            return ms;
          },
          nullptr, FilledCache::count};
}

/// A call of a kernel that has next to nothing to compute.
static Runner call() {
  const notation::Program program = product("CSR", 0);
  std::vector<std::optional<runtime::Tensor>> tensors(program.tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].name == "A")
      tensors[t] = engine::store({ElementType::F64, {1000, 1000}, {{}, {}}, {}}, program.tensors[t].encoding);
    else if (program.tensors[t].name == "x")
      tensors[t] = runtime::makeDense(ElementType::F64, {1000});
  auto executable = engine::compile(program, {.diskCache = false});
  return {[=]() mutable { return timed([&] { executable->run(tensors); }); }, nullptr};
}

Runner compilation(const Kernel &kernel) {
  if (kernel.target == "disk")
    return fromDisk();
  if (kernel.target == "call")
    return call();
  const bool anew = kernel.target == "anew";
  auto serial = std::make_shared<uint64_t>(0);
  static uint64_t kernelsMade = 0;
  *serial = ++kernelsMade * 1000; // each format's texts are its own in any case; each competitor's too
  return {[=, format = kernel.format] {
            const notation::Program program = product(format, *serial);
            if (anew)
              ++*serial;
            return timed([&] { return engine::compile(program, {.diskCache = false}); });
          },
          nullptr};
}

} // namespace tulle::bench
