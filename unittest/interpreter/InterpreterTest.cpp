// The meaning of programs, on values worked out by hand.
#include "interpreter/Interpreter.h"
#include "engine/Conversion.h"
#include "support/Errors.h"
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace tulle::interpreter {
namespace {

using enum ElementType;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr double inf = std::numeric_limits<double>::infinity();
/// In a list of values: nothing is stored here.
constexpr double gap = -12345;

struct Given {
  std::vector<int64_t> dims;
  std::vector<double> values; ///< row-major; `gap` makes the tensor sparse
  ElementType type = F64;
};

/// A compressed format of any order, for tensors with gaps and sparse results.
format::Encoding sparse(unsigned order) {
  format::Encoding e = format::denseEncoding(order);
  for (format::Level &level : e.levels)
    level.format.kind = format::LevelKind::Compressed;
  return e;
}

struct Machine {
  std::map<std::string, Given> given;
  std::map<std::string, ElementType> resultTypes = {};
  std::map<std::string, unsigned> sparseResults = {}; ///< name -> order
  std::map<std::string, std::string> formats = {};    ///< of matrices

  DenseTensor run(std::string_view text, std::string_view result) const {
    std::map<std::string, notation::Binding> bindings;
    for (const auto &[name, g] : given)
      bindings[name] = {g.type, g.dims, isSparse(g) ? std::optional(sparse(g.dims.size())) : std::nullopt,
                        true};
    for (const auto &[name, type] : resultTypes) {
      bindings[name].type = type;
    }
    for (const auto &[name, order] : sparseResults)
      bindings[name].encoding = sparse(order);
    for (const auto &[name, format] : formats)
      bindings[name].encoding = format::parseFormat(format, 2);
    std::map<std::string, notation::Binding> used;
    for (const notation::TensorUse &use : notation::tensorsUsed(text))
      if (bindings.count(use.name))
        used[use.name] = bindings[use.name];
    notation::Program program = notation::check(text, used);
    std::vector<DenseTensor> tensors(program.tensors.size());
    size_t found = 0;
    for (size_t t = 0; t < tensors.size(); ++t) {
      const std::string &name = program.tensors[t].name;
      if (given.count(name))
        tensors[t] = dense(given.at(name));
      if (name == result)
        found = t;
    }
    interpreter::run(program, tensors);
    return tensors[found];
  }

  std::vector<double> values(std::string_view text, std::string_view result) const {
    DenseTensor t = run(text, result);
    std::vector<double> out;
    for (const Scalar &s : t.values)
      out.push_back(isInteger(t.type) || t.type == Bool ? double(s.i) : s.f.real());
    return out;
  }

private:
  static bool isSparse(const Given &g) {
    return std::find(g.values.begin(), g.values.end(), gap) != g.values.end();
  }
  static DenseTensor dense(const Given &g) {
    DenseTensor t{g.type, g.dims, {}, {}};
    for (double v : g.values) {
      bool stored = v != gap;
      bool exact = isInteger(g.type) || g.type == Bool;
      t.stored.push_back(stored);
      t.values.push_back(!stored ? Scalar{} : exact ? Scalar{int64_t(v), 0} : Scalar{0, v});
    }
    return t;
  }
};

//     1 . 2
//     . 3 .
const Given A = {{2, 3}, {1, gap, 2, gap, 3, gap}};

TEST(Interpreter, MatrixTimesVector) {
  Machine m{{{"A", A}, {"x", {{3}, {10, 20, 30}}}}};
  EXPECT_THAT(m.values("y(i) = A(i,j) * x(j)", "y"), ElementsAre(70, 60));
  EXPECT_THAT(m.values("y(j) = A(i,j) * x(j)", "y"), ElementsAre(10, 60, 60));
  EXPECT_THAT(m.values("s = A(i,j) * x(j)", "s"), ElementsAre(130));
}

TEST(Interpreter, AbsentAnnihilatesButStoredZeroDoesNot) {
  Machine m{{{"A", A}, {"x", {{3}, {10, inf, 30}}}}};
  EXPECT_THAT(m.values("y(i) = A(i,j) * x(j)", "y"), ElementsAre(70, inf));
  Machine zero{{{"A", {{2}, {0, gap}}}, {"x", {{2}, {inf, inf}}}}};
  auto y = zero.values("y(i) = A(i) * x(i)", "y");
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
  y = zero.values("y(i) = A(i) / (x(i) - x(i))", "y");
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
}

TEST(Interpreter, ProductsTakeImplicitZerosAsNumbers) {
  Machine m{{{"A", {{3}, {2, gap, 4}}}, {"B", {{3}, {2, gap, inf}}}}};
  EXPECT_THAT(m.values("p *= A(i)", "p"), ElementsAre(0));
  EXPECT_TRUE(std::isnan(m.values("p *= B(i)", "p")[0]));
}

TEST(Interpreter, ReductionsSeeImplicitValues) {
  Machine m{{{"A", {{3, 2}, {-1, gap, -2, -3, gap, gap}}}}};
  EXPECT_THAT(m.values("m(i) max= A(i,j)", "m"), ElementsAre(0, -2, 0));
  EXPECT_THAT(m.values("m(i) max= A(i,j) where A", "m"), ElementsAre(-1, -2, -inf));
  EXPECT_THAT(m.values("m(i) min= A(i,j) where A", "m"), ElementsAre(-1, -3, inf));
  EXPECT_THAT(m.values("m(i) *= A(i,j)", "m"), ElementsAre(0, 6, 0));
  EXPECT_THAT(m.values("n(i) = 1 where A(i,j)", "n"), ElementsAre(1, 2, 0));
}

TEST(Interpreter, MasksAreSetAlgebra) {
  Machine m{{{"A", {{4}, {1, 2, gap, gap}}}, {"B", {{4}, {gap, 3, 4, gap}}}}};
  EXPECT_THAT(m.values("y(i) = 9 where A(i) & B(i)", "y"), ElementsAre(0, 9, 0, 0));
  EXPECT_THAT(m.values("y(i) = 9 where A(i) | B(i)", "y"), ElementsAre(9, 9, 9, 0));
  EXPECT_THAT(m.values("y(i) = 9 where A(i) \\ B(i)", "y"), ElementsAre(9, 0, 0, 0));
  EXPECT_THAT(m.values("y(i) = 9 where ~A(i) & ~B(i)", "y"), ElementsAre(0, 0, 0, 9));
  EXPECT_THAT(m.values("y(i) = A(i) + B(i) where ~A", "y"), ElementsAre(0, 0, 4, 0));
}

TEST(Interpreter, AccumulationAndSeveralStatements) {
  Machine m{{{"x", {{2}, {1, 2}}}, {"y", {{2}, {10, 20}}}}};
  EXPECT_THAT(m.values("y(i) += x(i)", "y"), ElementsAre(11, 22));
  EXPECT_THAT(m.values("y(i) = x(i)", "y"), ElementsAre(1, 2));
  EXPECT_THAT(m.values("z(i) = x(i) + y(i); n += z(i) * z(i)", "n"), ElementsAre(121 + 484));
  EXPECT_THAT(m.values("z(i) = x(i); z(i) max= y(i) / 10 + 0.5", "z"), ElementsAre(1.5, 2.5));
}

TEST(Interpreter, LoopsRunInRounds) {
  Machine m{{{"x", {{2}, {1, 2}}}, {"n", {{}, {0}, I64}}}};
  EXPECT_THAT(m.values("repeat 3 { x(i) += x(i) }", "x"), ElementsAre(8, 16));
  EXPECT_THAT(m.values("repeat 100 { x(i) += x(i); s = x(i) } until s > 20", "x"), ElementsAre(8, 16));
  EXPECT_THAT(m.values("repeat 3 { n += 1; repeat 4 { n += 10 } }", "n"), ElementsAre(123));
  EXPECT_THAT(m.values("repeat 3 { m max= x(i); x(i) = -x(i) }", "m"), ElementsAre(2));
  EXPECT_THAT(m.values("repeat 2 { m max= x(i); x(i) = -x(i) }", "m"), ElementsAre(-1));
}

TEST(Interpreter, AStatementReadsTheOldValueOfItsResult) {
  Machine m{{{"x", {{3}, {1, 2, 3}}}, {"s", {{3}, {4, gap, 5}}}}};
  EXPECT_THAT(m.values("x(i) = x(2-i) * 10", "x"), ElementsAre(30, 20, 10));
  EXPECT_THAT(m.values("x(i) += x(j)", "x"), ElementsAre(7, 8, 9));
  EXPECT_THAT(m.values("s(i) = x(i) where ~s", "s"), ElementsAre(0, 2, 0));
}

TEST(Interpreter, AffineSubscripts) {
  Machine m{{{"x", {{5}, {1, 2, 3, 4, 5}}}, {"f", {{2}, {10, 1}}}}};
  EXPECT_THAT(m.values("y(i) = x(i+r) * f(r)", "y"), ElementsAre(12, 23, 34, 45));
  EXPECT_THAT(m.values("y(i) = x(2*i)", "y"), ElementsAre(1, 3, 5));
  EXPECT_THAT(m.values("y(i) = x(4-i)", "y"), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(m.values("y(i) = x(i+1:4)", "y"), ElementsAre(2, 3, 4));
}

TEST(Interpreter, Diagonal) {
  Machine m{{{"A", {{2, 2}, {1, 2, 3, 4}}}}};
  EXPECT_THAT(m.values("d(i) = A(i,i)", "d"), ElementsAre(1, 4));
  EXPECT_THAT(m.values("t = A(i,i)", "t"), ElementsAre(5));
}

TEST(Interpreter, EmptyDimensions) {
  Machine m{{{"A", {{2, 0}, {}}}}};
  EXPECT_THAT(m.values("y(i) = A(i,j)", "y"), ElementsAre(0, 0));
  EXPECT_THAT(m.values("y(i) max= A(i,j)", "y"), ElementsAre(-inf, -inf));
  EXPECT_THAT(m.values("y(j) = A(i,j)", "y"), ElementsAre());
  EXPECT_THAT(m.values("s = A(i,j)", "s"), ElementsAre(0));
}

TEST(Interpreter, SparseResultFollowsItsOperand) {
  Machine m{{{"A", A}, {"x", {{3}, {10, 0, 30}}}}, {}, {{"C", 2}}};
  DenseTensor c = m.run("C(i,j) = A(i,j) * x(j)", "C");
  EXPECT_THAT(c.stored, ElementsAre(true, false, true, false, true, false));
  EXPECT_THAT(m.values("C(i,j) = A(i,j) * x(j)", "C"), ElementsAre(10, 0, 60, 0, 0, 0));
  EXPECT_THAT(m.values("C(i,j) = exp(A(i,j) * 0) where A", "C"), ElementsAre(1, 0, 1, 0, 1, 0));
  // A reduction that nothing reaches has its start only where the result stores something.
  EXPECT_THAT(m.values("C(i,j) max= A(i,j) * x(k) where A", "C"), ElementsAre(30, 0, 60, 0, 90, 0));
}

TEST(Interpreter, SparseResultsStoreWhatContributes) {
  Machine m{
      {{"A", A}, {"B", {{2, 3}, {gap, 4, -2, gap, gap, gap}}}, {"P", {{3, 2}, {gap, 5, 7, gap, gap, gap}}}},
      {},
      {{"C", 2}}};
  DenseTensor sum = m.run("C(i,j) = A(i,j) + B(i,j)", "C");
  EXPECT_THAT(sum.stored, ElementsAre(true, true, true, false, true, false)); // 2 - 2 is stored
  EXPECT_THAT(m.values("C(i,j) = A(i,j) + B(i,j)", "C"), ElementsAre(1, 4, 0, 0, 3, 0));
  EXPECT_THAT(m.run("C(i,j) = A(i,j) * B(i,j)", "C").stored,
              ElementsAre(false, false, true, false, false, false));
  EXPECT_THAT(m.run("C(j,i) = A(i,j)", "C").stored, ElementsAre(true, false, false, true, true, false));
  EXPECT_THAT(m.run("C(i,k) = A(i,j) * P(j,k)", "C").stored, ElementsAre(false, true, true, false));
  EXPECT_THAT(m.values("C(i,k) = A(i,j) * P(j,k)", "C"), ElementsAre(0, 5, 21, 0));
  EXPECT_THAT(m.run("C(i,j) = A(i,j) where ~B", "C").stored,
              ElementsAre(true, false, true, false, true, false));
  EXPECT_THAT(m.run("C(i,j) = A(i,j) + A(i,j) where ~B & A", "C").stored,
              ElementsAre(true, false, false, false, true, false));
  EXPECT_THAT(m.run("C(i,j) = A(i,j); C(i,j) += B(i,j)", "C").stored,
              ElementsAre(true, true, true, false, true, false));
}

TEST(Interpreter, RaggedRowsAreFullUpToTheirLastEntry) {
  Machine m{{{"A", {{2, 3}, {gap, gap, 2, gap, 3, gap}}}, {"E", {{2, 3}, {1, 2, 4, 8, 16, 32}}}},
            {},
            {},
            {{"C", "ragged"}}};
  EXPECT_THAT(m.run("C(i,j) = A(i,j)", "C").stored, ElementsAre(true, true, true, true, true, false));
  EXPECT_THAT(m.values("C(i,j) = A(i,j); z(i) = E(i,j) where C(i,j)", "z"), ElementsAre(7, 24));
}

TEST(Interpreter, DiagonalsAndBlocksAreStoredWhole) {
  Machine m{{{"A", {{2, 3}, {gap, gap, 2, gap, 3, gap}}}, {"E", {{2, 3}, {1, 2, 4, 8, 16, 32}}}},
            {},
            {},
            {{"C", "DIA"}}};
  EXPECT_THAT(m.run("C(i,j) = A(i,j)", "C").stored, ElementsAre(true, false, true, false, true, false));
  EXPECT_THAT(m.values("C(i,j) = A(i,j); z(i) = E(i,j) where C(i,j)", "z"), ElementsAre(5, 16));
  m.formats["C"] = "(i, j) -> (i : dense, j floordiv 2 : bitmap, j mod 2 : dense)";
  EXPECT_THAT(m.run("C(i,j) = A(i,j)", "C").stored, ElementsAre(false, false, true, true, true, false));
  m.formats["C"] = "(i, j) -> (i * 4096 + j floordiv 2 : compressed, j mod 2 : dense)";
  EXPECT_THAT(m.values("C(i,j) = A(i,j); z(i) = E(i,j) where C(i,j)", "z"), ElementsAre(4, 24));
}

TEST(Interpreter, FillOtherThanZero) {
  Machine m{{{"A", A}, {"x", {{3}, {10, 20, 30}}}}};
  // Worked through the values, as fromTensor would fill them: the shortest path step of min-plus.
  format::Encoding e = sparse(2);
  e.fill = "inf";
  notation::Program program = notation::check(
      "d(i) min= A(i,j) + x(j)", {{"A", {F64, {{2, 3}}, e, true}}, {"x", {F64, {{3}}, {}, true}}});
  std::vector<DenseTensor> tensors(3);
  tensors[1] = {F64, {2, 3}, {{0, 1}, {0, inf}, {0, 2}, {0, inf}, {0, inf}, {0, inf}}, {1, 0, 1, 0, 0, 0}};
  tensors[2] = {F64, {3}, {{0, 10}, {0, 20}, {0, 30}}, {1, 1, 1}};
  run(program, tensors);
  EXPECT_EQ(tensors[0].values[0].f, 11.0);
  EXPECT_EQ(tensors[0].values[1].f.real(), inf);
}

TEST(Interpreter, IndicesThatTensorsGive) {
  Machine m{{{"p", {{4}, {2, 0, 2, 1}, I32}},
             {"q", {{3}, {1, -1, 7}, I8}},
             {"x", {{3}, {10, 20, 30}}},
             {"w", {{4}, {1, 2, 3, 4}}},
             {"X", {{3, 2}, {1, 2, 3, 4, 5, 6}}},
             {"S", {{3, 2}, {gap, 2, gap, gap, 5, gap}}}}};
  // Gathers, of elements and of rows; at an index of an index; with a shift.
  EXPECT_THAT(m.values("y(i) = x(p(i))", "y"), ElementsAre(30, 10, 30, 20));
  EXPECT_THAT(m.values("Y(i,k) = X(p(i),k)", "Y"), ElementsAre(5, 6, 1, 2, 5, 6, 3, 4));
  EXPECT_THAT(m.values("y(i) = w(p(p(i)))", "y"), ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(m.values("y(i) = w(p(i)+1)", "y"), ElementsAre(4, 2, 4, 3));
  EXPECT_THAT(m.run("Y(i,k) = S(p(i),k) where S(p(i),k)", "Y").values.size(), 8);
  // A term has the sums of its own indices.
  EXPECT_THAT(m.values("y(i) = 1 + x(p(i))", "y"), ElementsAre(31, 11, 31, 21));
  EXPECT_THAT(m.values("s = x(p(i))", "s"), ElementsAre(90));
  // Scatters add what meets; what nothing meets is 0, or what it was.
  EXPECT_THAT(m.values("x(p(i)) += w(i)", "x"), ElementsAre(12, 24, 34));
  EXPECT_THAT(m.values("x(p(i)) = w(i)", "x"), ElementsAre(2, 4, 4));
  EXPECT_THAT(m.values("x(p(i)) max= 5 * w(i)", "x"), ElementsAre(10, 20, 30));
  // Outside.
  EXPECT_THAT(m.values("y(i) = 2 * x(q(i) else 0)", "y"), ElementsAre(40, 0, 0));
  EXPECT_THAT(m.values("y(i) = x(q(i) clamp)", "y"), ElementsAre(20, 10, 30));
  EXPECT_THAT(m.values("x(q(i) else skip) += 1", "x"), ElementsAre(10, 21, 30));
  EXPECT_THAT(reasonOf([&] { m.values("y(i) = x(q(i))", "y"); }), "q(i) is -1, outside of 0 .. 2");
}

TEST(Interpreter, DigitsOfIndices) {
  Machine m{{{"A", {{2, 3}, {1, gap, 2, gap, 3, gap}}},
             {"x", {{3}, {10, 20, 30}}},
             {"w", {{6}, {1, 2, 3, 4, 5, 6}}}}};
  EXPECT_THAT(m.values("v(l) = A(l/3, l%3)", "v"), ElementsAre(1, 0, 2, 0, 3, 0));
  EXPECT_THAT(m.values("y(l) = w(l) * A(l/3, l%3)", "y"), ElementsAre(1, 0, 6, 0, 15, 0));
  EXPECT_THAT(m.values("y(l) = x(l/2)", "y"), ElementsAre(10, 10, 20, 20, 30, 30));
  EXPECT_THAT(m.values("y(l) = x(l%3) * w(l)", "y"), ElementsAre(10, 40, 90, 40, 100, 180));
  EXPECT_THAT(m.values("y(l) = x(l/2%2) + w(l)", "y"), ElementsAre(11, 12, 23, 24, 15, 16));
}

TEST(Interpreter, ResultTypeRounds) {
  Machine m{{{"x", {{3}, {1.5, -2.75, 300}}}}, {{"y", I8}}};
  EXPECT_THAT(m.values("y(i) = x(i)", "y"), ElementsAre(1, -2, 127));
  Machine half{{{"x", {{3}, {0.1, 0.2, 0.3}, F32}}}, {{"y", F16}}};
  // Reduced in f32 and rounded once: 0.6 in f16 is 0.60009765625.
  EXPECT_THAT(half.values("y = x(i)", "y"), ElementsAre(0.60009765625));
}

TEST(Interpreter, HalfRoundsOnlyWhenStored) {
  // 2048 + 1 is not an f16, 2048 + 1 - 2048 is.
  Machine m{{{"x", {{1}, {2048}, F16}}, {"z", {{1}, {1}, F16}}}};
  EXPECT_THAT(m.values("y(i) = x(i) + z(i) - x(i)", "y"), ElementsAre(1));
  EXPECT_THAT(m.values("y(i) = x(i) + z(i)", "y"), ElementsAre(2048));
}

TEST(Interpreter, BoolSemiring) {
  Machine m{{{"A", {{2, 2}, {1, 1, 0, gap}, Bool}}, {"x", {{2}, {1, 1}, Bool}}}};
  EXPECT_THAT(m.values("y(i) = A(i,j) * x(j)", "y"), ElementsAre(1, 0));
  EXPECT_THAT(m.values("n = i64(A(i,j))", "n"), ElementsAre(2));
}

TEST(Interpreter, ReadsStoredTensors) {
  runtime::Entries entries;
  entries.type = F64;
  entries.dims = {2, 3};
  entries.coords = {{0, 1}, {2, 0}};
  const double values[] = {5, 0};
  entries.values.resize(sizeof(values));
  std::memcpy(entries.values.data(), values, sizeof(values));
  DenseTensor t = fromTensor(engine::store(entries, format::parseFormat("CSR", 2)));
  EXPECT_THAT(t.stored, ElementsAre(false, false, true, true, false, false));
  EXPECT_EQ(t.values[2].f, 5.0);
  EXPECT_EQ(t.values[3].f, 0.0); // an explicit zero is stored
}

} // namespace
} // namespace tulle::interpreter
