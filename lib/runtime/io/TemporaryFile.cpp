// A nameless file, or one of a name that nobody has, is renamed to the target at the end; a signal's handler
// removes what has a name until then.
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Io.h"
#include "support/Errors.h"
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>

namespace tulle::runtime {

namespace fs = std::filesystem;

namespace {

/// Names of temporary files that a signal's handler removes; it may neither lock nor allocate.
std::array<std::atomic<char *>, 64> pending;

void enroll(const std::string &name) {
  char *copy = strdup(name.c_str());
  for (std::atomic<char *> &slot : pending)
    if (char *none = nullptr; copy && slot.compare_exchange_strong(none, copy))
      return;
  std::free(copy);
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

/// What leads into /proc names an open file of the process, as /dev/stdout does.
bool isOpenFile(const std::string &path) { return path.starts_with("/proc/"); }

/// Writes what is read from the start of a file.
bool copyAll(int from, int to) {
  char buffer[1 << 16];
  if (lseek(from, 0, SEEK_SET) != 0)
    return false;
  while (const ssize_t got = ::read(from, buffer, sizeof buffer))
    if (got < 0 || !writeAll(to, {buffer, size_t(got)}))
      return false;
  return true;
}

} // namespace

std::string writtenFile(const std::string &path) {
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

template <class Make> void TemporaryFile::name(const std::string &folder, Make make) {
  static std::atomic<unsigned> counter = 0;
  for (;;) { // short: names of files are at most 255 bytes long
    temporary = fmt::format("{}/.tulle-{}-{}.tmp", folder, getpid(), counter++);
    enroll(temporary);
    if (make(temporary.c_str()))
      return;
    const int reason = errno;
    discharge(temporary);
    temporary.clear();
    errno = reason;
    if (reason != EEXIST)
      fail("cannot create a file in this folder");
  }
}

TemporaryFile::TemporaryFile(const std::string &path) : path(path), target(writtenFile(path)) {
  if (path.empty())
    throw Error("expected the name of a file to write, got an empty one");
  existed = stat(target.c_str(), &before) == 0;
  if (existed && S_ISDIR(before.st_mode))
    throwFileError(path, "cannot write the file: a directory has this name");
  special = existed && (!S_ISREG(before.st_mode) || isOpenFile(target));
  if (existed && access(target.c_str(), W_OK) != 0)
    fail("cannot write the file");
  std::error_code error;
  const std::string folder = special ? fs::temp_directory_path(error).string() : folderOf(target);
  opened = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (opened < 0) // the folder's file system has no files without names
    name(folder, [&](const char *file) {
      opened = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return opened >= 0;
    });
}

TemporaryFile::~TemporaryFile() {
  if (opened >= 0)
    close(opened);
  if (!temporary.empty()) {
    unlink(temporary.c_str());
    discharge(temporary);
  }
}

void failSystem(const std::string &path, std::string_view what) {
  throwFileError(path, "{}: {}", what, std::strerror(errno));
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(size_t(count));
  }
  return true;
}

void TemporaryFile::write(std::string_view bytes) {
  if (!writeAll(opened, bytes))
    fail("cannot write the file");
}

/// A file without a name gets one: its own where nothing has that, else one to be renamed from.
void TemporaryFile::link() {
  const std::string self = fmt::format("/proc/self/fd/{}", opened);
  if (!existed && linkat(AT_FDCWD, self.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return;
  name(folderOf(target), [&](const char *file) {
    return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0;
  });
}

void TemporaryFile::commit() {
  if (special) {
    const Descriptor file(open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || !copyAll(opened, file.fd))
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

void removeTemporariesOnSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, removePending) == SIG_IGN)
      std::signal(signal, SIG_IGN); // as under nohup
  // A limit on sizes of files is an error of the write that meets it.
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace tulle::runtime
