// Products with dense operands as plain loops over Tulle's own storage: one an expert would write, left to
// the compiler's vectorizer with reassociation allowed.
#pragma once
#include "Loops.h"

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

} // namespace tulle::bench
