// The conversions and products that an expert would write for one pair of formats: 32-bit indices,
// doubles, memory of its final size, duplicates summed where the source may hold some.
#pragma once
#include <cstdint>
#include <memory>

namespace tulle::bench {

/// Uninitialized: every loop writes each element once.
template <typename T> using Array = std::unique_ptr<T[]>;

/// Coordinates one array each; rows and columns are borrowed.
struct CooView {
  int64_t rows, columns, count;
  const int32_t *row, *column;
  const double *value;
};
/// Rows of CSR; of a CSC matrix "row" reads "column".
template <typename T> struct CsrOf {
  int64_t rows, columns;
  const int32_t *pos, *crd;
  const T *value;
};
using CsrView = CsrOf<double>;
struct Csr {
  int64_t rows, columns;
  Array<int32_t> pos, crd;
  Array<double> value;
  CsrView view() const { return {rows, columns, pos.get(), crd.get(), value.get()}; }
};
/// Tulle's DIA: the diagonals that hold an entry, ascending; value[k * rows + i] is A[i, i + offset[k]].
struct Dia {
  int64_t rows, count;
  Array<int32_t> offset;
  std::unique_ptr<double[], void (*)(double *)> value;
};
/// Tulle's ELL: crd[k * rows + i] is the k-th column of row i, -1 where the row is shorter.
struct Ell {
  int64_t rows, width;
  Array<int32_t> crd;
  Array<double> value;
};
/// Tulle's skyline: row i is value[pos[i] … pos[i + 1]), from column first[i] to its last entry or the
/// diagonal.
struct Skyline {
  int64_t rows;
  Array<int32_t> pos, first;
  std::unique_ptr<double[], void (*)(double *)> value;
};
struct Bcsr {
  int64_t blockRows;
  Array<int32_t> pos, crd;
  std::unique_ptr<double[], void (*)(double *)> value;
};

Csr sortedCooToCsr(const CooView &from);
Csr cooToCsr(const CooView &from);
Csr csrToCsc(const CsrView &from);
Dia csrToDia(const CsrView &from);
Dia cscToDia(const CsrView &from);
Dia cooToDia(const CooView &from);
Ell csrToEll(const CsrView &from);
Ell cscToEll(const CsrView &from);
Ell cooToEll(const CooView &from);
Skyline csrToSkyline(const CsrView &from);
/// Blocks of 4 by 4; the sizes need not be multiples.
Bcsr csrToBcsr4(const CsrView &from);
Csr add(const CsrView &a, const CsrView &b);
/// Row by row with a dense workspace, counted first; columns sorted.
Csr multiply(const CsrView &a, const CsrView &b);
/// The entries of A * B that A's pattern has too.
Csr multiplyMasked(const CsrView &mask, const CsrView &a, const CsrView &b);

} // namespace tulle::bench
