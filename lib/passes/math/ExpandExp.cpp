// tulle-expand-exp: expand exponentials into polynomials, which vectorize where the call of a function would
// not.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_EXPANDEXP
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpFPredicate;

/// What differs between the two widths.
struct Format {
  int64_t mantissaBits, bias;
  double least, most;     ///< below is 0, above is infinite; n stays within two powers that can be stored
  double ln2High, ln2Low; ///< of ln 2: n times the high part is exact
  ArrayRef<double> q;
};

constexpr double q64[] = {0.5,
                          0.1666666666666667,
                          0.04166666666666667,
                          0.008333333333326136,
                          0.0013888888888883748,
                          0.00019841269874820627,
                          2.4801587325547743e-05,
                          2.7557255400206422e-06,
                          2.75572736431103e-07,
                          2.5105217004720745e-08,
                          2.0914686968086876e-09};
constexpr double q32[] = {0.500000001346581,  0.16666666681623232,   0.041666464925285904,
                          0.0083333109254809, 0.0013933649996309251, 0.00019890990824673654};
constexpr Format f64{52, 1023, -750, 710, 0x1.62e42feep-1, 0x1.a39ef35793c76p-33, q64};
constexpr Format f32{23, 127, -105, 89, 0x1.63p-1, -0x1.bd0105c610ca8p-13, q32};

/// exp(x) = 2^n exp(r) with n the integer next to x / ln 2 and r = x - n ln 2, |r| <= ln 2 / 2. There
/// exp(r) = 1 + (r + r^2 q(r)); q interpolates at Chebyshev's points, where its error is a hundredth of a
/// unit in the last place; the sums around it lose less than the rest of one.
class ExpPolynomial {
public:
  explicit ExpPolynomial(math::ExpOp op)
      : b(op), loc(op.getLoc()), type(op.getType()), x(op.getOperand()), format(type.isF64() ? f64 : f32),
        integer(b.getIntegerType(type.getIntOrFloatBitWidth())) {}

  Value emit() {
    // Comparisons with nan are false: it stays.
    Value low = select(CmpFPredicate::OLT, x, constant(format.least));
    Value within = select(CmpFPredicate::OGT, low, constant(format.most));
    // Added to this number, the integer next to the product is in the last bits.
    Value magic = constant(1.5 * double(int64_t(1) << format.mantissaBits));
    Value shifted = add(mul(within, constant(0x1.71547652b82fep+0)), magic);
    Value n = arith::SubFOp::create(b, loc, shifted, magic);
    Value r = sub(sub(within, mul(n, constant(format.ln2High))), mul(n, constant(format.ln2Low)));
    Value square = mul(r, r);
    Value power = add(constant(1), add(mul(square, q(r, square)), r));
    return scaled(power, arith::SubIOp::create(b, loc, bits(shifted), bits(magic)));
  }

private:
  OpBuilder b;
  Location loc;
  Type type;
  Value x;
  const Format &format;
  Type integer;

  Value constant(double value) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value)); }
  Value whole(int64_t value) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, value)); }
  // Products may be fused with sums; nothing else may change.
  Value add(Value u, Value v) { return arith::AddFOp::create(b, loc, u, v, arith::FastMathFlags::contract); }
  Value sub(Value u, Value v) { return arith::SubFOp::create(b, loc, u, v, arith::FastMathFlags::contract); }
  Value mul(Value u, Value v) { return arith::MulFOp::create(b, loc, u, v, arith::FastMathFlags::contract); }
  /// `bound` where the comparison with it holds, else the value.
  Value select(CmpFPredicate predicate, Value value, Value bound) {
    Value holds = arith::CmpFOp::create(b, loc, predicate, value, bound);
    return arith::SelectOp::create(b, loc, holds, bound, value);
  }
  /// By Estrin's scheme: neighbours are combined, so that a value waits for a logarithm of the terms.
  Value q(Value r, Value square) {
    SmallVector<Value> terms = llvm::map_to_vector(format.q, [&](double factor) { return constant(factor); });
    for (Value step = r; terms.size() > 1; step = step == r ? square : mul(step, step)) {
      SmallVector<Value> pairs;
      for (size_t k = 0; k < terms.size(); k += 2)
        pairs.push_back(k + 1 < terms.size() ? add(mul(terms[k + 1], step), terms[k]) : terms[k]);
      terms = pairs;
    }
    return terms[0];
  }
  Value bits(Value value) { return arith::BitcastOp::create(b, loc, integer, value); }
  Value powerOfTwo(Value n) {
    Value exponent = arith::AddIOp::create(b, loc, n, whole(format.bias));
    Value shifted = arith::ShLIOp::create(b, loc, exponent, whole(format.mantissaBits));
    return arith::BitcastOp::create(b, loc, type, shifted);
  }

  /// value * 2^n in two steps: 2^n itself may be too large or too small to be stored. Only the second rounds.
  Value scaled(Value value, Value n) {
    Value half = arith::ShRSIOp::create(b, loc, n, whole(1));
    Value rest = arith::SubIOp::create(b, loc, n, half);
    Value first = arith::MulFOp::create(b, loc, value, powerOfTwo(half));
    return arith::MulFOp::create(b, loc, first, powerOfTwo(rest));
  }
};

struct ExpandExpPass : impl::ExpandExpBase<ExpandExpPass> {
  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](math::ExpOp op) {
      const bool mayDiffer = arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::contract);
      if (!mayDiffer || !(op.getType().isF64() || op.getType().isF32()))
        return;
      op.replaceAllUsesWith(ExpPolynomial(op).emit());
      op.erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
