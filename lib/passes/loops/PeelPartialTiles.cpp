// tulle-peel-partial-tiles: give the loops over full tiles constant trip counts.
//
// Blocked formats pad the dimensions, so loops over a block end at min(rest, size). All blocks but the last
// are full: with constant bounds LLVM unrolls them completely and keeps a block's results in registers.
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopMatchers.h"
#include "passes/analysis/LoopTransforms.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PEELPARTIALTILES
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Larger tiles gain nothing from being unrolled.
constexpr int64_t largestTile = 16;

bool isTileLoop(scf::ForOp loop) {
  std::optional<int64_t> most = maxTripCount(loop);
  return most && *most > 0 && *most <= largestTile && minWithConstant(loop.getUpperBound());
}

/// The loop and those inside it over tiles, with bounds known before it starts.
SmallVector<scf::ForOp> tileLoops(scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops;
  outermost.walk([&](scf::ForOp loop) {
    Operation *bound = loop.getUpperBound().getDefiningOp();
    if (isTileLoop(loop) && !outermost->isProperAncestor(bound))
      loops.push_back(loop);
  });
  return loops;
}

void peel(scf::ForOp outermost) {
  levels::Indices at(outermost);
  auto &[b, loc] = at;
  Value full;
  llvm::SmallDenseMap<Value, Value> sizes; ///< bound -> the constant it has in a full tile
  SmallVector<scf::ForOp> loops = tileLoops(outermost);
  for (scf::ForOp loop : loops) {
    Value bound = loop.getUpperBound();
    if (sizes.contains(bound))
      continue;
    Value size = sizes[bound] = at.constant(*minWithConstant(bound));
    full = at.both(full, at.is(arith::CmpIPredicate::eq, bound, size));
  }

  auto branch = scf::IfOp::create(b, loc, outermost.getResultTypes(), full,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  b.setInsertionPointToEnd(branch.thenBlock());
  auto constant = cast<scf::ForOp>(b.clone(*outermost));
  constant.walk([&](scf::ForOp loop) {
    if (auto it = sizes.find(loop.getUpperBound()); it != sizes.end())
      loop.setUpperBound(it->second);
  });
  scf::YieldOp::create(b, loc, constant.getResults());

  for (scf::ForOp loop : loops)
    disableLoopTransforms(loop); // partial tiles are rare
  outermost.replaceAllUsesWith(branch.getResults());
  outermost->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, outermost.getResults());
}

struct PeelPartialTilesPass : impl::PeelPartialTilesBase<PeelPartialTilesPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> outermost;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!isTileLoop(loop) || hasLoopAnnotation(loop))
        return WalkResult::advance();
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : outermost) {
      dialect::explainChoice(loop, "peeling: full tiles have constant trip "
                                   "counts, partial ones keep their loops");
      peel(loop);
    }
  }
};

} // namespace
} // namespace tulle::passes
