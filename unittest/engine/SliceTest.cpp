// Slices as operands and as sources of conversions, against a dense model.
#include "Programs.h"
#include "tulle/error.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using runtime::Tensor;
using testing::HasSubstr;

struct Cut {
  int64_t offset, size, stride;
};
/// The beginning, the end, the inside, strides, one coordinate: of a dimension of size 9.
const std::vector<Cut> cuts = {{0, 9, 1}, {0, 4, 1}, {5, 4, 1}, {2, 5, 1},
                               {0, 5, 2}, {1, 4, 2}, {1, 3, 3}, {8, 1, 7}};

const std::vector<std::string> formats = {"dense",
                                          "denseColMajor",
                                          "CSR",
                                          "CSC",
                                          "COO",
                                          "COO-soa",
                                          "DCSR",
                                          "DCSC",
                                          "BCSR(2,2)",
                                          "BCSR(4,3)",
                                          "DIA",
                                          "ELL",
                                          "ELLR",
                                          "JDS",
                                          "SELL(2,4)",
                                          "DOK",
                                          "bitmap",
                                          "BCOO",
                                          "HiCOO(2)",
                                          "(i,j) -> (i : compressed, j : dense)",
                                          "(i,j) -> (i : batch, j : compressed)",
                                          "(i,j) -> (i : dense, j : compressed(nonordered))"};

/// About a third of n x n, values that differ.
std::vector<double> pattern(size_t count) {
  std::vector<double> values(count);
  for (size_t k = 0; k < count; ++k)
    values[k] = k * 7 % 3 == 1 || k % 11 == 4 ? double(k + 1) : 0;
  return values;
}

const Options quick = {.quick = true}; // what is tested is what is stored

/// 9 x 9 with some of everything.
const std::vector<double> matrix = pattern(81);

Tensor cut(const Tensor &tensor, unsigned dimension, const Cut &c) {
  return runtime::slice(tensor, dimension, c.offset, c.size, c.stride);
}

std::vector<double> modelOf(const Cut &rows, const Cut &columns) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows.size; ++i)
    for (int64_t j = 0; j < columns.size; ++j)
      values.push_back(
          matrix[size_t((rows.offset + rows.stride * i) * 9 + columns.offset + columns.stride * j)]);
  return values;
}

class SliceOf : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Formats, SliceOf, testing::ValuesIn(formats));

TEST_P(SliceOf, convert) {
  Tensor all = doubles({9, 9}, matrix, GetParam());
  for (size_t k = GetParam().size() % 2; k < cuts.size(); k += 2) {
    const Cut rows = cuts[k], columns = cuts[(k * 3 + 1) % cuts.size()];
    Tensor part = cut(cut(all, 0, rows), 1, columns);
    ASSERT_EQ(elements(part), modelOf(rows, columns));
    for (const std::string &to :
         {formats[(k * 5 + 2) % formats.size()], std::string(k / 2 % 2 ? "CSR" : "dense")}) {
      Tensor made = convert(part, format::parseFormat(to, 2), quick);
      EXPECT_EQ(made.dims, part.dims);
      EXPECT_NO_THROW(runtime::validate(made)) << to;
      EXPECT_EQ(elements(made), modelOf(rows, columns)) << to << " of cut " << k;
    }
  }
}

TEST_P(SliceOf, product) {
  Tensor all = doubles({9, 9}, matrix, GetParam());
  for (const auto &[rows, columns] :
       {std::pair(cuts[3], cuts[0]), std::pair(cuts[0], cuts[4]), std::pair(cuts[6], cuts[5])}) {
    Tensor part = cut(cut(all, 0, rows), 1, columns);
    std::vector<double> x(size_t(columns.size)), y(size_t(rows.size));
    for (size_t j = 0; j < x.size(); ++j)
      x[j] = double(j + 1);
    const std::vector<double> model = modelOf(rows, columns);
    for (size_t k = 0; k < model.size(); ++k)
      y[k / x.size()] += model[k] * x[k % x.size()];
    for (unsigned threads : {1u, 2u})
      EXPECT_EQ(
          elements(evaluate("y(i) = A(i,j) * x(j)", "y", {{"A", part}, {"x", doubles({columns.size}, x)}}, {},
                            {.threads = threads, .quick = true})),
          y);
  }
}

