#include "passes/import_sparse_tensor/ImportInPlace.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tulle::passes {
using namespace mlir;

static bool isSparse(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !format::isAllDense(dialect::getEncoding(tensor).getValue());
}

/// The statement with the pattern as its last input, and this init.
static linalg::GenericOp withPattern(OpBuilder &b, linalg::GenericOp generic, Value pattern, Value init) {
  SmallVector<Value> inputs(generic.getInputs());
  inputs.push_back(pattern);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  const AffineMap stored = maps.back();
  maps.insert(std::prev(maps.end()), stored);
  auto made = linalg::GenericOp::create(b, generic.getLoc(), init.getType(), inputs, init, maps,
                                        generic.getIteratorTypesArray());
  made.getRegion().takeBody(generic.getRegion());
  Block *body = made.getBody();
  BlockArgument entry =
      body->insertArgument(unsigned(inputs.size() - 1),
                           cast<RankedTensorType>(pattern.getType()).getElementType(), generic.getLoc());
  Operation *yield = body->getTerminator();
  b.setInsertionPoint(yield);
  Value isStored = dialect::StoredOp::create(b, generic.getLoc(), b.getI1Type(), entry);
  yield->setOperand(0, arith::SelectOp::create(b, generic.getLoc(), isStored, yield->getOperand(0),
                                               body->getArguments().back()));
  return made;
}

LogicalResult importInPlace(func::FuncOp func, linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1 || generic.getNumResults() != 1)
    return success();
  const Value written = generic.getDpsInitOperand(0)->get();
  auto fill = written.getDefiningOp<dialect::FillOp>();
  auto argument = dyn_cast<BlockArgument>(fill ? fill->getOperand(1) : written);
  if (!argument || argument.getOwner() != &func.getBody().front() || !isSparse(argument.getType()))
    return success();
  if (failed(func.insertArgument(func.getNumArguments(), argument.getType(),
                                 func.getArgAttrDict(argument.getArgNumber()), generic.getLoc())))
    return failure();
  OpBuilder b(generic);
  Value init = dialect::LikeOp::create(b, generic.getLoc(), func.getArguments().back(), argument);
  if (fill)
    init = dialect::FillOp::create(b, fill.getLoc(), fill->getOperand(0), init);
  generic->replaceAllUsesWith(withPattern(b, generic, argument, init));
  generic.erase();
  return success();
}

} // namespace tulle::passes
