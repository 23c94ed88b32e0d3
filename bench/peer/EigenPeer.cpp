#include "EigenPeer.h"
#if __has_include(<Eigen/SparseCore>)
#include <Eigen/SparseCore>
#endif

namespace tulle::bench {

#if __has_include(<Eigen/SparseCore>)
using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;

static Matrix copy(const CsrView &a) {
  return Eigen::Map<const Matrix>(a.rows, a.columns, a.pos[a.rows], a.pos, a.crd, a.value);
}

std::optional<std::function<void()>> eigenSum(const CsrView &a, const CsrView &b) {
  return [a = copy(a), b = copy(b), c = std::make_shared<Matrix>()] { *c = a + b; };
}
std::optional<std::function<void()>> eigenProduct(const CsrView &a, const CsrView &b) {
  return [a = copy(a), b = copy(b), c = std::make_shared<Matrix>()] { *c = a * b; };
}
std::optional<std::function<void()>> eigenTranspose(const CsrView &a) {
  return [a = copy(a), c = std::make_shared<Eigen::SparseMatrix<double, Eigen::ColMajor, int32_t>>()] {
    *c = a;
  };
}
#else
std::optional<std::function<void()>> eigenSum(const CsrView &, const CsrView &) { return std::nullopt; }
std::optional<std::function<void()>> eigenProduct(const CsrView &, const CsrView &) { return std::nullopt; }
std::optional<std::function<void()>> eigenTranspose(const CsrView &) { return std::nullopt; }
#endif

} // namespace tulle::bench
