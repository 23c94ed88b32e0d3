// MLIR's own sparsifier as a peer: the same kernel through its pipeline, its code generator at full
// optimization, this CPU.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tulle::bench {

/// A memref argument: element type spelled as in MLIR is part of the kernel text, here is only where and how
/// large.
struct MemRef {
  void *data;
  std::vector<int64_t> sizes; ///< row-major
};

/// A function `@kernel` of memrefs, compiled by `sparsifier` with the given options.
class MlirKernel {
public:
  /// Throws std::runtime_error with MLIR's diagnostics when the text does not compile.
  MlirKernel(const std::string &text, const std::string &sparsifierOptions, bool returnsMemref);
  ~MlirKernel();
  void bind(const std::vector<MemRef> &arguments);
  /// Runs the function `@pack` on these, before `bind`: what it returns becomes the first argument of the
  /// kernel, and goes to `@release` in the end.
  void pack(const std::vector<MemRef> &arguments);
  /// Runs on what was bound.
  void run();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// A sparse operand: its shape ("3x4"), its encoding's map, and the number of index buffers it is assembled
/// from.
struct MlirMatrix {
  std::string shape, map;
  unsigned levelBuffers;
};
extern const char *csrMap;

/// The texts, with 32-bit widths. Arguments: the levels' buffers of A from level 0 on, its values, then x, y
/// (spmv); X, C (spmm, `n` columns); for a CSR matrix D, E with `n` columns each (sddmm: values(i,j) = sum
/// D(i,k) * E(j,k)).
std::string spmvText(const MlirMatrix &a, int64_t rows, int64_t columns);
std::string spmmText(const MlirMatrix &a, int64_t rows, int64_t columns, int64_t n);
std::string sddmmText(int64_t rows, int64_t columns, int64_t n);

/// `(d0, …) -> (d0 : first, …, : between, …, : last)`: a level for each dimension, in this order.
std::string levelMap(const std::vector<size_t> &dims, const char *first, const char *between,
                     const char *last);
/// C(i,r) = A(i,j,k) * D(j,r) * E(k,r): A's buffers, D, E, C.
std::string mttkrpText(const MlirMatrix &a, const std::vector<int64_t> &dims, int64_t n);
/// s = a * b of two compressed vectors: a's buffers, b's, s (a memref without dimensions).
std::string dotText(int64_t size);

/// `from` and `to` are encodings' maps, 32-bit widths. Arguments: the levels' buffers of `from` as assembled
/// from level 0 on, the values, and one index that receives the number of entries. What is made is freed.
std::string conversionText(int64_t rows, int64_t columns, const std::string &from, unsigned levelBuffers,
                           const std::string &to);
/// The same with A made once by `@pack`, from its buffers; `columns`: how many coordinates of an entry stand
/// together in them. The kernel takes A and the index.
std::string packedConversionText(const std::string &shape, const std::string &from, unsigned levelBuffers,
                                 unsigned columns, const std::string &to);
/// C = A + B and C = A * B, all in CSR. Arguments: pos, crd, values of A, then of B, then the index.
std::string sumText(int64_t rows, int64_t columns);
std::string spgemmText(int64_t size);

} // namespace tulle::bench
