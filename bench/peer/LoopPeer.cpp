// The hand-written loops as competitors: the baseline.
#include "Peer.h"
#include "Products.h"

namespace tulle::bench {

using runtime::Tensor;

static const double *values(const Tensor &tensor) { return static_cast<const double *>(tensor.values()); }

/// The last three buffers of a tensor whose last level is compressed.
static CsrView view(const Tensor &a) {
  const size_t last = a.buffers.size() - 1;
  return {a.dims[0], a.dims[1], indicesOf(a, last - 2).data(), indicesOf(a, last - 1).data(), values(a)};
}

static std::optional<std::function<void()>> spmv(const Task &task, const double *x, double *y) {
  const Tensor a = task.a();
  const int64_t rows = a.dims[0], columns = a.dims[1];
  const size_t last = a.buffers.size() - 1;
  if (task.format == "CSR")
    return [=] { spmvCsr(view(a), x, y); };
  if (task.format == "CSC")
    return [=] {
      CsrView v = view(a);
      std::swap(v.rows, v.columns);
      spmvCsc(v, x, y);
    };
  if (task.format == "COO-soa")
    return [=, v = task.input.coo()] { spmvCoo(v, x, y); };
  if (task.format == "DCSR")
    return [=] { spmvDcsr(a.buffers[1].count, indicesOf(a, 1).data(), view(a), x, y); };
  if (task.format == "BCSR(4,4)")
    return [=] { spmvBcsr4(view(a), x, y); };
  if (task.format == "DIA")
    return [=] {
      const auto offsets = indicesOf(a, last - 1);
      spmvDia(rows, columns, int64_t(offsets.size()), offsets.data(), values(a), x, y);
    };
  if (task.format == "ELL")
    return [=] {
      spmvEll(rows, rows ? a.storedCount() / rows : 0, indicesOf(a, last - 1).data(), values(a), x, y);
    };
  if (task.format.starts_with("SELL(8,"))
    return [=] {
      spmvSell8(rows, static_cast<const int64_t *>(a.buffers[0].data), indicesOf(a, last - 2).data(),
                indicesOf(a, last - 1).data(), values(a), x, y);
    };
  return std::nullopt;
}

static Answer describe(const Csr &made) {
  const size_t n = size_t(made.pos[made.rows]);
  Answer answer;
  answer.indices = {{made.pos.get(), size_t(made.rows) + 1}, {made.crd.get(), n}};
  answer.values = {{made.value.get(), n}};
  return answer;
}
static Answer describe(const Dia &made) {
  Answer answer;
  answer.indices = {{made.offset.get(), size_t(made.count)}};
  answer.values = {{made.value.get(), size_t(made.count * made.rows)}};
  return answer;
}
static Answer describe(const Ell &made) {
  const size_t n = size_t(made.rows * made.width);
  Answer answer;
  answer.indices = {{made.crd.get(), n}};
  answer.values = {{made.value.get(), n}};
  return answer;
}
static Answer describe(const Skyline &made) {
  const size_t n = size_t(made.rows);
  Answer answer;
  answer.indices = {{made.pos.get(), n + 1}, {made.first.get(), n}};
  answer.values = {{made.value.get(), size_t(made.pos[made.rows])}};
  return answer;
}
static Answer describe(const Bcsr &made) {
  const size_t n = size_t(made.pos[made.blockRows]);
  Answer answer;
  answer.indices = {{made.pos.get(), size_t(made.blockRows) + 1}, {made.crd.get(), n}};
  answer.values = {{made.value.get(), n * 16}};
  return answer;
}

template <typename Make> static Runner building(Make make) {
  return making(make, [](const auto &made) { return describe(made); });
}

static std::optional<Runner> conversion(const Task &task) {
  Input &input = task.input;
  const CsrView a = input.a().view();
  if (task.format == "COO-soa" && task.target == "CSR")
    return building([coo = input.coo()] { return sortedCooToCsr(coo); });
  if (task.format == "COO shuffled" && task.target == "CSR")
    return building([coo = input.shuffled()] { return cooToCsr(coo); });
  if (task.format == "CSR" && task.target == "CSC")
    return building([a] { return csrToCsc(a); });
  if (task.format == "CSR" && task.target == "DIA")
    return building([a] { return csrToDia(a); });
  if (task.format == "CSC" && task.target == "DIA")
    return building([c = input.csc().view()] { return cscToDia(c); });
  if (task.format == "COO-soa" && task.target == "DIA")
    return building([coo = input.coo()] { return cooToDia(coo); });
  if (task.format == "CSR" && task.target == "ELL")
    return building([a] { return csrToEll(a); });
  if (task.format == "CSC" && task.target == "ELL")
    return building([c = input.csc().view()] { return cscToEll(c); });
  if (task.format == "COO-soa" && task.target == "ELL")
    return building([coo = input.coo()] { return cooToEll(coo); });
  if (task.format == "CSR" && task.target == "skyline")
    return building([a] { return csrToSkyline(a); });
  if (task.format == "CSR" && task.target == "BCSR(4,4)")
    return building([a] { return csrToBcsr4(a); });
  return std::nullopt;
}

static CsfView csf(const Tensor &a) {
  CsfView view{a.dims, {}, {}, values(a)};
  for (size_t l = 0; l < a.dims.size(); ++l) {
    view.pos.push_back(indicesOf(a, 2 * l).data());
    view.crd.push_back(indicesOf(a, 2 * l + 1).data());
  }
  return view;
}

static Runner tensorProduct(const Task &task) {
  Input &input = task.input;
  const Tensor a = input.stored("CSF");
  const int64_t n = task.n, fibers = a.buffers[3].count;
  if (task.op == Op::MTTKRP) {
    const std::vector<Tensor> dense = task.factors();
    const auto c = input.result(a.dims[0] * n);
    return into(c, [=] {
      std::vector<const double *> factors;
      for (const Tensor &factor : dense)
        factors.push_back(values(factor));
      mttkrp(csf(a), factors, n, c.data());
    });
  }
  if (task.op == Op::TTV) {
    const Tensor x = input.dense("x", {a.dims[2]});
    const auto c = input.result(fibers);
    return into(c, [=] { ttv(csf(a), values(x), c.data()); });
  }
  const Tensor x = input.dense("X", {a.dims[2], n});
  const auto c = input.result(fibers * n);
  return into(c, [=] { ttm(csf(a), values(x), n, c.data()); });
}

static Runner sparseDot(const Task &task) {
  const Tensor a = task.input.stored(kSparseVector), b = task.input.storedB();
  auto vector = [](const Tensor &v) {
    return SparseVector{v.storedCount(), indicesOf(v, 1).data(), values(v)};
  };
  const auto s = task.input.result(1);
  return into(s, [=] { s[0] = dot(vector(a), vector(b)); });
}

static Runner structured(const Task &task) {
  const Tensor a = task.a(), x = task.input.dense("X", {task.input.columns(), task.n});
  const auto c = task.input.result(a.dims[0] * task.n);
  const auto *crd = static_cast<const uint8_t *>(a.buffers[a.buffers.size() - 2].data);
  return into(
      c, [=, n = task.n] { structuredMM(a.dims[0], a.dims[1], crd, values(a), values(x), n, c.data()); });
}

std::optional<Runner> loopPeer(const Task &task) {
  Input &input = task.input;
  auto dense = [&](const char *name, std::vector<int64_t> shape) { return input.dense(name, shape); };
  switch (task.op) {
  case Op::SpMV: {
    const Tensor x = dense("x", {input.columns()});
    const auto y = input.result(input.rows());
    if (auto run = spmv(task, values(x), y.data()))
      return into(y, [x, run = *run] { run(); });
    return std::nullopt;
  }
  case Op::SpMM: {
    const Tensor x = dense("X", {input.columns(), task.n});
    const auto c = input.result(input.rows() * task.n);
    return into(c, [=, a = input.a().view(), n = task.n] { spmm(a, values(x), n, c.data()); });
  }
  case Op::SDDMM: {
    const Tensor d = dense("D", {input.rows(), task.n}), e = dense("E", {input.columns(), task.n});
    const auto c = input.result(input.count());
    return into(c, [=, a = input.a().view(), n = task.n] { sddmm(a, values(d), values(e), n, c.data()); });
  }
  case Op::Add:
    return building([a = input.a().view(), b = input.b().view()] { return add(a, b); });
  case Op::Multiply:
    return building([a = input.a().view()] { return multiply(a, a); });
  case Op::MultiplyAll:
    return building([a = input.a().view()] { return multiply(multiply(a, a).view(), a); });
  case Op::Masked:
    return building([a = input.a().view()] { return multiplyMasked(a, a, a); });
  case Op::MTTKRP:
  case Op::TTV:
  case Op::TTM:
    return tensorProduct(task);
  case Op::Dot:
    return sparseDot(task);
  case Op::StructuredMM:
    return structured(task);
  case Op::Convert:
    return conversion(task);
  case Op::Compile:
    return std::nullopt;
  case Op::Gather:
  case Op::Scatter:
  case Op::Messages:
  case Op::Convolution:
  case Op::HStack:
  case Op::VStack:
  case Op::BlockDiagonal:
  case Op::RowSums:
  case Op::RowMaxima:
  case Op::RowSquares:
  case Op::Collapsed:
    return indirectLoops(task);
  default:
    return programLoops(task);
  }
}

} // namespace tulle::bench
