#include "passes/assemble/Queries.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <algorithm>

using namespace mlir;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::Expr;
using format::ExprKind;

//===--- TargetAssembly ---===//

Value TargetAssembly::product(unsigned level, Value a, Value b) const {
  return target.checkedSize(builder, level, a, b);
}

void TargetAssembly::allocate(unsigned field, Value count) const { target.allocate(builder, field, count); }
void TargetAssembly::shrink(unsigned field, Value count) const { target.shrink(builder, field, count); }
void TargetAssembly::checkWidth(unsigned field, Value value) const {
  target.checkWidth(builder, field, value);
}

void TargetAssembly::refuseGroup(unsigned level, Value parent, Value found, Value wanted) const {
  target.call(builder, "tulle_error_group", {constant(level), parent, found, wanted});
}

Value TargetAssembly::scratch(Type element, Value count) const {
  Value buffer =
      memref::AllocOp::create(builder, loc, MemRefType::get({ShapedType::kDynamic}, element), count);
  temporaries.push_back(buffer);
  return buffer;
}

Value TargetAssembly::cell(Value initial) const {
  auto function = builder.getInsertionBlock()->getParentOp();
  while (!isa<func::FuncOp>(function))
    function = function->getParentOp();
  Value buffer;
  {
    // Only what stands at the entry of a function is promoted to a register.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&cast<func::FuncOp>(function).getBody().front());
    buffer = memref::AllocaOp::create(builder, loc, MemRefType::get({1}, builder.getIndexType()));
  }
  write(buffer, constant(0), initial);
  return buffer;
}

void TargetAssembly::freeScratch() const {
  for (Value buffer : temporaries)
    memref::DeallocOp::create(builder, loc, buffer);
  temporaries.clear();
}

//===--- Bounds ---===//

levels::Bounds boundsOf(const levels::Emitter &emit, const Expr &e) {
  OpBuilder &b = emit.builder;
  Value zero = emit.constant(0), one = emit.constant(1);
  switch (e->kind) {
  case ExprKind::Dim:
    return {zero, emit.storage.dims[e->value]};
  case ExprKind::Rank:
    return {zero, emit.storage.dims[e->dims[0]]};
  case ExprKind::Constant:
    return {emit.constant(e->value), emit.constant(e->value + 1)};
  case ExprKind::Mod:
    return {zero, emit.constant(e->rhs->value)};
  case ExprKind::FloorDiv: {
    levels::Bounds x = boundsOf(emit, e->lhs);
    if (!x.end)
      return {};
    Value by = emit.constant(e->rhs->value);
    return {b.createOrFold<arith::FloorDivSIOp>(emit.loc, x.lo, by),
            b.createOrFold<arith::CeilDivSIOp>(emit.loc, x.end, by)};
  }
  case ExprKind::Add:
  case ExprKind::Sub: {
    levels::Bounds x = boundsOf(emit, e->lhs), y = boundsOf(emit, e->rhs);
    if (!x.end || !y.end)
      return {};
    auto sum = [&](Value u, Value v) { return Value(arith::AddIOp::create(b, emit.loc, u, v)); };
    auto difference = [&](Value u, Value v) { return Value(arith::SubIOp::create(b, emit.loc, u, v)); };
    if (e->kind == ExprKind::Add)
      return {sum(x.lo, y.lo), difference(sum(x.end, y.end), one)};
    return {sum(difference(x.lo, y.end), one), difference(x.end, y.lo)};
  }
  default:
    return {};
  }
}

//===--- Counters ---===//

static std::vector<Expr> dimensions(const std::vector<unsigned> &dims) {
  std::vector<Expr> out;
  for (unsigned d : dims)
    out.push_back(format::dim(d));
  return out;
}

Counters::Counters(const TargetAssembly &assembly, const Order &order) : assembly(assembly) {
  for (const Expr &level : order.levels)
    collect(level, order);
}

void Counters::collect(const Expr &e, const Order &order) {
  if (!e)
    return;
  collect(e->lhs, order);
  collect(e->rhs, order);
  bool known = e->kind != ExprKind::Counter ||
               std::any_of(counters.begin(), counters.end(), [&](auto &c) { return c.dims == e->dims; });
  if (known)
    return;
  Counter counter;
  counter.dims = e->dims;
  std::vector<unsigned> dims = e->dims;
  std::sort(dims.begin(), dims.end());
  do
    counter.grouped |= Order{order.keys, dimensions(dims), order.unique}.sorted();
  while (std::next_permutation(dims.begin(), dims.end()));
  counters.push_back(counter);
}

static bool ascends(const Expr &e, const Order &order, unsigned dims) {
  if (!e)
    return true;
  if (e->kind == ExprKind::Counter) {
    std::vector<unsigned> all = e->dims;
    for (unsigned d = 0; d < dims; ++d)
      if (std::find(e->dims.begin(), e->dims.end(), d) == e->dims.end())
        all.push_back(d);
    Order numbering{order.keys, dimensions(all), order.unique};
    unsigned fixed = unsigned(e->dims.size());
    return order.unique && numbering.sortedLevels(fixed) == dims - fixed;
  }
  return ascends(e->lhs, order, dims) && ascends(e->rhs, order, dims);
}

bool Counters::ascend(const Order &order, unsigned dims) {
  return std::all_of(order.levels.begin(), order.levels.end(),
                     [&](const Expr &e) { return ascends(e, order, dims); });
}

void Counters::reset() {
  Value zero = assembly.constant(0);
  for (Counter &counter : counters) {
    bool first = !counter.array;
    if (counter.grouped) {
      if (first) {
        counter.array = assembly.cell(zero);
        for (size_t d = 0; d < counter.dims.size(); ++d)
          counter.last.push_back(assembly.cell(zero));
      } else {
        assembly.write(counter.array, zero, zero);
      }
      continue;
    }
    Value count = assembly.constant(1);
    for (unsigned d : counter.dims)
      count = assembly.product(0, count, assembly.storage.dims[d]);
    if (first)
      counter.array = assembly.scratch(assembly.builder.getI32Type(), count);
    assembly.fill(counter.array, zero, count, zero);
  }
}

void Counters::enter(ValueRange dims) {
  this->dims = dims;
  for (Counter &counter : counters)
    counter.current = {};
}

Value Counters::numberGrouped(Counter &counter) {
  Value zero = assembly.constant(0), same;
  for (auto [d, last] : llvm::zip(counter.dims, counter.last)) {
    Value equal = assembly.compare(CmpIPredicate::eq, assembly.read(last, zero), dims[d]);
    same = same ? Value(arith::AndIOp::create(assembly.builder, assembly.loc, same, equal)) : equal;
    assembly.write(last, zero, dims[d]);
  }
  Value number = assembly.read(counter.array, zero);
  if (same)
    number = arith::SelectOp::create(assembly.builder, assembly.loc, same, number, zero);
  assembly.write(counter.array, zero, assembly.add(number, assembly.constant(1)));
  return number;
}

Value Counters::number(const format::ExprNode &e) {
  Counter &counter =
      *std::find_if(counters.begin(), counters.end(), [&](auto &c) { return c.dims == e.dims; });
  if (counter.current)
    return counter.current;
  if (counter.grouped)
    return counter.current = numberGrouped(counter);
  Value at = assembly.constant(0);
  for (unsigned d : counter.dims)
    at = assembly.add(assembly.mul(at, assembly.storage.dims[d]), dims[d]);
  return counter.current = assembly.increment(counter.array, at);
}

} // namespace tulle::assemble
