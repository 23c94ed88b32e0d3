// What an operation reads, and the least that this takes.
#include "Kernel.h"
#include "peer/Indirect.h"
#include "peer/Solvers.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tulle::bench {

using runtime::Tensor;

static Tensor dense(const std::vector<double> &values, std::vector<int64_t> dims) {
  const Tensor made = runtime::makeDense(ElementType::F64, std::move(dims), false);
  std::copy(values.begin(), values.end(), static_cast<double *>(made.values()));
  return made;
}

/// 1 where searches begin, 0 elsewhere.
static Tensor source(const Task &task) {
  const Tensor made = runtime::makeDense(ElementType::F64, {task.input.rows()}, true);
  static_cast<double *>(made.values())[sourceOf(task.input.a().view())] = 1;
  return made;
}

static Tensor absolute(const Tensor &a) {
  const Tensor made = runtime::copyOf(a);
  auto *values = static_cast<double *>(made.values());
  std::transform(values, values + made.storedCount(), values, [](double x) { return std::abs(x); });
  return made;
}

static std::pair<std::string, Tensor> named(const Task &task, const std::string &name, int64_t rows) {
  return {task.n ? std::string(1, char(std::toupper(name[0]))) : name, task.features(name, rows)};
}

std::map<std::string, Tensor> operands(const Task &task) {
  const std::vector<int64_t> &dims = task.input.dims;
  const int64_t n = task.n, last = dims.back();
  switch (task.op) {
  case Op::SpMV:
  case Op::TTV:
    return {{"A", task.a()}, {"x", task.dense("x", {last})}};
  case Op::SpMM:
  case Op::StructuredMM:
  case Op::TTM:
  case Op::BlockSpMM:
    return {{"A", task.a()}, {"X", task.dense("X", {last, n})}};
  case Op::SDDMM:
  case Op::BlockSDDMM:
    return {{"A", task.a()}, {"D", task.dense("D", {dims[0], n})}, {"E", task.dense("E", {dims[1], n})}};
  case Op::MTTKRP: {
    std::map<std::string, Tensor> named{{"A", task.a()}};
    char name = 'D';
    for (const Tensor &factor : task.factors())
      named[std::string(1, name++)] = factor;
    return named;
  }
  case Op::Add:
    return {{"A", task.a()}, {"B", task.input.storedB()}};
  case Op::Dot:
    return {{"a", task.a()}, {"b", task.input.storedB(task.format)}};
  case Op::Multiply:
  case Op::MultiplyAll:
  case Op::Masked:
    return {{"A", task.a()}, {"B", task.a()}};
  case Op::Attention:
  case Op::FusedMM:
    return {{"A", task.a()},
            {"Q", task.dense("Q", {dims[0], n})},
            {"K", task.dense("K", {last, n})},
            {"V", task.dense("V", {last, n})}};
  case Op::Gcn:
  case Op::GraphSage:
    return {{"A", task.a()},
            {"X", task.dense("X", {last, n})},
            {"W", task.dense("W", {n, n})},
            {"V", task.dense("V", {n, n})}};
  case Op::CgStep:
    return {{"A", task.a()},
            {"p", task.dense("p", {last})},
            {"x", task.dense("x", {last})},
            {"r", task.dense("r", {last})},
            {"rr", task.dense("rr", {})}};
  case Op::PageRankStep:
    return {{"A", task.a()},
            {"x", task.dense("x", {last})},
            {"n", task.dense("n", {last})},
            {"c", task.dense("c", {})}};
  case Op::Rgms:
    return {{"A", task.a()}, {"X", task.dense("X", {last, n})}, {"W", task.dense("W", {dims[0], n, n})}};
  case Op::RaggedProduct:
    return {{"A", task.a()}, {"B", task.input.storedB(task.format, task.type)}};
  case Op::Gather:
    return {{"s", coordinates(task, 1)}, named(task, "x", last)};
  case Op::Scatter:
    return {{"s", coordinates(task, 1)}, named(task, "y", task.a().storedCount())};
  case Op::Messages: {
    const Tensor a = task.a();
    const Tensor weights =
        runtime::borrowDense(task.type, {a.storedCount()}, a.values(), a.buffers.back().owner);
    return {{"s", coordinates(task, 1)}, {"d", coordinates(task, 0)}, {"w", weights}, named(task, "x", last)};
  }
  case Op::Convolution:
    return {{"t", table(task)}, named(task, "x", pixelsOf(task)), {"W", task.dense("W", {last, n, n})}};
  case Op::HStack:
  case Op::VStack:
  case Op::BlockDiagonal:
    return {{"A", task.a()}, {"B", task.input.storedB(task.format, task.type)}};
  case Op::Collapsed:
    return {{"A", task.a()}, named(task, "b", last), {"x", task.dense("x", {dims[0] * n})}};
  case Op::ConjugateGradients:
    return {{"A", task.a()}, {"b", task.dense("b", {last})}};
  case Op::PageRank:
    return {{"A", task.a()},
            {"n", dense(leaving(task.input.a().view()), {last})},
            {"c", dense({0.15 / double(last)}, {})}};
  case Op::BreadthFirstSearch:
    return {{"A", task.a()}, {"s", source(task)}};
  case Op::ShortestPaths:
    return {{"W", absolute(task.a())}, {"s", source(task)}};
  case Op::Components: {
    const Tensor numbers = runtime::makeDense(ElementType::F64, {last}, false);
    std::iota(static_cast<double *>(numbers.values()), static_cast<double *>(numbers.values()) + last, 0.0);
    return {{"A", task.a()}, {"v", numbers}};
  }
  case Op::Softmax:
  case Op::Convert:
  case Op::Compile:
  case Op::RowSums:
  case Op::RowMaxima:
  case Op::RowSquares:
    return {{"A", task.a()}};
  }
  return {};
}

