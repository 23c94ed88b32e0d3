// Which parts of a loop with indirect stores may run for several iterations before the next part does.
#include "passes/pipelining/PipelinePlan.h"
#include "ParsedModule.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tulle::passes {
namespace {

/// `for i = 0 to n` over coordinates c, cursors, results out and a flag.
struct Loop : ParsedModule {
  explicit Loop(const std::string &body, const std::string &step = "%c1")
      : ParsedModule("func.func private @other() -> memref<?xf64>\n"
                     "func.func @f(%c: memref<?xindex>, %cursors: memref<?xindex>, %out: memref<?xf64>, "
                     "%flag: memref<?xindex>, %n: index, %v: f64) {\n"
                     "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
                     "  %unknown = func.call @other() : () -> memref<?xf64>\n"
                     "  scf.for %i = %c0 to %n step " +
                     step + " {\n" + body + "  }\n  return\n}\n") {}

  std::optional<PipelinePlan> plan() { return PipelinePlan::of(first<mlir::scf::ForOp>()); }
  /// The stage of the n-th operation of the body that has one.
  static PipelineStage stageOf(const PipelinePlan &plan, mlir::Operation *op) {
    for (auto [staged, stage] : plan.stages)
      if (staged == op)
        return stage;
    throw std::runtime_error("the operation has no stage");
  }
};

/// An entry goes where the cursor of its row is, which moves on: what CSR to CSC does.
const std::string readCursor = "%k = memref.load %c[%i] : memref<?xindex>\n"
                               "%at = memref.load %cursors[%k] : memref<?xindex>\n";
const std::string moveCursor = "%next = arith.addi %at, %c1 : index\n"
                               "memref.store %next, %cursors[%k] : memref<?xindex>\n";
const std::string scatter = "memref.store %v, %out[%at] : memref<?xf64>\n";

TEST(PipelinePlan, EntriesGoWhereCursorsAre) {
  Loop loop(readCursor + moveCursor + scatter);
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->guards.empty());
  auto loads = loop.all<mlir::memref::LoadOp>();
  auto stores = loop.all<mlir::memref::StoreOp>();
  // No iteration changes coordinates. A cursor may be that of an earlier iteration's row: in order.
  EXPECT_EQ(Loop::stageOf(*plan, loads[0]), PipelineStage::Load);
  EXPECT_EQ(Loop::stageOf(*plan, loads[1]), PipelineStage::Update);
  EXPECT_EQ(Loop::stageOf(*plan, stores[0]), PipelineStage::Update);
  EXPECT_EQ(Loop::stageOf(*plan, stores[1]), PipelineStage::Store);
}

TEST(PipelinePlan, WhatReadsAStoredBufferStaysInOrderWithTheStores) {
  Loop loop(readCursor + moveCursor + "%old = memref.load %out[%at] : memref<?xf64>\n" +
            "%sum = arith.addf %old, %v : f64\nmemref.store %sum, %out[%at] : memref<?xf64>\n");
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  EXPECT_EQ(Loop::stageOf(*plan, loop.all<mlir::memref::LoadOp>()[2]), PipelineStage::Store);
  EXPECT_EQ(Loop::stageOf(*plan, loop.first<mlir::arith::AddFOp>()), PipelineStage::Store);
}

TEST(PipelinePlan, NothingIsGainedWithoutAnIndirectStore) {
  EXPECT_FALSE(Loop("memref.store %v, %out[%i] : memref<?xf64>\n").plan());
  // The address is read in order: the store waits for one read alone.
  EXPECT_FALSE(Loop("%k = memref.load %c[%i] : memref<?xindex>\n"
                    "memref.store %v, %out[%k] : memref<?xf64>\n")
                   .plan());
}

TEST(PipelinePlan, ABranchThatDoesNotDependOnTheUpdatesIsAGuard) {
  Loop loop("%k = memref.load %c[%i] : memref<?xindex>\n"
            "%first = arith.cmpi eq, %k, %c0 : index\n"
            "scf.if %first {\n  memref.store %k, %flag[%c0] : memref<?xindex>\n}\n"
            "%set = memref.load %flag[%c1] : memref<?xindex>\n"
            "%at = memref.load %cursors[%k] : memref<?xindex>\n" +
            moveCursor + scatter);
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->guards.size(), 1u);
  EXPECT_EQ(plan->guards[0], loop.first<mlir::scf::IfOp>());
  // Only the guard writes the flag.
  EXPECT_EQ(Loop::stageOf(*plan, loop.all<mlir::memref::LoadOp>()[1]), PipelineStage::Test);
}

TEST(PipelinePlan, ABranchOnAnUpdatedValueIsNoGuard) {
  Loop loop(readCursor + "%first = arith.cmpi eq, %at, %c0 : index\n" +
            "scf.if %first {\n  memref.store %k, %flag[%c0] : memref<?xindex>\n}\n" + moveCursor + scatter);
  auto plan = loop.plan();
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->guards.empty());
  EXPECT_EQ(Loop::stageOf(*plan, loop.first<mlir::scf::IfOp>()), PipelineStage::Update);
}

TEST(PipelinePlan, BuffersThatMayOverlapAreRefused) {
  EXPECT_FALSE(Loop(readCursor + moveCursor + "memref.store %v, %unknown[%at] : memref<?xf64>\n").plan());
}

TEST(PipelinePlan, LoopsInTheBodyAndOtherStepsAreRefused) {
  EXPECT_FALSE(Loop(readCursor + moveCursor + scatter + "scf.for %j = %c0 to %n step %c1 {\n}\n").plan());
  EXPECT_FALSE(Loop(readCursor + moveCursor + scatter, "%n").plan());
}

} // namespace
} // namespace tulle::passes
