#include "Indirect.h"
#include "Fused.h"
#include "Simd.h"
#include <cstring>
#include <limits>
#include <omp.h>
#include <vector>

namespace tulle::bench {

namespace {

/// Rows that are this many integers ahead are prefetched.
constexpr int64_t kAhead = 8;

void prefetchRow(const float *row) {
  for (int64_t k = 0; k < kFeatures; k += 16)
    __builtin_prefetch(row + k);
}

/// Calls add(e) for all integers, and ahead(e) some before. A thread has its own range of targets, and goes
/// over all integers for it: nothing is added to by two.
template <typename Add, typename Ahead>
void byTarget(Subscript s, int64_t size, float *z, Add add, Ahead ahead) {
#pragma omp parallel
  {
    const int64_t threads = omp_get_num_threads(), own = omp_get_thread_num();
    const int64_t first = size * own / threads, last = size * (own + 1) / threads;
    std::memset(z + first * kFeatures, 0, size_t((last - first) * kFeatures) * sizeof(float));
    auto isOwn = [=](int64_t e) { return s.at[e] >= first && s.at[e] < last; };
    for (int64_t e = 0; e < s.count; ++e) {
      if (e + kAhead < s.count && isOwn(e + kAhead))
        ahead(e + kAhead);
      if (isOwn(e))
        add(e);
    }
  }
}

} // namespace

void gather(Subscript s, const float *__restrict x, float *__restrict y) {
#pragma omp parallel for simd schedule(static)
  for (int64_t e = 0; e < s.count; ++e)
    y[e] = x[s.at[e]];
}

void gatherRows(Subscript s, const float *__restrict x, float *__restrict y) {
#pragma omp parallel for schedule(static)
  for (int64_t e = 0; e < s.count; ++e) {
    if (e + kAhead < s.count)
      prefetchRow(x + s.at[e + kAhead] * kFeatures);
    std::memcpy(y + e * kFeatures, x + s.at[e] * kFeatures, kFeatures * sizeof(float));
  }
}

void scatter(Subscript s, const float *__restrict y, int64_t size, float *__restrict z) {
  std::memset(z, 0, size_t(size) * sizeof(float));
  // Each thread but the first adds to elements of its own, which are added up after that.
  const int64_t threads = omp_get_max_threads();
  std::vector<float> others(size_t((threads - 1) * size));
#pragma omp parallel num_threads(threads)
  {
    const int64_t own = omp_get_thread_num();
    float *to = own ? others.data() + (own - 1) * size : z;
    for (int64_t e = s.count * own / threads; e < s.count * (own + 1) / threads; ++e)
      to[s.at[e]] += y[e];
#pragma omp barrier
#pragma omp for
    for (int64_t i = 0; i < size; ++i)
      for (int64_t t = 1; t < threads; ++t)
        z[i] += others[size_t((t - 1) * size + i)];
  }
}

void scatterRows(Subscript s, const float *__restrict y, int64_t size, float *__restrict z) {
  byTarget(
      s, size, z,
      [=](int64_t e) {
#pragma omp simd
        for (int64_t k = 0; k < kFeatures; ++k)
          z[s.at[e] * kFeatures + k] += y[e * kFeatures + k];
      },
      [=](int64_t e) {
        prefetchRow(y + e * kFeatures);
        prefetchRow(z + s.at[e] * kFeatures);
      });
}

void sendRows(Subscript s, Subscript d, const float *__restrict w, const float *__restrict x, int64_t size,
              float *__restrict z) {
  byTarget(
      d, size, z,
      [=](int64_t e) {
#pragma omp simd
        for (int64_t k = 0; k < kFeatures; ++k)
          z[d.at[e] * kFeatures + k] += w[e] * x[s.at[e] * kFeatures + k];
      },
      [=](int64_t e) {
        prefetchRow(x + s.at[e] * kFeatures);
        prefetchRow(z + d.at[e] * kFeatures);
      });
}

void sumRows(int64_t rows, const int32_t *pos, const float *__restrict a, float *__restrict y) {
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int32_t k = pos[i]; k < pos[i + 1]; ++k)
      sum += a[k];
    y[i] = sum;
  }
}

void maximaOfRows(int64_t rows, const int32_t *pos, const float *__restrict a, float *__restrict y) {
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t i = 0; i < rows; ++i) {
    float most = -std::numeric_limits<float>::max();
    for (int32_t k = pos[i]; k < pos[i + 1]; ++k)
      most = a[k] > most ? a[k] : most;
    y[i] = most;
  }
}

void squareElements(int64_t count, const float *__restrict a, float *__restrict b) {
#pragma omp parallel for simd schedule(static)
  for (int64_t k = 0; k < count; ++k)
    b[k] = a[k] * a[k] + a[k];
}

