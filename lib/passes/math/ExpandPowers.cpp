// tulle-expand-powers: expand integer powers into loops that square, which end with the last bit that the
// exponent of any lane has. It runs behind tulle-vectorize, to which a power is one operation. Upstream's
// convert-math-to-funcs calls a function for each lane.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_EXPANDPOWERS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;

class Squaring {
public:
  explicit Squaring(math::IPowIOp op)
      : b(op.getLoc(), op), type(op.getType()), x(op.getLhs()), y(op.getRhs()) {}

  Value emit() {
    Value power = loop(arith::MaxSIOp::create(b, y, constant(0)));
    Value isNegative = compare(CmpIPredicate::slt, y, constant(0));
    return select(isNegative, inverse(), power);
  }

private:
  ImplicitLocOpBuilder b;
  Type type;
  Value x, y;

  Value constant(int64_t value) {
    TypedAttr number = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, number)) : number);
  }
  Value compare(CmpIPredicate predicate, Value u, Value v) {
    return arith::CmpIOp::create(b, predicate, u, v);
  }
  Value select(Value condition, Value u, Value v) { return arith::SelectOp::create(b, condition, u, v); }
  Value isOdd(Value n) {
    return compare(CmpIPredicate::ne, arith::AndIOp::create(b, n, constant(1)), constant(0));
  }

  /// Of 1 and -1 to a negative power; any other number's is less than 1, and truncated.
  Value inverse() {
    Value ofMinus = select(isOdd(y), constant(-1), constant(1));
    Value below = select(compare(CmpIPredicate::eq, x, constant(-1)), ofMinus, constant(0));
    return select(compare(CmpIPredicate::eq, x, constant(1)), constant(1), below);
  }

  /// A mask is tested by one instruction.
  Value anyBit(Value n) {
    Value bits = compare(CmpIPredicate::ne, n, constant(0));
    return isa<VectorType>(type) ? vector::ReductionOp::create(b, vector::CombiningKind::OR, bits) : bits;
  }

  /// while (n != 0) { result *= n odd ? square : 1; square *= square; n >>= 1 }
  Value loop(Value exponent) {
    auto loop = scf::WhileOp::create(
        b, TypeRange{type, type, type}, ValueRange{exponent, x, constant(1)},
        [&](OpBuilder &builder, Location, ValueRange carried) {
          b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
          scf::ConditionOp::create(b, anyBit(carried[0]), carried);
        },
        [&](OpBuilder &builder, Location, ValueRange carried) {
          b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
          Value rest = carried[0], square = carried[1], result = carried[2];
          Value more = arith::MulIOp::create(b, result, square);
          scf::YieldOp::create(b, ValueRange{arith::ShRUIOp::create(b, rest, constant(1)),
                                             arith::MulIOp::create(b, square, square),
                                             select(isOdd(rest), more, result)});
        });
    b.setInsertionPointAfter(loop);
    return loop.getResult(2);
  }
};

struct ExpandPowers : impl::ExpandPowersBase<ExpandPowers> {
  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](math::IPowIOp op) {
      op.replaceAllUsesWith(Squaring(op).emit());
      op.erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
