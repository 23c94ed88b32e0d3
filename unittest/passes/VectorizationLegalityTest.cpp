// Which loops may run several iterations at once, and what is known of them.
#include "passes/analysis/VectorizationLegality.h"
#include "ParsedModule.h"

namespace tulle::passes {
namespace {

using mlir::vector::CombiningKind;

const std::string arguments =
    "(%x: memref<?xf64>, %y: memref<?xf64>, %h: memref<?xf16>, %c: memref<?xi32>, %n: index, %v: f64)";

/// `for i = 0 to n` over buffers x, y, h (f16), c (i32), with a number v.
struct Loop : ParsedModule {
  explicit Loop(const std::string &body, const std::string &attributes = "", const std::string &step = "%c1")
      : ParsedModule("func.func private @call()\nfunc.func @f" + arguments + " {\n" + constants +
                     "  scf.for %i = %c0 to %n step " + step + " {\n" + body + "\n  } " + attributes +
                     "\n  return\n}\n") {}
  /// A loop that carries a number of f64; the body yields it.
  static Loop carrying(const std::string &body) { return Loop(Carrying{}, body); }

  std::optional<VectorizationLegality> plan() { return analyzeLoop(first<mlir::scf::ForOp>(), &missed); }
  /// The name of the operation that keeps the loop scalar; empty where it may run in lanes.
  std::string refused() {
    return plan() ? "" : missed.op ? missed.op->getName().getStringRef().str() : "unknown";
  }

private:
  struct Carrying {};
  Loop(Carrying, const std::string &body)
      : ParsedModule("func.func @f" + arguments + " -> f64 {\n" + constants +
                     "  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %v) -> (f64) {\n" + body +
                     "\n  }\n  return %r : f64\n}\n") {}
  inline static const std::string constants = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : "
                                              "index\n  %c2 = arith.constant 2 : index\n";
  MissedVectorization missed;
};

const std::string readX = "%a = memref.load %x[%i] : memref<?xf64>\n";
const std::string coordinate = "%k32 = memref.load %c[%i] : memref<?xi32>\n"
                               "%k = arith.index_cast %k32 : i32 to index\n";

TEST(VectorizationLegality, ElementByElement) {
  Loop loop(readX + "%p = arith.mulf %a, %v : f64\nmemref.store %p, %y[%i] : memref<?xf64>");
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->gathers || plan->scatters || plan->branches);
  EXPECT_TRUE(plan->reductions.empty());
  EXPECT_EQ(plan->widestBits, 64u);
  EXPECT_EQ(plan->shapeOf(plan->loop.getInductionVar()), LaneShape::Consecutive);
  EXPECT_EQ(plan->shapeOf(loop.first<mlir::memref::LoadOp>()), LaneShape::Varying);
  EXPECT_EQ(plan->shapeOf(plan->loop.getUpperBound()), LaneShape::Uniform);
}

TEST(VectorizationLegality, AddingToTheIndexKeepsItConsecutive) {
  Loop loop("%next = arith.addi %i, %c2 : index\n%twice = arith.muli %i, %c2 : index\n"
            "%a = memref.load %x[%next] : memref<?xf64>\nmemref.store %a, %y[%i] : memref<?xf64>");
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->shapeOf(loop.first<mlir::arith::AddIOp>()), LaneShape::Consecutive);
  EXPECT_EQ(plan->shapeOf(loop.first<mlir::arith::MulIOp>()), LaneShape::Varying);
  EXPECT_FALSE(plan->gathers);
}

TEST(VectorizationLegality, IndirectReadsAreGathersOf32BitsOrMore) {
  Loop wide(coordinate + "%a = memref.load %x[%k] : memref<?xf64>\nmemref.store %a, %y[%i] : memref<?xf64>");
  ASSERT_TRUE(wide.plan());
  EXPECT_TRUE(wide.plan()->gathers);
  Loop narrow(coordinate +
              "%a = memref.load %h[%k] : memref<?xf16>\nmemref.store %a, %h[%i] : memref<?xf16>");
  EXPECT_EQ(narrow.refused(), "memref.load");
}

TEST(VectorizationLegality, IndirectStoresOnlyWhereIterationsAreIndependent) {
  const std::string body = coordinate + "memref.store %v, %y[%k] : memref<?xf64>";
  EXPECT_EQ(Loop(body).refused(), "memref.store");
  EXPECT_EQ(Loop(body, "{tulle.loop = #tulle.loop<reduction>}").refused(), "memref.store");
  Loop parallel(body, "{tulle.loop = #tulle.loop<parallel>}");
  ASSERT_TRUE(parallel.plan());
  EXPECT_TRUE(parallel.plan()->scatters);
}

