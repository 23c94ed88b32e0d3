#include "Fused.h"
#include "Simd.h"
#include <vector>

namespace tulle::bench {

using simd::load;
using simd::Matrix;
using simd::store;
using simd::Vec;

namespace {

constexpr int64_t kRows = 32; ///< taken together where rows meet a dense matrix

template <typename T> constexpr int kVectors = int(kFeatures) / simd::kLanes<T>;

/// A row of kFeatures elements in registers.
template <typename T> struct Row {
  Vec<T> part[kVectors<T>] = {};

  Row() = default;
  explicit Row(const T *from) {
    for (int v = 0; v < kVectors<T>; ++v)
      part[v] = load(from + v * simd::kLanes<T>);
  }
  void add(T factor, const T *row) {
    for (int v = 0; v < kVectors<T>; ++v)
      part[v] += factor * load(row + v * simd::kLanes<T>);
  }
  T dot(const T *row) const {
    Vec<T> products = {};
    for (int v = 0; v < kVectors<T>; ++v)
      products += part[v] * load(row + v * simd::kLanes<T>);
    return simd::sum<T>(products);
  }
  static void prefetch(const T *row) {
    for (int64_t k = 0; k < kFeatures; k += 64 / int64_t(sizeof(T)))
      __builtin_prefetch(row + k);
  }
  void write(T *to, T factor = 1) const {
    for (int v = 0; v < kVectors<T>; ++v)
      store(to + v * simd::kLanes<T>, part[v] * factor);
  }
};

template <typename T> T mostOf(const T *values, int64_t count) {
  T most = values[0];
#pragma omp simd reduction(max : most)
  for (int64_t k = 1; k < count; ++k)
    most = std::max(most, values[k]);
  return most;
}

template <typename T> T sumOf(const T *values, int64_t count) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < count; ++k)
    sum += values[k];
  return sum;
}

template <typename T> void relu(T *values, int64_t count) {
#pragma omp simd
  for (int64_t k = 0; k < count; ++k)
    values[k] = std::max(values[k], T(0));
}

/// Prefetches the rows of x that entries of A meet `ahead` entries later, in whichever row that is, where x
/// does not stay in the second cache: there, prefetches only take the time of loads.
template <typename T> struct Prefetch {
  const CsrOf<T> &a;
  const T *x;
  int32_t ahead = 6, end = a.columns * kFeatures * int64_t(sizeof(T)) > (4 << 20) ? a.pos[a.rows] : 0;

  void operator()(int32_t entry) const {
    if (entry + ahead < end)
      Row<T>::prefetch(x + int64_t(a.crd[entry + ahead]) * kFeatures);
  }
};

/// The rows of A times x from `first` on, `count` of them, one behind the other.
template <typename T> void gather(const CsrOf<T> &a, const T *x, int64_t first, int64_t count, T *sums) {
  const Prefetch<T> prefetch{a, x};
  for (int64_t i = 0; i < count; ++i) {
    Row<T> sum;
    for (int32_t k = a.pos[first + i]; k < a.pos[first + i + 1]; ++k) {
      prefetch(k);
      sum.add(a.value[k], x + int64_t(a.crd[k]) * kFeatures);
    }
    sum.write(sums + i * kFeatures);
  }
}

template <typename T> Matrix<const T> features(const T *data) { return {data, kFeatures}; }

} // namespace

template <typename T> void softmax(const CsrOf<T> &a, T *__restrict value) {
  // exp runs over the entries of many rows at once: most rows are shorter than a vector.
  constexpr int64_t together = 256;
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t first = 0; first < a.rows; first += together) {
    const int64_t last = std::min(first + together, a.rows);
    for (int64_t i = first; i < last; ++i) {
      const int32_t begin = a.pos[i], end = a.pos[i + 1];
      if (begin == end)
        continue;
      const T most = mostOf(a.value + begin, end - begin);
      for (int32_t k = begin; k < end; ++k)
        value[k] = a.value[k] - most;
    }
    simd::expOf(value + a.pos[first], a.pos[last] - a.pos[first], T(0));
    for (int64_t i = first; i < last; ++i) {
      const int32_t begin = a.pos[i], end = a.pos[i + 1];
      const T factor = 1 / sumOf(value + begin, end - begin);
      for (int32_t k = begin; k < end; ++k)
        value[k] *= factor;
    }
  }
}

