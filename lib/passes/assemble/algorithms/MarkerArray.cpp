#include "passes/assemble/algorithms/MarkerArray.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tulle::assemble {

MarkerArray::MarkerArray(OpBuilder &b, const Target &target) : target(target) {
  levels::Emitter emit = target.emitter(b);
  Value size = emit.levelSize(target.storedLevels() - 1);
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI32Type());
  marks = levels::allocate(b, target.loc, type, size);
  Value none = arith::ConstantIntOp::create(b, target.loc, 0, 32);
  levels::forLoop(b, target.loc, emit.constant(0), size, dialect::LoopKind::Parallel, {},
                  [&](Value at, levels::Values) {
                    memref::StoreOp::create(b, target.loc, none, marks, at);
                    return levels::Values{};
                  });
}

Value MarkerArray::count(OpBuilder &b, const parallel::Chunk &chunk) const {
  Register met(b, target.loc, target.emitter(b).constant(0));
  cloneCounting(b, target.op, &chunk, [&](OpBuilder &b, ValueRange dims) {
    levels::Emitter emit = target.emitter(b);
    const levels::Values coordinates = target.levelCoordinates(b, dims);
    const unsigned level = target.storedLevels() - 1;
    Value group = emit.constant(0);
    for (unsigned l = 0; l < level; ++l)
      group = emit.add(emit.mul(group, emit.levelSize(l)), coordinates[l]);
    Value own = arith::IndexCastOp::create(b, target.loc, b.getI32Type(), emit.add(group, emit.constant(1)));
    // Marked without a test: a branch that is guessed wrong costs more.
    Value before = memref::LoadOp::create(b, target.loc, marks, coordinates[level]);
    memref::StoreOp::create(b, target.loc, own, marks, coordinates[level]);
    Value isNew = arith::CmpIOp::create(b, target.loc, arith::CmpIPredicate::ne, before, own);
    met.set(b, emit.add(met.get(b), arith::IndexCastUIOp::create(b, target.loc, b.getIndexType(), isNew)));
  });
  return met.get(b);
}

void MarkerArray::free(OpBuilder &b) const { memref::DeallocOp::create(b, target.loc, marks); }

} // namespace tulle::assemble
