#include "passes/vector/Fill.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "passes/vector/BodyEmitter.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

namespace {

/// `for i in 0..dim(buffer): buffer[i] = constant`, and nothing but the nest uses the buffer besides.
struct FillLoop {
  scf::ForOp loop;
  Value size;
  mlir::TypedAttr value;
};

} // namespace

static bool isZero(Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }

static std::optional<FillLoop> findLoop(const Nest &nest) {
  memref::StoreOp written = nest.store;
  Value buffer = written.getMemRef();
  FillLoop fill;
  for (Operation *user : buffer.getUsers()) {
    if (user == nest.load || user == nest.store || mlir::isa<memref::DimOp>(user))
      continue;
    auto store = mlir::dyn_cast<memref::StoreOp>(user);
    if (!store || fill.loop || store.getMemRef() != buffer)
      return std::nullopt;
    fill.loop = mlir::dyn_cast<scf::ForOp>(store->getParentOp());
    if (!fill.loop || fill.loop.getBody()->getOperations().size() != 2 ||
        !isZero(fill.loop.getLowerBound()) || store.getIndices()[0] != fill.loop.getInductionVar() ||
        !mlir::matchPattern(store.getValueToStore(), mlir::m_Constant(&fill.value)))
      return std::nullopt;
  }
  if (!fill.loop)
    return std::nullopt;
  fill.size = fill.loop.getUpperBound();
  auto size = fill.size.getDefiningOp<memref::DimOp>();
  if (!size || size.getSource() != buffer)
    return std::nullopt;
  return fill;
}

/// The loop over rows around the nest, and the length of a row: the element is `row * length + k`.
static std::optional<std::pair<scf::ForOp, Value>> findRows(const Nest &nest) {
  scf::ForOp inner = nest.inner;
  auto rows = mlir::dyn_cast<scf::ForOp>(nest.top()->getParentOp());
  memref::StoreOp written = nest.store;
  auto sum = written.getIndices()[0].getDefiningOp<arith::AddIOp>();
  if (!rows || !sum || !isZero(rows.getLowerBound()) || rows.getNumRegionIterArgs() != 0 ||
      !mlir::matchPattern(rows.getStep(), mlir::m_One()))
    return std::nullopt;
  bool indexFirst = sum.getLhs() == inner.getInductionVar();
  Value base = indexFirst ? sum.getRhs() : sum.getLhs();
  auto product = base.getDefiningOp<arith::MulIOp>();
  if ((!indexFirst && sum.getRhs() != inner.getInductionVar()) || !product)
    return std::nullopt;
  bool rowFirst = product.getLhs() == rows.getInductionVar();
  Value length = rowFirst ? product.getRhs() : product.getLhs();
  if ((!rowFirst && product.getRhs() != rows.getInductionVar()) || !rows.isDefinedOutsideOfLoop(length) ||
      !rows.isDefinedOutsideOfLoop(inner.getUpperBound()))
    return std::nullopt;
  return std::pair(rows, length);
}

std::optional<Fill> replaceFill(const Nest &nest) {
  scf::ForOp inner = nest.inner, top = nest.top();
  if (nest.movingBounds || nest.plan.scatters || !isZero(inner.getLowerBound()))
    return std::nullopt;
  std::optional<FillLoop> found = findLoop(nest);
  if (!found)
    return std::nullopt;
  mlir::OpBuilder b(found->loop);
  mlir::Location loc = found->loop.getLoc();
  auto equal = [&](Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y).getResult();
  };
  // The condition must be known before the filling loop starts.
  mlir::DominanceInfo dominance(found->loop->getParentOp());
  auto known = [&](Value value) { return dominance.dominates(value, found->loop); };
  if (!llvm::all_of(nest.plan.guardedGathers, known))
    return std::nullopt;
  Value covers;
  memref::StoreOp written = nest.store;
  if (written.getIndices()[0] == inner.getInductionVar() && top->getBlock() == found->loop->getBlock() &&
      known(inner.getUpperBound()) && known(top.getLowerBound()) && known(top.getUpperBound())) {
    // Without a step of the outer loops nothing may be updated at all.
    Value steps =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, top.getLowerBound(), top.getUpperBound());
    covers = arith::AndIOp::create(b, loc, steps, equal(inner.getUpperBound(), found->size));
  } else if (auto rows = findRows(nest); rows && rows->first->getBlock() == found->loop->getBlock() &&
                                         known(rows->second) && known(inner.getUpperBound()) &&
                                         known(rows->first.getUpperBound())) {
    Value all = arith::MulIOp::create(b, loc, rows->first.getUpperBound(), rows->second);
    covers =
        arith::AndIOp::create(b, loc, equal(inner.getUpperBound(), rows->second), equal(all, found->size));
  } else {
    return std::nullopt;
  }
  if (!nest.plan.guardedGathers.empty())
    covers = arith::AndIOp::create(b, loc, covers, hasFirstElements(b, loc, nest.plan.guardedGathers));
  found->loop.getUpperBoundMutable().assign(
      arith::SelectOp::create(b, loc, covers, found->loop.getLowerBound(), found->size));
  return Fill{found->value, covers};
}

} // namespace tulle::passes
