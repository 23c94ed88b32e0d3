// Sums and digits are read off the arithmetic that makes an index.
#include "passes/program/Linear.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tulle::program {

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue())
                                                       : std::nullopt;
}

Linear Linear::of(Value index) {
  Linear sum;
  if (const std::optional<int64_t> known = constantOf(index)) {
    sum.constant = *known;
    return sum;
  }
  Operation *op = index.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    sum.add(of(op->getOperand(0)));
    sum.add(of(op->getOperand(1)), isa<arith::SubIOp>(op) ? -1 : 1);
    return sum;
  }
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (unsigned k : {0U, 1U})
      if (const std::optional<int64_t> factor = constantOf(op->getOperand(k))) {
        sum.add(of(op->getOperand(1 - k)), *factor);
        return sum;
      }
  sum.terms[index] = 1;
  return sum;
}

void Linear::add(const Linear &other, int64_t factor) {
  constant += factor * other.constant;
  for (auto [value, times] : other.terms)
    terms[value] += factor * times;
  terms.remove_if([](const auto &term) { return term.second == 0; });
}

Linear Linear::minus(const Linear &other) const {
  Linear difference = *this;
  difference.add(other, -1);
  return difference;
}

bool Linear::operator==(const Linear &other) const {
  const Linear difference = minus(other);
  return difference.isConstant() && difference.constant == 0;
}

Value Linear::emit(OpBuilder &b, Location loc) const {
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  Value sum;
  auto plus = [&](Value value) { sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, value) : value; };
  for (auto [value, times] : terms)
    plus(times == 1 ? value : b.createOrFold<arith::MulIOp>(loc, value, number(times)));
  if (constant != 0 || !sum)
    plus(number(constant));
  return sum;
}

DigitOf::DigitOf(Value index) : of(index) {
  auto take = [&](auto op) -> std::optional<int64_t> {
    const std::optional<int64_t> by = op ? constantOf(op.getRhs()) : std::nullopt;
    if (!by || *by <= 0)
      return std::nullopt;
    of = op.getLhs();
    return by;
  };
  modulus = take(of.getDefiningOp<arith::RemUIOp>()).value_or(0);
  divisor = take(of.getDefiningOp<arith::DivUIOp>()).value_or(1);
}

} // namespace tulle::program
