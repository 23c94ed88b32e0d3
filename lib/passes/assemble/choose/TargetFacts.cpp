// Counts levels from the encoding alone.
#include "passes/assemble/choose/TargetFacts.h"
#include "dialect/Scalars.h"
#include "format/Encoding.h"
#include "mlir/IR/Builders.h"

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

std::string TargetFacts::levelText(unsigned level) const {
  return "level " + std::to_string(level) + " (" + format::printLevel(encoding(), level) + ")";
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

int64_t TargetFacts::valueBytes() const {
  return isa<ComplexType>(storage.element)
             ? 16
             : std::max<int64_t>(storage.element.getIntOrFloatBitWidth() / 8, 1);
}

bool TargetFacts::fillIsIdentity() const {
  return fillAttr(storage.encoding, storage.element) == identityOf(storage.element, combine);
}

arith::AtomicRMWKind kindOf(Type type, Combine combine) {
  using Kind = arith::AtomicRMWKind;
  const bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  switch (combine) {
  case Combine::Add:
    return isBool ? Kind::ori : isFloat ? Kind::addf : Kind::addi;
  case Combine::Mul:
    return isBool ? Kind::andi : isFloat ? Kind::mulf : Kind::muli;
  case Combine::Min:
    return isBool ? Kind::andi : isFloat ? Kind::minimumf : Kind::mins;
  case Combine::Max:
    return isBool ? Kind::ori : isFloat ? Kind::maximumf : Kind::maxs;
  case Combine::And:
    return Kind::andi;
  case Combine::Or:
    return Kind::ori;
  case Combine::Xor:
    return Kind::xori;
  }
  llvm_unreachable("a combination outside its enumeration");
}

Attribute identityOf(Type type, Combine combine) {
  if (isa<ComplexType>(type))
    return scalarAttr(type, combine == Combine::Mul ? Scalar{1, 1} : Scalar{0, 0});
  OpBuilder b(type.getContext());
  return arith::getIdentityValueAttr(kindOf(type, combine), type, b, b.getUnknownLoc());
}

} // namespace tulle::assemble
