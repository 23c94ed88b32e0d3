// Where results are stored.
#include "notation/Sparsity.h"
#include "Support.h"

namespace tulle::notation {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A, B, M and the result C are CSR matrices, E, F and G too, with infinity where nothing is stored; D is a
/// dense matrix, P and Q too, x and m dense vectors.
struct Analysis {
  Program program;
  ResultPattern pattern;
  std::string operand() const { return pattern.operand ? print(program, *pattern.operand) : ""; }
};

Analysis analyze(std::string_view text) {
  format::Encoding csr = format::parseFormat("CSR", 2), far = csr;
  far.fill = "inf";
  std::map<std::string, Binding> bindings;
  for (const TensorUse &use : tensorsUsed(text)) {
    bool sparse = std::string("ABMC").find(use.name) != std::string::npos,
         unset = std::string("EFG").find(use.name) != std::string::npos;
    bindings[use.name] = {ElementType::F64, std::vector<int64_t>(use.order, 3),
                          sparse  ? std::optional(csr)
                          : unset ? std::optional(far)
                                  : std::nullopt,
                          !use.written};
  }
  Analysis a{check(text, bindings), {PatternKind::Dense, nullptr, {}}};
  a.pattern = resultPattern(a.program, a.program.statements.back());
  return a;
}

std::string operandOf(std::string_view text) {
  Analysis a = analyze(text);
  EXPECT_EQ(a.pattern.kind, PatternKind::Operand) << text << "\n" << a.pattern.reason;
  return a.operand();
}
std::string dense(std::string_view text) {
  Analysis a = analyze(text);
  EXPECT_EQ(a.pattern.kind, PatternKind::Dense) << text;
  return a.pattern.reason;
}
void expectComputed(std::string_view text) {
  Analysis a = analyze(text);
  EXPECT_EQ(a.pattern.kind, PatternKind::Computed) << text << "\n" << a.pattern.reason;
}

TEST(Sparsity, OneOperandsPattern) {
  EXPECT_EQ(operandOf("C(i,j) = 2 * A(i,j)"), "A(i,j)");
  EXPECT_EQ(operandOf("C(j,i) = A(j,i) / x(i)"), "A(j,i)");
  EXPECT_EQ(operandOf("C(i,j) = M(i,j) * P(i,k) * Q(k,j)"), "M(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = P(i,j) * (A(i,j) + 3 * A(i,j))"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = sqrt(abs(-A(i,j))) ** 2"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = A(i,j) * A(i,j)"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = select(A(i,j) > 0, A(i,j), 0.1 * A(i,j))"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = A(i,j) * B(j,k)"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = min(A(i,j), 0)"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) max= A(i,j)"), "A(i,j)");
}

