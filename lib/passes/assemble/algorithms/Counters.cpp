// Counts in registers where entries that agree arrive together, else in arrays; sorts ranks by counting.
#include "passes/assemble/algorithms/Counters.h"
#include "passes/assemble/choose/Strategies.h"
#include <algorithm>

using namespace mlir;

namespace tulle::assemble {

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
    if (counter.ofIteration || counter.grouped) {
      if (!counter.one) {
        counter.one.emplace(target, zero);
        for (size_t d = 0; d < counter.dims.size() && !counter.ofIteration; ++d)
          counter.last.emplace_back(target, zero);
      } else if (!counter.ofIteration) {
        counter.one->set(zero);
      }
      continue;
    }
    Value count = target.constant(1);
    for (unsigned d : counter.dims)
      count = target.product(0, count, target.storage.dims[d]);
    if (!counter.array)
      counter.array = target.scratch(target.builder.getI32Type(), count);
    target.fill(counter.array, zero, count, zero);
  }
}

void Counters::startIteration() {
  for (Counter &counter : counters)
    if (counter.ofIteration)
      counter.one->set(target.constant(0));
}

Value Counters::iterationEntries() const {
  return llvm::find_if(counters, [](auto &c) { return c.ofIteration; })->one->get();
}

void Counters::enter(ValueRange dims) {
  this->dims = dims;
  for (Counter &counter : counters)
    counter.current = {};
}

Value Counters::number(const format::ExprNode &e) {
  Counter &counter = *llvm::find_if(counters, [&](auto &c) { return c.dims == e.dims; });
  if (counter.current)
    return counter.current;
  if (!counter.one) {
    Value at = target.constant(0);
    for (unsigned d : counter.dims)
      at = target.add(target.mul(at, target.storage.dims[d]), dims[d]);
    return counter.current = target.increment(counter.array, at);
  }
  Value same;
  for (auto [d, last] : llvm::zip(counter.dims, counter.last)) {
    Value equal = target.isEqual(last.get(), dims[d]);
    same = same ? target.both(same, equal) : equal;
    last.set(dims[d]);
  }
  counter.current = counter.one->get();
  if (same)
    counter.current = target.select(same, counter.current, target.constant(0));
  counter.one->set(target.add(counter.current, 1));
  return counter.current;
}

Value largest(const Target &target, Value counts, Value begin, Value end) {
  return reduce(target, begin, end, target.constant(0), [&](Value at, Values most) {
    Value count = target.read(counts, at);
    return Values{target.umax(most[0], count)};
  })[0];
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
