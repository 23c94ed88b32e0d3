// Files and generators.
#pragma once
#include "tulle/tensor.h"

namespace tulle {

/// Reads .mtx .tns .smtx .npy .npz .h5 (.gz too) and stores the tensor in `format`, its elements converted to
/// `element` ("" keeps the file's). Throws Error with file, line and cure.
TULLE_EXPORT AnyTensor readAny(const std::string &path, const Format &format,
                               const std::string &element = "");
/// Reads with the format that the file suggests: .mtx CSR, .tns CSF, .npy dense, .npz and .h5 their own.
TULLE_EXPORT AnyTensor readAny(const std::string &path);

template <class T> Tensor<T> read(const std::string &path, const Format &format) {
  return readAny(path, format, ElementName<T>::value);
}

/// Writes by the name's ending, to a temporary name that is renamed when complete. Throws Error when the file
/// format cannot express the tensor.
TULLE_EXPORT void write(const std::string &path, const AnyTensor &tensor);

/// `grid2d:N`, `random:7:0.1`, …: see `tulle run --help`. `dims` are for those that imply no sizes.
TULLE_EXPORT AnyTensor generateAny(const std::string &spec, const std::vector<int64_t> &dims,
                                   const Format &format, const std::string &element);
template <class T>
Tensor<T> generate(const std::string &spec, const Format &format, const std::vector<int64_t> &dims = {}) {
  return generateAny(spec, dims, format, ElementName<T>::value);
}

} // namespace tulle
