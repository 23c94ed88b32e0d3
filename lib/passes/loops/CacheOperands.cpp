// tulle-cache-operands: as a schedule says, loops inside of a loop read a copy of an operand on the stack.
//
// Elements that lie apart in memory lie next to each other in the copy, however often the loops inside read
// them.
#include "dialect/Dialect.h"
#include "passes/Passes.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_CACHEOPERANDS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// As much as every stack has room for.
constexpr int64_t mostBytes = 1 << 16;

/// The copies of one operand in the iterations of a loop.
class OperandCopies : levels::Indices {
public:
  OperandCopies(scf::ForOp loop, StringRef operand) : Indices(loop), loop(loop), operand(operand) {}

  /// Returns why there is none; empty where there is one.
  std::string emit() {
    SmallVector<memref::LoadOp> loads;
    loop.getBody()->walk([&](memref::LoadOp load) {
      if (operandOf(load.getMemRef()) == operand && load->getParentOp() != loop)
        loads.push_back(load);
    });
    if (isStored())
      return "it is stored to there";
    std::string why = "no loop inside reads it at addresses of its own";
    bool any = false;
    for (memref::LoadOp load : loads) {
      auto inner = dyn_cast<scf::ForOp>(load->getParentOp());
      if (!inner || !isAlwaysReached(inner) || load.getIndices().size() != 1 ||
          !isKnown(load.getIndices()[0], inner) || !isKnown(inner.getLowerBound(), {}) ||
          !isKnown(inner.getUpperBound(), {}))
        continue;
      const std::optional<int64_t> most = maxTripCount(inner);
      const int64_t bytes = std::max<int64_t>(1, bitsOf(load.getType()) / 8);
      if (!most || *most < 1 || *most * bytes > mostBytes) {
        why = "the loop inside that reads it has no constant bound, or a large one: bound(k, n) gives one";
        continue;
      }
      copy(load, inner, *most);
      any = true;
    }
    return any ? "" : why;
  }

private:
  scf::ForOp loop;
  StringRef operand;

  bool isStored() {
    return anyIn(loop, [&](Operation *op) {
      auto store = dyn_cast<memref::StoreOp>(op);
      return store && operandOf(store.getMemRef()) == operand;
    });
  }

  /// Whether no condition stands between the two loops: without it, an address may mean nothing.
  bool isAlwaysReached(scf::ForOp inner) {
    Operation *around = inner->getParentOp();
    while (around != loop && isa<scf::ForOp>(around))
      around = around->getParentOp();
    return around == loop;
  }

  /// Whether the value follows from what an iteration knows at its own level, and the inner loop's index.
  bool isKnown(Value value, scf::ForOp inner) {
    return acceptsSlice(value, [&](Value at) -> std::optional<bool> {
      if (loop.isDefinedOutsideOfLoop(at) || at.getParentBlock() == loop.getBody() ||
          (inner && at == inner.getInductionVar()))
        return true;
      Operation *op = at.getDefiningOp();
      return op && op->getNumRegions() == 0 && isPure(op) ? std::nullopt : std::optional(false);
    });
  }

  /// The value where the builder stands; `map` has the inner loop's index.
  Value valueIn(Value value, IRMapping &map) {
    if (Value known = map.lookupOrNull(value))
      return known;
    if (loop.isDefinedOutsideOfLoop(value) || value.getParentBlock() == loop.getBody())
      return value;
    for (Value operand : value.getDefiningOp()->getOperands())
      valueIn(operand, map);
    b.clone(*value.getDefiningOp(), map);
    return map.lookup(value);
  }

  void copy(memref::LoadOp load, scf::ForOp inner, int64_t most) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->findAncestorOpInBlock(*inner));
    Value buffer = levels::allocaAtEntry(b, loc, MemRefType::get({most}, load.getType()));
    IRMapping map;
    Value begin = valueIn(inner.getLowerBound(), map), end = valueIn(inner.getUpperBound(), map);
    levels::forEach(b, loc, begin, end, dialect::LoopKind::Parallel, [&](Value at) {
      IRMapping inside = map;
      inside.map(inner.getInductionVar(), at);
      Value element = memref::LoadOp::create(b, loc, load.getMemRef(), valueIn(load.getIndices()[0], inside));
      memref::StoreOp::create(b, loc, element, buffer, b.createOrFold<arith::SubIOp>(loc, at, begin));
    });
    b.setInsertionPoint(load);
    load.getMemrefMutable().assign(buffer);
    load.getIndicesMutable().assign(b.createOrFold<arith::SubIOp>(loc, inner.getInductionVar(), begin));
  }
};

struct CacheOperandsPass : impl::CacheOperandsBase<CacheOperandsPass> {
  void runOnOperation() override {
    bool changed = false;
    for (scf::ForOp loop : loopsIn(getOperation())) {
      const dialect::LoopAttr attr = dialect::loopOf(loop);
      const dialect::DirectivesAttr said = attr.getDirectives();
      if (!said)
        continue;
      changed = true;
      for (StringAttr operand : said.cachedIn(dialect::CachePlace::Stack)) {
        const std::string why = OperandCopies(loop, operand).emit();
        if (why.empty()) {
          dialect::noteCached(loop, operand);
          continue;
        }
        const StringRef index = attr.getIndex().getValue();
        mlir::emitError(dialect::locationOf(loop, ("cache " + index).str()))
            << "nothing of " << operand.getValue() << " is copied in the loop over " << index << ": " << why;
        return signalPassFailure();
      }
      loop->setAttr(dialect::kLoopAttr, attr.withDirectives(said.withoutCache(dialect::CachePlace::Stack)));
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
