// Which slots stay empty follows from the levels alone.
#include "passes/assemble/algorithms/RowPadding.h"
#include "format/Encoding.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;

bool leavesPadding(const Target &target) {
  if (format::hasReserve(target.encoding(), target.levels() - 1))
    return true;
  for (unsigned l = target.levels(); l-- > 0;) {
    LevelKind kind = target.format(l).kind;
    if (kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed)
      return false;
    if (kind != LevelKind::Singleton || target.format(l).padded)
      return true;
  }
  return true;
}

std::optional<unsigned> numberedPadding(const Target &target, const Order &order) {
  if (target.levels() < 3)
    return std::nullopt;
  for (unsigned l = 0; l < target.levels(); ++l) {
    LevelKind kind = target.format(l).kind;
    if (kind != (l < 2 ? LevelKind::Dense : LevelKind::Singleton))
      return std::nullopt;
    if (l >= 2 && target.storage.layout.fields[target.storage.layout.coordinates[l]->field].width == 2)
      return std::nullopt;
  }
  for (unsigned l : {0, 1}) {
    const Expr &number = order.levels[l], &row = order.levels[1 - l];
    if (number->kind == ExprKind::Counter && row->kind == ExprKind::Dim && number->dims.size() == 1 &&
        number->dims[0] == unsigned(row->value))
      return l;
  }
  return std::nullopt;
}

void fillPadding(const Target &target, MutableArrayRef<levels::LevelBuild> builds, unsigned numbered,
                 Value row, Value first) {
  forEach(target, first, builds[numbered].size, LoopKind::Parallel, [&](Value k) {
    Value position = target.constant(0);
    for (unsigned l : {0, 1})
      position =
          levels::find(target.format(l).kind)->insert(target, builds[l], position, l == numbered ? k : row);
    for (unsigned l = 2; l < target.levels(); ++l)
      if (target.format(l).padded)
        target.storePadding(l, position);
    storeAt(target, target.fillValue(), target.storage.fields.back(), position);
  });
}

} // namespace tulle::assemble
