// Whole programs as an expert would fuse them by hand: one pass over the rows or blocks, what passes from one
// statement to the next in registers or in the first cache. In single and in double precision.
#pragma once
#include "Loops.h"

namespace tulle::bench {

/// The features, or the columns of dense operands, of the loops that know their number.
inline constexpr int64_t kFeatures = 64;

/// p(i,j) = exp(A(i,j) - max of row i) / sum over row i of these.
template <typename T> void softmax(const CsrOf<T> &a, T *p);
/// Row i of O: the rows of V where A stores an entry, by the softmax of Q's row times K's rows / 8. Dense
/// operands have kFeatures columns, here and below.
template <typename T> void attention(const CsrOf<T> &a, const T *q, const T *k, const T *v, T *o);
/// O(i,l) = A(i,j) * Q(i,k) * K(j,k) * V(j,l)
template <typename T> void fusedMM(const CsrOf<T> &a, const T *q, const T *k, const T *v, T *o);
/// Y = A relu(A X W) V, where `g` is memory for as much as X.
template <typename T> void gcn(const CsrOf<T> &a, const T *x, const T *w, const T *v, T *g, T *y);
/// Y = relu(X W + M V), M the mean of the rows of X where A stores an entry, weighted with it.
template <typename T> void graphSage(const CsrOf<T> &a, const T *x, const T *w, const T *v, T *y);

/// Vectors of a step of conjugate gradients: y = x + a p, s = r - a A p, t = s · s, u = s + t / rr p, where
/// a = rr / (p · A p). `q` is memory for A p.
template <typename T> struct CgVectors {
  const T *p, *x, *r;
  T rr;
  T *q, *y, *s, *t, *u;
};
template <typename T> void cgStep(const CsrOf<T> &a, const CgVectors<T> &vectors);
/// y = c + 0.85 A (x / max(n, 1)), e the sum of |y - x|. `w` is memory for the quotients.
template <typename T> void pageRankStep(const CsrOf<T> &a, const T *x, const T *n, T c, T *w, T *y, T *e);

/// Y(i,k) = A(r,i,j) * X(j,l) * W(r,l,k), the rows (r,i) of A one after the other.
template <typename T> void rgms(int64_t relations, const CsrOf<T> &a, const T *x, const T *w, T *y);

/// Matrices one behind the other: those of number b have rows row[b] … row[b + 1], and row i is at start[i].
template <typename T> struct RaggedOf {
  int64_t count;
  const int32_t *row, *start;
  T *value;
};
/// C(b,i,k) = A(b,i,j) * B(b,j,k); C has its rows already.
template <typename T>
void raggedProduct(const RaggedOf<const T> &a, const RaggedOf<const T> &b, const RaggedOf<T> &c);

/// Rows of square blocks, `stored` of them; `row`: their numbers, where not all are stored. value: block
/// after block.
template <typename T> struct BlocksOf {
  int64_t rows, size, stored;
  const int32_t *row, *pos, *crd;
  const T *value;
};
/// C(i,k) = A(i,j) * X(j,k), n columns, A without empty rows of blocks.
template <typename T> void blockSpmm(const BlocksOf<T> &a, const T *x, int64_t n, T *c);
/// C(i,j) = D(i,k) * E(j,k) where A, all of whose rows are stored, has a block, kFeatures columns, E with
/// `columns` rows; `packed` is memory for E.
template <typename T>
void blockSddmm(const BlocksOf<T> &a, const T *d, const T *e, int64_t columns, T *packed, T *c);

} // namespace tulle::bench
