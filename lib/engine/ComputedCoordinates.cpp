// A list with levels for what is computed has the buffers of a list with as many dimensions; so has a format
// with counters those of a format with dimensions in their place.
#include "engine/ComputedCoordinates.h"
#include "format/LevelKinds.h"
#include "support/Errors.h"
#include <algorithm>

namespace tulle::engine {

using format::Encoding;
using format::Expr;
using format::ExprKind;
using format::LevelKind;
using runtime::Tensor;

namespace {

/// The levels as those of a list of entries.
Encoding listOf(Encoding encoding) {
  for (size_t l = 0; l < encoding.levels.size(); ++l) {
    format::LevelFormat &format = encoding.levels[l].format;
    format = {};
    format.kind = l == 0 ? LevelKind::Compressed : LevelKind::Singleton;
    format.unique = l + 1 == encoding.levels.size();
    format.soa = l > 0;
  }
  return encoding;
}

Encoding withFillOf(Encoding encoding, const Encoding &other) {
  encoding.fill = other.fill;
  encoding.implicitVal = other.implicitVal;
  return encoding;
}

/// The dimensions, and behind them what is computed.
Encoding listWith(unsigned order, const std::vector<Expr> &computed, const Encoding &fill) {
  Encoding list = format::denseEncoding(order);
  for (const Expr &e : computed)
    list.levels.push_back({"", e, {}});
  return withFillOf(listOf(std::move(list)), fill);
}

/// The largest coordinate of a dimension; -1 without an entry.
int64_t largest(const Tensor &tensor, unsigned dim, const Options &options) {
  notation::Query most;
  most.aggregates.push_back({notation::AggregateKind::Max, {}, format::dim(dim), "most", {}});
  return *static_cast<const int64_t *>(query(tensor, most, options)[0].values());
}

//===--- Counters ---===//

bool isCounter(const format::Level &level) { return level.expr->kind == ExprKind::Counter; }

bool namesSame(const Expr &a, const Expr &b) { return a->dims == b->dims; }

/// Without their numbers of slices.
std::vector<Expr> countersOf(const Encoding &encoding) {
  std::vector<Expr> counters;
  for (const format::Level &level : encoding.levels)
    if (isCounter(level) &&
        std::ranges::none_of(counters, [&](const Expr &known) { return namesSame(known, level.expr); }))
      counters.push_back(format::counter(level.expr->dims));
  return counters;
}

/// With a dimension behind the others in the place of each counter.
Encoding withoutCounters(const Encoding &encoding, const std::vector<Expr> &counters) {
  Encoding made = encoding;
  const unsigned order = encoding.order(), all = order + unsigned(counters.size());
  const std::vector<std::string> names = format::dimensionNames(all);
  for (unsigned d = 0; d < all; ++d)
    if (d < order)
      made.dims[d].name = names[d];
    else
      made.dims.push_back({names[d], std::nullopt, nullptr});
  for (format::Level &level : made.levels)
    if (isCounter(level))
      level.expr = format::dim(
          order + unsigned(std::ranges::find_if(
                               counters, [&](const Expr &known) { return namesSame(known, level.expr); }) -
                           counters.begin()));
  // Below a counter a unique level may have singletons: they have arrays of their own there.
  for (size_t l = 0; l + 1 < made.levels.size(); ++l) {
    format::LevelFormat &above = made.levels[l].format, &below = made.levels[l + 1].format;
    if (below.kind == LevelKind::Singleton && above.unique && !format::isFull(above)) {
      above.unique = false;
      below.soa = true;
    }
  }
  return made;
}

} // namespace

std::vector<int64_t> atLeastOne(std::vector<int64_t> sizes) {
  for (int64_t &size : sizes)
    size = std::max<int64_t>(size, 1);
  return sizes;
}

ComputedList computeCoordinates(const Tensor &tensor, const std::vector<Expr> &computed,
                                const Options &options, ConversionReport *report) {
  const auto order = unsigned(tensor.dims.size());
  std::vector<int64_t> dims = tensor.dims, lows;
  std::vector<Expr> levels;
  for (const Expr &e : computed) {
    const bool counts = e->kind == ExprKind::Counter; // there are no more than entries
    const auto [low, high] = counts ? std::pair<int64_t, int64_t>(0, tensor.mostSlots())
                                    : notation::valueRange(e, atLeastOne(tensor.dims));
    lows.push_back(low);
    dims.push_back(high - low + 1);
    levels.push_back(low == 0 ? e : format::binary(ExprKind::Sub, e, format::constant(low)));
  }
  const Encoding to = listWith(order, levels, tensor.encoding);
  ConversionReport own;
  const Tensor made = convertInOrder(tensor, to, options, report ? *report : own);
  Encoding plain = listWith(unsigned(dims.size()), {}, tensor.encoding);
  plain.posWidth = made.encoding->posWidth;
  plain.crdWidth = made.encoding->crdWidth;
  ComputedList result{Tensor(plain, made.type, std::move(dims)), std::move(lows), tensor.encoding,
                      made.encoding};
  result.list.buffers = made.buffers;
  for (size_t k = 0; k < computed.size(); ++k)
    if (computed[k]->kind == ExprKind::Counter) { // how far it runs, the entries say
      const auto dim = order + unsigned(k);
      result.list.dims[dim] = largest(result.list, dim, options) + 1;
    }
  return result;
}

bool needsNumbers(const Encoding &encoding) {
  if (std::ranges::none_of(encoding.levels, isCounter))
    return false;
  size_t first = 0;
  while (first < encoding.levels.size() && format::isFull(encoding.levels[first].format))
    ++first;
  if (first < encoding.levels.size() && encoding.levels[first].format.kind == LevelKind::Hashed)
    return true;
  for (size_t l = first; l < encoding.levels.size(); ++l) {
    const LevelKind kind = encoding.levels[l].format.kind;
    if (isCounter(encoding.levels[l]) ||
        (l > first && kind != LevelKind::Singleton && kind != LevelKind::Offset))
      return true;
  }
  return false;
}

std::vector<std::pair<Encoding, Encoding>> numberedSteps(const Encoding &from, const Encoding &to) {
  const std::vector<Expr> counters = countersOf(to);
  Encoding list = listWith(to.order(), {}, to), numbered = listWith(to.order(), counters, to),
           plain = listWith(to.order() + unsigned(counters.size()), {}, to);
  for (Encoding *step : {&list, &numbered, &plain}) {
    step->posWidth = to.posWidth;
    step->crdWidth = to.crdWidth;
  }
  return {{from, list}, {list, numbered}, {plain, withoutCounters(to, counters)}};
}

Tensor storeNumbered(const Tensor &tensor, const Encoding &encoding, const Options &options,
                     ConversionReport &report) {
  const std::vector<Expr> counters = countersOf(encoding);
  const Tensor list = convert(tensor, listWith(encoding.order(), {}, encoding), options, &report);
  ComputedList numbered = computeCoordinates(list, counters, options, &report);
  auto size = [&](const format::Level &level) -> int64_t & {
    const auto counter =
        std::ranges::find_if(counters, [&](const Expr &known) { return namesSame(known, level.expr); });
    return numbered.list.dims[tensor.dims.size() + size_t(counter - counters.begin())];
  };
  for (const format::Level &level : encoding.levels)
    if (const int64_t slices = isCounter(level) ? level.expr->value : 0; slices > 0) {
      if (size(level) > slices)
        throwError("a tensor cannot be stored as {}: a counter of {} slices numbers {} entries",
                   format::displayName(encoding), slices, size(level));
      size(level) = slices;
    }
  const Tensor made = convert(numbered.list, withoutCounters(encoding, counters), options, &report);
  Encoding target = encoding;
  target.posWidth = made.encoding->posWidth;
  target.crdWidth = made.encoding->crdWidth;
  Tensor result(target, tensor.type, tensor.dims);
  size_t next =
      0; // of the buffers that both have: how far a counter runs is stored, the size of a dimension is not
  result.buffers.clear();
  for (const format::Field &field : result.layout().fields)
    result.buffers.push_back(field.kind == format::FieldKind::Sizes && !made.layout().sizes[field.level]
                                 ? runtime::Buffer::copyOf(&size(encoding.levels[field.level]), 1,
                                                           sizeof(int64_t), "the size of a counter")
                                 : made.buffers[next++]);
  return result;
}

} // namespace tulle::engine
