// How often loops run at most, from their bounds alone.
#include "ParsedModule.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
namespace {

/// A loop between these bounds, which may use %n, %x, and the constants %c0, %c1, %c3, %c4 and %c10.
struct Loop : ParsedModule {
  Loop(const std::string &setup, const std::string &lower, const std::string &upper,
       const std::string &step = "%c1")
      : ParsedModule("func.func @f(%n: index, %x: index) {\n"
                     "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
                     "  %c3 = arith.constant 3 : index\n  %c4 = arith.constant 4 : index\n"
                     "  %c10 = arith.constant 10 : index\n" +
                     setup + "\n  scf.for %i = " + lower + " to " + upper + " step " + step +
                     " {\n  }\n  return\n}\n") {}

  std::optional<int64_t> most() { return maxTripCount(first<mlir::scf::ForOp>()); }
  std::optional<int64_t> constant() { return exactTripCount(first<mlir::scf::ForOp>()); }
};

TEST(TripCount, ConstantBounds) {
  EXPECT_EQ(Loop("", "%c3", "%c10").constant(), 7);
  EXPECT_EQ(Loop("", "%c3", "%c10").most(), 7);
}

TEST(TripCount, StepsAreCounted) {
  EXPECT_EQ(Loop("", "%c0", "%c10", "%c4").constant(), 3);
  EXPECT_EQ(Loop("", "%c0", "%c10", "%c4").most(), 3);
  EXPECT_EQ(Loop("", "%c1", "%c10", "%c3").constant(), 3);
  EXPECT_EQ(Loop("", "%c10", "%c3", "%c4").constant(), 0);
  EXPECT_EQ(Loop("", "%c0", "%c10", "%n").constant(), std::nullopt);
}

TEST(TripCount, BoundsThatCrossMeanNoIteration) {
  EXPECT_EQ(Loop("", "%c10", "%c3").constant(), 0);
  EXPECT_EQ(Loop("", "%c10", "%c3").most(), 0);
}

TEST(TripCount, NothingIsKnownOfAnArgument) {
  EXPECT_EQ(Loop("", "%c0", "%n").constant(), std::nullopt);
  EXPECT_EQ(Loop("", "%c0", "%n").most(), std::nullopt);
  EXPECT_EQ(Loop("", "%x", "%c10").most(), std::nullopt);
}

TEST(TripCount, AMinimumWithAConstantIsAnUpperBound) {
  for (const char *minimum :
       {"arith.minui %n, %c4", "arith.minui %c4, %n", "arith.minsi %n, %c4", "arith.minsi %c4, %n"}) {
    Loop full(std::string("%m = ") + minimum + " : index", "%c0", "%m");
    EXPECT_EQ(full.most(), 4) << minimum;
    EXPECT_EQ(full.constant(), std::nullopt) << minimum;
    Loop partial(std::string("%m = ") + minimum + " : index", "%c3", "%m");
    EXPECT_EQ(partial.most(), 1) << minimum;
    Loop none(std::string("%m = ") + minimum + " : index", "%c10", "%m");
    EXPECT_EQ(none.most(), 0) << minimum;
  }
}

TEST(TripCount, AMaximumIsNone) {
  EXPECT_EQ(Loop("%m = arith.maxui %n, %c4 : index", "%c0", "%m").most(), std::nullopt);
}

TEST(TripCount, FromAnyNumberToThatManyMore) {
  EXPECT_EQ(Loop("%e = arith.addi %x, %c4 : index", "%x", "%e").most(), 4);
  EXPECT_EQ(Loop("%e = arith.addi %c4, %x : index", "%x", "%e").most(), 4);
  EXPECT_EQ(Loop("%e = arith.addi %x, %n : index", "%x", "%e").most(), std::nullopt);
  // Of another number nothing follows.
  EXPECT_EQ(Loop("%e = arith.addi %n, %c4 : index", "%x", "%e").most(), std::nullopt);
}

TEST(TripCount, TheBoundOfABlock) {
  Loop loop("%m = arith.minui %n, %c4 : index", "%c0", "%m");
  EXPECT_EQ(minWithConstant(loop.first<mlir::scf::ForOp>().getUpperBound()), 4);
  EXPECT_EQ(minWithConstant(loop.first<mlir::scf::ForOp>().getLowerBound()), std::nullopt);
  Loop argument("", "%c0", "%n");
  EXPECT_EQ(minWithConstant(argument.first<mlir::scf::ForOp>().getUpperBound()), std::nullopt);
}

} // namespace
} // namespace tulle::passes
