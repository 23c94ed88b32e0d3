// Eigen over the same arrays.
#include "Peer.h"
#ifdef TULLE_EIGEN
#include <Eigen/SparseCore>
#endif

namespace tulle::bench {

#ifdef TULLE_EIGEN
using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;
using Columns = Eigen::SparseMatrix<double, Eigen::ColMajor, int32_t>;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static Eigen::Map<const Rows> map(const CsrView &a) {
  return {a.rows, a.columns, a.pos[a.rows], a.pos, a.crd, a.value};
}

static Answer describe(const auto &made) {
  const size_t n = size_t(made.nonZeros());
  Answer answer;
  answer.indices = {{made.outerIndexPtr(), size_t(made.outerSize()) + 1}, {made.innerIndexPtr(), n}};
  answer.values = {made.valuePtr(), n};
  return answer;
}

template <typename Matrix, typename Run> static Runner building(Run run) {
  auto made = std::make_shared<Matrix>();
  return {[made, run] { return timed([&] { run(*made); }); }, [made] { return describe(*made); }};
}

static std::optional<Runner> spmv(const Task &task) {
  Input &input = task.input;
  const runtime::Tensor x = input.dense("x", {input.columns()});
  const auto values = input.result(input.rows());
  Eigen::Map<const Eigen::VectorXd> in(valuesOf(x).data(), input.columns());
  Eigen::Map<Eigen::VectorXd> out(values.data(), input.rows());
  if (task.format == "CSR")
    return into(values, [x, in, out, a = map(input.a().view())]() mutable { out.noalias() = a * in; });
  if (task.format == "CSC") {
    const CsrView c = input.csc().view();
    Eigen::Map<const Columns> a(c.columns, c.rows, c.pos[c.rows], c.pos, c.crd, c.value);
    return into(values, [x, in, out, a]() mutable { out.noalias() = a * in; });
  }
  return std::nullopt;
}

static Runner dot(const Task &task) {
  using Vector = Eigen::SparseVector<double, 0, int32_t>;
  auto vector = [&](const runtime::Tensor &v) {
    Vector made(v.dims[0]);
    made.reserve(v.storedCount());
    for (int64_t k = 0; k < v.storedCount(); ++k)
      made.insertBack(indicesOf(v, 1)[size_t(k)]) = valuesOf(v)[size_t(k)];
    return made;
  };
  const auto s = task.input.result(1);
  return into(s, [s, a = vector(task.a()), b = vector(task.input.storedB())] { s[0] = a.dot(b); });
}

std::optional<Runner> eigenPeer(const Task &task) {
  Input &input = task.input;
  switch (task.op) {
  case Op::SpMV:
    return spmv(task);
  case Op::SpMM: {
    const runtime::Tensor x = input.dense("X", {input.columns(), task.n});
    const auto values = input.result(input.rows() * task.n);
    Eigen::Map<const Dense> in(valuesOf(x).data(), input.columns(), task.n);
    Eigen::Map<Dense> out(values.data(), input.rows(), task.n);
    return into(values, [x, in, out, a = map(input.a().view())]() mutable { out.noalias() = a * in; });
  }
  case Op::Add:
    return building<Rows>([a = map(input.a().view()), b = map(input.b().view())](Rows &c) { c = a + b; });
  case Op::Multiply:
    return building<Rows>([a = map(input.a().view())](Rows &c) { c = a * a; });
  case Op::Dot:
    return dot(task);
  case Op::Convert:
    if (task.format == "CSR" && task.target == "CSC")
      return building<Columns>([a = map(input.a().view())](Columns &c) { c = a; });
    return std::nullopt;
  default:
    return std::nullopt;
  }
}
#else
std::optional<Runner> eigenPeer(const Task &) { throw Absent("Eigen was not there when this was built"); }
#endif

} // namespace tulle::bench