TEST(VectorizationLegality, OneElementForAllIterationsIsNotStored) {
  EXPECT_EQ(Loop(readX + "memref.store %a, %y[%c0] : memref<?xf64>").refused(), "memref.store");
}

TEST(VectorizationLegality, WhatAnIterationStoresNoOtherMayRead) {
  const std::string previous = "%a = memref.load %y[%i] : memref<?xf64>\n";
  EXPECT_EQ(Loop(previous + "memref.store %a, %y[%i] : memref<?xf64>").refused(), "");
  EXPECT_EQ(Loop(previous + "%next = arith.addi %i, %c1 : index\nmemref.store %a, %y[%next] : memref<?xf64>")
                .refused(),
            "memref.load");
}

TEST(VectorizationLegality, StepsOfOneOnly) {
  EXPECT_EQ(Loop(readX + "memref.store %a, %y[%i] : memref<?xf64>", "", "%c2").refused(), "scf.for");
}

TEST(VectorizationLegality, EffectsKeepALoopScalar) {
  EXPECT_EQ(Loop("func.call @call() : () -> ()").refused(), "func.call");
}

TEST(VectorizationLegality, SumsOfNumbersOnlyWhereTheirOrderMayChange) {
  Loop fast = Loop::carrying(readX + "%s = arith.addf %acc, %a fastmath<reassoc> : f64\nscf.yield %s : f64");
  auto plan = fast.plan();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->reductions.size(), 1u);
  EXPECT_EQ(plan->reductions[0].kind, CombiningKind::ADD);
  EXPECT_EQ(plan->reductions[0].input, fast.first<mlir::memref::LoadOp>().getResult());
  EXPECT_TRUE(plan->isReductionStep(fast.first<mlir::arith::AddFOp>()));
  Loop strict = Loop::carrying(readX + "%s = arith.addf %acc, %a : f64\nscf.yield %s : f64");
  EXPECT_EQ(strict.refused(), "arith.addf");
}

TEST(VectorizationLegality, TheOrderOfMaximaMayAlwaysChange) {
  Loop loop = Loop::carrying(readX + "%s = arith.maximumf %a, %acc : f64\nscf.yield %s : f64");
  ASSERT_TRUE(loop.plan());
  EXPECT_EQ(loop.plan()->reductions[0].kind, CombiningKind::MAXIMUMF);
}

TEST(VectorizationLegality, WhatIsSubtractedIsASumButNotTheOtherWayRound) {
  const std::string flags = " fastmath<reassoc> : f64\nscf.yield %s : f64";
  Loop minus = Loop::carrying(readX + "%s = arith.subf %acc, %a" + flags);
  ASSERT_TRUE(minus.plan());
  EXPECT_EQ(minus.plan()->reductions[0].kind, CombiningKind::ADD);
  EXPECT_EQ(Loop::carrying(readX + "%s = arith.subf %a, %acc" + flags).refused(), "arith.subf");
}

TEST(VectorizationLegality, APartialSumThatIsSeenIsNoReduction) {
  EXPECT_EQ(Loop::carrying(readX + "%s = arith.addf %acc, %a fastmath<reassoc> : f64\n"
                                   "memref.store %acc, %y[%i] : memref<?xf64>\nscf.yield %s : f64")
                .refused(),
            "arith.addf");
}

TEST(VectorizationLegality, ConditionalSums) {
  Loop loop = Loop::carrying(readX + "%t = arith.cmpf ogt, %a, %v : f64\n"
                                     "%p = arith.addf %acc, %a fastmath<reassoc> : f64\n"
                                     "%s = arith.select %t, %acc, %p : f64\nscf.yield %s : f64");
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->reductions[0].select, loop.first<mlir::arith::SelectOp>());
  EXPECT_EQ(plan->reductions[0].condition, loop.first<mlir::arith::CmpFOp>().getResult());
  EXPECT_FALSE(plan->reductions[0].selectsOnTrue);
}

TEST(VectorizationLegality, BranchesWithOneSide) {
  const std::string test = readX + "%t = arith.cmpf ogt, %a, %v : f64\n";
  const std::string store = "memref.store %a, %y[%i] : memref<?xf64>\n";
  Loop one(test + "scf.if %t {\n" + store + "}");
  ASSERT_TRUE(one.plan());
  EXPECT_TRUE(one.plan()->branches);
  EXPECT_EQ(Loop(test + "scf.if %t {\n" + store + "} else {\n" + store + "}").refused(), "scf.if");
}

} // namespace
} // namespace tulle::passes
