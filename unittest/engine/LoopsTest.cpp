// Loops of statements: rounds, what they carry, and who may end them.
#include "Programs.h"
#include "interpreter/Interpreter.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using testing::ElementsAre;

runtime::Tensor integers(std::vector<int64_t> dims, const std::vector<int64_t> &elements,
                         const std::string &form = "dense") {
  return tensor<int64_t>(ElementType::I64, std::move(dims), elements, form);
}

struct Outcome {
  notation::Program program;
  std::vector<std::optional<runtime::Tensor>> tensors;
  RunReport report;

  const runtime::Tensor &operator[](const std::string &name) const {
    auto found = std::ranges::find(program.tensors, name, &notation::TensorDecl::name);
    return tensors[size_t(found - program.tensors.begin())].value();
  }
};

Outcome runWith(const std::string &text, const Tensors &inputs,
                const std::map<std::string, std::string> &formats = {}, RunReport report = {}) {
  Outcome outcome{check(text, inputs, formats), {}, std::move(report)};
  outcome.tensors = slotsFor(outcome.program, inputs);
  compile(outcome.program, {.diskCache = false})->run(outcome.tensors, &outcome.report);
  return outcome;
}

TEST(Loops, CountTheirRounds) {
  const Tensors n = {{"n", integers({}, {0})}};
  Outcome o = runWith("repeat 3 { n += 1; repeat 4 { n += 10 } } m = n", n);
  EXPECT_THAT(elements<int64_t>(o["m"]), ElementsAre(123));
  EXPECT_THAT(o.report.iterations, ElementsAre(3, 12));
  o = runWith("repeat 100 { n += 1 } until n >= 7", n);
  EXPECT_THAT(elements<int64_t>(o["n"]), ElementsAre(7));
  EXPECT_THAT(o.report.iterations, ElementsAre(7));
  o = runWith("repeat 2 { n += 1 } repeat 100 { n = 3 * n } until (n > 50) & (n < 100)", n);
  EXPECT_THAT(elements<int64_t>(o["n"]), ElementsAre(54));
  EXPECT_THAT(o.report.iterations, ElementsAre(2, 3));
  EXPECT_THAT(elements<int64_t>(n.at("n")), ElementsAre(0)) << "the caller's data has changed";
}

TEST(Loops, ConjugateGradientsConverge) {
  // Solves in as many rounds as there are different eigenvalues.
  const runtime::Tensor A = doubles({3, 3}, {4, 1, 0, 1, 3, 0, 0, 0, 2}, "CSR");
  const Outcome o = runWith(
      "r(i) = b(i); p(i) = r(i); rr = r(i) * r(i);"
      "repeat 500 { q(i) = A(i,j) * p(j); pq = p(i) * q(i); a = rr / pq; x(i) += a * p(i); r(i) -= a * q(i);"
      "s = r(i) * r(i); p(i) = r(i) + s / rr * p(i); rr = s } until rr < 1e-24;"
      "e(i) = b(i) - A(i,j) * x(j)",
      {{"A", A}, {"b", doubles({3}, {1, 2, 3})}, {"x", doubles({3}, {0, 0, 0})}});
  EXPECT_LE(o.report.iterations.at(0), 4);
  for (double residual : elements(o["e"]))
    EXPECT_NEAR(residual, 0, 1e-12);
}

/// What every round makes anew is in the structure that it has in that round.
TEST(Loops, CarrySparseTensors) {
  // A path 0 -> 1 -> 2 -> 3 and an edge 1 -> 3.
  const runtime::Tensor A = integers({4, 4}, {0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0}, "CSR");
  const std::map<std::string, std::string> sparse = {{"g", "(i) -> (i : compressed)"},
                                                     {"v", "(i) -> (i : compressed)"}};
  const Outcome o =
      runWith("v(i) = f(i); d(i) = -1; d(i) += 1 where f(i); l = 0;"
              "repeat 100 { l = l + 1; g(j) = 1 where A(i,j) & f(i) \\ v(j); d(j) += l + 1 where g(j);"
              "v(j) += g(j); f(j) = g(j); c = 1 where g(j) } until c == 0",
              {{"A", A}, {"f", integers({4}, {1, 0, 0, 0}, "(i) -> (i : compressed)")}}, sparse);
  EXPECT_THAT(elements<int64_t>(o["d"]), ElementsAre(0, 1, 2, 2));
  EXPECT_EQ(o["f"].storedCount(), 0);
  EXPECT_EQ(o["v"].storedCount(), 4);
  EXPECT_THAT(o.report.iterations, ElementsAre(3));
}

