#include "passes/assemble/InOrder.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// A walk over a COO tensor with one array per dimension, in storage order.
static void walk(OpBuilder &b, Location loc, Value tensor, function_ref<void(ValueRange, Value)> body) {
  auto type = cast<RankedTensorType>(tensor.getType());
  EncodingAttr encoding = getEncoding(type);
  SmallVector<Value> coordinates;
  Value parent;
  OpBuilder::InsertionGuard guard(b);
  for (unsigned l = 0; l < type.getRank(); ++l) {
    auto spaceType = SpaceType::get(b.getContext(), encoding, l);
    auto iteratorType = IteratorType::get(b.getContext(), encoding, l);
    Value space = SpaceOp::create(b, loc, spaceType, tensor, l, parent);
    auto loop = IterateOp::create(b, loc, TypeRange(), space, ValueRange(), LoopKind::Reduction, true);
    Block *block = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), iteratorType}, {loc, loc});
    YieldOp::create(b, loc);
    b.setInsertionPointToStart(block);
    coordinates.push_back(block->getArgument(0));
    parent = block->getArgument(1);
  }
  Value value = LoadOp::create(b, loc, type.getElementType(), tensor, parent);
  body(coordinates, value);
}

Value bringInOrder(OpBuilder &b, Target &target, AssembleOp op) {
  Location loc = target.loc;
  unsigned rank = unsigned(target.type().getRank());
  format::Encoding encoding = format::parseFormat("COO-soa", rank);
  encoding.posWidth = 64;
  encoding.crdWidth = target.encoding().crdWidth == 32 ? 32 : 64;
  encoding.fill = target.encoding().fill;
  auto sorted = AssembleOp::create(b, loc, withEncoding(target.type(), encoding), op.getSizes(),
                                   op.getBound(), op.getEntries(), op.getOrderAttr(), op.getUniqueAttr(),
                                   op.getCombineAttr(), op.getPlanAttr());
  sorted.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, b.getContext());
  auto made =
      AssembleOp::create(b, loc, target.type(), op.getSizes(), Value(), Value(), AffineMapAttr::get(identity),
                         b.getUnitAttr(), op.getCombineAttr(), op.getPlanAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&made.getBody().emplaceBlock());
  walk(b, loc, sorted.getResult(),
       [&](ValueRange dims, Value value) { InsertOp::create(b, loc, value, dims); });
  return made.getResult();
}

} // namespace tulle::assemble
