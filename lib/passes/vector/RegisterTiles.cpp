// tulle-register-tiles: results that a loop adds to again and again stay in registers.
//
// In `for p: for k: C[i*n + k] += …` every step of p loads and stores a whole row of C. A tile of k is
// hoisted: its elements are loaded once, updated over all p, and stored once. Each element still sees the
// same operations in the same order.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/vector/BodyEmitter.h"
#include "passes/vector/TripCount.h"

namespace tulle::passes {
#define GEN_PASS_DEF_REGISTERTILES
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
using mlir::Operation;
using mlir::Value;

/// A loop whose body is some reads and then one loop over consecutive elements.
struct Nest {
  scf::ForOp outer, inner;
  LoopPlan plan; ///< of the inner loop
  memref::LoadOp load;
  memref::StoreOp store;
};

/// Whether the value is the same for every iteration of the outer loop, given the inner loop's index.
bool isFixed(Value value, scf::ForOp outer, scf::ForOp inner) {
  if (value == inner.getInductionVar() || !outer.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == inner.getBody() && mlir::isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isFixed(operand, outer, inner); });
}

/// The one loop at the end of the body, where everything before it only reads.
scf::ForOp innerLoop(scf::ForOp outer) {
  auto before = outer.getBody()->without_terminator();
  if (before.empty() || outer.getNumRegionIterArgs() != 0)
    return {};
  auto inner = mlir::dyn_cast<scf::ForOp>(&*std::prev(before.end()));
  if (!inner || inner.getNumRegionIterArgs() != 0)
    return {};
  for (Operation &op : before)
    if (&op != inner &&
        (op.getNumRegions() != 0 || !(mlir::isMemoryEffectFree(&op) || mlir::isa<memref::LoadOp>(op))))
      return {};
  return inner;
}

std::optional<Nest> matchNest(scf::ForOp outer) {
  Nest nest;
  nest.outer = outer;
  nest.inner = innerLoop(outer);
  if (!nest.inner)
    return std::nullopt;
  for (Value bound : {nest.inner.getLowerBound(), nest.inner.getUpperBound()})
    if (outer.getRegion().isAncestor(bound.getParentRegion()))
      return std::nullopt;
  std::optional<LoopPlan> plan = planLoop(nest.inner);
  if (!plan || plan->gathers)
    return std::nullopt;
  nest.plan = std::move(*plan);

  auto stores = nest.inner.getBody()->getOps<memref::StoreOp>();
  if (!llvm::hasSingleElement(stores))
    return std::nullopt;
  nest.store = *stores.begin();
  Value buffer = nest.store.getMemRef(), index = nest.store.getIndices()[0];
  unsigned reads = 0;
  outer.walk([&](memref::LoadOp load) {
    if (load.getMemRef() != buffer)
      return;
    ++reads;
    nest.load = load;
  });
  if (reads != 1 || nest.load->getBlock() != nest.inner.getBody() || nest.load.getIndices()[0] != index ||
      !nest.load->isBeforeInBlock(nest.store) || outer.getRegion().isAncestor(buffer.getParentRegion()) ||
      !isFixed(index, outer, nest.inner))
    return std::nullopt;
  return nest;
}

class Tiler {
public:
  Tiler(Nest nest, Lanes lanes)
      : nest(std::move(nest)), lanes(lanes), b(this->nest.outer), loc(this->nest.outer.getLoc()) {}

  void run() {
    Value position = nest.inner.getLowerBound();
    for (int64_t vectors : {8, 2})
      position = tileLoop(position, vectors);
    // The elements after the last tile, if any: walking the outer loop for none would cost as much as a tile.
    Value more =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, nest.inner.getUpperBound());
    auto rest = scf::IfOp::create(b, loc, more, /*withElseRegion=*/false);
    nest.outer->moveBefore(rest.thenBlock()->getTerminator());
    nest.inner.getLowerBoundMutable().assign(position);
  }

