// tulle-pack-operands: pack an operand of a product over a dense range into panels that fit L1, and block the
// loops for them.
//
// In `for i: for g: for k: C[i, k] += … B[g, k]` every i loads all of B. Where that is more than L1 holds, a
// block of g and a tile of k are done for all i, with that part of B packed into a panel: rows a power of two
// apart would conflict in the cache.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PACKOPERANDS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;

/// A panel is as large as L1, and as wide as a register tile (experiment 043).
constexpr int64_t panelRowBytes = 256;
/// Rows of B that an iteration of the range may choose from.
constexpr uint64_t mostScale = 32;
/// Rows of the result for which packing is profitable.
constexpr int64_t fewRows = 32;

/// `for i: (loads) [for k: C[base(i) + k] = constant] for g: … for k: C[base(i) + k] += … B[row(g) * length +
/// k]`.
struct Product {
  scf::ForOp rows, init, range; ///< over i; over k, or null; over g
  ReductionNest nest;
  Value base;
  memref::LoadOp load; ///< of B
  Value row, length;
  int64_t scale = 0; ///< scale * g <= row < scale * (g + 1)
};

bool isBelow(Value value, int64_t limit) {
  APInt constant;
  if (auto mask = value.getDefiningOp<arith::AndIOp>())
    return isBelow(mask.getRhs(), limit) || isBelow(mask.getLhs(), limit);
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.ult(uint64_t(limit));
  auto loop = dyn_cast_or_null<scf::ForOp>(value.getParentBlock()->getParentOp());
  return loop && value == loop.getInductionVar() && isZero(loop.getLowerBound()) &&
         matchPattern(loop.getUpperBound(), m_ConstantInt(&constant)) && constant.ule(uint64_t(limit));
}

/// How many rows of B iteration g of the range chooses from, the first being g times that; 0 where unknown.
int64_t scaleOf(Value row, Value g) {
  if (row == g)
    return 1;
  auto sum = row.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return 0;
  for (auto [block, within] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    APInt scale;
    Value factor = otherOperand<arith::MulIOp>(block, g);
    if (factor && matchPattern(factor, m_ConstantInt(&scale)) && scale.ugt(0) && scale.ule(mostScale) &&
        isBelow(within, scale.getSExtValue()))
      return scale.getSExtValue();
  }
  return 0;
}

bool matchOperand(Product &p) {
  scf::ForOp inner = p.nest.inner;
  Value k = inner.getInductionVar();
  unsigned loads = 0;
  inner.walk([&](memref::LoadOp load) {
    ++loads;
    if (load != p.nest.load)
      p.load = load;
  });
  if (loads != 2 || !p.load || !p.rows.isDefinedOutsideOfLoop(p.load.getMemRef()))
    return false;
  Value start = otherOperand<arith::AddIOp>(p.load.getIndices()[0], k);
  auto product = start ? start.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product)
    return false;
  for (auto [row, length] :
       {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
    if (!p.rows.isDefinedOutsideOfLoop(length))
      continue;
    p.row = row;
    p.length = length;
    p.scale = scaleOf(row, p.range.getInductionVar());
    return p.scale != 0;
  }
  return false;
}

/// Whether the rest of an iteration only loads, and initializes the row.
bool matchPrologue(Product &p) {
  memref::StoreOp written = p.nest.store;
  for (Operation &op : p.rows.getBody()->without_terminator()) {
    if (&op == p.range || isMemoryEffectFree(&op))
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(op); load && load.getMemRef() != written.getMemRef())
      continue;
    std::optional<InitLoop> init = p.init ? std::nullopt : asInitLoop(&op, written.getMemRef());
    if (!init || init->offset != p.base || !p.rows.isDefinedOutsideOfLoop(init->size))
      return false;
    p.init = init->loop;
  }
  return true;
}

std::optional<Product> matchProduct(scf::ForOp loop) {
  std::optional<ReductionNest> nest = matchReductionNest(loop);
  if (!nest || nest->ivDependentBounds || nest->legality.gathers || nest->legality.scatters ||
      nest->legality.branches)
    return std::nullopt;
  Product p;
  p.nest = std::move(*nest);
  p.range = p.nest.top();
  p.rows = dyn_cast<scf::ForOp>(p.range->getParentOp());
  scf::ForOp inner = p.nest.inner;
  if (!isParallel(p.rows) || p.rows.getNumRegionIterArgs() != 0 ||
      p.range->getNextNode() != p.rows.getBody()->getTerminator() || !isZero(p.range.getLowerBound()) ||
      !isZero(inner.getLowerBound()) || !p.rows.isDefinedOutsideOfLoop(p.range.getUpperBound()) ||
      !p.rows.isDefinedOutsideOfLoop(inner.getUpperBound()))
    return std::nullopt;
  p.base = otherOperand<arith::AddIOp>(p.nest.store.getIndices()[0], inner.getInductionVar());
  if (!p.base || !p.base.getDefiningOp() || p.base.getDefiningOp()->getBlock() != p.rows.getBody())
    return std::nullopt;
  if (!matchOperand(p) || !matchPrologue(p))
    return std::nullopt;
  return p;
}

/// The blocked loops over panels of B, where the sizes make them profitable.
class PackedProduct : levels::Indices {
public:
  PackedProduct(Product product, const iteration::Cpu &cpu)
      : Indices(product.rows), p(std::move(product)),
        panelBytes(std::max(cpu.l1, panelRowBytes * int64_t(mostScale))) {}

