// Gathers, scatters, joined matrices and rows of any lengths by hand as competitors, and what they read: part
// of the baseline.
#include "Indirect.h"
#include <algorithm>

namespace tulle::bench {

using runtime::Tensor;

Tensor coordinates(const Task &task, unsigned dimension) {
  const Tensor a = task.a(); // positions, then the coordinates of each dimension
  const runtime::Buffer &buffer = a.buffers.at(1 + dimension);
  return runtime::borrowDense(ElementType::I32, {buffer.count}, buffer.data, buffer.owner);
}

Tensor table(const Task &task) {
  const CsrView a = task.input.a().view();
  Tensor made = runtime::makeDense(ElementType::I32, {a.rows, a.columns}, false);
  auto *at = static_cast<int32_t *>(made.values());
  std::fill(at, at + made.storedCount(), -1);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k)
      at[i * a.columns + a.crd[k]] = int32_t(a.value[k]);
  return made;
}

int64_t pixelsOf(const Task &task) {
  const CsrView a = task.input.a().view();
  const double *end = a.value + a.pos[a.rows];
  return a.value == end ? 0 : int64_t(*std::max_element(a.value, end)) + 1;
}

static float *values(const Tensor &tensor) { return static_cast<float *>(tensor.values()); }
static Tensor memory(std::vector<int64_t> dims) {
  return runtime::makeDense(ElementType::F32, std::move(dims), false);
}
static Subscript subscript(const Tensor &integers) {
  return {integers.storedCount(), static_cast<const int32_t *>(integers.values())};
}

/// Of what `run` writes to `out`; `keep` is what it reads.
static Runner writing(const Tensor &out, std::function<void()> run, std::vector<Tensor> keep) {
  return {[run = std::move(run), keep = std::move(keep)] { return timed(run); },
          [out] {
            Answer answer;
            append(answer, out);
            return answer;
          }};
}

static Runner gathering(const Task &task) {
  const Tensor s = coordinates(task, 1), x = task.features("x", task.input.columns()),
               y = memory(task.n ? std::vector{s.dims[0], task.n} : s.dims);
  const auto loop = task.n ? gatherRows : gather;
  return writing(y, [=] { loop(subscript(s), values(x), values(y)); }, {s, x});
}

static Runner scattering(const Task &task) {
  const int64_t size = task.input.columns();
  const Tensor s = coordinates(task, 1), y = task.features("y", s.dims[0]),
               z = memory(task.n ? std::vector{size, task.n} : std::vector{size});
  const auto loop = task.n ? scatterRows : scatter;
  return writing(z, [=] { loop(subscript(s), values(y), size, values(z)); }, {s, y});
}

static Runner sending(const Task &task) {
  const int64_t size = task.input.rows();
  const Tensor a = task.a(), s = coordinates(task, 1), d = coordinates(task, 0),
               x = task.features("x", task.input.columns()), z = memory({size, task.n});
  return writing(z, [=] { sendRows(subscript(s), subscript(d), values(a), values(x), size, values(z)); },
                 {a, s, d, x});
}

static std::optional<Runner> convolving(const Task &task) {
  const auto loop = task.n == 32    ? convolve<32>
                    : task.n == 64  ? convolve<64>
                    : task.n == 128 ? convolve<128>
                                    : nullptr;
  if (!loop)
    return std::nullopt;
  const Tensor t = table(task), image = task.features("x", pixelsOf(task)),
               weights = task.dense("W", {task.input.columns(), task.n, task.n}),
               out = memory({task.input.rows(), task.n});
  const Neighbors neighbors{t.dims[0], t.dims[1], subscript(t).at};
  return writing(out, [=] { loop(neighbors, values(image), values(weights), values(out)); },
                 {t, image, weights});
}

static Runner joining(const Task &task) {
  const Tensor a = task.a(), b = task.input.storedB(task.format, task.type);
  auto rows = [](const Tensor &m) {
    return CsrOf<float>{m.dims[0], m.dims[1], indicesOf(m, 0).data(), indicesOf(m, 1).data(), values(m)};
  };
  const auto right = int32_t(task.op == Op::BlockDiagonal ? a.dims[1] : 0);
  return making(
      [=, op = task.op] {
        return op == Op::HStack ? sideBySide(rows(a), rows(b)) : below(rows(a), rows(b), right);
      },
      [](const Joined &made) {
        const auto count = size_t(made.pos[made.rows]);
        Answer answer;
        answer.indices = {{made.pos.get(), size_t(made.rows) + 1}, {made.crd.get(), count}};
        append(answer, runtime::borrowDense(ElementType::F32, {int64_t(count)}, made.value.get()));
        return answer;
      });
}

static Runner overRows(const Task &task) {
  const Tensor a = task.a(), out = memory({task.op == Op::RowSquares ? a.storedCount() : task.input.rows()});
  const int32_t *pos = task.input.a().view().pos;
  auto run = [=, op = task.op, rows = task.input.rows()] {
    if (op == Op::RowSums)
      sumRows(rows, pos, values(a), values(out));
    else if (op == Op::RowMaxima)
      maximaOfRows(rows, pos, values(a), values(out));
    else
      squareElements(a.storedCount(), values(a), values(out));
  };
  return writing(out, run, {a});
}

static Runner collapsing(const Task &task) {
  const int64_t rows = task.input.rows(), inner = task.input.columns();
  const Tensor a = task.a(), b = task.features("b", inner), x = task.dense("x", {rows * task.n}),
               c = memory({rows, task.n}), v = memory({rows * task.n});
  return writing(v,
                 [=] { collapseProduct(rows, inner, values(a), values(b), values(x), values(c), values(v)); },
                 {a, b, x, c});
}

std::optional<Runner> indirectLoops(const Task &task) {
  switch (task.op) {
  case Op::Gather:
    return gathering(task);
  case Op::Scatter:
    return scattering(task);
  case Op::Messages:
    return sending(task);
  case Op::Convolution:
    return convolving(task);
  case Op::HStack:
  case Op::VStack:
  case Op::BlockDiagonal:
    return joining(task);
  case Op::RowSums:
  case Op::RowMaxima:
  case Op::RowSquares:
    return overRows(task);
  case Op::Collapsed:
    return collapsing(task);
  default:
    return std::nullopt;
  }
}

} // namespace tulle::bench
