// A file that appears whole or not at all, and descriptors that close themselves.
#pragma once
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::runtime {

/// Throws Error `path: error: what: ` and the system's reason.
[[noreturn]] void failSystem(const std::string &path, std::string_view what);

/// A descriptor that is closed at the end; -1 where opening failed.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  explicit operator bool() const { return fd >= 0; }

  const int fd;
};

/// Writes all bytes, also where a signal interrupts; false, with errno, where that fails.
bool writeAll(int fd, std::string_view bytes);

/// What becomes the file `path` at commit(), and is gone without it. Until then it has no name in any folder,
/// where the file system can do that (O_TMPFILE), so that nothing is left of a process that is killed.
///
/// A link stays a link: the file it leads to is written. A file that was there gives its owner and
/// permissions. Into what is no regular file (a FIFO, a device), the bytes are copied at commit().
class TemporaryFile {
public:
  /// Throws Error when the folder is missing or full, or `path` is a directory or may not be written.
  explicit TemporaryFile(const std::string &path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// The file, open for reading and writing until commit().
  int descriptor() const { return opened; }
  void write(std::string_view bytes);
  void commit();
  [[noreturn]] void fail(std::string_view what) const { failSystem(path, what); }

private:
  /// Finds a name in the folder with which `make` succeeds, or fails for another reason than EEXIST.
  template <class Make> void name(const std::string &folder, Make make);
  void link();

  std::string path;
  std::string target;    ///< where the links of `path` lead
  std::string temporary; ///< its name next to the target, while it has one
  struct stat before{};  ///< of the target, if it was there
  bool existed = false;
  bool special = false; ///< the target is there, and no file that another can take the place of
  int opened = -1;
};

} // namespace tulle::runtime
