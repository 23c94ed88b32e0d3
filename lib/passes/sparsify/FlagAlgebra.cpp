#include "passes/sparsify/FlagAlgebra.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include <bit>

namespace tulle::passes {
using namespace mlir;

unsigned FlagAlgebra::leaf(Attribute attribute) {
  for (auto [n, node] : llvm::enumerate(nodes))
    if (node.known && node.attribute == attribute)
      return unsigned(n);
  nodes.push_back({0, 0, 0, true, attribute});
  return unsigned(nodes.size() - 1);
}

unsigned FlagAlgebra::decide(Value root, Known known, Presence now, DenseMap<unsigned, unsigned> &done) {
  if (Attribute attribute = known(now))
    return leaf(attribute);
  const uint64_t open = algebra.reads(root, now).inputs & uncertain & ~(now.absent | now.present);
  // The value of an operand that is present is anything. So nothing more becomes known than where all are
  // absent, unless presence itself is read.
  if (!open || (!(open & tested) && !known({now.absent | open, now.present})))
    return leaf({});
  const unsigned id = algebra.residual(root, now);
  if (auto found = done.find(id); found != done.end())
    return found->second;
  const unsigned input = unsigned(std::countr_zero(open & tested ? open & tested : open));
  const uint64_t bit = uint64_t(1) << input;
  const unsigned with = decide(root, known, {now.absent, now.present | bit}, done);
  const unsigned without = decide(root, known, {now.absent | bit, now.present}, done);
  if (with == without)
    return done[id] = with;
  nodes.push_back({input, with, without, false, {}});
  return done[id] = unsigned(nodes.size() - 1);
}

Value FlagAlgebra::emit(unsigned n, Value plain, DenseMap<unsigned, Value> &done) {
  if (Value found = done.lookup(n))
    return found;
  const Node node = nodes[n];
  if (node.known)
    return done[n] = node.attribute ? dialect::materialize(b, loc, node.attribute, plain.getType()) : plain;
  Value with = emit(node.with, plain, done), without = emit(node.without, plain, done);
  return done[n] = b.createOrFold<arith::SelectOp>(loc, flags[node.input], with, without);
}

Value FlagAlgebra::changes() {
  DenseMap<unsigned, unsigned> decided;
  auto noOp = [&](Presence now) {
    return algebra.isNoOp(now) ? Attribute(b.getBoolAttr(false)) : Attribute();
  };
  const unsigned root = decide(algebra.yieldOperand(), noOp, at, decided);
  if (nodes[root].known && !nodes[root].attribute)
    return {};
  DenseMap<unsigned, Value> emitted;
  return emit(root, arith::ConstantIntOp::create(b, loc, 1, 1), emitted);
}

Value FlagAlgebra::corrected(Value value, Value plain) {
  Operation *op = value.getDefiningOp();
  if (!isa<arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::AddFOp, complex::MulOp, complex::DivOp>(op))
    return plain;
  // A sum differs only where an infinite fill is added to.
  const bool sum = isa<arith::AddFOp>(op);
  auto known = [&](Presence now) {
    auto constant = dyn_cast<Attribute>(algebra.simplify(value, now));
    auto number = dyn_cast_or_null<FloatAttr>(constant);
    return !sum || (number && number.getValue().isInfinity()) ? constant : Attribute();
  };
  DenseMap<unsigned, unsigned> decided;
  DenseMap<unsigned, Value> emitted;
  return emit(decide(value, known, at, decided), plain, emitted);
}

} // namespace tulle::passes