/// What shares its coordinates with a carried tensor shares those of the round.
TEST(Loops, StructuresAreThoseOfTheRound) {
  const runtime::Tensor A = doubles({3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0}, "CSR"),
                        B = doubles({3, 3}, {1, 0, 0, 0, 1, 1, 0, 0, 1}, "CSR");
  const std::map<std::string, std::string> csr = {{"C", "CSR"}, {"D", "CSR"}};
  const std::string text = "repeat 3 { C(i,j) = B(i,j); s = C(i,j); D(i,j) = A(i,k) * B(k,j); t = B(i,j) * "
                           "D(i,j); B(i,j) = D(i,j) }";
  const Outcome o = runWith(text, {{"A", A}, {"B", B}}, csr);
  std::vector<interpreter::DenseTensor> expected(o.program.tensors.size());
  for (size_t k = 0; k < expected.size(); ++k)
    if (o.program.tensors[k].input)
      expected[k] = interpreter::fromTensor(o.program.tensors[k].name == "A" ? A : B);
  interpreter::run(o.program, expected);
  for (size_t k = 0; k < expected.size(); ++k)
    if (o.tensors[k])
      for (size_t e = 0; e < expected[k].values.size(); ++e)
        EXPECT_EQ(interpreter::fromTensor(*o.tensors[k]).values[e].f, expected[k].values[e].f)
            << o.program.tensors[k].name;
}

TEST(Loops, AStatementReadsTheOldValueOfItsResult) {
  const Tensors x = {{"x", doubles({3}, {1, 2, 3})},
                     {"A", doubles({3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0}, "CSR")}};
  EXPECT_THAT(elements(runWith("repeat 2 { x(i) = A(i,j) * x(j) }", x)["x"]), ElementsAre(3, 1, 2));
  EXPECT_THAT(elements(runWith("x(i) = 10 - A(i,j) * x(j)", x)["x"]), ElementsAre(8, 7, 9));
  EXPECT_THAT(elements(runWith("x(i) += A(i,j) * x(j)", x)["x"]), ElementsAre(3, 5, 4));
  EXPECT_THAT(elements(runWith("repeat 3 { A(i,j) = A(i,k) * A(k,j) }", {{"A", x.at("A")}})["A"]),
              ElementsAre(0, 0, 1, 1, 0, 0, 0, 1, 0));
}

TEST(Loops, EndWhereTheCallerSaysSo) {
  RunReport stops;
  std::vector<std::vector<int64_t>> seen;
  stops.goesOn = [&](const std::vector<int64_t> &iterations) {
    seen.push_back(iterations);
    return iterations[1] < 5;
  };
  const Outcome o =
      runWith("repeat 9 { n += 1; repeat 2 { n += 10 } } m = n", {{"n", integers({}, {0})}}, {}, stops);
  EXPECT_THAT(elements<int64_t>(o["m"]), ElementsAre(53)); // the round of the outer loop is finished
  EXPECT_THAT(o.report.iterations, ElementsAre(3, 5));
  EXPECT_THAT(seen.back(), ElementsAre(2, 5));
}

TEST(Loops, AreInterruptedBetweenStatements) {
  const Tensors n = {{"n", integers({}, {0})}};
  int asked = 0;
  RunReport stops;
  stops.isInterrupted = [&] { return ++asked == 6; };
  EXPECT_THROW(runWith("repeat 9 { n += 1; repeat 2 { n += 10 } } m = n", n, {}, stops), Interrupted);
  EXPECT_EQ(asked, 6);
  EXPECT_THAT(elements<int64_t>(n.at("n")), ElementsAre(0)) << "the caller's data has changed";
}

} // namespace
} // namespace tulle::engine
