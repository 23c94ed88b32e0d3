// Kernels over rows that lie in allocations of their own, between memory that nobody may touch: each answers
// as over the same rows in one piece.
#include "runtime/tensor/Views.h"
#include "Programs.h"
#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace tulle::engine {
namespace {

using runtime::Tensor;

/// A dense tensor of small integers, none of them 0, in memory of its own.
Tensor numbers(ElementType type, std::vector<int64_t> dims, std::mt19937 &random) {
  const Tensor made = runtime::makeDense(type, std::move(dims));
  for (int64_t k = 0; k < made.storedCount(); ++k) {
    const Scalar value = convertScalar({.i = int64_t(random() % 5) + 1}, ElementType::I64, type);
    storeScalar(type, made.value(k), value);
  }
  return made;
}

struct Case {
  const char *text, *result, *format;
};
const std::vector<Case> cases = {
    {"y(i) = A(i,j) * x(j)", "y", "dense"},      {"s = A(i,j) * A(i,j)", "s", "dense"},
    {"m(i) max= A(i,j)", "m", "dense"},          {"t(j) = A(i,j)", "t", "dense"},
    {"B(i,j) = 2 * A(i,j)", "B", "jagged"},      {"C(i,j) = A(i,j) + D(i,j)", "C", "dense"},
    {"C(i,j) = A(i,j) * E(i,j)", "C", "CSR"},    {"C(i,j) = A(i,j) + E(i,j)", "C", "CSR"},
    {"P(i,k) = A(i,j) * W(j,k)", "P", "dense"},  {"y(i) = A(p(i),j) * x(j)", "y", "dense"},
    {"B(i,j) = A(p(i),j)", "B", "ragged"},       {"A(i,j) += D(i,j) where A", "A", "jagged"},
    {"C(i,j) = concat(A, A; 0)", "C", "jagged"}, {"z(j,i) = A(i,j)", "z", "CSR"}};

class ViewTypes : public testing::TestWithParam<ElementType> {};

TEST_P(ViewTypes, jaggedRowsAreReadWhereTheyLie) {
  const ElementType type = GetParam();
  std::mt19937 random(7);
  for (int longest : {3, 40, 700}) {
    constexpr int64_t rows = 60;
    std::vector<Tensor> parts;
    for (int64_t r = 0; r < rows; ++r)
      parts.push_back(numbers(type, {r == 0 ? longest : int64_t(random() % unsigned(longest + 1))}, random));
    const Tensor view = runtime::stacked(parts).value();
    ASSERT_TRUE(view.pickedSlots);
    Tensors in{{"x", numbers(type, {longest}, random)},
               {"D", numbers(type, {rows, longest}, random)},
               {"W", numbers(type, {longest, 24}, random)},
               {"p", runtime::makeDense(ElementType::I32, {rows})}};
    in["E"] = convert(convert(view, format::parseFormat("COO", 2)), format::parseFormat("CSR", 2));
    for (int32_t k = 0; k < rows; ++k)
      static_cast<int32_t *>(in["p"].values())[k] = int32_t(random() % rows);
    for (const Case &c : cases)
      for (unsigned threads : {1u, 2u}) {
        const Options options{.threads = threads, .workPerThread = 1, .diskCache = false};
        SCOPED_TRACE(fmt::format("{} with {} threads, rows up to {}", c.text, threads, longest));
        auto over = [&](const Tensor &A) {
          Tensors used;
          for (const notation::TensorUse &use : notation::tensorsUsed(c.text))
            if (use.name == "A")
              used["A"] = A;
            else if (auto given = in.find(use.name); given != in.end())
              used[use.name] = given->second;
          const Tensor made = evaluate(c.text, c.result, used, {{c.result, c.format}}, options);
          return runtime::toDense(convert(made, format::denseEncoding(unsigned(made.dims.size()))));
        };
        const Tensor have = over(view), want = over(compact(view));
        ASSERT_EQ(have.dims, want.dims);
        ASSERT_EQ(std::memcmp(have.values(), want.values(), size_t(want.buffers.back().bytes)), 0);
      }
  }
}

//===--- Views of views ---===//

/// What a tensor is: its elements in row-major order.
struct Model {
  std::vector<int64_t> dims;
  std::vector<double> elements;

  /// The model whose element at `at` is this one's at `from(at)`.
  Model at(std::vector<int64_t> sizes,
           const std::function<std::vector<int64_t>(const std::vector<int64_t> &)> &from) const {
    Model made{std::move(sizes), {}};
    std::vector<int64_t> point(made.dims.size(), 0);
    int64_t count = 1;
    for (int64_t size : made.dims)
      count *= size;
    for (int64_t k = 0; k < count; ++k) {
      int64_t rest = k, position = 0;
      for (size_t d = point.size(); d-- > 0; rest /= made.dims[d])
        point[d] = rest % made.dims[d];
      const std::vector<int64_t> own = from(point);
      for (size_t d = 0; d < own.size(); ++d)
        position = position * dims[d] + own[d];
      made.elements.push_back(elements[size_t(position)]);
    }
    return made;
  }
};

/// One more view of a tensor, and of its model; nothing where its levels allow none.
class RandomView {
public:
  RandomView(Tensor &tensor, Model &model, std::mt19937 &random)
      : tensor(tensor), model(model), random(random) {}

  void change() {
    switch (below(6)) {
    case 0:
      return permute();
    case 1:
      return mirror();
    case 2:
      return reshape();
    case 3:
      return gather();
    case 4:
      return cut();
    default:
      return twice();
    }
  }

private:
  using Point = std::vector<int64_t>;

