// One input in every format, as plain arrays and as Tulle's tensors over the same memory; each is made when a
// competitor first asks for it, and kept for the next.
#pragma once
#include "peer/Loops.h"
#include "runtime/tensor/Tensor.h"
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tulle::bench {

/// A list of coordinates.
inline constexpr const char *kSparseVector = "(i) -> (i : compressed)";

class SciPy;

/// The second operand of a matrix: its columns moved on by one, so that the patterns overlap in part, or its
/// transpose, where it is square.
enum class Second : uint8_t { Shifted, Transposed };

class Input {
public:
  /// `spec` names a generator of a matrix, a file, or one of measure/Specs.cpp: "2000x3000x4000:0.0002",
  /// "vectors:SIZE:COUNT:COUNT", "lower:SPEC", "sorted:SPEC" (the rows in order of their columns),
  /// "nm24:ROWS:COLUMNS", "blocks:ROWS:SIZE:PER-ROW" (dense blocks, so many in each row of blocks),
  /// "band:SIZE:WIDTH", "butterfly:SIZE:BLOCK", "pruned:ROWS:COLUMNS:BLOCK:PERCENT" (so many dense blocks
  /// stay, in half of the rows of blocks), "batch:COUNT:LEAST:MOST" (two ragged tensors whose matrices can be
  /// multiplied), "rows:COUNT:LEAST:MOST" (rows of the first so many columns),
  /// "pixels:HEIGHT:WIDTH[:TAPS:STRIDE]" and "voxels:SIZE:PERCENT" (tables of neighbors; so many voxels of a
  /// shell). 32-bit indices must suffice. Throws tulle::Error.
  explicit Input(const std::string &spec, Second second = Second::Shifted);
  ~Input();
  Input(const Input &) = delete;

  std::string name;
  int64_t order() const { return int64_t(dims.size()); }
  std::vector<int64_t> dims;
  int64_t count() const; ///< stored entries
  int64_t rows() const { return dims[0]; }
  int64_t columns() const { return dims[1]; }

  /// Matrices only. b: what Second says.
  const Csr &a() const { return matrix; }
  const Csr &b();
  const Csr &csc();   ///< of a, by columns
  CooView coo();      ///< of a, sorted
  CooView shuffled(); ///< of a, in random order

  /// A in a format by name ("COO shuffled" is one), B in CSR or, where it is no matrix, in a format. They
  /// borrow the arrays above where these are the format's; in single precision, all but the values.
  runtime::Tensor stored(const std::string &format, ElementType type = ElementType::F64);
  runtime::Tensor storedB(const std::string &format = kSparseVector, ElementType type = ElementType::F64);
  /// A dense operand that depends on nothing but its name and its shape: element k is
  /// ((k + seed) * 2654435761 mod 2^32) / 2^32 with the sum of the name's bytes as seed.
  runtime::Tensor dense(const std::string &name, std::vector<int64_t> shape,
                        ElementType type = ElementType::F64);
  /// Memory for the result of peers, which use it one after the other; not initialized.
  std::span<double> result(int64_t count);
  /// Lets dense operands and the result go.
  void dropDense();

  /// Slots of DIA, ELL and blocks of `size` by `size` for each entry.
  double diaPadding() const, ellPadding() const, blockPadding(int64_t size) const;

  /// The child that holds A and B. Throws Absent.
  SciPy &scipy();

private:
  runtime::Tensor make(const std::string &format);
  runtime::Tensor makeB(const std::string &format);

  runtime::Entries entries, entriesB; ///< of tensors that are not matrices
  Second kind;
  Csr matrix{}, second{}, byColumns{};
  std::vector<int32_t> row, shuffledRow, shuffledColumn, cooPos;
  std::vector<double> shuffledValue;
  std::map<std::string, runtime::Tensor> formats, operands;
  runtime::Buffer resultBuffer;
  std::unique_ptr<SciPy> child;
};

/// A tensor over the arrays of a matrix in CSR, which must live on.
runtime::Tensor csrTensor(const Csr &matrix);

/// What an input's name stands for; a second operand where it names two.
std::pair<runtime::Entries, runtime::Entries> loadInput(const std::string &spec);

/// The Matrix Market files of a folder, .gz too, by name. Throws tulle::Error where there is none.
std::vector<std::string> matricesIn(const std::string &folder);

/// Elements of a buffer.
std::span<const int32_t> indicesOf(const runtime::Tensor &tensor, size_t field);
std::span<const double> valuesOf(const runtime::Tensor &tensor);

} // namespace tulle::bench