std::map<std::string, std::vector<int64_t>> resultSizes(const Task &task) {
  if (task.op == Op::Scatter && task.n == 0)
    return {{"z", {task.input.columns()}}};
  if (task.op == Op::Scatter)
    return {{"Z", {task.input.columns(), task.n}}};
  if (task.op == Op::Messages)
    return {{"Z", {task.input.rows(), task.n}}};
  return {};
}

static double products(const CsrView &a) {
  double count = 0;
  for (int64_t k = 0; k < a.pos[a.rows]; ++k)
    count += a.pos[a.crd[k] + 1] - a.pos[a.crd[k]];
  return count;
}

/// Of programs: all operands are read once. What exp, quotients and vectors take is not counted.
static void setProgramWork(Row &row, const Task &task, int64_t made) {
  row.bytes = double(made);
  for (const auto &[name, tensor] : operands(task))
    row.bytes += double(tensor.bytes());
  const double count = double(task.a().storedCount()), n = double(task.n), rows = double(task.input.dims[0]);
  switch (task.op) {
  case Op::Attention:
  case Op::FusedMM:
    row.flops = 4 * count * n;
    break;
  case Op::Gcn:
    row.flops = 4 * count * n + 4 * rows * n * n;
    break;
  case Op::GraphSage:
    row.flops = 2 * count * n + 4 * rows * n * n;
    break;
  case Op::CgStep:
  case Op::PageRankStep:
    row.flops = 2 * count;
    break;
  case Op::Rgms:
    row.flops = 2 * count * n;
    break;
  case Op::BlockSpMM:
  case Op::BlockSDDMM:
  case Op::Collapsed:
    row.flops = 2 * count * n;
    break;
  case Op::RowSums:
  case Op::RowMaxima:
    row.flops = count;
    break;
  case Op::RowSquares:
    row.flops = 2 * count;
    break;
  case Op::Scatter:
    row.flops = count * std::max(n, 1.0);
    break;
  case Op::Messages:
    row.flops = 2 * count * n;
    break;
  case Op::Convolution:
    row.flops = 2 * count * n * n;
    break;
  default:
    break;
  }
}

void setWork(Row &row, const Task &task, int64_t made) {
  if (task.op >= Op::Softmax) {
    setProgramWork(row, task, made);
    if (task.type == ElementType::F32) // the peak is one of double precision: vectors hold twice as many
      row.flops /= 2;
    return;
  }
  Input &input = task.input;
  const std::vector<int64_t> &dims = input.dims;
  const double count = double(input.count()), n = double(std::max<int64_t>(task.n, 1));
  const Tensor a = task.a();
  row.bytes = double(a.bytes()) + double(made);
  switch (task.op) {
  case Op::SpMV:
  case Op::SpMM:
  case Op::StructuredMM:
  case Op::TTV:
  case Op::TTM:
    row.bytes += 8 * double(dims.back()) * n;
    row.flops = 2 * count * n;
    break;
  case Op::SDDMM:
    // The pattern of A is read, its values are not; the result's values are written.
    row.bytes = double(a.bytes()) + 8 * double(dims[0] + dims[1]) * n;
    row.flops = 2 * count * n;
    break;
  case Op::MTTKRP:
    for (size_t d = 1; d < dims.size(); ++d)
      row.bytes += 8 * double(dims[d]) * n;
    row.flops = double(dims.size()) * count * n;
    if (task.format.starts_with("CSF")) { // products with a factor are shared by the entries of a fiber
      row.flops = 2 * count * n;
      for (size_t l = 1; l + 1 < dims.size(); ++l)
        row.flops += 2 * double(a.buffers[2 * l + 1].count) * n;
    }
    break;
  case Op::Add:
    row.bytes += double(input.storedB().bytes());
    row.flops = count;
    break;
  case Op::Dot:
    // A search need not read all of the longer one.
    row.bytes = 2 * double(std::min(a.bytes(), input.storedB(task.format).bytes()));
    break;
  case Op::Multiply:
    row.flops = 2 * products(input.a().view());
    break;
  case Op::Compile:
    row.bytes = 0;
    break;
  default:
    break;
  }
}

} // namespace tulle::bench
