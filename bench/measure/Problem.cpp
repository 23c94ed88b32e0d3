#include "Problem.h"
#include "runtime/generate/Generate.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

namespace tulle::bench {

using runtime::Buffer;
using runtime::Tensor;

static Csr shifted(const Csr &a) {
  const int64_t count = a.pos[a.rows];
  std::vector<int32_t> row(static_cast<size_t>(count)), column(row.size());
  std::vector<double> value(row.size());
  for (int64_t i = 0; i < a.rows; ++i)
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k) {
      row[size_t(k)] = int32_t(i);
      column[size_t(k)] = int32_t((a.crd[k] + 1) % a.columns);
      value[size_t(k)] = 1.0 + k % 7;
    }
  return cooToCsr({a.rows, a.columns, count, row.data(), column.data(), value.data()});
}

Problem::Problem(const std::string &spec) {
  const runtime::Entries entries = runtime::generate(spec, {}, ElementType::F64).entries;
  std::vector<int32_t> i(entries.coords[0].begin(), entries.coords[0].end()),
      j(entries.coords[1].begin(), entries.coords[1].end());
  a = cooToCsr({entries.dims[0], entries.dims[1], entries.count(), i.data(), j.data(),
                reinterpret_cast<const double *>(entries.values.data())});
  b = shifted(a);
  csc = csrToCsc(a.view());
  row.resize(size_t(count()));
  for (int64_t r = 0; r < a.rows; ++r)
    std::fill(row.begin() + a.pos[r], row.begin() + a.pos[r + 1], int32_t(r));
  cooPos = {0, int32_t(count())};
  std::vector<int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (int32_t k : order) {
    shuffledRow.push_back(row[size_t(k)]);
    shuffledColumn.push_back(a.crd[k]);
    shuffledValue.push_back(a.value[k]);
  }
}

template <typename T> static Buffer borrowed(const T *data, int64_t count) {
  return Buffer::borrow(const_cast<T *>(data), count, count * int64_t(sizeof(T)));
}

static Tensor tensor(const std::string &format, std::vector<int64_t> dims, std::vector<Buffer> buffers) {
  Tensor made;
  made.encoding = format::resolveWidths(format::parseFormat(format, 2), 1, 1);
  made.layout = format::layout(made.encoding);
  made.dims = std::move(dims);
  made.buffers = std::move(buffers);
  return made;
}

Tensor Problem::csrTensor(const Csr &m) const {
  const int64_t n = m.pos[m.rows];
  return tensor("CSR", {m.rows, m.columns},
                {borrowed(m.pos.get(), m.rows + 1), borrowed(m.crd.get(), n), borrowed(m.value.get(), n)});
}
Tensor Problem::cscTensor() const {
  return tensor("CSC", {a.rows, a.columns},
                {borrowed(csc.pos.get(), csc.rows + 1), borrowed(csc.crd.get(), count()),
                 borrowed(csc.value.get(), count())});
}
Tensor Problem::cooTensor() const {
  return tensor("COO-soa", {a.rows, a.columns},
                {borrowed(cooPos.data(), 2), borrowed(row.data(), count()), borrowed(a.crd.get(), count()),
                 borrowed(a.value.get(), count())});
}
Tensor Problem::shuffledTensor() const {
  return tensor(
      "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered, soa))",
      {a.rows, a.columns},
      {borrowed(cooPos.data(), 2), borrowed(shuffledRow.data(), count()),
       borrowed(shuffledColumn.data(), count()), borrowed(shuffledValue.data(), count())});
}

double Problem::diaPadding() const {
  std::set<int32_t> diagonals;
  for (int64_t i = 0; i < a.rows && diagonals.size() < 1000; ++i)
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k)
      diagonals.insert(a.crd[k] - int32_t(i));
  return double(diagonals.size()) * double(a.rows) / double(std::max<int64_t>(count(), 1));
}
double Problem::ellPadding() const {
  int32_t width = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    width = std::max(width, a.pos[i + 1] - a.pos[i]);
  return double(width) * double(a.rows) / double(std::max<int64_t>(count(), 1));
}

static const Buffer &buffer(const Tensor &tensor, unsigned field, int64_t count) {
  if (field >= tensor.buffers.size() || tensor.buffers[field].count != count)
    throw std::runtime_error("buffer " + std::to_string(field) + " has the wrong size");
  return tensor.buffers[field];
}

void requireEqual(const Tensor &tensor, unsigned field, const int32_t *elements, int64_t count) {
  if (std::memcmp(buffer(tensor, field, count).data, elements, size_t(count) * sizeof *elements) != 0)
    throw std::runtime_error("buffer " + std::to_string(field) + " differs from the loop's");
}

void requireEqual(const Tensor &tensor, unsigned field, const double *elements, int64_t count) {
  const auto *ours = static_cast<const double *>(buffer(tensor, field, count).data);
  for (int64_t k = 0; k < count; ++k)
    if (!(std::abs(ours[k] - elements[k]) <= 1e-12 * std::abs(elements[k]) + 1e-300))
      throw std::runtime_error("value " + std::to_string(k) + " differs from the loop's");
}

} // namespace tulle::bench
