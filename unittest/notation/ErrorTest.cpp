// Programs that are refused: the message, the place, the cure.
#include "Support.h"

namespace tulle::notation {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::map<std::string, Binding> spmv = {{"A", input({3, 4})}, {"x", input({5})}};

TEST(Error, DimensionClashNamesBothUses) {
  std::string message = refusal("y(i) = A(i,j) * x(j)", spmv);
  EXPECT_EQ(message,
            "<expr>:1:19: error: index 'j' has size 4 in dimension 2 of A, but size 5 in dimension 1 of x\n"
            "  y(i) = A(i,j) * x(j)\n"
            "                    ^\n"
            "<expr>:1:12: note: size 4 comes from dimension 2 of A\n"
            "  y(i) = A(i,j) * x(j)\n"
            "             ^");
}

TEST(Error, PlaceIsTheLine) {
  EXPECT_THAT(refusal("s = x(i);\n  y(i) = A(i,j) * x(j)", spmv), HasSubstr("<expr>:2:21: error"));
}

TEST(Error, Indices) {
  EXPECT_THAT(refusal("y(i,k) = A(i,j) * 2", {{"A", input({3, 4})}}),
              AllOf(HasSubstr("<expr>:1:5: error"), HasSubstr("index 'k' is not used on the right")));
  EXPECT_THAT(
      refusal("y(i,i) = A(i,j)", {{"A", input({3, 4})}}),
      AllOf(HasSubstr("index 'i' is repeated on the left"), HasSubstr("<expr>:1:3: note: first used here")));
  EXPECT_THAT(refusal("y(i+1) = A(i,j)", {{"A", input({3, 4})}}), HasSubstr("single index"));
  EXPECT_THAT(refusal("j = 2; y(i) = A(i,j) * j", {{"A", input({3, 4})}}),
              AllOf(HasSubstr("<expr>:1:24: error"),
                    HasSubstr("'j' is an index of this statement, and the name of a tensor")));
  EXPECT_THAT(refusal("y(i) = A(i,j) where j", {{"A", input({3, 4})}}),
              HasSubstr("'j' is an index of this statement, and no tensor: compare it"));
  EXPECT_THAT(refusal("y(i) = A(i)", {{"A", input({3, 4})}}),
              HasSubstr("'A' has 2 dimensions, but 1 subscript here"));
  EXPECT_THAT(
      refusal("y(i) = A(i) + A(i,i)", {{"A", input({3, 3})}}),
      AllOf(HasSubstr("<expr>:1:15: error"), HasSubstr("<expr>:1:8: note: used with 1 subscript here")));
  for (std::string_view choice : {"A(i) if A(i) > 2 else 0", "where(A(i) > 2, A(i), 0)", "if(2.0)"})
    EXPECT_THAT(refusal("y(i) = " + std::string(choice), {{"A", input({3})}}),
                HasSubstr("a choice is written select(condition, then, else)"));
  EXPECT_THAT(refusal("y(i) = mean(2.0)", {}), HasSubstr("a mean is a sum"));
  EXPECT_THAT(refusal("y(i) = A(j*k)", {{"A", input({3})}}), HasSubstr("expected an integer after '*'"));
  EXPECT_THAT(refusal("y(i) = sqr(2.0)", {}), HasSubstr("unknown function 'sqr'; did you mean 'sqrt'?"));
  EXPECT_THAT(refusal("y(i) = sqr(A(i))", {{"A", input({3})}}),
              AllOf(HasSubstr("tensor 'sqr' has no value"), HasSubstr("did you mean 'sqrt'?")));
}

TEST(Error, IndicesThatTensorsGive) {
  const Binding p = input({3}, ElementType::I32), A = input({4, 5}), x = input({4});
  EXPECT_THAT(refusal("y(i) = x(A(i,j))", {{"A", A}, {"x", x}}),
              AllOf(HasSubstr("<expr>:1:10: error: 'A' is a subscript here, and holds f64"),
                    HasSubstr("subscripts are integers")));
  EXPECT_THAT(refusal("y(i) = x(p(i)) else 0", {{"p", p}, {"x", x}}),
              HasSubstr("<expr>:1:16: error: expected"));
  EXPECT_THAT(refusal("y(i) = x(i else 0)", {{"x", x}}),
              AllOf(HasSubstr("<expr>:1:12: error: 'else' is for subscripts that a tensor gives")));
  EXPECT_THAT(refusal("y(i) = x(p(i) else 1)", {{"p", p}, {"x", x}}),
              HasSubstr("<expr>:1:20: error: expected 0 after 'else'"));
  EXPECT_THAT(
      refusal("y(i) = exp(x(p(i) else 0))", {{"p", p}, {"x", x}}),
      AllOf(HasSubstr("<expr>:1:14: error: where 'p(i)' lies outside, this statement has a value of its "
                      "own"),
            HasSubstr("read it in a statement before this one")));
  // 3 + 0 is a coordinate of x, and 3 is none of the index below 4 - 1.
  EXPECT_THAT(refusal("y(i,j) = x(p(i)+j else 0)", {{"p", p}, {"x", x}}),
              AllOf(HasSubstr("<expr>:1:19: error: 'else' stands behind one integer and a constant"),
                    HasSubstr("compute the sum in a tensor of its own")));
  EXPECT_THAT(refusal("y(i) = x(2*p(i) clamp)", {{"p", p}, {"x", x}}), HasSubstr("as in X(p(i)-1 clamp)"));
  EXPECT_THAT(refusal("p(i) = q(p(i))", {{"p", p}, {"q", input({3}, ElementType::I32)}}),
              HasSubstr("<expr>:1:10: error: 'p' is written by this statement"));
  EXPECT_THAT(refusal("z(2*p(i)) = x(i)", {{"p", p}, {"x", input({3})}}), HasSubstr("single index"));
  EXPECT_THAT(refusal("z(p(i)) = x(i)", {{"p", p}, {"x", input({3})}}),
              HasSubstr("give the dimensions of 'z'"));
}

TEST(Error, DigitsOfIndices) {
  const auto CSR = format::parseFormat("CSR", 2), DIA = format::parseFormat("DIA", 2);
  const Binding A{ElementType::F64, {{4, 6}}, CSR, true};
  EXPECT_THAT(
      refusal("v(l) = A(l/4, l%4)", {{"A", A}}),
      HasSubstr("<expr>:1:15: error: 'A' is sparse, so that its dimension has to be the digit of 'l': it "
                "has size 6, but the digit of 0 .. 15 runs over 4"));
  EXPECT_THAT(refusal("v(l) = A(l/6, l%6)", {{"A", A}, {"v", {{}, {{23}}, {}, false}}}),
              HasSubstr("it has size 4, but the digit of 0 .. 22 runs over 3 and a part"));
  EXPECT_THAT(refusal("v(l) = A(l/8, l%8)", {{"A", A}}), HasSubstr("takes values from 0 to 7"));
  // The digits would be loops, which a sparse result has no levels for, and which are those of one system.
  const Binding diagonals{ElementType::F64, {{4, 6}}, DIA, true},
      v{{}, {{24}}, format::parseFormat("(l) -> (l : compressed)", 1), false};
  EXPECT_THAT(refusal("v(l) = A(l/6, l%6)", {{"A", diagonals}, {"v", v}}),
              AllOf(HasSubstr("<expr>:1:8: error: 'A' as DIA is no tensor of whole indices"),
                    HasSubstr("its result dense")));
  const Binding blocks{
      {}, {{24}}, format::parseFormat("(l) -> (l floordiv 4 : dense, l mod 4 : dense)", 1), false};
  EXPECT_THAT(refusal("v(l) = A(l/6, l%6)", {{"A", diagonals}, {"v", blocks}}),
              HasSubstr("dense, without blocks"));
  EXPECT_THAT(refusal("v(l) = A(l/6, l/6%6)", {{"A", A}, {"v", v}}), HasSubstr("no tensor of whole indices"));
  EXPECT_THAT(refusal("v(l) = A(l/6, l%6) * x(l/5)", {{"A", diagonals}, {"x", input({5})}}),
              HasSubstr("those of one number system"));
  EXPECT_THAT(refusal("v(l) = A((l+1)/6, l%6)", {{"A", A}}), HasSubstr("unknown function 'A'"));
  EXPECT_THAT(refusal("v(l) = A(l+1/6, l%6)", {{"A", A}}),
              HasSubstr("<expr>:1:13: error: '/' stands behind a single index, as in A(l / 64, l % 64)"));
  EXPECT_THAT(refusal("v(l) = A(2*l%6, l)", {{"A", A}}), HasSubstr("stands behind a single index"));
  EXPECT_THAT(refusal("v(l) = A(l/0, l%6)", {{"A", A}}), HasSubstr("a subscript '/ 0' has no value"));
  EXPECT_THAT(refusal("v(l/2) = x(l)", {{"x", input({4})}}), HasSubstr("single index"));
}

TEST(Error, SubscriptsLeaveTheirDimension) {
  EXPECT_THAT(
      refusal("y(i) = x(i+1) + z(i)", {{"x", input({4})}, {"z", input({4})}}),
      AllOf(
          HasSubstr(
              "<expr>:1:10: error: the subscript takes values from 1 to 4, but dimension 1 of x has size 4"),
          HasSubstr(
              "note: index 'i' has size 4 from dimension 1 of z; i+0 would leave the size to the sums")));
  EXPECT_THAT(refusal("y(i+0) = x(i)", {{"x", input({4})}}), HasSubstr("single index"));
  EXPECT_THAT(refusal("y(i) = x(i+0) + z(i)", {{"x", input({3})}, {"z", input({4})}}),
              HasSubstr("the subscript takes values from 0 to 3, but dimension 1 of x has size 3"));
  EXPECT_THAT(refusal("y(i) = x(i-1)", {{"x", input({4})}}), HasSubstr("from -1 to"));
  EXPECT_THAT(refusal("y(i) = x(i+1:9)", {{"x", input({4})}}), HasSubstr("ends before 9"));
  EXPECT_THAT(refusal("y(i) = x(i+j)", {{"x", input({4})}}), HasSubstr("the size of index"));
}

TEST(Error, Names) {
  EXPECT_THAT(refusal("y(i) = A(i,j) * xs(j)", {{"A", input({3, 4})}}),
              AllOf(HasSubstr("<expr>:1:17: error"), HasSubstr("tensor 'xs' has no value")));
  EXPECT_THAT(refusal("y(i) = matrx(i)", {{"matrix", input({3})}}), HasSubstr("did you mean 'matrx'?"));
  EXPECT_THAT(refusal("y(i) = sqr(x(i))", {{"x", input({3})}}), HasSubstr("did you mean 'sqrt'?"));
  EXPECT_THAT(refusal("y(i) = sum(j, A(i,j))", {{"A", input({3, 3})}}),
              HasSubstr("an index that is not on the left is summed"));
  EXPECT_THAT(refusal("s = sum(A(i,j))", {{"A", input({3, 3})}}),
              HasSubstr("an index that is not on the left is summed"));
  EXPECT_THAT(refusal("exp(i) = x(i)", {{"x", input({3})}}), HasSubstr("a tensor needs another name"));
  EXPECT_THAT(refusal("y(i) = y(i) + x(i)", {{"x", input({3})}}),
              HasSubstr("read by the statement that writes it"));
  EXPECT_THAT(refusal("y(i) = z(i); z(i) = x(i)", {{"x", input({3})}}),
              AllOf(HasSubstr("read before the statement"), HasSubstr("<expr>:1:14: note: written here")));
}

TEST(Error, Syntax) {
  const std::map<std::string, Binding> x = {{"x", input({3})}};
  EXPECT_THAT(refusal("", {}), HasSubstr("expected a statement"));
  EXPECT_THAT(refusal("y(i)", x), HasSubstr("<expr>:1:5: error: expected = or a reduction"));
  EXPECT_THAT(refusal("y(i) = ", x), HasSubstr("found the end"));
  EXPECT_THAT(refusal("y(i) = x(i", x),
              AllOf(HasSubstr("expected ',' or ')'"), HasSubstr("<expr>:1:9: note: to match this '('")));
  EXPECT_THAT(refusal("y(i] = x(i)", x), HasSubstr("expected ',' or ')'"));
  EXPECT_THAT(refusal("y(i) avg= x(i)", x), HasSubstr("unknown reduction 'avg='"));
  EXPECT_THAT(refusal("y(i) = 2x(i)", x), HasSubstr("a product needs its '*'"));
  EXPECT_THAT(refusal("y(i) = x(i) x(i)", x), HasSubstr("expected an operator"));
  EXPECT_THAT(refusal("y(i) = x(i) < 1 < 2", x), HasSubstr("comparisons do not chain"));
  EXPECT_THAT(refusal("y(i) = x(i) $ 2", x), HasSubstr("unexpected '$'"));
  EXPECT_THAT(refusal("y(i) = x(i) \xc3\x97 2", x), HasSubstr("byte 0xc3"));
  EXPECT_THAT(refusal("y(i) = x(i) + 99999999999999999999", x), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(refusal("y(i) = x(i) + 1e999", x), HasSubstr("does not fit f64"));
  EXPECT_THAT(refusal("y(i) = x(99999999999999*i)", x), HasSubstr("beyond 2^40"));
  EXPECT_THAT(refusal("y(i) = sqrt(x(i), 2)", x), HasSubstr("sqrt takes 1 argument, 2 given"));
  EXPECT_THAT(refusal("y(i) = exp", x), HasSubstr("needs arguments"));
  EXPECT_THAT(refusal("y(i) = x(i) where", x), HasSubstr("expected a tensor whose stored entries select"));
}

TEST(Error, DepthIsLimited) {
  const std::map<std::string, Binding> x = {{"x", input({3})}};
  std::string nested = "y(i) = " + std::string(1500, '(') + "x(i)" + std::string(1500, ')');
  EXPECT_THAT(refusal(nested, x), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal("y(i) = " + std::string(3000, '-') + "x(i)", x), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal("y(i) = x(i) where " + std::string(3000, '~') + "x", x), HasSubstr("nested deeper"));
  std::string chain = "y(i) = x(i)";
  for (int n = 0; n < 700; ++n)
    chain += "+s";
  EXPECT_THAT(refusal(chain, {{"x", input({3})}, {"s", input({})}}), HasSubstr("build on each other"));
  std::string tokens;
  for (int n = 0; n < 17000; ++n)
    tokens += "; ";
  EXPECT_THAT(refusal(tokens, {}), HasSubstr("more than 16000 tokens"));
}

TEST(Error, Types) {
  using enum ElementType;
  auto message = [](std::string_view expression, ElementType x) {
    return refusal("y(i) = " + std::string(expression), {{"x", input({3}, x)}});
  };
  EXPECT_THAT(message("x(i) & 1", F64), HasSubstr("'&' is not defined on f64"));
  EXPECT_THAT(message("x(i) ^ 2", F64), HasSubstr("a power is written **"));
  EXPECT_THAT(message("x(i) << x(i)", Bool), AllOf(HasSubstr("<expr>:1:8"), HasSubstr("'<<'")));
  EXPECT_THAT(message("min(x(i), 0)", C64), HasSubstr("no order"));
  EXPECT_THAT(message("x(i) < 1", C128), HasSubstr("no order"));
  EXPECT_THAT(message("f64(x(i))", C128), HasSubstr("real("));
  EXPECT_THAT(message("imag(x(i))", F64), HasSubstr("imaginary part is 0"));
  EXPECT_THAT(message("-x(i)", Bool), HasSubstr("'-'"));
  EXPECT_THAT(message("~x(i)", F32), HasSubstr("'~'"));
  EXPECT_THAT(refusal("y(i) |= x(i)", {{"x", input({3})}}),
              AllOf(HasSubstr("<expr>:1:6"), HasSubstr("|= &= ^=")));
  EXPECT_THAT(refusal("y(i) max= x(i)", {{"x", input({3}, C64)}}), HasSubstr("no order"));
}

TEST(Error, SizesThatOverflowAreRefusedOrExact) {
  int64_t huge = INT64_MAX;
  EXPECT_THAT(refusal("y(i) = x(i) + z(2*i)", {{"x", input({huge})}, {"z", input({huge})}}),
              HasSubstr("takes values from 0 to"));
  EXPECT_THAT(refusal("y(i) = x(i)", {{"x", input({-5})}}), HasSubstr("sizes are not negative"));
}

} // namespace
} // namespace tulle::notation
