// tulle-peel-partial-tiles: whole blocks get loops of constant length.
//
// Blocked formats pad the dimensions, so loops over a block end at min(rest, size). All blocks but the last
// are whole: with constant bounds LLVM unrolls them completely and keeps a block's results in registers.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/TripCount.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PEELPARTIALTILES
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;

/// Larger blocks gain nothing from being unrolled.
constexpr int64_t largestBlock = 16;

bool isBlockLoop(scf::ForOp loop) {
  std::optional<int64_t> most = mostIterations(loop);
  return most && *most > 0 && *most <= largestBlock && blockBound(loop.getUpperBound());
}

/// The loop and those inside it that run over parts of blocks, with bounds known before it starts.
llvm::SmallVector<scf::ForOp> blockLoops(scf::ForOp outermost) {
  llvm::SmallVector<scf::ForOp> loops;
  outermost.walk([&](scf::ForOp loop) {
    mlir::Operation *bound = loop.getUpperBound().getDefiningOp();
    if (isBlockLoop(loop) && !outermost->isProperAncestor(bound))
      loops.push_back(loop);
  });
  return loops;
}

void split(scf::ForOp outermost) {
  mlir::OpBuilder b(outermost);
  mlir::Location loc = outermost.getLoc();
  Value whole;
  llvm::SmallDenseMap<Value, Value> sizes; ///< bound -> the constant it has in a whole block
  llvm::SmallVector<scf::ForOp> loops = blockLoops(outermost);
  for (scf::ForOp loop : loops) {
    Value bound = loop.getUpperBound();
    if (sizes.contains(bound))
      continue;
    Value size = arith::ConstantIndexOp::create(b, loc, *blockBound(bound));
    sizes[bound] = size;
    Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bound, size);
    whole = whole ? arith::AndIOp::create(b, loc, whole, equal).getResult() : equal;
  }

  auto branch = scf::IfOp::create(b, loc, outermost.getResultTypes(), whole, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  b.setInsertionPointToEnd(branch.thenBlock());
  auto constant = mlir::cast<scf::ForOp>(b.clone(*outermost));
  constant.walk([&](scf::ForOp loop) {
    if (auto it = sizes.find(loop.getUpperBound()); it != sizes.end())
      loop.setUpperBound(it->second);
  });
  scf::YieldOp::create(b, loc, constant.getResults());

  for (scf::ForOp loop : loops)
    keepScalar(loop); // the last, incomplete block is rare
  outermost.replaceAllUsesWith(branch.getResults());
  outermost->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, outermost.getResults());
}

struct PeelPartialTilesPass : impl::PeelPartialTilesBase<PeelPartialTilesPass> {
  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> outermost;
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!isBlockLoop(loop) || isKeptScalar(loop))
        return mlir::WalkResult::advance();
      outermost.push_back(loop);
      return mlir::WalkResult::skip();
    });
    for (scf::ForOp loop : outermost)
      split(loop);
  }
};

} // namespace
} // namespace tulle::passes
