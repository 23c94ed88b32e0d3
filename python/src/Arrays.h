// Python's memory as Tulle's buffers, and Tulle's as NumPy's arrays; neither is copied.
#pragma once
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <tulle/tensor.h>
#include <vector>

namespace tulle::python {

namespace nb = nanobind;

/// A C-contiguous buffer that Python lends: its owner gives it back, from whatever thread.
struct Array {
  BufferView view;     ///< `width` in bits
  std::string element; ///< "f64", …; empty where Tulle has no such element type
  std::vector<int64_t> dims;
  bool readOnly = false;
  bool isInteger = false; ///< of any width, signed or not
};

/// The memory of an object that lends C-contiguous buffers in the machine's byte order; nothing where it
/// lends none. Python's error state is as before.
std::optional<Array> borrowArray(nb::handle object);

/// The same; throws Error, calling the object `name`, where it lends none.
Array requireArray(nb::handle object, const std::string &name);

/// Lends a tensor's buffer to Python (buffer protocol, read-only), and keeps it.
struct Memory {
  BufferView view;
  std::string format; ///< of the struct module
  std::vector<Py_ssize_t> dims, strides;
  bool writable = false;
};
void bindMemory(nb::module_ &module);

/// A NumPy array over `view`, whose elements are of the type that `element` names, or unsigned integers of
/// its width where it is empty.
nb::object toNumpy(const BufferView &view, const std::string &element, const std::vector<int64_t> &dims,
                   bool writable = false);

} // namespace tulle::python
