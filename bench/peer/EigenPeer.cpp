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
  answer.values = {{made.valuePtr(), n}};
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
  using Sparse = Eigen::SparseVector<double, 0, int32_t>;
  auto vector = [&](const runtime::Tensor &v) {
    Sparse made(v.dims[0]);
    made.reserve(v.storedCount());
    for (int64_t k = 0; k < v.storedCount(); ++k)
      made.insertBack(indicesOf(v, 1)[size_t(k)]) = valuesOf(v)[size_t(k)];
    return made;
  };
  const auto s = task.input.result(1);
  return into(s, [s, a = vector(task.a()), b = vector(task.input.storedB())] { s[0] = a.dot(b); });
}

template <typename T> using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <typename T> static Eigen::Map<const Vector<T>> vector(const runtime::Tensor &v) {
  return {static_cast<const T *>(v.values()), v.storedCount()};
}

/// A step of a solver, as a user of Eigen writes it.
template <typename Step> static Runner stepping(std::vector<runtime::Tensor> results, Step step) {
  return {[step] { return timed(step); },
          [results] {
            Answer answer;
            for (const runtime::Tensor &result : results)
              append(answer, result);
            return answer;
          }};
}

template <typename T> static auto result(const runtime::Tensor &v) {
  return Eigen::Map<Vector<T>>(static_cast<T *>(v.values()), v.storedCount());
}

template <typename T> static auto matrix(const runtime::Tensor &a) {
  using Rows = Eigen::SparseMatrix<T, Eigen::RowMajor, int32_t>;
  return Eigen::Map<const Rows>(a.dims[0], a.dims[1], a.storedCount(), indicesOf(a, 0).data(),
                                indicesOf(a, 1).data(), static_cast<const T *>(a.values()));
}

template <typename T> static Runner cgStep(const Task &task) {
  const std::vector<int64_t> n = {task.input.rows()};
  auto memory = [&](std::vector<int64_t> dims) { return runtime::makeDense(task.type, std::move(dims)); };
  const runtime::Tensor p = task.dense("p", n), x = task.dense("x", n), r = task.dense("r", n),
                        rr = task.dense("rr", {}), y = memory(n), s = memory(n), t = memory({}),
                        u = memory(n);
  return stepping({y, s, t, u}, [=, a = matrix<T>(task.a()), q = Vector<T>(n[0])]() mutable {
    q.noalias() = a * vector<T>(p);
    const T rest = *static_cast<T *>(rr.values()), alpha = rest / vector<T>(p).dot(q);
    result<T>(y) = vector<T>(x) + alpha * vector<T>(p);
    result<T>(s) = vector<T>(r) - alpha * q;
    const T square = vector<T>(s).squaredNorm();
    *static_cast<T *>(t.values()) = square;
    result<T>(u) = vector<T>(s) + square / rest * vector<T>(p);
  });
}

template <typename T> static Runner pageRankStep(const Task &task) {
  const std::vector<int64_t> rows = {task.input.rows()};
  const runtime::Tensor x = task.dense("x", rows), n = task.dense("n", rows), c = task.dense("c", {}),
                        y = runtime::makeDense(task.type, rows), e = runtime::makeDense(task.type, {});
  return stepping({y, e}, [=, a = matrix<T>(task.a()), w = Vector<T>(rows[0])]() mutable {
    w = vector<T>(x).cwiseQuotient(vector<T>(n).cwiseMax(T(1)));
    result<T>(y).noalias() = T(0.85) * (a * w);
    result<T>(y).array() += *static_cast<T *>(c.values());
    *static_cast<T *>(e.values()) = (vector<T>(y) - vector<T>(x)).template lpNorm<1>();
  });
}

template <typename T> static std::optional<Runner> step(const Task &task) {
  return task.op == Op::CgStep         ? std::optional(cgStep<T>(task))
         : task.op == Op::PageRankStep ? std::optional(pageRankStep<T>(task))
                                       : std::nullopt;
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
    return task.type == ElementType::F32 ? step<float>(task) : step<double>(task);
  }
}
#else
std::optional<Runner> eigenPeer(const Task &) { throw Absent("Eigen was not there when this was built"); }
#endif

} // namespace tulle::bench
