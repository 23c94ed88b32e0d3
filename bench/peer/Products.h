// Products with dense operands as plain loops over Tulle's own storage: one an expert would write, left to
// the compiler's vectorizer with reassociation allowed.
#pragma once
#include "Loops.h"
#include <cstdint>
#include <vector>

namespace tulle::bench {

/// y = A * x. Every loop writes all of y.
void spmvCsr(const CsrView &a, const double *x, double *y);
/// A by columns.
void spmvCsc(const CsrView &a, const double *x, double *y);
void spmvCoo(const CooView &a, const double *x, double *y);
/// `rows` rows are stored, those with numbers crd.
void spmvDcsr(int64_t stored, const int32_t *crd, const CsrView &a, const double *x, double *y);
/// Blocks of 4 by 4, row-major; pos, crd and value as in Bcsr, sizes as in the matrix.
void spmvBcsr4(const CsrView &a, const double *x, double *y);
/// value[k * rows + i] is A[i, i + offset[k]].
void spmvDia(int64_t rows, int64_t columns, int64_t count, const int32_t *offset, const double *value,
             const double *x, double *y);
/// crd[k * rows + i], -1 where the row is shorter.
void spmvEll(int64_t rows, int64_t width, const int32_t *crd, const double *value, const double *x,
             double *y);
/// Slices of 8 rows: entry p of slice s of lane l at p * 8 + l with p in pos[s] .. pos[s + 1]; row[s * 8 + l]
/// is its row.
void spmvSell8(int64_t rows, const int64_t *row, const int32_t *pos, const int32_t *crd, const double *value,
               const double *x, double *y);

/// C = A * X, X and C row-major with n columns.
void spmm(const CsrView &a, const double *x, int64_t n, double *c);
/// value(i,j) = sum over k of D(i,k) * E(j,k) for the entries of A.
void sddmm(const CsrView &a, const double *d, const double *e, int64_t n, double *value);

/// A tensor stored as compressed fibers (CSF): pos[l], crd[l] of level l.
struct CsfView {
  std::vector<int64_t> dims;
  std::vector<const int32_t *> pos, crd;
  const double *value;
};
/// C(i,r) = sum over j, k, … of A(i,j,k,…) * D(j,r) * E(k,r) * …; the factors, of dimensions 1 and up, and C
/// are row-major with n columns. The order is 3 at least.
void mttkrp(const CsfView &a, const std::vector<const double *> &factors, int64_t n, double *c);
/// For each stored fiber (i,j): c = sum over k of A(i,j,k) * x(k).
void ttv(const CsfView &a, const double *x, double *c);
/// For each stored fiber (i,j) and r < n: c = sum over k of A(i,j,k) * X(k,r).
void ttm(const CsfView &a, const double *x, int64_t n, double *c);

struct SparseVector {
  int64_t count;
  const int32_t *crd;
  const double *value;
};
/// Merges; searches for the entries of the shorter one where the other is far longer.
double dot(const SparseVector &a, const SparseVector &b);

/// C = A * X where each group of four columns of A holds two values; their columns are two bits each, packed
/// four to a byte from the low bits on.
void structuredMM(int64_t rows, int64_t columns, const uint8_t *crd, const double *value, const double *x,
                  int64_t n, double *c);

} // namespace tulle::bench