  Tensor &tensor;
  Model &model;
  std::mt19937 &random;

  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  size_t order() const { return model.dims.size(); }

  void permute() {
    std::vector<unsigned> to(order());
    std::iota(to.begin(), to.end(), 0u);
    std::shuffle(to.begin(), to.end(), random);
    Point dims;
    for (unsigned d : to)
      dims.push_back(model.dims[d]);
    tensor = runtime::permuted(tensor, to);
    model = model.at(dims, [&](const Point &p) {
      Point own(p.size());
      for (size_t d = 0; d < p.size(); ++d)
        own[to[d]] = p[d];
      return own;
    });
  }
  void mirror() {
    const auto d = size_t(below(int64_t(order())));
    std::optional<Tensor> made = runtime::mirrored(tensor, unsigned(d));
    if (!made)
      return;
    tensor = *made;
    const int64_t last = model.dims[d] - 1;
    model = model.at(model.dims, [&](Point p) {
      p[d] = last - p[d];
      return p;
    });
  }
  void reshape() {
    Point dims = model.dims;
    const auto d = size_t(below(int64_t(dims.size())));
    if (d + 1 < dims.size() && below(2)) {
      dims[d] *= dims[d + 1];
      dims.erase(dims.begin() + std::ptrdiff_t(d) + 1);
    } else {
      const int64_t by = below(3) + 1;
      if (dims[d] % by != 0)
        return;
      dims[d] /= by;
      dims.insert(dims.begin() + std::ptrdiff_t(d) + 1, by);
    }
    if (std::optional<Tensor> made = runtime::reshaped(tensor, dims)) {
      tensor = *made;
      model.dims = dims;
    }
  }
  void gather() {
    Point rows;
    for (int64_t r = below(5) + 1; r > 0; --r)
      rows.push_back(below(model.dims[0]));
    std::optional<Tensor> made = runtime::gathered(tensor, rows);
    if (!made)
      return;
    tensor = *made;
    Point dims = model.dims;
    dims[0] = int64_t(rows.size());
    model = model.at(dims, [&](Point p) {
      p[0] = rows[size_t(p[0])];
      return p;
    });
  }
  void cut() {
    const auto d = size_t(below(int64_t(order())));
    const int64_t offset = below(model.dims[d]), stride = below(2) + 1;
    const int64_t size = (model.dims[d] - offset + stride - 1) / stride;
    tensor = runtime::slice(tensor, unsigned(d), offset, size, stride);
    Point dims = model.dims;
    dims[d] = size;
    model = model.at(dims, [&](Point p) {
      p[d] = offset + stride * p[d];
      return p;
    });
  }
  void twice() {
    std::optional<Tensor> made = runtime::concatenated({tensor, tensor});
    if (!made)
      return;
    tensor = *made;
    const int64_t rows = model.dims[0];
    Point dims = model.dims;
    dims[0] = 2 * rows;
    model = model.at(dims, [&](Point p) {
      p[0] %= rows;
      return p;
    });
  }
};

TEST(Views, OfViewsShowWhatTheySay) {
  const std::vector<std::string> formats = {
      "dense",
      "CSR",
      "ragged",
      "jagged",
      "COO",
      "DCSR",
      "CSC",
      "BCSR(2,3)",
      "(i,j) -> (i : dense, j : loose_compressed[2])",
      "bitmap",
      "DIA",
      "denseColMajor",
      "(i,j) -> (i : dense, j floordiv 2 : compressed, j mod 2 : dense)"};
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Model model{{int64_t(random() % 6) + 1, int64_t(random() % 8) + 1}, {}};
    for (int64_t k = 0; k < model.dims[0] * model.dims[1]; ++k)
      model.elements.push_back(random() % 2 ? double(random() % 9 + 1) : 0);
    const std::string &format = formats[random() % formats.size()];
    Tensor tensor = doubles(model.dims, model.elements, format);
    const void *values = tensor.values();
    for (int step = 0; step < 5; ++step) {
      RandomView(tensor, model, random).change();
      SCOPED_TRACE(
          fmt::format("seed {}, {} step {}: {}", seed, format, step, format::print(tensor.encoding)));
      ASSERT_EQ(tensor.dims, model.dims);
      ASSERT_EQ(elements(tensor), model.elements);
      ASSERT_EQ(elements(runtime::canonical(tensor)), model.elements);
      ASSERT_EQ(tensor.values(), values); // nothing was moved
    }
    // Generated code reads them as well.
    if (seed % 10 == 0) {
      const Tensor dense = convert(tensor, format::denseEncoding(unsigned(tensor.dims.size())));
      ASSERT_EQ(elements(dense), model.elements) << format::print(tensor.encoding);
      const Tensor simple = runtime::canonical(tensor);
      ASSERT_EQ(elements(convert(simple, format::denseEncoding(unsigned(simple.dims.size())))),
                model.elements);
      const Tensor apart = compact(tensor);
      ASSERT_EQ(elements(apart), model.elements);
      ASSERT_EQ(format::print(apart.encoding), format::print(tensor.encoding));
      ASSERT_FALSE(apart.pickedSlots);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ViewTypes,
                         testing::Values(ElementType::F64, ElementType::F32, ElementType::I8),
                         [](const auto &info) { return std::string(name(info.param)); });

} // namespace
} // namespace tulle::engine
