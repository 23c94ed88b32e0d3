// Gathers, scatters, products by tables of neighbors, joined matrices and rows of any lengths as an expert
// would write them, in single precision; with several threads, too.
#pragma once
#include "Peer.h"

namespace tulle::bench {

/// The coordinates of A's entries in one dimension, as a vector of integers.
runtime::Tensor coordinates(const Task &task, unsigned dimension);
/// A, whose values are numbers, as a matrix of integers: -1 where it stores none.
runtime::Tensor table(const Task &task);
/// How many pixels a table of neighbors is of: one more than the largest number.
int64_t pixelsOf(const Task &task);

/// A subscript that `count` integers give.
struct Subscript {
  int64_t count;
  const int32_t *at;
};
/// y(e) = x(s(e))
void gather(Subscript s, const float *x, float *y);
/// The same with rows of kFeatures elements, here and below.
void gatherRows(Subscript s, const float *x, float *y);
/// z(s(e)) = y(e), where z has `size` elements.
void scatter(Subscript s, const float *y, int64_t size, float *z);
void scatterRows(Subscript s, const float *y, int64_t size, float *z);
/// Z(d(e),k) = w(e) * X(s(e),k)
void sendRows(Subscript s, Subscript d, const float *w, const float *x, int64_t size, float *z);

/// y(i) = A(i,j), y(i) max= A(i,j), and b = a * a + a for each element, of rows of any lengths.
void sumRows(int64_t rows, const int32_t *pos, const float *a, float *y);
void maximaOfRows(int64_t rows, const int32_t *pos, const float *a, float *y);
void squareElements(int64_t count, const float *a, float *b);

/// C(i,j) = A(i,k) * B(k,j); v(l) = C(l / n, l % n) - x(l) with n = kFeatures: C as a whole, then v.
void collapseProduct(int64_t rows, int64_t inner, const float *a, const float *b, const float *x, float *c,
                     float *v);

/// Numbers of pixels, `taps` for each output; -1 is none.
struct Neighbors {
  int64_t outputs, taps;
  const int32_t *at;
};
/// O(o,c) = I(t(o,r) else 0, d) * W(r,d,c) with so many channels: 32, 64 or 128.
template <int64_t Channels>
void convolve(const Neighbors &t, const float *image, const float *weights, float *out);

/// A result in CSR.
struct Joined {
  int64_t rows;
  Array<int32_t> pos, crd;
  Array<float> value;
};
Joined sideBySide(const CsrOf<float> &a, const CsrOf<float> &b);
/// B below A, and so many columns to the right.
Joined below(const CsrOf<float> &a, const CsrOf<float> &b, int32_t right);

} // namespace tulle::bench
