// tulle-assemble: every tulle.assemble becomes loops that allocate and write the buffers of its tensor.
#include "dialect/Costs.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/assemble/Append.h"
#include "passes/assemble/AppendBlocks.h"
#include "passes/assemble/Chain.h"
#include "passes/assemble/Layers.h"
#include "passes/assemble/Scatter.h"
#include "passes/assemble/Workspace.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_ASSEMBLE
#include "passes/Passes.h.inc"

namespace {

struct Strategy {
  bool (*fits)(const assemble::Target &, dialect::AssembleOp, const assemble::Order &);
  FailureOr<Value> (*lower)(OpBuilder &, assemble::Target &, dialect::AssembleOp, const assemble::Order &);
  const char *what;
};

/// The cheapest first.
constexpr Strategy strategies[] = {
    {assemble::fitsBlocks, assemble::lowerByBlocks,
     "appended in blocks: each pass of a loop makes one, and adds to it"},
    {assemble::fitsAppend, assemble::lowerByAppend,
     "appended: entries arrive in the order in which they are stored"},
    {assemble::fitsWorkspace, assemble::lowerByWorkspace,
     "gathered in a workspace, a row at a time: rows arrive in order, their entries do not"},
    {assemble::fitsScatter, assemble::lowerByScatter,
     "counted, then stored each at its place: entries arrive out of order, and the loops can run twice"},
    {assemble::fitsChain, assemble::lowerByChain, "sorted by counting, level by level: no order is known"},
    {assemble::fitsLayers, assemble::lowerByLayers,
     "sorted, then stored level by level: no other way makes this nesting of levels"},
};

struct Assemble : impl::AssembleBase<Assemble> {
  using AssembleBase::AssembleBase;

  void runOnOperation() override {
    unsigned rest = 0;
    getOperation()->walk([&](dialect::AssembleOp) { rest += mostSteps; });
    // Post-order: what is assembled inside the loops of another is done first. A strategy may leave an
    // assembly that it prepared the entries for.
    while (dialect::AssembleOp op = innermost()) {
      if (rest-- == 0) {
        op.emitError("preparing the entries of this tensor does not come to an end");
        return signalPassFailure();
      }
      if (failed(rewrite(op)))
        return signalPassFailure();
    }
  }

  /// More assemblies than any strategy makes of one.
  static constexpr unsigned mostSteps = 16;

  dialect::AssembleOp innermost() {
    dialect::AssembleOp found;
    getOperation()->walk([&](dialect::AssembleOp op) {
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  /// How many rounds the loops have is asked before the region, which goes: what it computes of that outside
  /// of them, as where MLIR's passes have moved it, is computed there.
  static void hoistSizes(dialect::AssembleOp op) {
    for (Operation &inner : llvm::make_early_inc_range(op.getBody().front()))
      if (inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) &&
          llvm::all_of(inner.getResultTypes(), llvm::IsaPred<IndexType>) &&
          llvm::none_of(inner.getOperands(),
                        [&](Value operand) { return op.getBody().isAncestor(operand.getParentRegion()); }))
        inner.moveBefore(op);
  }

  LogicalResult rewrite(dialect::AssembleOp op) {
    if (!op->getParentOfType<func::FuncOp>())
      return op.emitError("expected to be inside a function");
    hoistSizes(op);
    OpBuilder b(op);
    assemble::Target target(b, op);
    target.parallel = parallel;
    assemble::Order order = assemble::orderOf(op);
    for (const Strategy &strategy : strategies) {
      if (!strategy.fits(target, op, order))
        continue;
      FailureOr<Value> made = strategy.lower(b, target, op, order);
      if (failed(made))
        return failure();
      dialect::explainChoice(op, "entries of a new tensor are " + std::string(strategy.what));
      op.getResult().replaceAllUsesWith(*made);
      op.erase();
      return success();
    }
    return op.emitError("a tensor in ")
           << format::displayName(target.encoding())
           << " cannot be assembled: with a counter or a rank, one level stores coordinates, the last one, "
              "and "
              "no hash table; write dense for those above it, or leave the counter or the rank out";
  }
};

} // namespace
} // namespace tulle::passes
