#include "Products.h"
#include <algorithm>
#include <vector>

namespace tulle::bench {

void spmvCsr(const CsrView &a, const double *x, double *__restrict y) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k)
      sum += a.value[k] * x[a.crd[k]];
    y[i] = sum;
  }
}

void spmvCsc(const CsrView &a, const double *x, double *__restrict y) {
  std::fill_n(y, a.columns, 0.0);
  for (int64_t j = 0; j < a.rows; ++j)
    for (int32_t k = a.pos[j]; k < a.pos[j + 1]; ++k)
      y[a.crd[k]] += a.value[k] * x[j];
}

void spmvCoo(const CooView &a, const double *x, double *__restrict y) {
  std::fill_n(y, a.rows, 0.0);
  for (int64_t k = 0; k < a.count; ++k)
    y[a.row[k]] += a.value[k] * x[a.column[k]];
}

void spmvDcsr(int64_t stored, const int32_t *crd, const CsrView &a, const double *x, double *__restrict y) {
  std::fill_n(y, a.rows, 0.0);
  for (int64_t r = 0; r < stored; ++r) {
    double sum = 0;
    for (int32_t k = a.pos[r]; k < a.pos[r + 1]; ++k)
      sum += a.value[k] * x[a.crd[k]];
    y[crd[r]] = sum;
  }
}

void spmvBcsr4(const CsrView &a, const double *x, double *__restrict y) {
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < (a.rows + 3) / 4; ++b) {
    double sum[4] = {};
    for (int32_t k = a.pos[b]; k < a.pos[b + 1]; ++k) {
      const int64_t j = int64_t(a.crd[k]) * 4, wide = std::min<int64_t>(4, a.columns - j);
      const double *block = a.value + int64_t(k) * 16;
      if (wide == 4)
        for (int r = 0; r < 4; ++r)
          for (int c = 0; c < 4; ++c)
            sum[r] += block[r * 4 + c] * x[j + c];
      else
        for (int r = 0; r < 4; ++r)
          for (int c = 0; c < wide; ++c)
            sum[r] += block[r * 4 + c] * x[j + c];
    }
    for (int64_t r = 0, high = std::min<int64_t>(4, a.rows - b * 4); r < high; ++r)
      y[b * 4 + r] = sum[r];
  }
}

void spmvDia(int64_t rows, int64_t columns, int64_t count, const int32_t *offset, const double *value,
             const double *x, double *__restrict y) {
  // A stretch of y stays in the first cache while all diagonals add to it.
  constexpr int64_t stretch = 2048;
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < rows; first += stretch) {
    const int64_t last = std::min(rows, first + stretch);
    std::fill(y + first, y + last, 0.0);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t o = offset[k], begin = std::max(first, -o), end = std::min(last, columns - o);
      for (int64_t i = begin; i < end; ++i)
        y[i] += value[k * rows + i] * x[i + o];
    }
  }
}

void spmvEll(int64_t rows, int64_t width, const int32_t *crd, const double *value, const double *x,
             double *__restrict y) {
  constexpr int64_t stretch = 2048;
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < rows; first += stretch) {
    const int64_t last = std::min(rows, first + stretch);
    std::fill(y + first, y + last, 0.0);
    for (int64_t k = 0; k < width; ++k)
      for (int64_t i = first; i < last; ++i)
        y[i] += value[k * rows + i] * x[std::max(crd[k * rows + i], 0)];
  }
}

void spmvSell8(int64_t rows, const int64_t *row, const int32_t *pos, const int32_t *crd, const double *value,
               const double *x, double *__restrict y) {
#pragma omp parallel for schedule(static)
  for (int64_t s = 0; s < (rows + 7) / 8; ++s) {
    double sum[8] = {};
    for (int32_t p = pos[s]; p < pos[s + 1]; ++p)
      for (int l = 0; l < 8; ++l)
        sum[l] += value[int64_t(p) * 8 + l] * x[std::max(crd[int64_t(p) * 8 + l], 0)];
    for (int64_t l = 0, high = std::min<int64_t>(8, rows - s * 8); l < high; ++l)
      y[row[s * 8 + l]] = sum[l];
  }
}

void spmm(const CsrView &a, const double *x, int64_t n, double *__restrict c) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill_n(c + i * n, n, 0.0);
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p)
      for (int64_t k = 0; k < n; ++k)
        c[i * n + k] += a.value[p] * x[int64_t(a.crd[p]) * n + k];
  }
}

void sddmm(const CsrView &a, const double *d, const double *e, int64_t n, double *__restrict value) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < a.rows; ++i)
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += d[i * n + k] * e[int64_t(a.crd[p]) * n + k];
      value[p] = sum;
    }
}

