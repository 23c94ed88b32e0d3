// What loops by hand need that the compiler's vectorizer does not give: products of small dense matrices with
// their tile in registers, and exp over an array.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tulle::bench::simd {

#if defined(__AVX512F__)
inline constexpr int kBytes = 64, kRegisters = 32;
#elif defined(__AVX__)
inline constexpr int kBytes = 32, kRegisters = 16;
#else
inline constexpr int kBytes = 16, kRegisters = 16;
#endif

template <typename T> struct Vector {
  typedef T Type __attribute__((vector_size(kBytes)));
};
/// A register.
template <typename T> using Vec = typename Vector<T>::Type;
template <typename T> inline constexpr int kLanes = kBytes / int(sizeof(T));

template <typename T> inline Vec<T> load(const T *from) {
  Vec<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T> inline void store(T *to, Vec<T> value) { std::memcpy(to, &value, sizeof value); }

template <typename T> inline T sum(Vec<T> value) {
  T total = 0;
  for (int l = 0; l < kLanes<T>; ++l)
    total += value[l];
  return total;
}

/// e^x for x <= 0, within a few units in the last place: x = n ln 2 + r, and e^r as a Taylor polynomial.
template <typename T> inline T exp(T x) {
  constexpr bool isDouble = std::is_same_v<T, double>;
  using Bits = std::conditional_t<isDouble, int64_t, int32_t>;
  constexpr int mantissa = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127, degree = isDouble ? 12 : 7;
  const T bounded = std::max(x, T(isDouble ? -708 : -87)),
          n = std::nearbyint(bounded * T(1.4426950408889634)), r = bounded - n * T(0.6931471805599453);
  T power = 1;
  for (int k = degree; k > 0; --k)
    power = power * (r * T(1.0 / k)) + 1;
  return power * std::bit_cast<T>(Bits(Bits(int32_t(n)) + bias) << mantissa);
}

/// values[k] = e^(values[k] - most).
template <typename T> inline void expOf(T *values, int64_t count, T most) {
#pragma omp simd
  for (int64_t k = 0; k < count; ++k)
    values[k] = exp(values[k] - most);
}

/// Matrices with rows `stride` elements apart.
template <typename T> struct Matrix {
  T *data;
  int64_t stride;
  T *row(int64_t i) const { return data + i * stride; }
};

/// R rows and V vectors of c (+)= a * b.
template <bool Add, int R, int V, typename T>
inline void tile(Matrix<const T> a, Matrix<const T> b, int64_t depth, Matrix<T> c) {
  Vec<T> sums[R][V] = {};
  if constexpr (Add)
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v)
        sums[r][v] = load(c.row(r) + v * kLanes<T>);
  for (int64_t l = 0; l < depth; ++l)
    for (int v = 0; v < V; ++v) {
      const Vec<T> columns = load(b.row(l) + v * kLanes<T>);
      for (int r = 0; r < R; ++r)
        sums[r][v] += a.row(r)[l] * columns;
    }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      store(c.row(r) + v * kLanes<T>, sums[r][v]);
}

/// R rows.
template <bool Add, int R, typename T>
inline void rowsOf(Matrix<const T> a, Matrix<const T> b, int64_t columns, int64_t depth, Matrix<T> c) {
  constexpr int lanes = kLanes<T>;
  int64_t j = 0;
  auto from = [&](auto matrix) { return decltype(matrix){matrix.data + j, matrix.stride}; };
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    tile<Add, R, 2>(a, from(b), depth, from(c));
  for (; j + lanes <= columns; j += lanes)
    tile<Add, R, 1>(a, from(b), depth, from(c));
  if (j == columns)
    return;
  for (int r = 0; r < R; ++r) {
    if (!Add)
      std::fill(c.row(r) + j, c.row(r) + columns, T(0));
    for (int64_t l = 0; l < depth; ++l)
      for (int64_t k = j; k < columns; ++k)
        c.row(r)[k] += a.row(r)[l] * b.row(l)[k];
  }
}

/// c (+)= a * b; Add: added to what c has.
template <bool Add, typename T>
inline void multiply(int64_t rows, int64_t columns, int64_t depth, Matrix<const T> a, Matrix<const T> b,
                     Matrix<T> c) {
  constexpr int most = kRegisters / 4;
  int64_t i = 0;
  auto from = [&](auto matrix) { return decltype(matrix){matrix.row(i), matrix.stride}; };
  for (; i + most <= rows; i += most)
    rowsOf<Add, most>(from(a), b, columns, depth, from(c));
  for (; i < rows; ++i)
    rowsOf<Add, 1>(from(a), b, columns, depth, from(c));
}

} // namespace tulle::bench::simd