void collapseProduct(int64_t rows, int64_t inner, const float *__restrict a, const float *__restrict b,
                     const float *__restrict x, float *__restrict c, float *__restrict v) {
  constexpr int64_t step = 64; // rows that a thread takes at a time
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; i += step)
    simd::multiply<false, float>(std::min(step, rows - i), kFeatures, inner, {a + i * inner, inner},
                                 {b, kFeatures}, {c + i * kFeatures, kFeatures});
#pragma omp parallel for simd schedule(static)
  for (int64_t l = 0; l < rows * kFeatures; ++l)
    v[l] = c[l] - x[l];
}

/// Two vectors of several outputs, whose sums stay in registers; what has no neighbor reads zeros.
template <int64_t Channels>
static void tile(const Neighbors &t, int64_t first, const float *image, const float *weights, float *out) {
  constexpr int lanes = simd::kLanes<float>, tall = simd::kRegisters / 4;
  static const float zeros[Channels] = {};
  const int64_t count = std::min<int64_t>(tall, t.outputs - first);
  simd::Vec<float> sums[tall][2] = {};
  for (int64_t r = 0; r < t.taps; ++r) {
    const float *pixel[tall];
    bool any = false;
    for (int64_t k = 0; k < tall; ++k) {
      const int32_t at = k < count ? t.at[(first + k) * t.taps + r] : -1;
      pixel[k] = at < 0 ? zeros : image + at * Channels;
      any |= at >= 0;
    }
    if (!any)
      continue;
    const float *w = weights + r * Channels * Channels;
    for (int64_t d = 0; d < Channels; ++d, w += Channels) {
      const simd::Vec<float> left = simd::load(w), right = simd::load(w + lanes);
      for (int64_t k = 0; k < tall; ++k) {
        sums[k][0] += pixel[k][d] * left;
        sums[k][1] += pixel[k][d] * right;
      }
    }
  }
  for (int64_t k = 0; k < tall; ++k)
    if (k < count) {
      simd::store(out + (first + k) * Channels, sums[k][0]);
      simd::store(out + (first + k) * Channels + lanes, sums[k][1]);
    }
}

template <int64_t Channels>
void convolve(const Neighbors &t, const float *image, const float *weights, float *out) {
  constexpr int64_t tall = simd::kRegisters / 4, wide = 2 * simd::kLanes<float>;
#pragma omp parallel for schedule(dynamic, 8)
  for (int64_t first = 0; first < t.outputs; first += tall)
    for (int64_t c = 0; c < Channels; c += wide)
      tile<Channels>(t, first, image, weights + c, out + c);
}
template void convolve<32>(const Neighbors &, const float *, const float *, float *);
template void convolve<64>(const Neighbors &, const float *, const float *, float *);
template void convolve<128>(const Neighbors &, const float *, const float *, float *);

static Joined memoryFor(int64_t rows, int64_t count) {
  return {rows, Array<int32_t>(new int32_t[size_t(rows) + 1]), Array<int32_t>(new int32_t[size_t(count)]),
          Array<float>(new float[size_t(count)])};
}

Joined sideBySide(const CsrOf<float> &a, const CsrOf<float> &b) {
  Joined c = memoryFor(a.rows, a.pos[a.rows] + b.pos[b.rows]);
  const auto right = int32_t(a.columns);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < a.rows; ++i) {
    int32_t to = c.pos[i] = a.pos[i] + b.pos[i];
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k, ++to) {
      c.crd[to] = a.crd[k];
      c.value[to] = a.value[k];
    }
    for (int32_t k = b.pos[i]; k < b.pos[i + 1]; ++k, ++to) {
      c.crd[to] = b.crd[k] + right;
      c.value[to] = b.value[k];
    }
  }
  c.pos[a.rows] = a.pos[a.rows] + b.pos[b.rows];
  return c;
}

Joined below(const CsrOf<float> &a, const CsrOf<float> &b, int32_t right) {
  const int32_t first = a.pos[a.rows], second = b.pos[b.rows];
  Joined c = memoryFor(a.rows + b.rows, first + second);
  auto copy = [](const auto *from, int64_t count, auto *to, auto offset) {
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < count; ++k)
      to[k] = from[k] + offset;
  };
  auto same = [](const auto *from, int64_t count, auto *to) {
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < count; ++k)
      to[k] = from[k];
  };
  same(a.pos, a.rows, c.pos.get());
  copy(b.pos, b.rows + 1, c.pos.get() + a.rows, first);
  same(a.crd, first, c.crd.get());
  copy(b.crd, second, c.crd.get() + first, right);
  same(a.value, first, c.value.get());
  same(b.value, second, c.value.get() + first);
  return c;
}

} // namespace tulle::bench
