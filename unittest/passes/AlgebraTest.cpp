// What a statement's body yields where operands store nothing. Operand 0 is a, 1 is b.
#include "passes/sparsify/Algebra.h"
#include "ParsedModule.h"

namespace tulle::passes {
namespace {

constexpr uint64_t kA = 1, kB = 2, kAccumulator = 4;

/// A reduction over two sparse vectors whose fill is `fill`; the body computes %r from %a, %b and %acc.
struct Body : ParsedModule {
  explicit Body(const std::string &body, const std::string &fill = "")
      : ParsedModule(
            "#V = #tulle.encoding<{ map = (i) -> (i : compressed)" +
            (fill.empty() ? "" : ", fill = " + fill) +
            " }>\n"
            "func.func @f(%A: tensor<?xf64, #V>, %B: tensor<?xf64, #V>, %S: tensor<f64>) -> tensor<f64> {\n"
            "  %zero = arith.constant 0.0 : f64\n  %two = arith.constant 2.0 : f64\n"
            "  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, "
            "affine_map<(i) -> ()>], iterator_types = [\"reduction\"]}\n"
            "    ins(%A, %B : tensor<?xf64, #V>, tensor<?xf64, #V>) outs(%S : tensor<f64>) {\n"
            "  ^bb0(%a: f64, %b: f64, %acc: f64):\n" +
            body + "\n    linalg.yield %r : f64\n  } -> tensor<f64>\n  return %s : tensor<f64>\n}\n"),
        algebra(first<mlir::linalg::GenericOp>()) {}

  mlir::Value argument(unsigned n) { return first<mlir::linalg::GenericOp>().getBody()->getArgument(n); }
  /// The constant that the body yields; nothing for another value.
  std::optional<double> constant(Presence at) {
    auto number =
        mlir::dyn_cast_or_null<mlir::FloatAttr>(mlir::dyn_cast<mlir::Attribute>(algebra.yielded(at)));
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  }
  uint64_t inputsRead(Presence at) { return algebra.reads(algebra.yieldOperand(), at).inputs; }

  BodyAlgebra algebra;
};

const std::string product = "%p = arith.mulf %a, %b : f64\n%r = arith.addf %acc, %p : f64";
const std::string sum = "%p = arith.addf %a, %b : f64\n%r = arith.addf %acc, %p : f64";

TEST(Algebra, AProductIsNothingWithoutOneOfItsFactors) {
  Body body(product);
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kA}));
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kB}));
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kA, .present = kB}));
  EXPECT_FALSE(body.algebra.isNoOp({.present = kA | kB}));
  EXPECT_FALSE(body.algebra.isNoOp({}));
}

TEST(Algebra, ASumIsTheOtherTermWithoutOneOfThem) {
  Body body(sum);
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kA | kB}));
  EXPECT_FALSE(body.algebra.isNoOp({.absent = kA}));
  EXPECT_EQ(body.inputsRead({.absent = kA}), kB | kAccumulator);
  EXPECT_EQ(body.inputsRead({.absent = kB}), kA | kAccumulator);
  EXPECT_EQ(body.inputsRead({}), kA | kB | kAccumulator);
}

TEST(Algebra, FromAKnownAccumulatorTheResultIsAConstant) {
  Body body(product);
  body.algebra.setAccumulator(mlir::Builder(&body.context).getF64FloatAttr(0));
  EXPECT_EQ(body.constant({.absent = kA}), 0.0);
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kA}));
  EXPECT_FALSE(body.algebra.isNoOp({}));
}

TEST(Algebra, ZeroThatIsWrittenDoesNotAnnihilate) {
  // 0 * inf is nan: the operand's entries have to be read.
  Body body("%p = arith.mulf %zero, %a : f64\n%r = arith.addf %acc, %p : f64");
  EXPECT_FALSE(body.algebra.isNoOp({.present = kA}));
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kA}));
}

TEST(Algebra, InfinityAnnihilatesInSumsOfMinima) {
  Body body("%p = arith.addf %a, %b : f64\n%r = arith.minimumf %acc, %p : f64", "inf");
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kA}));
  EXPECT_TRUE(body.algebra.isNoOp({.absent = kB, .present = kA}));
  EXPECT_FALSE(body.algebra.isNoOp({.present = kA | kB}));
}

TEST(Algebra, AFillThatIsNotZeroIsAFactor) {
  Body body(product, "2.0");
  EXPECT_FALSE(body.algebra.isNoOp({.absent = kA}));
  EXPECT_EQ(body.inputsRead({.absent = kA}), kB | kAccumulator);
  Body both("%r = arith.mulf %a, %b : f64", "2.0");
  EXPECT_EQ(both.constant({.absent = kA | kB}), 4.0);
}

TEST(Algebra, WhetherAnEntryIsStoredIsKnownWherePresenceIs) {
  Body body("%t = tulle.stored %a : f64\n%r = arith.select %t, %b, %two : f64");
  EXPECT_EQ(body.algebra.yielded({.present = kA}), mlir::OpFoldResult(body.argument(1)));
  EXPECT_EQ(body.constant({.absent = kA}), 2.0);
  EXPECT_EQ(body.constant({}), std::nullopt);
}

TEST(Algebra, ConstantsOnceOrOften) {
  // exp(0) is 1: the maximum with 1 is the same once and often, the sum is not.
  const Presence absent{.absent = kA};
  Body largest("%p = math.exp %a : f64\n%r = arith.maximumf %acc, %p : f64");
  EXPECT_TRUE(largest.algebra.isIdempotentConstant(absent));
  EXPECT_FALSE(largest.algebra.isNoOp(absent));
  EXPECT_FALSE(largest.algebra.isIdempotentConstant({.present = kA}));
  Body total("%p = math.exp %a : f64\n%r = arith.addf %acc, %p : f64");
  EXPECT_FALSE(total.algebra.isIdempotentConstant(absent));
}

TEST(Algebra, ResidualsAreEqualForWhatIsEqual) {
  // Without a, a * b and a are the same zero for whatever becomes known of b; with it they differ.
  Body body("%p = arith.mulf %a, %b : f64\n%q = arith.addf %p, %b : f64\n%r = arith.addf %acc, %q : f64");
  mlir::Value p = body.first<mlir::arith::MulFOp>(), q = body.first<mlir::arith::AddFOp>();
  const Presence absent{.absent = kA};
  EXPECT_EQ(body.algebra.residual(q, absent), body.algebra.residual(body.argument(1), absent));
  EXPECT_EQ(body.algebra.residual(p, absent), body.algebra.residual(body.argument(0), absent));
  EXPECT_NE(body.algebra.residual(q, {}), body.algebra.residual(body.argument(1), {}));
}

} // namespace
} // namespace tulle::passes
