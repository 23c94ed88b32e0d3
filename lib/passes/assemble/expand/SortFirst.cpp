#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/assemble/choose/Strategies.h"
#include "passes/assemble/expand/Expansions.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

FailureOr<Value> sortFirst(OpBuilder &b, Target &target, AssembleOp op) {
  Location loc = target.loc;
  unsigned rank = unsigned(target.type().getRank());
  format::Encoding encoding = format::parseFormat("COO-soa", rank);
  encoding.posWidth = 64;
  encoding.crdWidth = target.encoding().crdWidth == 32 ? 32 : 64;
  encoding.fill = target.encoding().fill;
  auto sorted = AssembleOp::create(b, loc, withEncoding(target.type(), encoding), op.getSizes(),
                                   op.getBound(), op.getEntries(), op.getOrderAttr(), op.getUniqueAttr(),
                                   op.getCombineAttr(), op.getPlanAttr(), AssemblyStrategyAttr(), UnitAttr());
  sorted.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  if (failed(chooseStrategy(sorted)))
    return failure();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, b.getContext());
  auto made = AssembleOp::create(b, loc, target.type(), op.getSizes(), Value(), Value(),
                                 AffineMapAttr::get(identity), b.getUnitAttr(), op.getCombineAttr(),
                                 op.getPlanAttr(), AssemblyStrategyAttr(), UnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&made.getBody().emplaceBlock());
  traverseStored(b, loc, sorted.getResult(), op.getSizes(), *format::inverseMap(encoding), {},
                 [&](ValueRange dims, Value value) { InsertOp::create(b, loc, value, dims); });
  if (failed(chooseStrategy(made)))
    return failure();
  return made.getResult();
}

} // namespace tulle::assemble
