#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Io.h"
#include "tulle/error.h"
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace tulle::runtime::io {

namespace fs = std::filesystem;

namespace {

/// Names of temporary files that a signal's handler removes; it may neither lock nor allocate.
std::array<std::atomic<char *>, 64> pending;

std::atomic<char *> *enroll(const std::string &name) {
  char *copy = strdup(name.c_str());
  for (std::atomic<char *> &slot : pending)
    if (char *none = nullptr; copy && slot.compare_exchange_strong(none, copy))
      return &slot;
  std::free(copy);
  return nullptr;
}

void discharge(const std::string &name) {
  for (std::atomic<char *> &slot : pending)
    if (char *text = slot.load(); text && name == text && slot.compare_exchange_strong(text, nullptr))
      return std::free(text);
}

extern "C" void removePending(int signal) {
  for (std::atomic<char *> &slot : pending)
    if (const char *name = slot.load())
      unlink(name);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

std::string folderOf(const std::string &path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// A file without a name, or -1 where the folder's file system has none.
int openNameless(const std::string &folder) {
#ifdef O_TMPFILE
  return open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
  return -1;
#endif
}

/// What leads into /proc names an open file of the process, as /dev/stdout does.
bool isOpenFile(const std::string &path) { return path.starts_with("/proc/"); }

/// Next to the target, and short: names of files are at most 255 bytes long.
std::string newName(const std::string &folder) {
  static std::atomic<unsigned> counter = 0;
  return fmt::format("{}/.tulle-{}-{}.tmp", folder, getpid(), counter++);
}

} // namespace

std::string resolvedPath(const std::string &path) {
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(at, error)); ++links) {
    if (isOpenFile(at.string()))
      return at.string();
    const fs::path next = fs::read_symlink(at, error);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  const fs::path folder = fs::canonical(folderOf(at.string()), error);
  return error ? at.string() : (folder / at.filename()).string();
}

TemporaryFile::TemporaryFile(const std::string &path) : path(path), target(resolvedPath(path)) {
  if (path.empty())
    throw Error("expected the name of a file to write, got an empty one");
  existed = stat(target.c_str(), &before) == 0;
  if (existed && S_ISDIR(before.st_mode))
    throw Error(fmt::format("{}: error: cannot write the file: a directory has this name", path));
  special = existed && (!S_ISREG(before.st_mode) || isOpenFile(target));
  if (existed && access(target.c_str(), W_OK) != 0)
    fail("cannot write the file");
  open();
}

void TemporaryFile::open() {
  std::error_code error;
  const std::string folder = special ? fs::temp_directory_path(error).string() : folderOf(target);
  opened = openNameless(folder);
  while (opened < 0) {
    temporary = newName(folder);
    enroll(temporary);
    opened = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (opened >= 0)
      break;
    const int reason = errno;
    discharge(temporary);
    temporary.clear();
    errno = reason;
    if (reason != EEXIST)
      fail("cannot create a file in this folder");
  }
}

TemporaryFile::~TemporaryFile() {
  if (opened >= 0)
    close(opened);
  if (!temporary.empty()) {
    unlink(temporary.c_str());
    discharge(temporary);
  }
}

void TemporaryFile::fail(std::string_view what) const {
  throw Error(fmt::format("{}: error: {}: {}", path, what, std::strerror(errno)));
}

static bool writeAll(int file, const char *data, size_t size) {
  while (size != 0) {
    const ssize_t wrote = ::write(file, data, size);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return false;
    data += wrote;
    size -= size_t(wrote);
  }
  return true;
}

bool TemporaryFile::tryWrite(std::string_view bytes) const {
  return writeAll(opened, bytes.data(), bytes.size());
}

void TemporaryFile::write(std::string_view bytes) {
  if (!tryWrite(bytes))
    fail("cannot write the file");
}

void TemporaryFile::copyTo(int file) {
  char buffer[1 << 16];
  if (lseek(opened, 0, SEEK_SET) != 0)
    fail("cannot write the file");
  while (const ssize_t got = ::read(opened, buffer, sizeof buffer))
    if (got < 0 || !writeAll(file, buffer, size_t(got)))
      fail("cannot write the file");
}

/// A file without a name gets one: its own where nothing has that, else one to be renamed from.
void TemporaryFile::link() {
  const std::string self = fmt::format("/proc/self/fd/{}", opened);
  if (!existed && linkat(AT_FDCWD, self.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return;
  int failed;
  do {
    temporary = newName(folderOf(target));
    enroll(temporary);
    failed = linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW);
    if (failed) {
      const int reason = errno;
      discharge(temporary);
      temporary.clear();
      errno = reason;
    }
  } while (failed && errno == EEXIST);
  if (failed)
    fail("cannot create a file in this folder");
}

void TemporaryFile::commit() {
  if (special) {
    const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      fail("cannot write the file");
    try {
      copyTo(file);
    } catch (const Error &) {
      close(file);
      throw;
    }
    if (close(file) != 0)
      fail("cannot write the file");
    return;
  }
  if (existed && (fchown(opened, before.st_uid, before.st_gid) == 0 || before.st_uid == geteuid()))
    (void)fchmod(opened, before.st_mode & 07777);
  if (temporary.empty())
    link();
  const int closed = close(opened);
  opened = -1;
  if (closed != 0)
    fail("cannot write the file");
  if (temporary.empty())
    return;
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    fail("cannot rename the finished file");
  discharge(temporary);
  temporary.clear();
}

} // namespace tulle::runtime::io

void tulle::runtime::removeTemporariesOnSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, io::removePending) == SIG_IGN)
      std::signal(signal, SIG_IGN); // as under nohup
  // A limit on sizes of files is an error of the write that meets it.
  std::signal(SIGXFSZ, SIG_IGN);
}
