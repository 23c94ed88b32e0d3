#include "Input.h"
#include "Measure.h"
#include "engine/Conversion.h"
#include "peer/SciPy.h"
#include "tulle/error.h"
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

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

Input::Input(const std::string &spec, Second second) : name(spec), kind(second) {
  std::tie(entries, entriesB) = loadInput(spec);
  dims = entries.dims;
  for (int64_t size : dims)
    if (size >= INT32_MAX || entries.count() >= INT32_MAX / 2)
      throw Error("bench: " + spec + " needs indices of more than 32 bits; choose a smaller input");
  if (const size_t slash = name.rfind('/'); slash != std::string::npos)
    name = name.substr(slash + 1);
  if (order() != 2)
    return;
  std::vector<int32_t> i(entries.coords[0].begin(), entries.coords[0].end()),
      j(entries.coords[1].begin(), entries.coords[1].end());
  matrix = cooToCsr({dims[0], dims[1], entries.count(), i.data(), j.data(),
                     reinterpret_cast<const double *>(entries.values.data())});
  entries = {};
}

Input::~Input() = default;

int64_t Input::count() const { return order() == 2 ? matrix.pos[matrix.rows] : entries.count(); }

const Csr &Input::b() {
  if (!second.pos)
    second = kind == Second::Shifted ? shifted(matrix) : csrToCsc(matrix.view());
  return second;
}

const Csr &Input::csc() {
  if (!byColumns.pos)
    byColumns = csrToCsc(matrix.view());
  return byColumns;
}

CooView Input::coo() {
  if (row.empty()) {
    row.resize(size_t(count()));
    for (int64_t r = 0; r < matrix.rows; ++r)
      std::fill(row.begin() + matrix.pos[r], row.begin() + matrix.pos[r + 1], int32_t(r));
    cooPos = {0, int32_t(count())};
  }
  return {rows(), columns(), count(), row.data(), matrix.crd.get(), matrix.value.get()};
}

CooView Input::shuffled() {
  if (shuffledRow.empty()) {
    coo();
    std::vector<int32_t> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    for (int32_t k : order) {
      shuffledRow.push_back(row[size_t(k)]);
      shuffledColumn.push_back(matrix.crd[k]);
      shuffledValue.push_back(matrix.value[k]);
    }
  }
  return {rows(), columns(), count(), shuffledRow.data(), shuffledColumn.data(), shuffledValue.data()};
}

template <typename T> static Buffer borrowed(const T *data, int64_t count) {
  return Buffer::borrow(const_cast<T *>(data), count, count * int64_t(sizeof(T)));
}

static Tensor tensor(const std::string &format, std::vector<int64_t> dims, std::vector<Buffer> buffers) {
  Tensor made;
  made.encoding = format::resolveWidths(format::parseFormat(format, unsigned(dims.size())), 1, 1);
  made.dims = std::move(dims);
  made.buffers = std::move(buffers);
  return made;
}

Tensor csrTensor(const Csr &m) {
  const int64_t n = m.pos[m.rows];
  return tensor("CSR", {m.rows, m.columns},
                {borrowed(m.pos.get(), m.rows + 1), borrowed(m.crd.get(), n), borrowed(m.value.get(), n)});
}

static Tensor cooTensor(const std::string &format, const CooView &a, const std::vector<int32_t> &pos) {
  return tensor(format, {a.rows, a.columns},
                {borrowed(pos.data(), 2), borrowed(a.row, a.count), borrowed(a.column, a.count),
                 borrowed(a.value, a.count)});
}

Tensor Input::make(const std::string &format) {
  if (order() != 2)
    return engine::store(entries, format::parseFormat(format, unsigned(order())));
  if (format == "CSR")
    return csrTensor(matrix);
  if (format == "CSC") {
    const Csr &c = csc();
    return tensor("CSC", dims,
                  {borrowed(c.pos.get(), c.rows + 1), borrowed(c.crd.get(), count()),
                   borrowed(c.value.get(), count())});
  }
  if (format == "COO-soa")
    return cooTensor(format, coo(), cooPos);
  if (format == "COO shuffled")
    return cooTensor(
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered, soa))",
        shuffled(), cooPos);
  return engine::convert(csrTensor(matrix), format::parseFormat(format, 2));
}

