#include "passes/prefetch/GatherLocality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using mlir::Value;

/// From a stretch of so many elements a load for each lane fetches sooner than the instruction; further
/// apart, where loads miss, the instruction is sooner (SpMV in CSR on `grid3d27:64`: 3.1 and 3.3 ms, on
/// `uniform:200000:200000:16`: 5.6 and 3.6 ms; in ELL on the latter: 10.8 and 4.6 ms).
constexpr int64_t nearElements = 16384;

llvm::SmallVector<Value> coordinatesOf(const VectorizationLegality &plan) {
  mlir::scf::ForOp loop = plan.loop;
  llvm::SmallVector<Value> places;
  loop.getBody()->walk([&](memref::LoadOp load) {
    Value place = load.getIndices()[0], read = place;
    while (
        mlir::isa_and_nonnull<arith::IndexCastUIOp, arith::IndexCastOp, arith::ExtUIOp>(read.getDefiningOp()))
      read = read.getDefiningOp()->getOperand(0);
    auto coordinate = read.getDefiningOp<memref::LoadOp>();
    if (coordinate && coordinate->getBlock() == loop.getBody() && place.getParentBlock() == loop.getBody() &&
        plan.shapeOf(place) == LaneShape::PerLane && !llvm::is_contained(places, place))
      places.push_back(place);
  });
  return places;
}

Value areNear(mlir::OpBuilder &b, mlir::Location loc, const VectorizationLegality &plan,
              llvm::ArrayRef<Value> places, mlir::IRMapping &first, mlir::IRMapping &last) {
  mlir::scf::ForOp loop = plan.loop;
  Value near, most = arith::ConstantIndexOp::create(b, loc, nearElements);
  for (Value place : places) {
    Value begin = clonePlace(b, place, loop.getBody(), first);
    Value end = clonePlace(b, place, loop.getBody(), last);
    Value distance = arith::SubIOp::create(b, loc, end, begin);
    Value each = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, distance, most);
    near = near ? arith::AndIOp::create(b, loc, near, each).getResult() : each;
  }
  return near;
}

} // namespace tulle::passes
