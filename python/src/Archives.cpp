// Stands in for the readers and writers that need libzip and HDF5 (lib/runtime/io), so that the module needs
// neither library, and a wheel need not bring them: the package reads such files with NumPy and h5py.
#include "runtime/io/Text.h"
#include "support/Errors.h"

namespace tulle::runtime::io {

[[noreturn]] static void refuse(const std::string &path) {
  throwFileError(path, "the compiler inside of the Python package reads and writes no .npz and .h5 files; "
                       "tulle.load and tulle.save do");
}

FileContents readNpz(const Text &text) { refuse(text.name); }
FileContents readH5(const Text &text) { refuse(text.name); }
FileContents readH5File(const std::string &path) { refuse(path); }
std::string writeNpz(const std::string &path, const Tensor &) { refuse(path); }
std::string writeH5(const std::string &path, const Tensor &) { refuse(path); }

} // namespace tulle::runtime::io
