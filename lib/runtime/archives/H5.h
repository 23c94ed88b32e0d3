// What reading and writing binsparse (graphblas.org/binsparse-specification) in HDF5 files share: the
// library's handles, and the formats made of levels.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <hdf5.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace tulle::runtime::io {

//===--- The library ---===//

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
  LibraryUse() : lock(mutex) {
    H5Eget_auto2(H5E_DEFAULT, &printer, &printerData);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~LibraryUse() { H5Eset_auto2(H5E_DEFAULT, printer, printerData); }
  LibraryUse(const LibraryUse &) = delete;

private:
  static inline std::mutex mutex;
  std::lock_guard<std::mutex> lock;
  H5E_auto2_t printer = nullptr;
  void *printerData = nullptr;
};

/// What the library says about its last error, innermost first; clears it.
std::string lastH5Error();

//===--- Reading ---===//

/// One dataset as a list of elements, or why there is none.
struct ExtractedArray {
  Tensor elements;
  std::string error; ///< when not empty, there are no elements
};

struct ExtractedFile {
  std::string text; ///< of the attribute `binsparse`
  std::map<std::string, ExtractedArray, std::less<>> arrays;
};

/// Reads the attribute `binsparse` of the root and every dataset of `names` that the root has. Unsigned
/// integers become the next wider signed type; those beyond 2^63 - 1 are errors. A damaged file can crash the
/// library or keep it busy for ever: so a child process runs it, with a limit of processor time, and only
/// what it leaves in shared memory is believed, after its bounds are checked. Throws Error `path: error: …`.
/// `image`: the file's bytes, when they are in memory and not at `path`.
ExtractedFile extractH5(const std::string &path, const std::vector<std::string> &names,
                        const std::string_view *image);

/// The most dimensions that a format made of levels is read and written with.
constexpr size_t mostLevels = 16;

} // namespace tulle::runtime::io
