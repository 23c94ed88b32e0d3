// tulle-pack-operands: products over a dense range read a panel of their operand that fits the innermost
// cache.
//
// In `for i: for g: for k: C[i, k] += … B[g, k]` every i reads all of B. Where that is more than the cache
// holds, a block of g and a tile of k are done for all i, with that part of B copied to where it is
// consecutive: rows a power of two apart would displace each other.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PACKOPERANDS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using arith::CmpIPredicate;
using mlir::Operation;
using mlir::Value;

/// A panel fills the innermost cache, and is as wide as a tile of registers. Of 32, 64 and 128 rows of 256
/// bytes, 128 (32 KiB) measure best (2:4 times 128 columns: 8.6, 4.3 and 3.5 ms; 5.3 ms with all of B).
constexpr int64_t panelRowBytes = 256;
/// Rows of B that a step of the range may choose from.
constexpr uint64_t mostScale = 32;
/// Rows of the result for which copying pays.
constexpr int64_t fewRows = 32;

/// `for i: (reads) [for k: C[base(i) + k] = constant] for g: … for k: C[base(i) + k] += … B[row(g) * length +
/// k]`.
struct Product {
  scf::ForOp rows, fill, range; ///< over i; over k, or null; over g
  ReductionNest nest;
  Value base;
  memref::LoadOp load; ///< of B
  Value row, length;
  int64_t scale = 0; ///< scale * g <= row < scale * (g + 1)
};

bool isZero(Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }

/// The other operand of an addition or a product; null where the operation is none.
template <typename Op> Value other(Value value, Value operand) {
  auto op = value.getDefiningOp<Op>();
  if (!op || (op.getLhs() != operand && op.getRhs() != operand))
    return {};
  return op.getLhs() == operand ? op.getRhs() : op.getLhs();
}

bool isBelow(Value value, int64_t limit) {
  llvm::APInt constant;
  if (auto mask = value.getDefiningOp<arith::AndIOp>())
    return isBelow(mask.getRhs(), limit) || isBelow(mask.getLhs(), limit);
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return constant.ult(uint64_t(limit));
  auto loop = mlir::dyn_cast_or_null<scf::ForOp>(value.getParentBlock()->getParentOp());
  return loop && value == loop.getInductionVar() && isZero(loop.getLowerBound()) &&
         mlir::matchPattern(loop.getUpperBound(), mlir::m_ConstantInt(&constant)) &&
         constant.ule(uint64_t(limit));
}

/// How many rows of B a step of the range chooses from, the first being step * that; 0 where this is unknown.
int64_t scaleOf(Value row, Value step) {
  if (row == step)
    return 1;
  auto sum = row.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return 0;
  for (auto [block, within] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    llvm::APInt scale;
    Value factor = other<arith::MulIOp>(block, step);
    if (factor && mlir::matchPattern(factor, mlir::m_ConstantInt(&scale)) && scale.ugt(0) &&
        scale.ule(mostScale) && isBelow(within, scale.getSExtValue()))
      return scale.getSExtValue();
  }
  return 0;
}

bool matchOperand(Product &p) {
  scf::ForOp inner = p.nest.inner;
  Value k = inner.getInductionVar();
  unsigned reads = 0;
  inner.walk([&](memref::LoadOp load) {
    ++reads;
    if (load != p.nest.load)
      p.load = load;
  });
  if (reads != 2 || !p.load || !p.rows.isDefinedOutsideOfLoop(p.load.getMemRef()))
    return false;
  Value start = other<arith::AddIOp>(p.load.getIndices()[0], k);
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

/// What else the rounds do: read, and set the row.
bool matchRound(Product &p) {
  memref::StoreOp written = p.nest.store;
  for (Operation &op : p.rows.getBody()->without_terminator()) {
    if (&op == p.range || mlir::isMemoryEffectFree(&op))
      continue;
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op); load && load.getMemRef() != written.getMemRef())
      continue;
    p.fill = p.fill ? scf::ForOp() : mlir::dyn_cast<scf::ForOp>(op);
    if (!p.fill || !isZero(p.fill.getLowerBound()) || p.fill.getNumRegionIterArgs() != 0)
      return false;
    auto body = p.fill.getBody()->without_terminator();
    auto store = body.empty() ? memref::StoreOp() : mlir::dyn_cast<memref::StoreOp>(*std::prev(body.end()));
    if (!store || store.getMemRef() != written.getMemRef() || std::distance(body.begin(), body.end()) != 2 ||
        other<arith::AddIOp>(store.getIndices()[0], p.fill.getInductionVar()) != p.base ||
        !p.rows.isDefinedOutsideOfLoop(store.getValueToStore()) ||
        !p.rows.isDefinedOutsideOfLoop(p.fill.getUpperBound()))
      return false;
  }
  return true;
}

std::optional<Product> matchProduct(scf::ForOp loop) {
  std::optional<ReductionNest> nest = matchReductionNest(loop);
  if (!nest || nest->movingBounds || nest->plan.gathers || nest->plan.scatters || nest->plan.branches)
    return std::nullopt;
  Product p;
  p.nest = std::move(*nest);
  p.range = p.nest.top();
  p.rows = mlir::dyn_cast<scf::ForOp>(p.range->getParentOp());
  scf::ForOp inner = p.nest.inner;
  auto kind = p.rows ? p.rows->getAttrOfType<mlir::StringAttr>(dialect::kKindAttr) : mlir::StringAttr();
  if (!kind || kind.getValue() != "parallel" || p.rows.getNumRegionIterArgs() != 0 ||
      p.range->getNextNode() != p.rows.getBody()->getTerminator() || !isZero(p.range.getLowerBound()) ||
      !isZero(inner.getLowerBound()) || !p.rows.isDefinedOutsideOfLoop(p.range.getUpperBound()) ||
      !p.rows.isDefinedOutsideOfLoop(inner.getUpperBound()))
    return std::nullopt;
  p.base = other<arith::AddIOp>(p.nest.store.getIndices()[0], inner.getInductionVar());
  if (!p.base || !p.base.getDefiningOp() || p.base.getDefiningOp()->getBlock() != p.rows.getBody())
    return std::nullopt;
  if (!matchOperand(p) || !matchRound(p))
    return std::nullopt;
  return p;
}