  void emit() {
    const int64_t bytes = std::max(1u, p.load.getType().getIntOrFloatBitWidth() / 8);
    width = constant(panelRowBytes / bytes);
    height = constant(panelBytes / panelRowBytes / p.scale);
    auto branch = scf::IfOp::create(b, loc, isProfitable(bytes), /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitPanels();
    p.rows->moveBefore(branch.elseBlock()->getTerminator());
  }

private:
  Product p;
  int64_t panelBytes;
  Value width, height; ///< of a panel: elements, and iterations of the range

  Value columns() { return p.nest.inner.getUpperBound(); }

  /// At run time: many rows, more of B than a panel holds, and columns that are within the rows of B and are
  /// those that are initialized.
  Value isProfitable(int64_t bytes) {
    Value count = sub(p.rows.getUpperBound(), p.rows.getLowerBound());
    Value needed = times(times(p.range.getUpperBound(), constant(p.scale)), columns());
    SmallVector<Value> conditions{is(CmpIPredicate::sge, count, constant(fewRows)),
                                  is(CmpIPredicate::sgt, needed, constant(panelBytes / bytes)),
                                  is(CmpIPredicate::sge, p.length, columns()),
                                  is(CmpIPredicate::sgt, columns(), constant(0))};
    if (p.init)
      conditions.push_back(is(CmpIPredicate::eq, p.init.getUpperBound(), columns()));
    return all(conditions);
  }

  void emitPanels() {
    Type element = p.load.getType();
    auto type = MemRefType::get({ShapedType::kDynamic}, element);
    Value steps = constant(panelBytes / panelRowBytes / p.scale * p.scale);
    Value panel = memref::AllocOp::create(b, loc, type, times(steps, width), b.getI64IntegerAttr(64));
    Value stored = divide(sizeOf(p.load.getMemRef()), p.length); // rows that B has
    auto tiles = scf::ForOp::create(b, loc, constant(0), columns(), width);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(tiles.getBody());
      Value column = tiles.getInductionVar(), zero = constant(0);
      Value wide = min(width, sub(columns(), column));
      auto blocks = scf::ForOp::create(b, loc, zero, p.range.getUpperBound(), height);
      b.setInsertionPointToStart(blocks.getBody());
      Value begin = blocks.getInductionVar();
      Value end = min(add(begin, height), p.range.getUpperBound());
      Value scale = constant(p.scale), first = times(begin, scale);
      pack(panel, first, min(times(end, scale), stored), column, wide);
      Value initialized = select(is(CmpIPredicate::eq, begin, zero), wide, zero);
      emitRows(begin, end, panel, first, column, wide, initialized);
    }
    memref::DeallocOp::create(b, loc, panel);
  }

  /// Copies the columns from `column` on of rows first <= r < last of B.
  void pack(Value panel, Value first, Value last, Value column, Value wide) {
    OpBuilder::InsertionGuard guard(b);
    Value zero = constant(0), one = constant(1);
    auto each = scf::ForOp::create(b, loc, first, last, one);
    b.setInsertionPointToStart(each.getBody());
    Value from = add(times(each.getInductionVar(), p.length), column);
    Value to = times(sub(each.getInductionVar(), first), width);
    auto copy = scf::ForOp::create(b, loc, zero, wide, one);
    copy->setAttr(dialect::kLoopAttr, dialect::LoopAttr::get(b.getContext(), dialect::LoopKind::Parallel));
    b.setInsertionPointToStart(copy.getBody());
    Value k = copy.getInductionVar();
    Value element = memref::LoadOp::create(b, loc, p.load.getMemRef(), add(from, k));
    memref::StoreOp::create(b, loc, element, panel, add(to, k));
  }

  /// All rows, for this block of the range and this tile of the columns.
  void emitRows(Value begin, Value end, Value panel, Value first, Value column, Value wide,
                Value initialized) {
    IRMapping map;
    b.clone(*p.rows, map);
    auto copyOf = [&](auto op) { return cast<decltype(op)>(map.lookup(op.getOperation())); };
    Value base = map.lookup(p.base);
    b.setInsertionPointAfterValue(base);
    Value shifted = add(base, column);
    base.replaceAllUsesExcept(shifted, shifted.getDefiningOp());
    if (p.init)
      copyOf(p.init).getUpperBoundMutable().assign(initialized);
    scf::ForOp range = copyOf(p.range), inner = copyOf(p.nest.inner);
    range.getLowerBoundMutable().assign(begin);
    range.getUpperBoundMutable().assign(end);
    inner.getUpperBoundMutable().assign(wide);
    memref::LoadOp load = copyOf(p.load);
    b.setInsertionPoint(inner);
    Value start = times(sub(map.lookupOrDefault(p.row), first), width);
    b.setInsertionPoint(load);
    load.getMemrefMutable().assign(panel);
    load.getIndicesMutable().assign(add(start, inner.getInductionVar()));
  }
};

struct PackOperandsPass : impl::PackOperandsBase<PackOperandsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    for (scf::ForOp loop : loopsIn(getOperation()))
      if (std::optional<Product> product = matchProduct(loop)) {
        dialect::explainChoice(product->rows, "packing: where an operand is larger than L1, panels of it are "
                                              "packed for all rows, at run time");
        PackedProduct(std::move(*product), model.cpu).emit();
      }
  }
};

} // namespace
} // namespace tulle::passes