/// Rows of dense levels are reached by arithmetic, and neighbours in compressed levels by search: nothing is
/// copied.
TEST(Slices, whatIsNotCopied) {
  auto remarks = [](const Tensor &part) { return compile(check("y(i) = A(i,j)", {{"A", part}}))->remarks(); };
  Tensor all = doubles({9, 9}, matrix, "CSR"), rowsStored = doubles({9, 9}, matrix, "DCSR");
  for (const Tensor &part : {cut(all, 0, {2, 3, 3}), cut(all, 1, {2, 5, 1}), cut(all, 1, {0, 5, 1}),
                             cut(cut(all, 0, {1, 4, 2}), 1, {5, 4, 1}), cut(rowsStored, 0, {3, 2, 1})})
    EXPECT_TRUE(remarks(part).empty()) << format::print(part.encoding);
  for (const Tensor &part : {cut(all, 1, {1, 4, 2}), cut(rowsStored, 0, {0, 5, 2})})
    EXPECT_THAT(remarks(part), testing::Contains(HasSubstr("A is copied before the loops")));
}

/// Numbers of slices are arguments of the code, of statements that are one function, too.
TEST(Slices, oneKernelForAll) {
  Tensor all = doubles({9, 9}, matrix, "CSR");
  auto run = [&](const Cut &rows, const Cut &columns) {
    Tensor part = cut(cut(all, 0, rows), 1, columns),
           x = doubles({columns.size}, pattern(size_t(columns.size)));
    auto kernel =
        compile(check("y(i) = A(i,j) * x(j) * 1.25; z(i) = y(i) - A(i,j)", {{"A", part}, {"x", x}}));
    std::vector<std::optional<Tensor>> tensors(kernel->program().tensors.size());
    for (size_t t = 0; t < tensors.size(); ++t)
      if (const std::string &name = kernel->program().tensors[t].name; kernel->program().tensors[t].input)
        tensors[t] = name == "A" ? part : x;
    kernel->run(tensors);
    const std::vector<double> model = modelOf(rows, columns);
    std::vector<double> z(size_t(rows.size));
    for (size_t k = 0; k < model.size(); ++k)
      z[k / size_t(columns.size)] +=
          model[k] * (pattern(size_t(columns.size))[k % size_t(columns.size)] * 1.25 - 1);
    for (size_t t = 0; t < tensors.size(); ++t)
      if (kernel->program().tensors[t].name == "z")
        EXPECT_EQ(elements(*tensors[t]), z);
    return std::string(kernel->origin());
  };
  run({0, 4, 1}, {5, 4, 1});
  EXPECT_EQ(run({2, 5, 1}, {2, 5, 1}), "memory cache");
  EXPECT_EQ(run({8, 1, 1}, {0, 9, 1}), "memory cache");
  run({0, 5, 2}, {5, 4, 1}); // rows that are apart
  EXPECT_EQ(run({1, 3, 3}, {0, 4, 1}), "memory cache");
  // The copies are made by one conversion.
  run({0, 5, 2}, {1, 4, 2});
  ConversionReport report;
  EXPECT_EQ(elements(convert(cut(cut(all, 0, {1, 3, 3}), 1, {0, 3, 3}), format::parseFormat("CSR", 2), {},
                             &report)),
            modelOf({1, 3, 3}, {0, 3, 3}));
  EXPECT_NE(std::string(report.origin), "compiled");
}

