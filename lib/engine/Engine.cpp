// compile(): in memory, on disk, or anew.
#include "engine/DiskCache.h"
#include "engine/Kernel.h"
#include <chrono>
#include <list>
#include <mutex>

namespace tulle::engine {

std::shared_ptr<const Kernel> link(ObjectCode code) {
  auto kernel = std::make_shared<Kernel>(
      Kernel{std::move(code.statements), std::move(code.remarks), loadObject(code.object, "program")});
  for (size_t k = 0; k < kernel->statements.size(); ++k)
    kernel->statements[k].entry = kernel->code->lookup("statement" + std::to_string(k) + "_entry");
  return kernel;
}

namespace {

/// The kernels used last, for the whole process. Those dropped live on as long as an Executable holds them.
class MemoryCache {
public:
  std::shared_ptr<const Kernel> find(const std::string &key) {
    std::lock_guard lock(mutex);
    auto it = byKey.find(key);
    if (it == byKey.end())
      return nullptr;
    order.splice(order.begin(), order, it->second.second);
    return it->second.first;
  }

  void insert(const std::string &key, std::shared_ptr<const Kernel> kernel) {
    std::lock_guard lock(mutex);
    if (byKey.contains(key))
      return;
    order.push_front(key);
    byKey.emplace(key, std::pair(std::move(kernel), order.begin()));
    if (order.size() > capacity) {
      byKey.erase(order.back());
      order.pop_back();
    }
  }

private:
  static constexpr size_t capacity = 512;
  std::mutex mutex;
  std::list<std::string> order; ///< latest first
  std::map<std::string, std::pair<std::shared_ptr<const Kernel>, std::list<std::string>::iterator>> byKey;
};

MemoryCache &memoryCache() {
  static auto *cache = new MemoryCache; // never destroyed, as the linker that owns the code
  return *cache;
}

/// A kernel from disk; nothing when it is not there or does not link (a file of another compiler that happens
/// to agree).
std::shared_ptr<const Kernel> fromDisk(const std::filesystem::path &directory, const std::string &key) {
  std::optional<ObjectCode> code = readCached(directory, key);
  if (!code)
    return nullptr;
  try {
    return link(std::move(*code));
  } catch (const InternalError &) {
    return nullptr;
  }
}

} // namespace

std::pair<std::shared_ptr<const Kernel>, const char *>
findOrCompile(const std::string &key, const Options &options, const std::function<ObjectCode()> &compile) {
  if (std::shared_ptr<const Kernel> kernel = memoryCache().find(key))
    return {kernel, "memory cache"};
  std::filesystem::path directory = options.diskCache ? cacheDirectory() : std::filesystem::path();
  if (options.diskCache)
    (void)cacheLimit(); // throws where nobody could know what it means
  const char *origin = "disk cache";
  std::shared_ptr<const Kernel> kernel = fromDisk(directory, key);
  if (!kernel) {
    ObjectCode code = compile();
    writeCached(directory, key, code);
    kernel = link(std::move(code));
    origin = "compiled";
  }
  memoryCache().insert(key, kernel);
  return {kernel, origin};
}

std::shared_ptr<Executable> compile(const notation::Program &program, const Options &options) {
  checkOptions(options);
  auto begin = std::chrono::steady_clock::now();
  auto [kernel, origin] =
      findOrCompile(cacheKey(program, options), options, [&] { return compileToObject(program, options); });
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  return std::make_shared<Executable>(program, std::move(kernel), elapsed.count(), origin, options);
}

} // namespace tulle::engine
