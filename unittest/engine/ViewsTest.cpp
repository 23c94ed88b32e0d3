// Kernels over rows that lie in allocations of their own, between memory that nobody may touch: each answers
// as over the same rows in one piece.
#include "runtime/tensor/Views.h"
#include "Programs.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
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
    ASSERT_TRUE(view.picksRows);
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

INSTANTIATE_TEST_SUITE_P(Types, ViewTypes,
                         testing::Values(ElementType::F64, ElementType::F32, ElementType::I8),
                         [](const auto &info) { return std::string(name(info.param)); });

} // namespace
} // namespace tulle::engine