Tensor Input::makeB(const std::string &format) {
  return order() == 2 ? csrTensor(b())
                      : engine::store(entriesB, format::parseFormat(format, unsigned(order())));
}

/// The tensor with its values rounded to single precision.
static Tensor inSinglePrecision(Tensor tensor) {
  const std::span<const double> values = valuesOf(tensor);
  Buffer rounded = Buffer::allocate(tensor.storedCount(), tensor.storedCount() * 4, false, "an operand");
  std::copy(values.begin(), values.end(), static_cast<float *>(rounded.data));
  tensor.buffers.back() = rounded;
  tensor.type = ElementType::F32;
  return tensor;
}

Tensor Input::stored(const std::string &format, ElementType type) {
  const std::string key = std::string(tulle::name(type)) + " A " + format;
  if (auto found = formats.find(key); found != formats.end())
    return found->second;
  return formats[key] = type == ElementType::F64 ? make(format) : inSinglePrecision(stored(format));
}

Tensor Input::storedB(const std::string &format, ElementType type) {
  const std::string key = std::string(tulle::name(type)) + " B " + format;
  if (auto found = formats.find(key); found != formats.end())
    return found->second;
  return formats[key] = type == ElementType::F64 ? makeB(format) : inSinglePrecision(storedB(format));
}

Tensor Input::dense(const std::string &operand, std::vector<int64_t> shape, ElementType type) {
  std::string key = std::string(tulle::name(type)) + " " + operand;
  for (int64_t size : shape)
    key += "," + std::to_string(size);
  if (auto found = operands.find(key); found != operands.end())
    return found->second;
  if (type == ElementType::F32)
    return operands[key] = inSinglePrecision(dense(operand, shape));
  Tensor made = runtime::makeDense(ElementType::F64, shape, false);
  const uint64_t seed = std::accumulate(operand.begin(), operand.end(), uint64_t(0));
  auto *values = static_cast<double *>(made.values());
  for (int64_t k = 0; k < made.storedCount(); ++k)
    values[k] = double(uint32_t((uint64_t(k) + seed) * 2654435761u)) / 4294967296.0;
  return operands[key] = made;
}

std::span<double> Input::result(int64_t count) {
  if (resultBuffer.count < count)
    resultBuffer = Buffer::allocate(count, count * 8, false, "the peers' result");
  return {static_cast<double *>(resultBuffer.data), size_t(count)};
}

void Input::dropDense() {
  operands.clear();
  resultBuffer = {};
}

double Input::diaPadding() const {
  std::set<int32_t> diagonals;
  for (int64_t i = 0; i < matrix.rows && diagonals.size() < 1000; ++i)
    for (int32_t k = matrix.pos[i]; k < matrix.pos[i + 1]; ++k)
      diagonals.insert(matrix.crd[k] - int32_t(i));
  return double(diagonals.size()) * double(rows()) / double(std::max<int64_t>(count(), 1));
}

double Input::ellPadding() const {
  int32_t width = 0;
  for (int64_t i = 0; i < matrix.rows; ++i)
    width = std::max(width, matrix.pos[i + 1] - matrix.pos[i]);
  return double(width) * double(rows()) / double(std::max<int64_t>(count(), 1));
}

double Input::blockPadding(int64_t size) const {
  std::vector<int64_t> seen(size_t((columns() + size - 1) / size), -1);
  int64_t blocks = 0;
  for (int64_t i = 0; i < rows(); ++i)
    for (int32_t k = matrix.pos[i]; k < matrix.pos[i + 1]; ++k)
      if (int64_t &last = seen[size_t(matrix.crd[k] / size)]; last != i / size) {
        last = i / size;
        ++blocks;
      }
  return double(blocks * size * size) / double(std::max<int64_t>(count(), 1));
}

SciPy &Input::scipy() {
  if (!child)
    child = std::make_unique<SciPy>(TULLE_SCIPY_PEER, matrix.view(), b().view(), clockName());
  return *child;
}

std::span<const int32_t> indicesOf(const Tensor &tensor, size_t field) {
  const Buffer &buffer = tensor.buffers.at(field);
  return {static_cast<const int32_t *>(buffer.data), size_t(buffer.count)};
}

std::span<const double> valuesOf(const Tensor &tensor) {
  return {static_cast<const double *>(tensor.values()), size_t(tensor.storedCount())};
}

} // namespace tulle::bench
