#include "passes/assemble/Shares.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/Groups.h"
#include "passes/assemble/Memory.h"
#include "passes/lower/Control.h"
#include "passes/parallel/Loops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::LevelKind;

bool Shares::possible(const Target &target, AssembleOp op, const Order &order) {
  if (!target.shares || op.getPlan() == AssemblyPlan::Count || target.storage.digits.empty())
    return false;
  unsigned stored = target.storedLevels(), outer = 0;
  while (outer < stored && target.format(outer).kind == LevelKind::Dense)
    ++outer;
  if (outer == 0 || outer + 1 != stored)
    return false;
  LevelKind kind = target.format(outer).kind;
  const auto &ref = target.storage.layout.coordinates[outer];
  if ((kind != LevelKind::Compressed && kind != LevelKind::LooseCompressed) || !ref ||
      target.storage.layout.fields[ref->field].width == 2)
    return false;
  // Each coordinate of the first level is met in one pass of the loop.
  if (!canCut(op) || order.levels[0]->kind != format::ExprKind::Dim)
    return false;
  // How much work there is must be known outside of the loop.
  IterateOp loop = outermostLoop(op);
  Operation *space = loop.getSpace().getDefiningOp();
  if (!space || llvm::any_of(space->getOperands(), [&](Value operand) {
        return op.getBody().isAncestor(operand.getParentRegion());
      }))
    return false;
  bool all = true;
  op->walk([&](InsertOp insert) {
    all &= insert.getCoordinates()[size_t(order.levels[0]->value)] == loop.getBody().getArgument(0);
  });
  return all;
}

//===--- Tables with an element for each part ---===//

Value Shares::table(OpBuilder &b, Value size) const {
  return memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getIndexType()), size);
}
Value Shares::load(OpBuilder &b, Value table, Value part) const {
  return memref::LoadOp::create(b, loc, table, part);
}
void Shares::store(OpBuilder &b, Value value, Value table, Value part) const {
  memref::StoreOp::create(b, loc, value, table, part);
}

Value Shares::accumulate(OpBuilder &b, Value table) const {
  levels::Emitter emit = target.emitter(b);
  return lower::forLoop(b, loc, emit.constant(0), parts, LoopKind::Reduction, ValueRange{emit.constant(0)},
                        [&](Value part, lower::Values sum) {
                          Value own = load(b, table, part);
                          store(b, sum[0], table, part);
                          return lower::Values{emit.add(sum[0], own)};
                        })[0];
}

//===--- How many parts, and room for them ---===//

Shares::Shares(OpBuilder &b, Target &target, Value bound) : target(target), loc(target.loc) {
  levels::Emitter emit = target.emitter(b);
  parts = ThreadsOp::create(b, loc, parallel::work(b, outermostLoop(target.op)), /*fixed=*/false);
  starts = table(b, parts);
  if (!bound) {
    lower::parallelParts(b, loc, parts, [&](Value part) {
      Piece piece{part, parts};
      store(b, countInserts(b, target, target.op, &piece), starts, part);
    });
    most = total = accumulate(b, starts);
    return;
  }
  // All inserts may be in one part; pages that no part touches cost nothing.
  lower::forLoop(b, loc, emit.constant(0), parts, LoopKind::Parallel, {}, [&](Value part, lower::Values) {
    store(b, arith::MulIOp::create(b, loc, part, bound), starts, part);
    return lower::Values{};
  });
  most = bound;
  total = arith::MulIOp::create(b, loc, parts, bound);
}

Value Shares::worthwhile(OpBuilder &b, int64_t block) const {
  levels::Emitter emit = target.emitter(b);
  Value several = emit.compare(CmpIPredicate::ugt, parts, emit.constant(1));
  // Saturated: what would wrap does not fit either. The result may be as large as the scratch buffers.
  Value few = arith::MinUIOp::create(b, loc, total, emit.constant(int64_t(1) << 40));
  Value fits = fitsMemory(b, target, emit.mul(few, emit.constant(2 * bytesPerEntry(target, block))));
  return arith::AndIOp::create(b, loc, several, fits);
}

//===--- Appending and joining ---===//

