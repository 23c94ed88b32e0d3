#include "passes/assemble/choose/Strategies.h"
#include "passes/assemble/expand/Expansions.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;

/// The target's levels as those of a COO tensor: its storage order is the target's.
static format::Encoding entriesEncoding(const format::Encoding &target) {
  format::Encoding entries = target;
  entries.posWidth = entries.crdWidth = 64;
  for (unsigned l = 0; l < entries.levels.size(); ++l) {
    format::LevelFormat &format = entries.levels[l].format;
    format = {};
    format.kind = l == 0 ? LevelKind::Compressed : LevelKind::Singleton;
    format.unique = l + 1 == entries.levels.size();
    format.soa = l > 0;
  }
  return entries;
}

FailureOr<Value> expandLevelByLevel(OpBuilder &b, Target &target, AssembleOp op, const Order &) {
  auto sorted =
      AssembleOp::create(b, op.getLoc(), withEncoding(target.type(), entriesEncoding(target.encoding())),
                         op.getSizes(), op.getBound(), op.getEntries(), op.getOrderAttr(), op.getUniqueAttr(),
                         op.getCombineAttr(), op.getPlanAttr(), AssemblyStrategyAttr(), UnitAttr());
  sorted.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  if (failed(chooseStrategy(sorted)))
    return failure();
  return BuildLevelsOp::create(b, op.getLoc(), target.type(), sorted.getResult(), op.getSizes()).getResult();
}

} // namespace tulle::assemble
