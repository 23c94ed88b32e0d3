#include "engine/CacheFolder.h"
#include "runtime/io/Descriptor.h"
#include "support/Diagnostic.h"
#include "support/Errors.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tulle::engine {

namespace fs = std::filesystem;
using runtime::io::Descriptor;

namespace {

constexpr mode_t othersWrite = S_IWGRP | S_IWOTH;

/// Empty where only this user can have written it.
std::string whyForeign(const struct stat &status) {
  if (status.st_uid != geteuid())
    return fmt::format("it belongs to user {}, and this is user {}", status.st_uid, geteuid());
  if (status.st_mode & othersWrite)
    return fmt::format("others may write to it (mode {:04o})", status.st_mode & 07777);
  return "";
}

bool isKernel(std::string_view name) { return name.ends_with(".kernel"); }
bool isTemporary(std::string_view name) { return name.ends_with(".tmp"); }

struct Listed {
  std::string name;
  struct stat status;
};

std::vector<Listed> list(int folder) {
  std::vector<Listed> files;
  // The listing moves its descriptor's position, and another thread may be listing too.
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR *)> listing(own < 0 ? nullptr : fdopendir(own), closedir);
  if (!listing) {
    if (own >= 0)
      close(own);
    return files;
  }
  while (const dirent *entry = readdir(listing.get())) {
    Listed file{entry->d_name, {}};
    if ((isKernel(file.name) || isTemporary(file.name)) &&
        fstatat(folder, entry->d_name, &file.status, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back(std::move(file));
  }
  return files;
}

bool isUsed(const Listed &file) { return S_ISREG(file.status.st_mode) && whyForeign(file.status).empty(); }

} // namespace

CacheFolder::CacheFolder(const fs::path &path, bool create) {
  if (path.empty())
    return;
  if (create) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    mkdir(path.c_str(), S_IRWXU);
  }
  descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno != ENOENT)
      reason = std::strerror(errno);
    return;
  }
  struct stat status;
  reason = fstat(descriptor, &status) == 0 ? whyForeign(status) : std::strerror(errno);
  if (!reason.empty()) {
    close(descriptor);
    descriptor = -1;
  }
}

CacheFolder::~CacheFolder() {
  if (descriptor >= 0)
    close(descriptor);
}

std::optional<std::string> CacheFolder::read(const std::string &name) const {
  // Without waiting: a FIFO would have no writer.
  const Descriptor file(openat(descriptor, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode) || !whyForeign(status).empty())
    return std::nullopt;
  // Not mapped: who shortens the file would end the process.
  auto bytes = llvm::MemoryBuffer::getOpenFile(file.fd, name, uint64_t(status.st_size),
                                               /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!bytes)
    return std::nullopt;
  const timespec now[] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  (void)futimens(file.fd, now);
  return (*bytes)->getBuffer().str();
}

bool CacheFolder::write(const std::string &name, std::string_view bytes) const {
  // Unique per process and thread: whoever renames last wins, with the same content.
  static std::atomic<unsigned> serial = 0;
  const std::string temporary = fmt::format("{}.{}.{}.tmp", name, getpid(), serial++);
  bool whole = false;
  {
    const Descriptor file(openat(descriptor, temporary.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file)
      return false;
    whole = runtime::io::writeAll(file.fd, bytes);
  }
  if (whole && renameat(descriptor, temporary.c_str(), descriptor, name.c_str()) == 0)
    return true;
  unlinkat(descriptor, temporary.c_str(), 0);
  return false;
}

CacheFolder::Contents CacheFolder::contents() const {
  Contents all;
  for (const Listed &file : list(descriptor)) {
    if (!isKernel(file.name))
      continue;
    const bool used = isUsed(file);
    all.kernels += used;
    all.foreign += !used;
    all.bytes += used ? file.status.st_size : 0;
  }
  return all;
}

void CacheFolder::shrink(int64_t limit) const {
  constexpr time_t longestWrite = 3600; // s
  std::vector<Listed> files = list(descriptor);
  int64_t bytes = 0;
  for (const Listed &file : files)
    bytes += isUsed(file) ? file.status.st_size : 0;
  std::sort(files.begin(), files.end(), [](const Listed &a, const Listed &b) {
    const timespec &x = a.status.st_mtim, &y = b.status.st_mtim;
    return std::pair(x.tv_sec, x.tv_nsec) < std::pair(y.tv_sec, y.tv_nsec);
  });
  const time_t now = std::time(nullptr);
  for (const Listed &file : files) {
    if (!isUsed(file))
      continue;
    const bool left = isTemporary(file.name) && now - file.status.st_mtime > longestWrite;
    const bool oldest = isKernel(file.name) && bytes > limit;
    if ((left || oldest) && unlinkat(descriptor, file.name.c_str(), 0) == 0)
      bytes -= file.status.st_size;
  }
}

int64_t cacheLimit() {
  constexpr int64_t mebi = int64_t(1) << 20;
  const char *value = std::getenv("TULLE_CACHE_SIZE");
  if (!value || !*value)
    return 256 * mebi;
  const std::string_view text = value;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, size_t(text.data() + text.size() - end));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error != std::errc() || number < 0 || shift < 0 || number > (INT64_MAX >> shift))
    throwError(
        "TULLE_CACHE_SIZE='{}': expected a number of bytes, or one with K, M or G behind it, as in 256M",
        text);
  return number << shift;
}

} // namespace tulle::engine