/// Intervals of several operands, and of a whole one beside them, in all ways that two lists meet.
TEST(Slices, intervalsMeet) {
  const std::vector<double> other = pattern(9 * 20);
  for (const char *form : {"CSR", "DCSR", "(i,j) -> (i : dense, j : loose_compressed)"})
    for (const Cut &cutOf : {Cut{0, 7, 1}, Cut{2, 7, 1}, Cut{1, 1, 1}, Cut{4, 5, 1}})
      for (const char *op : {"+", "*"})
        for (const char *strategy : {"auto", "merge", "gallop", "blocks"}) {
          Tensor a = cut(doubles({9, 9}, matrix, form), 1, cutOf);
          Tensor b = cut(doubles({9, 20}, other, form), 1, {11, cutOf.size, 1});
          std::vector<double> model = modelOf({0, 9, 1}, cutOf);
          for (size_t k = 0; k < model.size(); ++k) {
            const size_t row = k / size_t(cutOf.size), column = k % size_t(cutOf.size);
            const double y = other[row * 20 + 11 + column];
            model[k] = *op == '+' ? model[k] + y : model[k] * y;
          }
          const std::string program = fmt::format("C(i,j) = A(i,j) {} B(i,j)", op);
          for (unsigned threads : {1u, 2u})
            EXPECT_EQ(elements(evaluate(
                          program, "C", {{"A", a}, {"B", b}}, {{"C", "CSR"}},
                          {.threads = threads, .strategy = strategy, .workPerThread = 1, .quick = true})),
                      model)
                << program << " of " << form << " by " << strategy;
        }
}

/// Rows from the third on lead to the segments of another operand, whose ends are one before what is stored.
TEST(Slices, intervalsLead) {
  for (const char *form : {"CSR", "DCSR"}) {
    Tensor b = cut(doubles({9, 9}, matrix, "DCSR"), 0, {2, 5, 1}), a = doubles({5, 9}, pattern(45), form);
    std::vector<double> model = modelOf({2, 5, 1}, {0, 9, 1});
    const std::vector<double> values = pattern(45);
    for (size_t k = 0; k < model.size(); ++k)
      model[k] *= values[k];
    EXPECT_EQ(elements(evaluate("y(i,j) = A(i,j) * B(i,j)", "y", {{"A", a}, {"B", b}}, {})), model) << form;
  }
}

/// A product of an interval with a matrix, and a subscript with a constant, which is one.
TEST(Slices, intervalsInProducts) {
  Tensor all = doubles({9, 9}, matrix, "CSR"), part = cut(all, 1, {3, 5, 1});
  const std::vector<double> a = modelOf({0, 9, 1}, {3, 5, 1}), b = modelOf({2, 5, 1}, {0, 9, 1});
  std::vector<double> product(81), sums(9);
  for (size_t i = 0; i < 9; ++i)
    for (size_t k = 0; k < 5; ++k) {
      sums[i] += a[i * 5 + k] * double(k + 1);
      for (size_t j = 0; j < 9; ++j)
        product[i * 9 + j] += a[i * 5 + k] * b[k * 9 + j];
    }
  for (unsigned threads : {1u, 3u})
    EXPECT_EQ(elements(evaluate("C(i,j) = A(i,k) * B(k,j)", "C", {{"A", part}, {"B", cut(all, 0, {2, 5, 1})}},
                                {{"C", "CSR"}}, {.threads = threads, .workPerThread = 1, .quick = true})),
              product);
  EXPECT_EQ(
      elements(evaluate("y(i) = A(i,j+3) * x(j)", "y", {{"A", all}, {"x", doubles({5}, {1, 2, 3, 4, 5})}})),
      sums);
}

/// What is dense stores every coordinate, and so do its slices, blocked or not.
TEST(Slices, ofDenseFormatsAreMasks) {
  for (const char *form : {"(i) -> (i floordiv 3 : batch, i mod 3 : dense)", "dense"}) {
    Tensor part = runtime::slice(doubles({7}, {0, 1, 0, 0, 4, 5, 0}, form), 0, 1, 3, 2);
    EXPECT_EQ(elements(evaluate("y(i) = 2.0 where B", "y", {{"B", part}})), (std::vector<double>{2, 2, 2}))
        << form;
    EXPECT_EQ(elements(evaluate("y(i) = 3 * B(i)", "y", {{"B", part}})), (std::vector<double>{3, 0, 15}))
        << form;
  }
}

