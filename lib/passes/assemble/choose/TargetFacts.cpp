// Counts levels from the encoding alone.
#include "passes/assemble/choose/TargetFacts.h"
#include "dialect/Scalars.h"
#include "mlir/IR/Builders.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;

TargetFacts::TargetFacts(RankedTensorType tensor, Combine combine, AssemblyPlan plan)
    : tensor(tensor), combine(combine), plan(plan) {
  storage.encoding = getEncoding(tensor).getValue();
  storage.layout = format::layout(storage.encoding);
  storage.digits = format::digits(storage.encoding).value_or(std::vector<format::Digit>());
  storage.element = tensor.getElementType();
}

bool TargetFacts::isFull(unsigned level) const {
  return format(level).kind == LevelKind::Dense || format(level).kind == LevelKind::Batch;
}

unsigned TargetFacts::storedLevels() const {
  unsigned count = levels();
  while (count > 0 && isFull(count - 1))
    --count;
  return count;
}

unsigned TargetFacts::positionsEnd(unsigned level) const {
  unsigned end = level + 1;
  while (!format(end - 1).unique && end < levels() && format(end).kind == LevelKind::Singleton)
    ++end;
  return end;
}

std::optional<int64_t> TargetFacts::blockSize(int64_t most) const {
  int64_t size = 1;
  for (unsigned l = storedLevels(); l < levels(); ++l) {
    int64_t modulus = storage.digits.empty() ? 0 : storage.digits[l].modulus;
    if (modulus == 0 || modulus > most / size)
      return std::nullopt;
    size *= modulus;
  }
  return size;
}

bool TargetFacts::fillIsIdentity() const {
  return fillAttr(storage.encoding, storage.element) == identityOf(storage.element, combine);
}

Attribute identityOf(Type type, Combine combine) {
  OpBuilder b(type.getContext());
  auto number = [&](int64_t i, double f) { return scalarAttr(type, Scalar{i, f}); };
  unsigned bits = type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
  case Combine::Add:
  case Combine::Or:
  case Combine::Xor:
    return number(0, 0);
  case Combine::Mul:
    return number(1, 1);
  case Combine::And:
    return number(bits == 1 ? 1 : -1, 0);
  case Combine::Min:
    return number(bits == 1 ? 1 : APInt::getSignedMaxValue(bits).getSExtValue(), infinity);
  case Combine::Max:
    return number(bits == 1 ? 0 : APInt::getSignedMinValue(bits).getSExtValue(), -infinity);
  }
  llvm_unreachable("a combination outside its enumeration");
}

} // namespace tulle::assemble