TEST(Sparsity, MaskDecides) {
  EXPECT_EQ(operandOf("C(i,j) = exp(A(i,j) - m(i)) where A"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = P(i,j) where M"), "M(i,j)");
  EXPECT_EQ(operandOf("C(i,j) max= A(i,j) * P(j,k) where A"), "A(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = A(i,k) * B(k,j) where M"), "M(i,j)");
  EXPECT_EQ(operandOf("C(i,j) = A(i,j) + B(i,j) where A"), "A(i,j)");
  expectComputed("C(i,j) = P(i,j) where A & B");
  expectComputed("C(i,j) = A(i,j) where ~B & A");
  expectComputed("C(i,j) = A(i,k) * B(k,j) where ~M");
}

// A comparison of values leaves points out that are known when the program runs.
TEST(Sparsity, ComparisonsDecideWhereTheResultIsStored) {
  expectComputed("C(i,j) = A(i,j) where (A(i,j) > 0)");
  expectComputed("C(i,j) = P(i,j) where (P(i,j) > 0)");
  expectComputed("C(i,j) = P(i,j) where ~(x(i) > 0) | A");
  EXPECT_THAT(dense("C(i,j) = P(i,j) where ~(A(i,j) > 0)"), HasSubstr("P(i,j) is nonzero"));
}

TEST(Sparsity, DenseNamesTheCulprit) {
  EXPECT_THAT(dense("C(i,j) = exp(A(i,j))"),
              AllOf(HasSubstr("exp(A(i,j)) is nonzero where nothing is stored"),
                    HasSubstr("add `where A(i,j)`, or give C a dense format")));
  EXPECT_THAT(dense("C(i,j) = A(i,j) + 2 * x(i)"), HasSubstr("2.0 * x(i) is nonzero"));
  EXPECT_THAT(dense("C(i,j) max= A(i,j) * P(j,k)"), HasSubstr("add `where A(i,j)`"));
  EXPECT_THAT(dense("C(i,j) min= A(i,j) where P(j,k)"), HasSubstr("starts from a value"));
  EXPECT_THAT(dense("C(i,j) = P(i,j)"), HasSubstr("P(i,j) is nonzero"));
  EXPECT_THAT(dense("C(i,j) = f64(A(i,j) == 0)"), HasSubstr("A(i,j) == 0.0 is nonzero"));
  EXPECT_THAT(dense("C(i,j) = A(i,j) ** x(i)"), HasSubstr("pow(A(i,j), x(i))"));
}

TEST(Sparsity, PatternsOfTheirOwn) {
  expectComputed("C(i,j) = A(i,j) + B(i,j)");
  expectComputed("C(i,j) = min(A(i,j), B(i,j))");
  expectComputed("C(i,j) = A(i,j) * B(i,j)");
  expectComputed("C(i,j) = A(i,k) * B(k,j)");
  expectComputed("C(j,i) = A(i,j)");
  expectComputed("C(i,j) = A(i,j); C(i,j) += A(i,j)");
  expectComputed("C(i,j) += P(i,k) * B(k,j)");
  expectComputed("C(i,j) max= A(i,k) * B(k,j) where A(i,k) & B(k,j)");
}

// What is not stored is 0 of the tropical semiring: it annihilates sums, and minima pass it over.
TEST(Sparsity, FillsThatReductionsStartFrom) {
  expectComputed("G(i,j) min= E(i,k) + F(k,j)");
  expectComputed("G(i,j) min= E(i,k) + P(k,j)");
  expectComputed("G(i,j) = E(i,j) + F(i,j)");
  expectComputed("G(i,j) = min(E(i,j), F(i,j))");
  expectComputed("G(i,j) = f64(f32(E(i,j)))");
  EXPECT_THAT(dense("C(i,j) min= E(i,k) + F(k,j)"), HasSubstr("give C that fill"));
  EXPECT_THAT(dense("G(i,j) = -E(i,j)"), HasSubstr("not the fill of G"));
  EXPECT_THAT(dense("G(i,j) = A(i,j)"), HasSubstr("A(i,j) is not the fill of G"));
  EXPECT_THAT(dense("G(i,j) = E(i,k) + F(k,j)"), HasSubstr("takes in what is not stored"));
  EXPECT_THAT(dense("C(i,j) max= A(i,k) * B(k,j)"), HasSubstr("add `where A(i,k) & B(k,j)`"));
}

bool isNeutralWithout(std::string_view text, std::string_view absent) {
  Analysis a = analyze(text);
  return isNeutral(a.program, a.program.statements.back(),
                   [&](const Access &access) { return print(a.program, access) == absent; });
}

// What a factor of 1 contributes is nothing, and x ** 0 is 1 for every x.
TEST(Sparsity, PowersOfWhatIsNotStored) {
  EXPECT_TRUE(isNeutralWithout("x(i) *= P(i,j) ** B(i,j)", "B(i,j)"));
  EXPECT_FALSE(isNeutralWithout("x(i) *= A(i,j) ** P(i,j)", "A(i,j)")); // 0 ** 0 is 1, 0 ** 1 is not
  EXPECT_FALSE(isNeutralWithout("x(i) += P(i,j) ** B(i,j)", "B(i,j)"));
  EXPECT_FALSE(isNeutralWithout("x(i) *= P(i,j) ** E(i,j)", "E(i,j)")); // not stored is infinite there
}

TEST(Sparsity, ValuesThatFollowFromWhatIsNotStored) {
  EXPECT_TRUE(isNeutralWithout("C(i,j) = exp(A(i,j)) - 1", "A(i,j)"));
  EXPECT_FALSE(isNeutralWithout("C(i,j) = exp(A(i,j)) - P(i,j)", "A(i,j)"));
  EXPECT_TRUE(isNeutralWithout("x(i) += select(A(i,j) > 0, P(i,j), 0)", "A(i,j)"));
  // Division of integers by 0 is 0, whatever is divided; of floats it is not.
  EXPECT_TRUE(isNeutralWithout("x(i) += i64(P(i,j)) % i64(A(i,j))", "A(i,j)"));
  EXPECT_TRUE(isNeutralWithout("x(i) += i64(P(i,j)) / i64(A(i,j))", "A(i,j)"));
  EXPECT_FALSE(isNeutralWithout("x(i) += P(i,j) / A(i,j)", "A(i,j)"));
}

TEST(Sparsity, ZerosThatAreWrittenDoNotAnnihilate) {
  Analysis a = analyze("C(i,j) = 0 * x(i) * A(i,j)");
  auto nothing = [](const Access &) { return false; };
  EXPECT_FALSE(isAbsent(a.program.statements[0].rhs, nothing));
}

TEST(Sparsity, ResultsTakeTheWidthsOfTheirOperand) {
  format::Encoding csr = format::parseFormat("CSR", 2), wide = csr;
  wide.posWidth = wide.crdWidth = 64;
  Program p =
      check("C(i,j) = 2 * A(i,j); D(i,j) = C(i,j)",
            {{"A", {{}, {{3, 3}}, wide, true}}, {"C", {{}, {}, csr, false}}, {"D", {{}, {}, csr, false}}});
  EXPECT_EQ(p.tensors[0].encoding, wide);
  EXPECT_EQ(p.tensors[2].encoding, wide);
}

} // namespace
} // namespace tulle::notation
