// The programs fused by hand as competitors: part of the baseline.
#include "Fused.h"
#include "Peer.h"
#include "Solvers.h"

namespace tulle::bench {

using runtime::Tensor;

namespace {

/// The loops of one program, and what they compute.
struct Made {
  std::function<void()> run;
  std::vector<Tensor> results;
};

template <typename T>
constexpr ElementType kType = std::is_same_v<T, float> ? ElementType::F32 : ElementType::F64;
template <typename T> T *values(const Tensor &tensor) { return static_cast<T *>(tensor.values()); }
template <typename T> Tensor memory(std::vector<int64_t> dims) {
  return runtime::makeDense(kType<T>, std::move(dims), false);
}

/// The rows of a tensor whose last level is compressed and whose other ones are dense.
template <typename T> CsrOf<T> rowsOf(const Tensor &a) {
  const auto pos = indicesOf(a, 0);
  return {int64_t(pos.size()) - 1, a.dims.back(), pos.data(), indicesOf(a, 1).data(), values<T>(a)};
}

template <typename T> Made softmaxLoops(const Task &task) {
  const Tensor a = task.a(), p = memory<T>({a.storedCount()});
  return {[=] { softmax(rowsOf<T>(a), values<T>(p)); }, {p}};
}

/// Attention and FusedMM.
template <typename T> Made sampledLoops(const Task &task) {
  const Tensor a = task.a(), q = task.dense("Q", {a.dims[0], task.n}),
               k = task.dense("K", {a.dims[1], task.n}), v = task.dense("V", {a.dims[1], task.n}),
               o = memory<T>({a.dims[0], task.n});
  const auto loops = task.op == Op::Attention ? attention<T> : fusedMM<T>;
  return {[=] { loops(rowsOf<T>(a), values<T>(q), values<T>(k), values<T>(v), values<T>(o)); }, {o}};
}

/// Gcn and GraphSage.
template <typename T> Made graphLoops(const Task &task) {
  const int64_t rows = task.input.rows(), n = task.n;
  const Tensor a = task.a(), x = task.dense("X", {rows, n}), w = task.dense("W", {n, n}),
               v = task.dense("V", {n, n}), y = memory<T>({rows, n});
  if (task.op == Op::GraphSage)
    return {[=] { graphSage(rowsOf<T>(a), values<T>(x), values<T>(w), values<T>(v), values<T>(y)); }, {y}};
  const Tensor g = memory<T>({rows, n});
  return {[=] { gcn(rowsOf<T>(a), values<T>(x), values<T>(w), values<T>(v), values<T>(g), values<T>(y)); },
          {y}};
}

template <typename T> Made cgLoops(const Task &task) {
  const std::vector<int64_t> n = {task.input.rows()};
  const Tensor a = task.a(), p = task.dense("p", n), x = task.dense("x", n), r = task.dense("r", n),
               rr = task.dense("rr", {}), q = memory<T>(n), y = memory<T>(n), s = memory<T>(n),
               t = memory<T>({}), u = memory<T>(n);
  return {[=] {
            cgStep<T>(rowsOf<T>(a), {values<T>(p), values<T>(x), values<T>(r), *values<T>(rr), values<T>(q),
                                     values<T>(y), values<T>(s), values<T>(t), values<T>(u)});
          },
          {y, s, t, u}};
}

template <typename T> Made pageRankLoops(const Task &task) {
  const std::vector<int64_t> rows = {task.input.rows()};
  const Tensor a = task.a(), x = task.dense("x", rows), n = task.dense("n", rows), c = task.dense("c", {}),
               w = memory<T>(rows), y = memory<T>(rows), e = memory<T>({});
  return {[=] {
            pageRankStep(rowsOf<T>(a), values<T>(x), values<T>(n), *values<T>(c), values<T>(w), values<T>(y),
                         values<T>(e));
          },
          {y, e}};
}

template <typename T> Made rgmsLoops(const Task &task) {
  const std::vector<int64_t> &dims = task.input.dims;
  const int64_t n = task.n, relations = dims[0];
  const Tensor a = task.a(), x = task.dense("X", {dims[2], n}), w = task.dense("W", {relations, n, n}),
               y = memory<T>({dims[1], n});
  return {[=] { rgms(relations, rowsOf<T>(a), values<T>(x), values<T>(w), values<T>(y)); }, {y}};
}

template <typename T> RaggedOf<T> ragged(const Tensor &a) {
  const auto row = indicesOf(a, 0);
  return {int64_t(row.size()) - 1, row.data(), indicesOf(a, 1).data(), values<std::remove_const_t<T>>(a)};
}

template <typename T> Made raggedLoops(const Task &task) {
  const Tensor a = task.a(), b = task.input.storedB(task.format, task.type);
  const auto left = ragged<const T>(a), right = ragged<const T>(b);
  // C has A's rows, each as long as those of B's matrix.
  auto start = std::make_shared<std::vector<int32_t>>(1, 0);
  for (int64_t m = 0; m < left.count; ++m)
    for (int32_t i = left.row[m]; i < left.row[m + 1]; ++i) {
      const int32_t j = right.row[m];
      start->push_back(start->back() + (j < right.row[m + 1] ? right.start[j + 1] - right.start[j] : 0));
    }
  const Tensor c = memory<T>({start->back()});
  return {[=, keep = std::pair(a, b)] {
            raggedProduct<T>(left, right, {left.count, left.row, start->data(), values<T>(c)});
          },
          {c}};
}

/// BlockSpMM, whose rows of blocks are compressed, and BlockSDDMM, whose rows are not.
template <typename T> Made blockLoops(const Task &task) {
  const Tensor a = task.a();
  const size_t last = a.buffers.size() - 1;
  const auto pos = indicesOf(a, last - 2), crd = indicesOf(a, last - 1);
  const bool spmm = task.op == Op::BlockSpMM;
  const BlocksOf<T> blocks{
      a.dims[0],  kBlock,      int64_t(pos.size()) - 1, spmm ? indicesOf(a, 1).data() : nullptr, pos.data(),
      crd.data(), values<T>(a)};
  const int64_t columns = a.dims[1], n = task.n;
  if (spmm) {
    const Tensor x = task.dense("X", {columns, n}), c = memory<T>({a.dims[0], n});
    return {[=] { blockSpmm(blocks, values<T>(x), n, values<T>(c)); }, {c}};
  }
  const Tensor d = task.dense("D", {a.dims[0], n}), e = task.dense("E", {columns, n}),
               packed = memory<T>({columns, n}), c = memory<T>({a.storedCount()});
  return {[=] { blockSddmm(blocks, values<T>(d), values<T>(e), columns, values<T>(packed), values<T>(c)); },
          {c}};
}

/// Solvers and graph algorithms.
Made solverLoops(const Task &task) {
  const Tensor a = task.a(), out = memory<double>({a.dims[0]});
  const auto rows = rowsOf<double>(a);
  double *values = bench::values<double>(out);
  const int64_t source = sourceOf(rows);
  switch (task.op) {
  case Op::ConjugateGradients:
    return {
        [=, b = task.dense("b", {a.dims[0]})] { conjugateGradients(rows, bench::values<double>(b), values); },
        {out}};
  case Op::PageRank:
    return {[=, n = leaving(rows)] { pageRank(rows, n.data(), 0.15 / double(rows.rows), values); }, {out}};
  case Op::BreadthFirstSearch:
    return {[=, keep = a] { breadthFirstSearch(rows, source, values); }, {out}};
  case Op::ShortestPaths:
    return {[=, keep = a] { shortestPaths(rows, source, values); }, {out}};
  default:
    return {[=, keep = a] { components(rows, values); }, {out}};
  }
}

template <typename T> std::optional<Made> make(const Task &task) {
  switch (task.op) {
  case Op::Softmax:
    return softmaxLoops<T>(task);
  case Op::Attention:
  case Op::FusedMM:
    return sampledLoops<T>(task);
  case Op::Gcn:
  case Op::GraphSage:
    return graphLoops<T>(task);
  case Op::CgStep:
    return cgLoops<T>(task);
  case Op::PageRankStep:
    return pageRankLoops<T>(task);
  case Op::Rgms:
    return rgmsLoops<T>(task);
  case Op::RaggedProduct:
    return raggedLoops<T>(task);
  case Op::BlockSpMM:
  case Op::BlockSDDMM:
    return blockLoops<T>(task);
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<Runner> programLoops(const Task &task) {
  const auto made = task.op >= Op::ConjugateGradients ? std::optional(solverLoops(task))
                    : task.type == ElementType::F32   ? make<float>(task)
                                                      : make<double>(task);
  if (!made)
    return std::nullopt;
  const bool iterates = task.op == Op::ConjugateGradients || task.op == Op::PageRank;
  return Runner{[run = made->run] { return timed(run); },
                [results = made->results, iterates] {
                  Answer answer;
                  for (const Tensor &result : results)
                    append(answer, result);
                  if (iterates) // until a change is small
                    answer.precision = 1e-6;
                  return answer;
                }};
}

} // namespace tulle::bench
