// Programs that are accepted: their tree, sizes and types.
#include "Support.h"

namespace tulle::notation {
namespace {

using enum ElementType;

TEST(Check, MatrixTimesVector) {
  Program p = check("y(i) = A(i,j) * x(j)", {{"A", input({3, 4})}, {"x", input({4})}});
  ASSERT_EQ(p.tensors.size(), 3u);
  EXPECT_EQ(p.tensors[0].name, "y");
  EXPECT_EQ(p.tensors[0].dims, std::vector<int64_t>({3}));
  EXPECT_TRUE(p.tensors[0].written);
  EXPECT_FALSE(p.tensors[0].input);
  EXPECT_TRUE(p.tensors[1].input);
  const Statement &s = p.statements.at(0);
  EXPECT_EQ(s.reduce, Reduce::Add);
  EXPECT_FALSE(s.assign);
  EXPECT_FALSE(s.accumulate);
  ASSERT_EQ(s.reductionIndices.size(), 1u);
  EXPECT_EQ(p.indices[s.reductionIndices[0]].name, "j");
  EXPECT_EQ(p.indices[s.reductionIndices[0]].size, 4);
  EXPECT_EQ(s.rhs->op, Op::Mul);
  EXPECT_EQ(s.rhs->type, F64);
}

/// What `print` makes of the first statement; x, y, z are vectors, A and B matrices, s a scalar, all of f64.
std::string printed(std::string_view text) {
  std::map<std::string, Binding> bindings;
  for (const TensorUse &use : tensorsUsed(text))
    if (!use.written)
      bindings[use.name] = input(std::vector<int64_t>(use.order, 5));
  Program p = check(text, bindings);
  return print(p, p.statements[0]);
}

TEST(Check, PrecedenceShowsInCanonicalText) {
  EXPECT_EQ(printed("w(i) = x(i) + y(i) * z(i)"), "w(i) = x(i) + y(i) * z(i)");
  EXPECT_EQ(printed("w(i) = (x(i) + y(i)) * z(i)"), "w(i) = (x(i) + y(i)) * z(i)");
  EXPECT_EQ(printed("w(i) = x(i) - (y(i) - z(i))"), "w(i) = x(i) - (y(i) - z(i))");
  EXPECT_EQ(printed("w(i) = x(i) - y(i) - z(i)"), "w(i) = x(i) - y(i) - z(i)");
  EXPECT_EQ(printed("w(i) = -x(i) ** 2"), "w(i) = -pow(x(i), 2.0)");
  EXPECT_EQ(printed("w(i) = x(i) ** y(i) ** z(i)"), "w(i) = pow(x(i), pow(y(i), z(i)))");
  EXPECT_EQ(printed("w(i) = (x(i) < y(i)) | (x(i) > z(i)) & true"),
            "w(i) = (x(i) < y(i)) | (x(i) > z(i)) & true");
  EXPECT_EQ(printed("w(i) = min(x(i), y(i), z(i))"), "w(i) = min(min(x(i), y(i)), z(i))");
  EXPECT_EQ(printed("w[i] max= A[i,j] // comment"), "w(i) max= A(i,j)");
  EXPECT_EQ(printed("w(i) = A(i,j) where ~A | B(i,j) & A \\ B(i,j)"),
            "w(i) = A(i,j) where ~A(i,j) | B(i,j) & A(i,j) \\ B(i,j)");
  EXPECT_EQ(printed("w(i) = x(i) where A(i,j) & (y(i) + 1 <= z(j)) \\ ((x(i) < 0) | ~(B(i,i) == 2))"),
            "w(i) = x(i) where A(i,j) & (y(i) + 1.0 <= z(j)) \\ ((x(i) < 0.0) | ~(B(i,i) == 2.0))");
  EXPECT_EQ(printed("w(i) = x(2*i+j-1+1) * y(j)"), "w(i) = x(2*i+j) * y(j)");
  EXPECT_EQ(printed("w = x(i)"), "w() = x(i)");
}

/// Also where they stand before the subscript that makes them indices.
TEST(Check, IndicesByThemselvesAreValues) {
  Program p = check("s = i * A(i,j) + k", {{"A", input({3, 4})}, {"k", input({})}});
  EXPECT_EQ(print(p), "s() = f64(i) * A(i,j);\ns() += k()\n");
  const Expr &product = p.statements[0].rhs;
  ASSERT_EQ(product->args[0]->args[0]->op, Op::Index);
  EXPECT_EQ(product->args[0]->args[0]->type, ElementType::I64);
  EXPECT_EQ(print(check("B(i,j) = A(i,j) where (i >= j)", {{"A", input({3, 4})}})),
            "B(i,j) = A(i,j) where (i >= j)\n");
  // Each term is summed over the indices whose values it takes, too.
  EXPECT_EQ(print(check("y(i) = i + j * A(i,j)", {{"A", input({3, 4}, ElementType::I64)}})),
            "y(i) = i;\ny(i) += j * A(i,j)\n");
  EXPECT_EQ(print(check("y(i) = i() * x(i)", {{"x", input({3})}, {"i", input({})}})), "y(i) = i() * x(i)\n");
}

TEST(Check, SetsAreMasks) {
  const Binding sparse{
      .type = {}, .dims = std::vector<int64_t>{12}, .encoding = format::parseFormat("COO", 1)};
  Program p = check("S(i) = set(i in 2:10:3); T(i) = set(~S | S & (i < 4)); y(i) = 1 where i in 3:",
                    {{"S", sparse}, {"T", sparse}, {"y", sparse}});
  EXPECT_EQ(print(p), "S(i) = set((i >= 2) & (i < 10) & ((i - 2) % 3 == 0));\n"
                      "T(i) = set(~S(i) | S(i) & (i < 4));\n"
                      "y(i) = 1 where (i >= 3)\n");
  EXPECT_EQ(p.tensors[0].type, ElementType::Bool);
  EXPECT_EQ(print(check(p.text, {{"S", sparse}, {"T", sparse}, {"y", sparse}})), print(p));
  EXPECT_EQ(print(check("S(i,j) = set(i + j < 4, i in :3)",
                        {{"S", {.type = {}, .dims = std::vector<int64_t>{5, 5}, .encoding = {}}}})),
            "S(i,j) = set((i + j < 4) & (i < 3))\n");
}

TEST(Check, BareMaskTakesSubscripts) {
  EXPECT_EQ(printed("w(j,i) = A(i,j) where A"), "w(j,i) = A(i,j) where A(i,j)");
  EXPECT_EQ(printed("w(i,j) = A(i,k) * B(k,j) where ~M & A"),
            "w(i,j) = A(i,k) * B(k,j) where ~M(i,j) & A(i,j)");
  EXPECT_EQ(printed("w(i) max= A(i,j) where A"), "w(i) max= A(i,j) where A(i,j)");
}

TEST(Check, ReductionAndAccumulation) {
  auto statement = [](std::string_view text, unsigned n) {
    return check(text, {{"A", input({2, 3})}, {"x", input({2})}, {"y", input({2})}}).statements[n];
  };
  std::string use = "; u = A(i,j) + x(i) + y(i)";
  EXPECT_TRUE(statement("z(i) = x(i)" + use, 0).assign);
  EXPECT_TRUE(statement("z(i) += x(i)" + use, 0).assign); // nothing to add to
  EXPECT_FALSE(statement("z(i) max= x(i) where x" + use, 0).assign);
  EXPECT_FALSE(statement("z(i) += x(i)" + use, 0).accumulate);
  EXPECT_TRUE(statement("y(i) += x(i)" + use, 0).accumulate);
  EXPECT_FALSE(statement("y(i) = x(i)" + use, 0).accumulate);
  EXPECT_TRUE(statement("z(i) = x(i); z(i) max= A(i,j)" + use, 1).accumulate);
  EXPECT_EQ(statement("z(i) min= A(i,j)" + use, 0).reduce, Reduce::Min);
  EXPECT_EQ(statement("z(i) |= A(i,j) > 0" + use, 0).reduce, Reduce::Or);
}

TEST(Check, SubtractionAddsTermsWithTheOtherSign) {
  EXPECT_EQ(printed("w(i) -= x(i)"), printed("w(i) += -x(i)"));
  EXPECT_EQ(printed("w(i) -= -x(i)"), printed("w(i) += x(i)"));
  EXPECT_EQ(printed("w(i) -= x(i) + y(i) - z(i)"), printed("w(i) += -x(i) - y(i) + z(i)"));
  EXPECT_EQ(printed("w(i) -= (x(i) + y(i)) * z(i)"), printed("w(i) += -((x(i) + y(i)) * z(i))"));
}

TEST(Check, IndicesBelongToOneStatement) {
  Program p = check("y(i) = x(i); w(i) = z(i)", {{"x", input({2})}, {"z", input({7})}});
  EXPECT_EQ(p.tensors[0].dims[0], 2);
  EXPECT_EQ(p.tensors[2].dims[0], 7);
}

TEST(Sizes, ValidConvolution) {
  Program p = check("o(i,k) = I(i+r, k+s) * F(r,s)", {{"I", input({10, 7})}, {"F", input({3, 2})}});
  EXPECT_EQ(p.tensors[0].dims, (std::vector<int64_t>{8, 6}));
}

TEST(Sizes, StridesSlicesReversal) {
  auto size = [](std::string_view text) { return check(text, {{"x", input({8})}}).tensors[0].dims[0]; };
  EXPECT_EQ(size("y(i) = x(2*i)"), 4);
  EXPECT_EQ(size("y(i) = x(3*i)"), 3);   // 0, 3, 6
  EXPECT_EQ(size("y(i) = x(3*i+2)"), 2); // 2, 5
  EXPECT_EQ(size("y(i) = x(i+1:5)"), 4);
  EXPECT_EQ(size("y(i) = x(i:5)"), 5);
  EXPECT_EQ(size("y(i) = x(i+0)"), 8);
  EXPECT_EQ(size("y(i) = x(i+1) - x(i+0)"), 7);
  EXPECT_EQ(size("y(i) = x(i-0) * x(2+i-2:6)"), 6);
  EXPECT_EQ(size("y(i) = x(7-i)"), 8);
  EXPECT_EQ(size("y(i) = x(i+8)"), 0);
  EXPECT_EQ(size("y(i) = x(i+9)"), 0);
}

/// An index that starts a dimension is none that runs over all of it: neither gives the other its size.
TEST(Sizes, StartsOfDimensions) {
  Program p =
      check("w(i) = x(i+1) - x(i+0); y(i) = w(i+0) + w(i+1) * z(i)", {{"x", input({8})}, {"z", input({3})}});
  EXPECT_EQ(p.tensors[p.statements[0].lhs.tensor].dims, (std::vector<int64_t>{7}));
  EXPECT_EQ(p.tensors[p.statements[1].lhs.tensor].dims, (std::vector<int64_t>{3}));
  auto dims = inferDims("z(k) = u(k+0) * v(k)", {{"v", {4}}});
  EXPECT_EQ(dims["u"], std::vector<int64_t>({4}));
}

TEST(Sizes, FilterLargerThanImageGivesNothing) {
  Program p = check("o(i) = I(i+r) * F(r)", {{"I", input({2})}, {"F", input({5})}});
  EXPECT_EQ(p.tensors[0].dims[0], 0);
}

TEST(Sizes, InferredForCallers) {
  auto dims = inferDims("y(i) = A(i,j) * x(j); z(k) = y(k) + u(k+1)", {{"A", {3, 4}}});
  EXPECT_EQ(dims["x"], std::vector<int64_t>({4}));
  EXPECT_EQ(dims["y"], std::vector<int64_t>({3}));
  EXPECT_EQ(dims["z"], std::vector<int64_t>({3}));
  EXPECT_EQ(dims["u"], std::vector<int64_t>({4})); // subscripts 1 … 3
  EXPECT_EQ(inferDims("y(i) = A(i,j) * x(j)", {})["A"], std::vector<int64_t>({-1, -1}));
}

TEST(Sizes, TensorsUsed) {
  auto used = tensorsUsed("y(i) = A(i,j) * x(j) where M(i,j); n += y(i)");
  ASSERT_EQ(used.size(), 5u);
  EXPECT_EQ(used[0].name, "y");
  EXPECT_TRUE(used[0].read && used[0].written);
  EXPECT_EQ(used[3].name, "M");
  EXPECT_TRUE(used[3].read && !used[3].written);
  EXPECT_EQ(used[4].order, 0u);
}

ElementType resultType(std::string_view expression, ElementType x, ElementType z = F64) {
  std::string text = "y(i) = " + std::string(expression) + "; unused(i) = x(i); unused2(i) = z(i)";
  return check(text, {{"x", input({2}, x)}, {"z", input({2}, z)}}).tensors[0].type;
}

TEST(Types, Promotion) {
  EXPECT_EQ(resultType("x(i) + z(i)", I8, I32), I32);
  EXPECT_EQ(resultType("x(i) + z(i)", I64, F32), F32);
  EXPECT_EQ(resultType("x(i) + z(i)", F16, BF16), F32);
  EXPECT_EQ(resultType("x(i) + z(i)", F16, F16), F16);
  EXPECT_EQ(resultType("x(i) + z(i)", C64, F64), C128);
  EXPECT_EQ(resultType("x(i) < z(i)", F32, I8), Bool);
  EXPECT_EQ(resultType("sqrt(x(i))", I32), F64);
  EXPECT_EQ(resultType("abs(x(i))", C64), F32);
  EXPECT_EQ(resultType("f32(x(i))", I8), F32);
  EXPECT_EQ(resultType("select(x(i) > 0, z(i), 1)", I8, F16), F16);
}

TEST(Types, LiteralsTakeTheOtherSide) {
  EXPECT_EQ(resultType("2 * x(i)", F32), F32);
  EXPECT_EQ(resultType("2.5 * x(i)", F16), F16);
  EXPECT_EQ(resultType("2.5 * x(i)", I32), F64);
  EXPECT_EQ(resultType("2 * x(i)", I8), I8);
  EXPECT_EQ(resultType("300 * x(i)", I8), I16);
  EXPECT_EQ(resultType("-129 + x(i)", I8), I16);
  EXPECT_EQ(resultType("-128 + x(i)", I8), I8);
  EXPECT_EQ(resultType("2i * x(i)", F32), C64);
  EXPECT_EQ(resultType("2 + x(i)", Bool), I64);
  EXPECT_EQ(resultType("(1 + 2) * x(i)", F32), F32);
}

TEST(Types, HalfComputesInSingle) {
  Program p = check("y(i) = x(i) * x(i)", {{"x", input({2}, F16)}});
  const ExprNode &rhs = *p.statements[0].rhs;
  EXPECT_EQ(p.tensors[0].type, F16);
  EXPECT_EQ(rhs.type, F32);
  ASSERT_EQ(rhs.args[0]->op, Op::Convert);
  EXPECT_EQ(rhs.args[0]->args[0]->type, F16);
}

TEST(Types, EveryOperandHasTheOperationsType) {
  Program p = check("y(i) = x(i) + 2 * z(i)",
                    {{"x", input({2}, F64)}, {"z", input({2}, I32)}, {"y", {F32, {}, {}, false}}});
  const ExprNode &root = *p.statements[0].rhs;
  EXPECT_EQ(root.op, Op::Convert); // into the result's type
  EXPECT_EQ(root.type, F32);
  const ExprNode &sum = *root.args[0];
  EXPECT_EQ(sum.args[0]->type, F64);
  EXPECT_EQ(sum.args[1]->op, Op::Convert);
  EXPECT_EQ(sum.args[1]->args[0]->type, I32);
}

TEST(Types, BoolIsASemiring) {
  Program p = check("y(i) = A(i,j) * x(j)", {{"A", input({2, 3}, Bool)}, {"x", input({3}, Bool)}});
  EXPECT_EQ(p.statements[0].reduce, Reduce::Or);
  EXPECT_EQ(p.statements[0].rhs->op, Op::And);
}

} // namespace
} // namespace tulle::notation