void Shares::assemble(OpBuilder &b, const Order &order, AppendPart appendPart) {
  levels::Emitter emit = target.emitter(b);
  Target scratch = target;
  Appender whole(b, scratch, order, /*counting=*/true);
  whole.allocate(b, total);
  unsigned run = target.storedLevels() - 1;
  for (Value *table : {&ends, &bases, &firsts, &lasts})
    *table = this->table(b, parts);

  lower::parallelParts(b, loc, parts, [&](Value part) {
    Value start = load(b, starts, part);
    auto begin = [&](Appender &appender) { appender.beginPart(b, start); };
    auto end = [&](Appender &appender) {
      Value count = appender.count(b, 0);
      auto [first, last] = appender.partPositions(b);
      store(b, count, ends, part);
      store(b, arith::SubIOp::create(b, loc, count, start), bases, part);
      store(b, first, firsts, part);
      store(b, last, lasts, part);
    };
    appendPart(b, scratch, Piece{part, parts}, begin, end);
  });

  Value count = accumulate(b, bases);
  unsigned positions = *target.storage.layout.positions[run];
  target.checkWidth(b, positions, count);
  Value reached = joinPositions(b, scratch, positions);
  Value length = memref::DimOp::create(b, loc, scratch.storage.fields[positions], emit.constant(0));
  lower::forLoop(b, loc, reached, length, LoopKind::Parallel, {}, [&](Value at, lower::Values) {
    scratch.emitter(b).store(positions, at, count);
    return lower::Values{};
  });

  Value block = emit.constant(1);
  for (unsigned l = run + 1; l < target.levels(); ++l)
    block = emit.mul(block, emit.levelSize(l));
  unsigned coordinates = target.storage.layout.coordinates[run]->field;
  target.storage.fields[positions] = scratch.storage.fields[positions];
  target.allocate(b, coordinates, count);
  target.allocate(b, target.storage.layout.valuesField(),
                  target.checkedSize(b, target.levels(), count, block));
  lower::parallelParts(b, loc, parts, [&](Value part) { move(b, scratch, run, block, part); });
  memref::DeallocOp::create(b, loc, scratch.storage.fields[coordinates]);
  memref::DeallocOp::create(b, loc, scratch.storage.fields.back());
  for (Value table : {starts, ends, bases, firsts, lasts})
    memref::DeallocOp::create(b, loc, table);
}

/// Parents between those of one part and those of the next have no entries. Returns where the last part's
/// end.
Value Shares::joinPositions(OpBuilder &b, const Target &scratch, unsigned field) const {
  levels::Emitter emit = scratch.emitter(b);
  return lower::forLoop(
      b, loc, emit.constant(0), parts, LoopKind::Reduction, ValueRange{emit.constant(0)},
      [&](Value part, lower::Values reached) {
        Value base = load(b, bases, part), first = load(b, firsts, part);
        lower::forLoop(b, loc, reached[0], first, LoopKind::Parallel, {}, [&](Value at, lower::Values) {
          scratch.emitter(b).store(field, at, base);
          return lower::Values{};
        });
        return lower::Values{arith::MaxUIOp::create(b, loc, reached[0], load(b, lasts, part))};
      })[0];
}

/// What one part appended moves to its place in the result.
void Shares::move(OpBuilder &b, const Target &scratch, unsigned run, Value block, Value part) const {
  levels::Emitter emit = scratch.emitter(b);
  Value start = load(b, starts, part), end = load(b, ends, part), base = load(b, bases, part);
  auto copy = [&](unsigned field, Value each) {
    Value from = emit.mul(start, each), to = emit.mul(base, each);
    lower::forLoop(b, loc, emit.constant(0), emit.mul(emit.sub(end, start), each), LoopKind::Parallel, {},
                   [&](Value at, lower::Values) {
                     Value element =
                         memref::LoadOp::create(b, loc, scratch.storage.fields[field], emit.add(from, at));
                     memref::StoreOp::create(b, loc, element, target.storage.fields[field], emit.add(to, at));
                     return lower::Values{};
                   });
  };
  copy(target.storage.layout.coordinates[run]->field, emit.constant(1));
  copy(target.storage.layout.valuesField(), block);
  // Modulo the field's width: what the part wrote was, and what it becomes fits.
  unsigned field = *target.storage.layout.positions[run];
  Value buffer = scratch.storage.fields[field];
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  Value shift = arith::IndexCastOp::create(b, loc, type, arith::SubIOp::create(b, loc, base, start));
  lower::forLoop(b, loc, load(b, firsts, part), load(b, lasts, part), LoopKind::Parallel, {},
                 [&](Value at, lower::Values) {
                   Value old = memref::LoadOp::create(b, loc, buffer, at);
                   memref::StoreOp::create(b, loc, Value(arith::AddIOp::create(b, loc, old, shift)), buffer,
                                           at);
                   return lower::Values{};
                 });
}

} // namespace tulle::assemble
