#include "passes/vectorize/InitLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

/// What is larger than this does not stay in a cache from being written to being read.
constexpr int64_t cacheBytes = int64_t(32) << 20;

static bool isZero(Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }

std::optional<Value> placeOf(Value index, scf::ForOp loop) {
  Value step = loop.getInductionVar();
  if (index == step)
    return Value();
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum || (sum.getLhs() != step && sum.getRhs() != step))
    return std::nullopt;
  return sum.getLhs() == step ? sum.getRhs() : sum.getLhs();
}

static bool mayTouch(Operation *op, Value buffer) {
  return op
      ->walk([&](Operation *inside) {
        bool elsewhere = mlir::isa<memref::LoadOp, memref::StoreOp>(inside) &&
                         !llvm::is_contained(inside->getOperands(), buffer);
        bool harmless = elsewhere || inside->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() ||
                        mlir::isMemoryEffectFree(inside);
        return harmless ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

static std::optional<InitLoop> asFill(Operation *op, Value buffer) {
  InitLoop fill;
  fill.loop = mlir::dyn_cast<scf::ForOp>(op);
  if (!fill.loop || fill.loop.getNumRegionIterArgs() != 0 || !isZero(fill.loop.getLowerBound()))
    return std::nullopt;
  auto stores = fill.loop.getBody()->getOps<memref::StoreOp>();
  if (stores.empty() || (*stores.begin()).getMemRef() != buffer)
    return std::nullopt;
  memref::StoreOp store = *stores.begin();
  Value index = store.getIndices()[0];
  std::optional<Value> place = placeOf(index, fill.loop);
  bool plain = llvm::all_of(fill.loop.getBody()->without_terminator(), [&](Operation &inside) {
    return &inside == store || &inside == index.getDefiningOp();
  });
  if (!plain || !place || !mlir::matchPattern(store.getValueToStore(), mlir::m_Constant(&fill.value)))
    return std::nullopt;
  fill.place = *place;
  fill.size = fill.loop.getUpperBound();
  return fill;
}

std::optional<InitLoop> findFill(Operation *op, Value buffer) {
  while ((op = op->getPrevNode())) {
    if (std::optional<InitLoop> fill = asFill(op, buffer))
      return fill;
    if (mayTouch(op, buffer))
      return std::nullopt;
  }
  return std::nullopt;
}

/// Whether some elements that the inner loop visits are not updated whatever the outer ones do: a tile does
/// not store those.
static bool leavesOut(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  for (Operation *op = nest.store->getParentOp(); op != inner; op = op->getParentOp())
    if (nest.isFixed(mlir::cast<scf::IfOp>(op).getCondition()))
      return true;
  return false;
}

std::optional<Fill> replaceFill(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner, top = nest.top();
  memref::StoreOp written = nest.store;
  if (nest.plan.scatters || (!nest.movingBounds && !isZero(inner.getLowerBound())) || leavesOut(nest))
    return std::nullopt;
  std::optional<InitLoop> found = findFill(top, written.getMemRef());
  std::optional<Value> place = placeOf(written.getIndices()[0], inner);
  if (!found || !place || *place != found->place || (nest.movingBounds && *place))
    return std::nullopt;
  mlir::OpBuilder b(top);
  mlir::Location loc = found->loop.getLoc();
  Value covers;
  auto also = [&](Value condition) {
    covers = covers ? arith::AndIOp::create(b, loc, covers, condition).getResult() : condition;
  };
  if (!nest.movingBounds)
    also(b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, inner.getUpperBound(), found->size));
  if (nest.movingBounds || nest.plan.gathers) // without a step there may be no group of them that stores
    also(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, top.getLowerBound(), top.getUpperBound()));
  if (!nest.plan.guardedGathers.empty())
    also(hasFirstElements(b, loc, nest.plan.guardedGathers));
  // From here on all of this is known.
  found->loop->moveBefore(top);
  b.setInsertionPoint(found->loop);
  found->loop.getUpperBoundMutable().assign(
      arith::SelectOp::create(b, loc, covers, found->loop.getLowerBound(), found->size));
  Fill fill{found->value, found->size, covers, Value()};
  if (unsigned bits = written.getMemRefType().getElementTypeBitWidth(); bits >= 8) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value size = memref::DimOp::create(b, loc, written.getMemRef(), zero);
    Value many = arith::ConstantIndexOp::create(b, loc, cacheBytes * 8 / bits);
    Value isLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, size, many);
    fill.large = arith::AndIOp::create(b, loc, covers, isLarge);
  }
  return fill;
}

} // namespace tulle::passes
