// What the reader and the writer of HDF5 files share: handles that close themselves, errors, one thread.
#pragma once
#include <hdf5.h>
#include <mutex>
#include <string>
#include <utility>

namespace tulle::runtime::io {

/// An identifier of the library and the function that closes it.
class Handle {
public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id(id), close(close) {}
  Handle(Handle &&other) noexcept : id(std::exchange(other.id, -1)), close(other.close) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(id, other.id);
    std::swap(close, other.close);
    return *this;
  }
  ~Handle() {
    if (id >= 0)
      close(id);
  }
  operator hid_t() const { return id; }

private:
  hid_t id = -1;
  herr_t (*close)(hid_t) = nullptr;
};

/// Alive while the library is used: one thread at a time (Debian builds it without locks), and it prints no
/// errors of its own.
class LibraryUse {
public:
  LibraryUse();
  ~LibraryUse();
  LibraryUse(const LibraryUse &) = delete;
  LibraryUse &operator=(const LibraryUse &) = delete;

private:
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock;
  H5E_auto2_t printer = nullptr;
  void *printerData = nullptr;
};

/// What the library says about its last error, innermost first; clears it.
std::string lastH5Error();

} // namespace tulle::runtime::io
