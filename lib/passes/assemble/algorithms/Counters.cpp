// Counts in registers where entries that agree arrive together, else in arrays; sorts ranks by counting.
#include "passes/assemble/algorithms/Counters.h"
#include "passes/assemble/choose/Strategies.h"
#include <algorithm>

using namespace mlir;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::Expr;
using format::ExprKind;

//===--- Counters ---===//

Counters::Counters(const Target &target, const Order &order, std::optional<unsigned> iterations)
    : target(target), iterations(iterations) {
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
    counter.grouped |= Order{order.keys, dimensionsOf(dims), order.unique}.sorted();
  while (std::next_permutation(dims.begin(), dims.end()));
  counter.ofIteration = iterations && dims == std::vector<unsigned>{*iterations};
  counters.push_back(counter);
}

void Counters::reset() {
  Value zero = target.constant(0);
  for (Counter &counter : counters) {
    bool first = !counter.array;
    if (counter.ofIteration) {
      if (first)
        counter.array = target.cell(zero);
      continue;
    }
    if (counter.grouped) {
      if (first) {
        counter.array = target.cell(zero);
        for (size_t d = 0; d < counter.dims.size(); ++d)
          counter.last.push_back(target.cell(zero));
      } else {
        target.write(counter.array, zero, zero);
      }
      continue;
    }
    Value count = target.constant(1);
    for (unsigned d : counter.dims)
      count = target.product(0, count, target.storage.dims[d]);
    if (first)
      counter.array = target.scratch(target.builder.getI32Type(), count);
    target.fill(counter.array, zero, count, zero);
  }
}

void Counters::startIteration() {
  for (Counter &counter : counters)
    if (counter.ofIteration)
      target.write(counter.array, target.constant(0), target.constant(0));
}

Value Counters::iterationEntries() const {
  auto counter = std::find_if(counters.begin(), counters.end(), [](auto &c) { return c.ofIteration; });
  return target.read(counter->array, target.constant(0));
}

void Counters::enter(ValueRange dims) {
  this->dims = dims;
  for (Counter &counter : counters)
    counter.current = {};
}

Value Counters::numberGrouped(Counter &counter) {
  Value zero = target.constant(0), same;
  for (auto [d, last] : llvm::zip(counter.dims, counter.last)) {
    Value equal = target.isEqual(target.read(last, zero), dims[d]);
    same = same ? target.both(same, equal) : equal;
    target.write(last, zero, dims[d]);
  }
  Value number = target.read(counter.array, zero);
  if (same)
    number = target.select(same, number, zero);
  target.write(counter.array, zero, target.add(number, 1));
  return number;
}

Value Counters::number(const format::ExprNode &e) {
  Counter &counter =
      *std::find_if(counters.begin(), counters.end(), [&](auto &c) { return c.dims == e.dims; });
  if (counter.current)
    return counter.current;
  if (counter.ofIteration)
    return counter.current = target.increment(counter.array, target.constant(0));
  if (counter.grouped)
    return counter.current = numberGrouped(counter);
  Value at = target.constant(0);
  for (unsigned d : counter.dims)
    at = target.add(target.mul(at, target.storage.dims[d]), dims[d]);
  return counter.current = target.increment(counter.array, at);
}

Value Counters::startCounts(unsigned dim) const {
  return target.zeros(target.builder.getI64Type(), target.storage.dims[dim]);
}

void Counters::count(Value counts, unsigned dim, ValueRange dims) const {
  target.increment(counts, dims[dim]);
}

Value largest(const Target &target, Value counts, Value begin, Value end) {
  return reduce(target, begin, end, target.constant(0), [&](Value at, Values most) {
    Value count = target.read(counts, at);
    return Values{target.umax(most[0], count)};
  })[0];
}

Value Counters::longest(Value counts, unsigned dim) const {
  return largest(target, counts, target.constant(0), target.storage.dims[dim]);
}

//===--- Ranks ---===//

Ranks::Ranks(const Target &target, const Order &order) : target(target), rank(rankOf(order)) {
  for (std::optional<unsigned> field : target.storage.layout.permutation)
    if (field)
      permutation = *field;
}

Value Ranks::startQuery() {
  return counts = target.zeros(target.builder.getI64Type(), target.storage.dims[rank->dims[0]]);
}

void Ranks::query(Value ranked) { target.increment(counts, ranked); }

/// Counting sort: `offsets` has, for each count, where the next coordinate with it goes.
void Ranks::sortWindow(Value begin, Value end, Value offsets) const {
  Value zero = target.constant(0);
  Value longest = largest(target, counts, begin, end);
  Value lengths = target.add(longest, 1);
  target.fill(offsets, zero, lengths, zero);
  forEach(target, begin, end, dialect::LoopKind::Reduction,
          [&](Value at) { target.increment(offsets, target.read(counts, at)); });
  // The longest come first.
  reduce(target, lengths, begin, [&](Value k, Values next) {
    Value count = target.sub(longest, k), number = target.read(offsets, count);
    target.write(offsets, count, next[0]);
    return Values{target.add(next[0], number)};
  });
  forEach(target, begin, end, dialect::LoopKind::Reduction, [&](Value at) {
    Value position = target.increment(offsets, target.read(counts, at));
    target.store(permutation, position, at);
    target.write(numbers, at, position);
  });
}

void Ranks::sort() {
  Value zero = target.constant(0), size = target.storage.dims[rank->dims[0]];
  target.allocate(permutation, size);
  numbers = target.scratch(target.builder.getI64Type(), size);
  Value longest = largest(target, counts, zero, size);
  Value offsets = target.scratch(target.builder.getI64Type(), target.add(longest, 1));
  if (rank->value < 0)
    return sortWindow(zero, size, offsets);
  Value window = target.constant(rank->value);
  auto more = [&](Values at) { return target.isBelow(at[0], size); };
  levels::whileLoop(target, zero, more, [&](Values at) {
    Value next = target.add(at[0], window);
    sortWindow(at[0], target.umin(next, size), offsets);
    return Values{next};
  });
}

Value Ranks::number(ValueRange dims) const { return target.read(numbers, dims[rank->dims[0]]); }

} // namespace tulle::assemble
