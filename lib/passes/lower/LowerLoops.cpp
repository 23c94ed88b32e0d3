// tulle-lower-loops: loops over one space, chosen by their indices, become counted loops; what is below them
// stays a loop over the sets of coordinates below one iterator.
#include "levels/LevelFormat.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LOWERLOOPS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using namespace tulle::dialect;

StringRef indexOf(LoopAttr loop) { return loop.getIndex() ? loop.getIndex().getValue() : StringRef(); }

/// Whether the format may have positions without an entry.
bool hasPadding(Value space) {
  auto type = dyn_cast<SpaceType>(space.getType());
  return type && levels::find(type.getFormat().kind)->hasPadding(type.getFormat());
}

/// The body of the loop behind the builder, for one number that the loop counts; what it carries on.
SmallVector<Value> moveBody(OpBuilder &b, IterateOp op, Value number, ValueRange carried) {
  Block &body = op.getBody().front();
  SmallVector<Value> arguments{number};
  Value entry;
  if (isa<SpaceType>(op.getSpace().getType())) {
    auto at = IteratorAtOp::create(b, op.getLoc(), op.getSpace(), number);
    arguments = {at.getCoordinate(), at.getIterator()};
    entry = hasPadding(op.getSpace()) ? at.getEntry() : Value();
  }
  llvm::append_range(arguments, carried);
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  SmallVector<Value> yielded(body.getTerminator()->getOperands());
  body.getTerminator()->erase();
  auto moveTo = [&](Block *block) { block->getOperations().splice(block->end(), body.getOperations()); };
  if (!entry) {
    moveTo(b.getBlock());
    return yielded;
  }
  const bool passes = !yielded.empty();
  auto branch = scf::IfOp::create(b, op.getLoc(), ValueRange(carried).getTypes(), entry, passes);
  auto fill = [&](Block *block, ValueRange values, bool hasBody) {
    if (!block->empty())
      block->getTerminator()->erase();
    if (hasBody)
      moveTo(block);
    OpBuilder inner = OpBuilder::atBlockEnd(block);
    scf::YieldOp::create(inner, op.getLoc(), values);
  };
  fill(branch.thenBlock(), yielded, /*hasBody=*/true);
  if (passes)
    fill(branch.elseBlock(), carried, /*hasBody=*/false);
  return SmallVector<Value>(branch.getResults());
}

void lowerLoop(IterateOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto bounds = BoundsOp::create(b, loc, op.getSpace());
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, bounds.getBegin(), bounds.getEnd(), one, op.getInits());
  loop->setAttr(kLoopAttr, op.getLoop());
  if (!loop.getBody()->empty())
    loop.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> yielded = moveBody(b, op, loop.getInductionVar(), loop.getRegionIterArgs());
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, yielded);
  op->replaceAllUsesWith(loop.getResults());
  op->erase();
}

/// Fails with a diagnostic where no counted loop visits what the loop does.
LogicalResult check(Operation *op) {
  auto iterate = dyn_cast<IterateOp>(op);
  if (!iterate)
    return op->emitError("the loop merges several spaces: tulle-lower lowers it, together with what is left");
  auto type = dyn_cast<SpaceType>(iterate.getSpace().getType());
  if (type && !type.getFormat().unique && !iterate.getEach())
    return op->emitError("the loop visits segments of one coordinate, which are as long as the data says: "
                         "tulle-lower lowers it, together with what is left");
  return success();
}

struct LowerLoops : impl::LowerLoopsBase<LowerLoops> {
  using LowerLoopsBase::LowerLoopsBase;

  void runOnOperation() override {
    llvm::StringSet<> found;
    SmallVector<Operation *> chosen;
    getOperation()->walk([&](Operation *op) {
      const LoopAttr loop = loopOverSets(op);
      if (loop && llvm::is_contained(loops, indexOf(loop))) {
        found.insert(indexOf(loop));
        chosen.push_back(op);
      }
    });
    for (const std::string &name : loops)
      if (!found.contains(name)) {
        getOperation()->emitError() << "no loop over sets of coordinates has the index '" << name << "'";
        return signalPassFailure();
      }
    for (Operation *op : chosen)
      if (failed(check(op)))
        return signalPassFailure();
    for (Operation *op : chosen)
      lowerLoop(cast<IterateOp>(op));
  }
};

} // namespace
} // namespace tulle::passes