/// Results that would have an operand's pattern have one of their own, and slices of one tensor meet.
TEST(Slices, sparseResults) {
  Tensor all = doubles({9, 9}, matrix, "CSR");
  Tensor upper = cut(all, 0, {0, 4, 1}), lower = cut(all, 0, {5, 4, 1});
  std::vector<double> twice = modelOf({0, 4, 1}, {0, 9, 1}), sum = twice;
  const std::vector<double> low = modelOf({5, 4, 1}, {0, 9, 1});
  int64_t entries = 0;
  for (size_t k = 0; k < twice.size(); ++k) {
    entries += twice[k] != 0;
    twice[k] *= 2;
    sum[k] += low[k];
  }
  Tensor scaled = evaluate("C(i,j) = 2 * A(i,j)", "C", {{"A", upper}}, {{"C", "CSR"}});
  EXPECT_EQ(elements(scaled), twice);
  EXPECT_EQ(scaled.storedCount(), entries);
  Tensor both = evaluate("C(i,j) = A(i,j) + B(i,j)", "C", {{"A", upper}, {"B", lower}}, {{"C", "CSR"}});
  EXPECT_EQ(elements(both), sum);
  Tensor masked = evaluate("C(i,j) = 1.0 where A", "C", {{"A", cut(upper, 1, {3, 3, 2})}}, {{"C", "DCSR"}});
  std::vector<double> ones = modelOf({0, 4, 1}, {3, 3, 2});
  for (double &value : ones)
    value = value != 0;
  EXPECT_EQ(elements(masked), ones);
}

TEST(Slices, ofThreeDimensions) {
  const std::vector<double> values = pattern(4 * 5 * 6);
  for (const char *form :
       {"CSF", "COO", "dense", "CSF(2,0,1)", "(i,j,k) -> (i : dense, j : compressed, k : dense)"}) {
    Tensor part = cut(cut(cut(doubles({4, 5, 6}, values, form), 0, {1, 3, 1}), 1, {0, 3, 2}), 2, {2, 2, 3});
    std::vector<double> model, sums;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        sums.push_back(0);
        for (int64_t k = 0; k < 2; ++k)
          sums.back() += model.emplace_back(values[size_t(((1 + i) * 5 + 2 * j) * 6 + 2 + 3 * k)]);
      }
    EXPECT_EQ(elements(part), model) << form;
    EXPECT_EQ(elements(convert(part, format::parseFormat("CSF", 3))), model) << form;
    EXPECT_EQ(elements(evaluate("C(i,j) = A(i,j,k)", "C", {{"A", part}})), sums) << form;
  }
}

/// Affine subscripts of slices: both are arithmetic.
TEST(Slices, underSubscripts) {
  Tensor part = runtime::slice(doubles({9}, {0, 1, 2, 3, 4, 5, 6, 7, 8}), 0, 2, 3, 2); // 2 4 6
  EXPECT_EQ(elements(evaluate("y(i) = A(i+r) * f(r)", "y", {{"A", part}, {"f", doubles({2}, {1, 10})}})),
            (std::vector<double>{42, 64}));
}

std::string refusal(const std::function<void()> &action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Slices, refusals) {
  Tensor all = doubles({9, 9}, matrix, "CSR");
  const format::Encoding sliced = cut(all, 0, {0, 4, 1}).encoding;
  EXPECT_THAT(refusal([&] { convert(all, sliced); }), HasSubstr("cut it with slice()"));
  EXPECT_THAT(refusal([&] { check("C(i,j) = A(i,j)", {{"A", all}}, {{"C", format::print(sliced)}}); }),
              HasSubstr("'C' is computed, and its format has slices"));
}

} // namespace
} // namespace tulle::engine