template <typename T> void attention(const CsrOf<T> &a, const T *q, const T *k, const T *v, T *__restrict o) {
  // V's row is used after the scores of the whole row: its prefetch need not be ahead.
  const Prefetch<T> prefetchK{a, k}, prefetchV{a, v, 0};
#pragma omp parallel
  {
    std::vector<T> scores;
#pragma omp for schedule(dynamic, 16)
    for (int64_t i = 0; i < a.rows; ++i) {
      const int32_t *crd = a.crd + a.pos[i];
      const int64_t count = a.pos[i + 1] - a.pos[i];
      Row<T> sum;
      if (count > 0) {
        scores.resize(std::max(scores.size(), size_t(count)));
        const Row<T> own(q + i * kFeatures);
        for (int64_t p = 0; p < count; ++p) {
          prefetchK(a.pos[i] + int32_t(p));
          prefetchV(a.pos[i] + int32_t(p));
          scores[size_t(p)] = T(0.125) * own.dot(k + int64_t(crd[p]) * kFeatures);
        }
        simd::expOf(scores.data(), count, mostOf(scores.data(), count));
        for (int64_t p = 0; p < count; ++p)
          sum.add(scores[size_t(p)], v + int64_t(crd[p]) * kFeatures);
      }
      sum.write(o + i * kFeatures, count > 0 ? 1 / sumOf(scores.data(), count) : T(0));
    }
  }
}

template <typename T> void fusedMM(const CsrOf<T> &a, const T *q, const T *k, const T *v, T *__restrict o) {
  const Prefetch<T> prefetchK{a, k}, prefetchV{a, v};
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t i = 0; i < a.rows; ++i) {
    const Row<T> own(q + i * kFeatures);
    Row<T> sum;
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      prefetchK(p);
      prefetchV(p);
      const int64_t at = int64_t(a.crd[p]) * kFeatures;
      sum.add(a.value[p] * own.dot(k + at), v + at);
    }
    sum.write(o + i * kFeatures);
  }
}

template <typename T>
void gcn(const CsrOf<T> &a, const T *x, const T *w, const T *v, T *__restrict g, T *__restrict y) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t first = 0; first < a.rows; first += kRows) {
    const int64_t count = std::min(kRows, a.rows - first);
    alignas(simd::kBytes) T sums[kRows * kFeatures], hidden[kRows * kFeatures];
    gather(a, x, first, count, sums);
    simd::multiply<false, T>(count, kFeatures, kFeatures, features<T>(sums), features(w),
                             {hidden, kFeatures});
    relu(hidden, count * kFeatures);
    simd::multiply<false, T>(count, kFeatures, kFeatures, features<T>(hidden), features(v),
                             {g + first * kFeatures, kFeatures});
  }
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t first = 0; first < a.rows; first += kRows)
    gather<T>(a, g, first, std::min(kRows, a.rows - first), y + first * kFeatures);
}

template <typename T> void graphSage(const CsrOf<T> &a, const T *x, const T *w, const T *v, T *__restrict y) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t first = 0; first < a.rows; first += kRows) {
    const int64_t count = std::min(kRows, a.rows - first);
    alignas(simd::kBytes) T means[kRows * kFeatures];
    gather(a, x, first, count, means);
    for (int64_t i = 0; i < count; ++i) {
      const T factor = T(1) / T(std::max(a.pos[first + i + 1] - a.pos[first + i], 1));
      for (int64_t k = 0; k < kFeatures; ++k)
        means[i * kFeatures + k] *= factor;
    }
    const Matrix<T> to{y + first * kFeatures, kFeatures};
    simd::multiply<false, T>(count, kFeatures, kFeatures, features(x + first * kFeatures), features(w), to);
    simd::multiply<true, T>(count, kFeatures, kFeatures, features<T>(means), features(v), to);
    relu(to.data, count * kFeatures);
  }
}

template <typename T> static T rowTimes(const CsrOf<T> &a, int64_t i, const T *x) {
  T sum = 0;
  for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k)
    sum += a.value[k] * x[a.crd[k]];
  return sum;
}

template <typename T> void cgStep(const CsrOf<T> &a, const CgVectors<T> &v) {
  T pq = 0, ss = 0;
#pragma omp parallel for schedule(static) reduction(+ : pq)
  for (int64_t i = 0; i < a.rows; ++i) {
    const T sum = rowTimes(a, i, v.p);
    v.q[i] = sum;
    pq += v.p[i] * sum;
  }
  const T alpha = v.rr / pq;
#pragma omp parallel for simd schedule(static) reduction(+ : ss)
  for (int64_t i = 0; i < a.rows; ++i) {
    v.y[i] = v.x[i] + alpha * v.p[i];
    const T rest = v.r[i] - alpha * v.q[i];
    v.s[i] = rest;
    ss += rest * rest;
  }
  *v.t = ss;
  const T beta = ss / v.rr;
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < a.rows; ++i)
    v.u[i] = v.s[i] + beta * v.p[i];
}