namespace {

/// The sums below one position after the other, each level's in a buffer of its own.
struct Mttkrp {
  const CsfView &a;
  const std::vector<const double *> &factors; ///< of level 1 and up
  int64_t n;
  std::vector<double> buffer = std::vector<double>(factors.size() * size_t(n));

  double *sums(size_t level) { return buffer.data() + (level - 1) * size_t(n); }

  /// row += what is stored in the segment of level `l` from `begin` on.
  void add(size_t l, int32_t begin, int32_t end, double *__restrict row) {
    double *__restrict below = sums(l);
    const double *own = factors[l - 1], *leaf = factors[l], *value = a.value;
    const int32_t *crd = a.crd[l], *pos = a.pos[l + 1], *leafCrd = a.crd[l + 1];
    const int64_t columns = n;
    for (int32_t q = begin; q < end; ++q) {
      std::fill_n(below, columns, 0.0);
      if (l + 2 < a.dims.size())
        add(l + 1, pos[q], pos[q + 1], below);
      else
        for (int32_t k = pos[q]; k < pos[q + 1]; ++k)
          for (int64_t r = 0; r < columns; ++r)
            below[r] += value[k] * leaf[int64_t(leafCrd[k]) * columns + r];
      for (int64_t r = 0; r < columns; ++r)
        row[r] += below[r] * own[int64_t(crd[q]) * columns + r];
    }
  }
};

} // namespace

void mttkrp(const CsfView &a, const std::vector<const double *> &factors, int64_t n, double *__restrict c) {
  std::fill_n(c, a.dims[0] * n, 0.0);
#pragma omp parallel
  {
    Mttkrp walk{a, factors, n};
#pragma omp for schedule(dynamic, 16)
    for (int32_t p = 0; p < a.pos[0][1]; ++p)
      walk.add(1, a.pos[1][p], a.pos[1][p + 1], c + int64_t(a.crd[0][p]) * n);
  }
}

void ttv(const CsfView &a, const double *x, double *__restrict c) {
#pragma omp parallel for schedule(static)
  for (int32_t q = 0; q < a.pos[1][a.pos[0][1]]; ++q) {
    double sum = 0;
    for (int32_t k = a.pos[2][q]; k < a.pos[2][q + 1]; ++k)
      sum += a.value[k] * x[a.crd[2][k]];
    c[q] = sum;
  }
}

void ttm(const CsfView &a, const double *x, int64_t n, double *__restrict c) {
#pragma omp parallel for schedule(static)
  for (int32_t q = 0; q < a.pos[1][a.pos[0][1]]; ++q) {
    double *row = c + q * n;
    std::fill_n(row, n, 0.0);
    for (int32_t k = a.pos[2][q]; k < a.pos[2][q + 1]; ++k)
      for (int64_t r = 0; r < n; ++r)
        row[r] += a.value[k] * x[int64_t(a.crd[2][k]) * n + r];
  }
}

double dot(const SparseVector &a, const SparseVector &b) {
  if (a.count > b.count)
    return dot(b, a);
  double sum = 0;
  if (b.count > 32 * a.count) {
    const int32_t *at = b.crd, *end = b.crd + b.count;
    for (int64_t k = 0; k < a.count; ++k) {
      int64_t step = 1;
      while (step < end - at && at[step] < a.crd[k])
        step *= 2;
      at = std::lower_bound(at + step / 2, std::min(at + step + 1, end), a.crd[k]);
      if (at == end)
        break;
      if (*at == a.crd[k])
        sum += a.value[k] * b.value[at - b.crd];
    }
    return sum;
  }
  for (int64_t p = 0, q = 0; p < a.count && q < b.count;) {
    const int32_t i = a.crd[p], j = b.crd[q];
    if (i == j)
      sum += a.value[p] * b.value[q];
    p += i <= j;
    q += j <= i;
  }
  return sum;
}

void structuredMM(int64_t rows, int64_t columns, const uint8_t *crd, const double *value, const double *x,
                  int64_t n, double *__restrict c) {
  const int64_t groups = columns / 4;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; ++i) {
    double *row = c + i * n;
    std::fill_n(row, n, 0.0);
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t k = (i * groups + g) * 2;
      const int bits = crd[k / 4] >> (k % 4 * 2);
      const double u = value[k], v = value[k + 1], *first = x + (4 * g + (bits & 3)) * n,
                   *second = x + (4 * g + (bits >> 2 & 3)) * n;
      for (int64_t r = 0; r < n; ++r)
        row[r] += u * first[r] + v * second[r];
    }
  }
}

} // namespace tulle::bench