private:
  Nest nest;
  Lanes lanes;
  mlir::OpBuilder b;
  mlir::Location loc;

  /// Tiles of so many vectors from `lower` while they fit; returns where they end.
  Value tileLoop(Value lower, int64_t vectors) {
    Value width = arith::ConstantIndexOp::create(b, loc, vectors * lanes.count);
    Value last = arith::ConstantIndexOp::create(b, loc, vectors * lanes.count - 1);
    Value limit = arith::SubIOp::create(b, loc, nest.inner.getUpperBound(), last);
    auto tiles = scf::ForOp::create(b, loc, lower, limit, width, mlir::ValueRange{lower});
    tiles->setAttrs(nest.inner->getAttrs());
    b.setInsertionPointToStart(tiles.getBody());
    llvm::SmallVector<Value> firsts, places, elements;
    for (int64_t v = 0; v < vectors; ++v) {
      Value offset = arith::ConstantIndexOp::create(b, loc, v * lanes.count);
      firsts.push_back(arith::AddIOp::create(b, loc, tiles.getInductionVar(), offset));
      places.push_back(place(firsts.back()));
      elements.push_back(vector::LoadOp::create(b, loc, lanes.of(nest.load.getType()), nest.load.getMemRef(),
                                                places.back()));
    }
    elements = updates(firsts, elements);
    for (auto [element, at] : llvm::zip_equal(elements, places))
      vector::StoreOp::create(b, loc, element, nest.store.getMemRef(), at);
    scf::YieldOp::create(b, loc,
                         mlir::ValueRange{arith::AddIOp::create(b, loc, tiles.getInductionVar(), width)});
    b.setInsertionPoint(nest.outer);
    return tiles.getResult(0);
  }

  /// The index of the stored element for a value of the inner loop's index.
  Value place(Value first) {
    mlir::IRMapping map;
    map.map(nest.inner.getInductionVar(), first);
    std::function<Value(Value)> copy = [&](Value value) -> Value {
      Operation *op = value.getDefiningOp();
      if (map.contains(value) || !op || op->getBlock() != nest.inner.getBody())
        return map.lookupOrDefault(value);
      for (Value operand : op->getOperands())
        copy(operand);
      b.clone(*op, map);
      return map.lookup(value);
    };
    return copy(nest.store.getIndices()[0]);
  }

  /// The outer loop over the tile's elements.
  llvm::SmallVector<Value> updates(mlir::ValueRange firsts, mlir::ValueRange elements) {
    scf::ForOp outer = nest.outer;
    auto loop =
        scf::ForOp::create(b, loc, outer.getLowerBound(), outer.getUpperBound(), outer.getStep(), elements);
    loop->setAttrs(outer->getAttrs());
    b.setInsertionPointToStart(loop.getBody());
    mlir::IRMapping map;
    map.map(outer.getInductionVar(), loop.getInductionVar());
    for (Operation &op : outer.getBody()->without_terminator())
      if (&op != nest.inner)
        b.clone(op, map);
    llvm::SmallVector<Value> updated;
    for (auto [first, element] : llvm::zip_equal(firsts, loop.getRegionIterArgs())) {
      BodyEmitter emitter(b, nest.plan, lanes, map);
      emitter.keepInRegister(nest.load, element, nest.store);
      emitter.emit(first, {});
      updated.push_back(emitter.storedValue());
    }
    scf::YieldOp::create(b, loc, updated);
    b.setInsertionPointAfter(loop);
    return llvm::to_vector(llvm::map_range(loop.getResults(), [](mlir::OpResult r) -> Value { return r; }));
  }
};

struct RegisterTilesPass : impl::RegisterTilesBase<RegisterTilesPass> {
  using RegisterTilesBase::RegisterTilesBase;

  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Nest> nest = matchNest(loop)) {
        Lanes lanes;
        lanes.count = vl ? unsigned(vl) : std::max(2u, 256 / nest->plan.widestBits);
        if (std::optional<int64_t> most = mostIterations(nest->inner); most && *most < 2 * lanes.count)
          continue; // no tile fits
        Tiler(std::move(*nest), lanes).run();
      }
  }
};

} // namespace
} // namespace tulle::passes
