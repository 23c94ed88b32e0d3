#include "passes/assemble/algorithms/Counters.h"
#include <algorithm>

using namespace mlir;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::Expr;
using format::ExprKind;

//===--- Counters ---===//

static std::vector<Expr> dimensions(const std::vector<unsigned> &dims) {
  std::vector<Expr> out;
  for (unsigned d : dims)
    out.push_back(format::dim(d));
  return out;
}

Counters::Counters(const TargetAssembly &assembly, const Order &order, std::optional<unsigned> iterations)
    : assembly(assembly), iterations(iterations) {
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
  counter.ofIteration = iterations && dims == std::vector<unsigned>{*iterations};
  counters.push_back(counter);
}

void Counters::reset() {
  Value zero = assembly.constant(0);
  for (Counter &counter : counters) {
    bool first = !counter.array;
    if (counter.ofIteration) {
      if (first)
        counter.array = assembly.cell(zero);
      continue;
    }
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

void Counters::startIteration() {
  for (Counter &counter : counters)
    if (counter.ofIteration)
      assembly.write(counter.array, assembly.constant(0), assembly.constant(0));
}

Value Counters::iterationEntries() const {
  auto counter = std::find_if(counters.begin(), counters.end(), [](auto &c) { return c.ofIteration; });
  return assembly.read(counter->array, assembly.constant(0));
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
  if (counter.ofIteration)
    return counter.current = assembly.increment(counter.array, assembly.constant(0));
  if (counter.grouped)
    return counter.current = numberGrouped(counter);
  Value at = assembly.constant(0);
  for (unsigned d : counter.dims)
    at = assembly.add(assembly.mul(at, assembly.storage.dims[d]), dims[d]);
  return counter.current = assembly.increment(counter.array, at);
}

Value Counters::startCounts(unsigned dim) const {
  return assembly.zeros(assembly.builder.getI64Type(), assembly.made.dims[dim]);
}

void Counters::count(Value counts, unsigned dim, ValueRange dims) const {
  assembly.increment(counts, dims[dim]);
}

Value largest(const TargetAssembly &a, Value counts, Value begin, Value end) {
  return levels::forLoop(a.builder, a.loc, begin, end, dialect::LoopKind::Reduction, a.constant(0),
                         [&](Value at, levels::Values most) {
                           Value count = a.read(counts, at);
                           return levels::Values{arith::MaxUIOp::create(a.builder, a.loc, most[0], count)};
                         })[0];
}

Value Counters::longest(Value counts, unsigned dim) const {
  return largest(assembly, counts, assembly.constant(0), assembly.made.dims[dim]);
}

//===--- Ranks ---===//

static const format::ExprNode *findRank(const Expr &e) {
  if (!e || e->kind == ExprKind::Rank)
    return e.get();
  const format::ExprNode *left = findRank(e->lhs);
  return left ? left : findRank(e->rhs);
}

Ranks::Ranks(const TargetAssembly &assembly, const Order &order) : assembly(assembly) {
  for (const Expr &level : order.levels)
    if (const format::ExprNode *found = findRank(level); found && !rank)
      rank = found;
  for (std::optional<unsigned> field : assembly.made.layout.permutation)
    if (field)
      permutation = *field;
}

Value Ranks::startQuery() {
  return counts = assembly.zeros(assembly.builder.getI64Type(), assembly.made.dims[rank->dims[0]]);
}

void Ranks::query(Value ranked) { assembly.increment(counts, ranked); }

/// Counting sort: `places` has, for each count, where the next coordinate with it goes.
void Ranks::sortWindow(Value begin, Value end, Value places) const {
  const TargetAssembly &a = assembly;
  OpBuilder &b = a.builder;
  Value zero = a.constant(0), one = a.constant(1);
  Value longest = largest(a, counts, begin, end);
  Value lengths = a.add(longest, one);
  a.fill(places, zero, lengths, zero);
  levels::forLoop(b, a.loc, begin, end, dialect::LoopKind::Reduction, {}, [&](Value at, levels::Values) {
    a.increment(places, a.read(counts, at));
    return levels::Values{};
  });
  // The longest come first.
  levels::forLoop(b, a.loc, zero, lengths, dialect::LoopKind::Reduction, begin,
                  [&](Value k, levels::Values next) {
                    Value count = a.sub(longest, k), number = a.read(places, count);
                    a.write(places, count, next[0]);
                    return levels::Values{a.add(next[0], number)};
                  });
  levels::forLoop(b, a.loc, begin, end, dialect::LoopKind::Reduction, {}, [&](Value at, levels::Values) {
    Value place = a.increment(places, a.read(counts, at));
    a.store(permutation, place, at);
    a.write(numbers, at, place);
    return levels::Values{};
  });
}

void Ranks::sort() {
  const TargetAssembly &a = assembly;
  OpBuilder &b = a.builder;
  Value zero = a.constant(0), one = a.constant(1), size = a.made.dims[rank->dims[0]];
  a.allocate(permutation, size);
  numbers = a.scratch(b.getI64Type(), size);
  Value longest = largest(a, counts, zero, size);
  Value places = a.scratch(b.getI64Type(), a.add(longest, one));
  if (rank->value < 0)
    return sortWindow(zero, size, places);
  Value window = a.constant(rank->value);
  auto more = [&](levels::Values at) { return a.compare(CmpIPredicate::ult, at[0], size); };
  levels::whileLoop(b, a.loc, zero, more, [&](levels::Values at) {
    Value next = a.add(at[0], window);
    sortWindow(at[0], arith::MinUIOp::create(b, a.loc, next, size), places);
    return levels::Values{next};
  });
}

Value Ranks::number(ValueRange dims) const { return assembly.read(numbers, dims[rank->dims[0]]); }

} // namespace tulle::assemble
