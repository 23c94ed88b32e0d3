// Matrices that a container file (.npz, .h5) holds as arrays of positions, coordinates and values, and the
// half that a file of a symmetric one leaves out.
#pragma once
#include "runtime/io/Io.h"
#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace tulle::runtime::io {

/// One array of the file, dense, and what errors call it.
struct NamedArray {
  std::string name;
  Tensor data;
};

/// A matrix in `format`: CSR, CSC, DCSR, DCSC or BCSR(b,c). A segment is a row of CSR, a column of CSC, a row
/// of blocks of BCSR.
struct CompressedArrays {
  std::string format;
  std::vector<int64_t> dims;
  std::optional<NamedArray> segments; ///< DCSR, DCSC: which rows or columns are stored
  NamedArray positions, coordinates, values;
  std::array<int64_t, 2> block = {1, 1};         ///< rows and columns; divide the sizes
  std::array<unsigned, 2> segmentFirst = {0, 1}; ///< the dimension of segments, and that of coordinates
};

/// Checks the arrays; the result is a stored tensor over them where every segment ascends strictly, and else
/// (SciPy allows any order, and duplicates) their entries. What the arrays hold after the last position is
/// not part of the matrix. Throws Error `file: error: array[k] is …` for anything a kernel must not meet.
FileContents compressedContents(const std::string &file, const CompressedArrays &arrays);

/// The elements of an index array as a dense tensor of i32 or i64; shares the buffer when they are already.
/// Throws Error when it is not a list of integers.
Tensor indexTensor(const std::string &file, const NamedArray &array);
/// The same as one list of i64.
std::vector<int64_t> indexList(const std::string &file, const NamedArray &array);

/// Indices in a buffer of elements of `width` bits, 32 or 64.
template <typename T> Buffer indexBuffer(std::span<const T> indices, unsigned width, std::string_view what) {
  const auto count = int64_t(indices.size());
  Buffer made = Buffer::allocate(count, count * width / 8, false, what);
  if (width == 32)
    std::copy(indices.begin(), indices.end(), static_cast<int32_t *>(made.data));
  else
    std::copy(indices.begin(), indices.end(), static_cast<int64_t *>(made.data));
  return made;
}

/// Throws Error when coordinates `index` of `array` lie outside 0 … size - 1.
void checkCoordinates(const std::string &file, const std::string &name, const std::vector<int64_t> &index,
                      int64_t size);

/// Entries of two coordinate lists (checked here) and as many values.
FileContents coordinateContents(const std::string &file, const std::vector<int64_t> &dims,
                                std::vector<NamedArray> coordinates, const NamedArray &values);

enum class Symmetry : uint8_t { General, Symmetric, Skew, Hermitian };

/// The value across the diagonal of one that is not on it.
Scalar mirrored(Symmetry symmetry, const Scalar &value);
/// Appends the entries across the diagonal of those that are not on it.
void appendMirrored(Entries &entries, Symmetry symmetry);

} // namespace tulle::runtime::io
