// A level takes entries in any order if its positions are computed; else the stream must ascend there.
#include "passes/assemble/choose/ScatterRules.h"
#include "format/Encoding.h"
#include <algorithm>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::Insertion;

Insertion insertionOf(const format::Level &level) {
  const levels::LevelFormat *format = levels::find(level.format.kind);
  return format ? format->insertion() : Insertion::None;
}

std::optional<unsigned> bucketLevel(const format::Encoding &encoding) {
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (insertionOf(encoding.levels[l]) == Insertion::Append)
      return l;
  return std::nullopt;
}

bool isLeaf(const format::Encoding &encoding, unsigned level) {
  for (unsigned l = level + 1; l < encoding.levels.size(); ++l)
    if (LevelKind kind = encoding.levels[l].format.kind;
        kind != LevelKind::Singleton && kind != LevelKind::Offset)
      return false;
  return true;
}

bool has(const Expr &e, ExprKind kind) {
  return e && (e->kind == kind || has(e->lhs, kind) || has(e->rhs, kind));
}

bool has(const Order &order, ExprKind kind) {
  return std::any_of(order.levels.begin(), order.levels.end(), [&](const Expr &e) { return has(e, kind); });
}

static const format::ExprNode *findRank(const Expr &e) {
  if (!e || e->kind == ExprKind::Rank)
    return e.get();
  const format::ExprNode *left = findRank(e->lhs);
  return left ? left : findRank(e->rhs);
}

const format::ExprNode *rankOf(const Order &order) {
  for (const Expr &level : order.levels)
    if (const format::ExprNode *found = findRank(level))
      return found;
  return nullptr;
}

bool isBuildable(const format::Encoding &encoding, const Order &order) {
  std::optional<unsigned> bucket = bucketLevel(encoding);
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const format::Level &level = encoding.levels[l];
    if (insertionOf(level) == Insertion::None)
      return false;
    // While it is queried, no entry has its position in a bucket above yet.
    if (bucket && l > *bucket && levels::find(level.format.kind)->needsQuery(level))
      return false;
  }
  return !has(order, ExprKind::Symbol);
}

bool arrivesInOrder(const Order &order, unsigned level) {
  return order.sortedLevels(level) == order.levels.size() - level;
}

bool sortsSegments(const format::Encoding &encoding, unsigned level) {
  LevelKind kind = encoding.levels[level].format.kind;
  bool batched = false;
  for (unsigned l = 0; l < level; ++l)
    batched |= encoding.levels[l].format.kind == LevelKind::Batch;
  return level + 1 == encoding.levels.size() && !batched && !format::hasReserve(encoding, level) &&
         (kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed);
}

static bool ascends(const Expr &e, const Order &order, unsigned dims) {
  if (!e)
    return true;
  if (e->kind == ExprKind::Counter) {
    std::vector<unsigned> all = e->dims;
    for (unsigned d = 0; d < dims; ++d)
      if (std::find(e->dims.begin(), e->dims.end(), d) == e->dims.end())
        all.push_back(d);
    Order numbering{order.keys, dimensionsOf(all), order.unique};
    unsigned fixed = unsigned(e->dims.size());
    return order.unique && numbering.sortedLevels(fixed) == dims - fixed;
  }
  return ascends(e->lhs, order, dims) && ascends(e->rhs, order, dims);
}

bool countersAscend(const Order &order, unsigned dims) {
  return std::all_of(order.levels.begin(), order.levels.end(),
                     [&](const Expr &e) { return ascends(e, order, dims); });
}

bool isReady(const TargetFacts &target, const Order &order) {
  const format::Encoding &encoding = target.encoding();
  bool numbered = has(order, ExprKind::Counter) || has(order, ExprKind::Rank);
  if (numbered && (!order.unique || !countersAscend(order, encoding.order())))
    return false;
  bool combines = true; // repeats meet at their position
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    Insertion placement = insertionOf(encoding.levels[l]);
    if (placement == Insertion::Computed)
      continue;
    bool leaf = isLeaf(encoding, l);
    if (placement == Insertion::Append && leaf && sortsSegments(encoding, l))
      return true;
    combines &= !leaf;
    if (placement == Insertion::HashTable ? !order.sorted()
        : leaf                            ? !arrivesInOrder(order, l)
                                          : order.sortedLevels() <= l)
      return false;
  }
  return order.unique || (combines && target.fillIsIdentity());
}

} // namespace tulle::assemble