template <typename T>
void pageRankStep(const CsrOf<T> &a, const T *x, const T *n, T c, T *__restrict w, T *__restrict y, T *e) {
#pragma omp parallel for simd schedule(static)
  for (int64_t j = 0; j < a.columns; ++j)
    w[j] = x[j] / std::max(n[j], T(1));
  T change = 0;
#pragma omp parallel for schedule(static) reduction(+ : change)
  for (int64_t i = 0; i < a.rows; ++i) {
    y[i] = c + T(0.85) * rowTimes<T>(a, i, w);
    change += std::abs(y[i] - x[i]);
  }
  *e = change;
}

template <typename T>
void rgms(int64_t relations, const CsrOf<T> &a, const T *x, const T *w, T *__restrict y) {
  const int64_t rows = a.rows / relations;
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    const Matrix<T> to{y + first * kFeatures, kFeatures};
    alignas(simd::kBytes) T sums[kRows * kFeatures];
    std::fill_n(to.data, count * kFeatures, T(0));
    for (int64_t r = 0; r < relations; ++r) {
      gather(a, x, r * rows + first, count, sums);
      simd::multiply<true, T>(count, kFeatures, kFeatures, features<T>(sums),
                              features(w + r * kFeatures * kFeatures), to);
    }
  }
}

template <typename T>
void raggedProduct(const RaggedOf<const T> &a, const RaggedOf<const T> &b, const RaggedOf<T> &c) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t m = 0; m < a.count; ++m) {
    const int32_t i = a.row[m], j = b.row[m], rows = a.row[m + 1] - i, depth = b.row[m + 1] - j;
    if (rows == 0 || depth == 0)
      continue;
    const int64_t columns = b.start[j + 1] - b.start[j];
    simd::multiply<false, T>(rows, columns, depth, {a.value + a.start[i], depth},
                             {b.value + b.start[j], columns}, {c.value + c.start[c.row[m]], columns});
  }
}

template <typename T> void blockSpmm(const BlocksOf<T> &a, const T *x, int64_t n, T *__restrict c) {
  const int64_t size = a.size;
  std::fill_n(c, a.rows * n, T(0));
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t p = 0; p < a.stored; ++p) {
    T *rows = c + a.row[p] * size * n;
    for (int32_t k = a.pos[p]; k < a.pos[p + 1]; ++k)
      simd::multiply<true, T>(size, n, size, {a.value + k * size * size, size}, {x + a.crd[k] * size * n, n},
                              {rows, n});
  }
}

template <typename T>
void blockSddmm(const BlocksOf<T> &a, const T *d, const T *e, int64_t columns, T *__restrict packed,
                T *__restrict c) {
  // E's rows become columns, those of a block next to each other: products then run along vectors.
  const int64_t size = a.size;
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < columns / size; ++b)
    for (int64_t k = 0; k < kFeatures; ++k)
      for (int64_t j = 0; j < size; ++j)
        packed[(b * kFeatures + k) * size + j] = e[(b * size + j) * kFeatures + k];
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t p = 0; p < a.stored; ++p)
    for (int32_t k = a.pos[p]; k < a.pos[p + 1]; ++k)
      simd::multiply<false, T>(size, size, kFeatures, features(d + p * size * kFeatures),
                               {packed + a.crd[k] * size * kFeatures, size}, {c + k * size * size, size});
}

#define TULLE_INSTANTIATE(T)                                                                                 \
  template void softmax(const CsrOf<T> &, T *);                                                              \
  template void attention(const CsrOf<T> &, const T *, const T *, const T *, T *);                           \
  template void fusedMM(const CsrOf<T> &, const T *, const T *, const T *, T *);                             \
  template void gcn(const CsrOf<T> &, const T *, const T *, const T *, T *, T *);                            \
  template void graphSage(const CsrOf<T> &, const T *, const T *, const T *, T *);                           \
  template void cgStep(const CsrOf<T> &, const CgVectors<T> &);                                              \
  template void pageRankStep(const CsrOf<T> &, const T *, const T *, T, T *, T *, T *);                      \
  template void rgms(int64_t, const CsrOf<T> &, const T *, const T *, T *);                                  \
  template void raggedProduct(const RaggedOf<const T> &, const RaggedOf<const T> &, const RaggedOf<T> &);    \
  template void blockSpmm(const BlocksOf<T> &, const T *, int64_t, T *);                                     \
  template void blockSddmm(const BlocksOf<T> &, const T *, const T *, int64_t, T *, T *);
TULLE_INSTANTIATE(double)
TULLE_INSTANTIATE(float)
#undef TULLE_INSTANTIATE

} // namespace tulle::bench
