// Open files by number.
#pragma once
#include <string_view>
#include <unistd.h>

namespace tulle::runtime::io {

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

} // namespace tulle::runtime::io