class Blocker : levels::Indices {
public:
  Blocker(Product product, const iteration::Cpu &cpu)
      : Indices(product.rows), p(std::move(product)),
        panelBytes(std::max(cpu.l1, panelRowBytes * int64_t(mostScale))) {}

  void run() {
    const int64_t bytes = std::max(1u, p.load.getType().getIntOrFloatBitWidth() / 8);
    width = constant(panelRowBytes / bytes);
    height = constant(panelBytes / panelRowBytes / p.scale);
    auto branch = scf::IfOp::create(b, loc, pays(bytes), /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    panels();
    p.rows->moveBefore(branch.elseBlock()->getTerminator());
  }

private:
  Product p;
  int64_t panelBytes;
  Value width, height; ///< of a panel: elements, and steps of the range

  Value columns() { return p.nest.inner.getUpperBound(); }

  /// Many rows, more of B than a panel holds, rows of B that the columns cover, and a row set that they
  /// cover.
  Value pays(int64_t bytes) {
    Value count = sub(p.rows.getUpperBound(), p.rows.getLowerBound());
    Value needed = times(times(p.range.getUpperBound(), constant(p.scale)), columns());
    llvm::SmallVector<Value> conditions{is(CmpIPredicate::sge, count, constant(fewRows)),
                                        is(CmpIPredicate::sgt, needed, constant(panelBytes / bytes)),
                                        is(CmpIPredicate::sge, p.length, columns()),
                                        is(CmpIPredicate::sgt, columns(), constant(0))};
    if (p.fill)
      conditions.push_back(is(CmpIPredicate::eq, p.fill.getUpperBound(), columns()));
    return all(conditions);
  }

  void panels() {
    mlir::Type element = p.load.getType();
    auto type = mlir::MemRefType::get({mlir::ShapedType::kDynamic}, element);
    Value steps = constant(panelBytes / panelRowBytes / p.scale * p.scale);
    Value panel = memref::AllocOp::create(b, loc, type, times(steps, width), b.getI64IntegerAttr(64));
    Value size = memref::DimOp::create(b, loc, p.load.getMemRef(), constant(0));
    Value stored = arith::DivUIOp::create(b, loc, size, p.length); // rows that B has
    auto tiles = scf::ForOp::create(b, loc, constant(0), columns(), width);
    {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(tiles.getBody());
      Value column = tiles.getInductionVar(), zero = constant(0);
      Value wide = min(width, sub(columns(), column));
      auto blocks = scf::ForOp::create(b, loc, zero, p.range.getUpperBound(), height);
      b.setInsertionPointToStart(blocks.getBody());
      Value begin = blocks.getInductionVar();
      Value end = min(add(begin, height), p.range.getUpperBound());
      Value scale = constant(p.scale), first = times(begin, scale);
      pack(panel, first, min(times(end, scale), stored), column, wide);
      Value toSet = arith::SelectOp::create(b, loc, is(CmpIPredicate::eq, begin, zero), wide, zero);
      rowsOver(begin, end, panel, first, column, wide, toSet);
    }
    memref::DeallocOp::create(b, loc, panel);
  }

  /// Copies the columns from `column` on of rows first <= r < last of B.
  void pack(Value panel, Value first, Value last, Value column, Value wide) {
    mlir::OpBuilder::InsertionGuard guard(b);
    Value zero = constant(0), one = constant(1);
    auto each = scf::ForOp::create(b, loc, first, last, one);
    b.setInsertionPointToStart(each.getBody());
    Value from = add(times(each.getInductionVar(), p.length), column);
    Value to = times(sub(each.getInductionVar(), first), width);
    auto copy = scf::ForOp::create(b, loc, zero, wide, one);
    copy->setAttr(dialect::kKindAttr, b.getStringAttr("parallel"));
    b.setInsertionPointToStart(copy.getBody());
    Value k = copy.getInductionVar();
    Value element = memref::LoadOp::create(b, loc, p.load.getMemRef(), add(from, k));
    memref::StoreOp::create(b, loc, element, panel, add(to, k));
  }

  /// All rounds, for this block of the range and this tile of the columns.
  void rowsOver(Value begin, Value end, Value panel, Value first, Value column, Value wide, Value toSet) {
    mlir::IRMapping map;
    b.clone(*p.rows, map);
    auto copyOf = [&](auto op) { return mlir::cast<decltype(op)>(map.lookup(op.getOperation())); };
    Value base = map.lookup(p.base);
    b.setInsertionPointAfterValue(base);
    Value shifted = add(base, column);
    base.replaceAllUsesExcept(shifted, shifted.getDefiningOp());
    if (p.fill)
      copyOf(p.fill).getUpperBoundMutable().assign(toSet);
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
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Product> product = matchProduct(loop))
        Blocker(std::move(*product), model.cpu).run();
  }
};

} // namespace
} // namespace tulle::passes
