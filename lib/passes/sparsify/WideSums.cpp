// Narrow results whose elements several iterations add to: they are summed in a wide workspace, which is
// rounded once.
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;

/// Whether an element that is stored and added to again would be rounded each time.
bool LoopEmitter::sumsWide() const {
  const bool located = statement.pattern || !statement.result().digits.empty();
  return !onceEach && !statement.assembled && located &&
         algebra.yieldOperand().getType() != getElementTypeOrSelf(statement.init.getType());
}

/// The last depth at which no reduction runs yet, and the loops outside fix coordinates of the result's
/// levels altogether or not at all: blocks of rows that loops run over are none of its levels.
unsigned LoopEmitter::workspaceDepth() const {
  if (statement.pattern)
    return 0;
  const SparseOperand &result = statement.result();
  auto isLevel = [&](const iteration::LoopVar &v) {
    return llvm::any_of(result.digits, [&](const format::Digit &digit) {
      return v ==
             iteration::LoopVar{result.subscripts[digit.dim].terms[0].first, digit.stride, digit.modulus};
    });
  };
  auto isWhole = [&](unsigned index, unsigned depth) {
    return llvm::none_of(ArrayRef(plan.order).drop_front(depth),
                         [&](const iteration::LoopVar &v) { return v.index == index; });
  };
  unsigned found = 0;
  for (unsigned depth = 0; depth < plan.order.size() && !isReduction(depth); ++depth)
    if (llvm::all_of(ArrayRef(plan.order).take_front(depth + 1),
                     [&](const iteration::LoopVar &v) { return isLevel(v) || isWhole(v.index, depth + 1); }))
      found = depth + 1;
  return found;
}

/// A workspace in the type of the sums: dense over the result's levels whose coordinates `s` does not fix, or
/// with as many elements as the pattern has slots.
LoopEmitter::Workspace LoopEmitter::makeWorkspace(const LoopState &s) {
  const SparseOperand &result = statement.result();
  Type wide = algebra.yieldOperand().getType();
  auto memory = MemRefType::get({ShapedType::kDynamic}, wide);
  Workspace made;
  if (statement.pattern) {
    Value tensor = s.carried[0];
    made.memory = levels::allocate(b, loc, memory, dialect::StoredCountOp::create(b, loc, tensor));
    made.tensor = dialect::WithValuesOp::create(b, loc, cast<RankedTensorType>(tensor.getType()).clone(wide),
                                                tensor, made.memory);
    return made;
  }
  SmallVector<Value> sizes;
  Value count = constant(1);
  for (size_t l = 0; l < result.digits.size(); ++l) {
    Value &size = made.sizes.emplace_back();
    if (coordinateOf(s, result, l, made.fixed.emplace_back()))
      continue;
    size = dialect::LevelSizeOp::create(b, loc, result.tensor, l);
    sizes.push_back(size);
    count = b.createOrFold<arith::MulIOp>(loc, count, size);
  }
  made.memory = levels::allocate(b, loc, memory, count);
  auto type = RankedTensorType::get(SmallVector<int64_t>(sizes.size(), ShapedType::kDynamic), wide);
  made.tensor = dialect::StorageOp::create(b, loc, type, made.memory, sizes);
  return made;
}

/// A loop over 0 <= at < size whose iterations store apart from each other to the tensor that it carries.
Value LoopEmitter::parallelLoop(Value size, Value carried, llvm::function_ref<Value(Value, Value)> body) {
  Value range = dialect::RangeOp::create(b, loc, constant(0), size);
  auto loop = dialect::IterateOp::create(b, loc, carried.getType(), range, carried,
                                         dialect::LoopAttr::get(b.getContext(), dialect::LoopKind::Parallel));
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), carried.getType()}, {loc, loc});
  dialect::YieldOp::create(b, loc, body(block->getArgument(0), block->getArgument(1)));
  return loop.getResult(0);
}

/// Copies the elements at the workspace's coordinates from the result to the workspace, or back, as wide as
/// they are there; returns the tensor after that. The iterators are those of the levels above `level` in the
/// result and `own` in the workspace.
Value LoopEmitter::copyLevels(const Workspace &made, Value from, Value to, unsigned level, unsigned own,
                              Value inResult, Value inWorkspace) {
  const SparseOperand &result = statement.result();
  if (level == result.digits.size()) {
    const bool back = to.getType() == result.tensor.getType();
    Value value = dialect::LoadOp::create(b, loc, getElementTypeOrSelf(from.getType()), from,
                                          back ? inWorkspace : inResult);
    value = resized(value, getElementTypeOrSelf(to.getType()));
    return dialect::StoreOp::create(b, loc, to.getType(), value, to, back ? inResult : inWorkspace);
  }
  auto locate = [&](Value tensor, unsigned at, Value parent, Value coordinate) -> Value {
    auto encoding = dialect::getEncoding(cast<RankedTensorType>(tensor.getType()));
    auto type = dialect::IteratorType::get(b.getContext(), encoding, at);
    return dialect::LocateOp::create(b, loc, type, tensor, at, parent, coordinate);
  };
  if (Value fixed = made.fixed[level])
    return copyLevels(made, from, to, level + 1, own, locate(result.tensor, level, inResult, fixed),
                      inWorkspace);
  return parallelLoop(made.sizes[level], to, [&](Value at, Value carried) {
    Value there = locate(result.tensor, level, inResult, at);
    return copyLevels(made, from, carried, level + 1, own + 1, there,
                      locate(made.tensor, own, inWorkspace, at));
  });
}

/// The same of a result whose pattern exists: slot by slot.
Value LoopEmitter::copySlots(Value from, Value to) {
  auto valuesOf = [&](Value tensor) -> Value {
    auto type = MemRefType::get({ShapedType::kDynamic}, getElementTypeOrSelf(tensor.getType()));
    return dialect::ValuesOp::create(b, loc, type, tensor);
  };
  Value count = dialect::StoredCountOp::create(b, loc, to), source = valuesOf(from);
  return parallelLoop(count, to, [&](Value at, Value carried) -> Value {
    Value target = valuesOf(carried), value = memref::LoadOp::create(b, loc, source, at);
    memref::StoreOp::create(b, loc, resized(value, getElementTypeOrSelf(to.getType())), target, at);
    return dialect::WithValuesOp::create(b, loc, carried.getType(), carried, target);
  });
}

LoopEmitter::Carried LoopEmitter::inWorkspace(const LoopState &s,
                                              llvm::function_ref<Carried(const LoopState &)> contributions) {
  const SparseOperand result = statement.result();
  Workspace made = makeWorkspace(s);
  auto copy = [&](Value from, Value to) {
    return statement.pattern ? copySlots(from, to) : copyLevels(made, from, to, 0, 0, {}, {});
  };
  LoopState inner = s;
  inner.operands.back().iterators.clear();
  if (!statement.start)
    made.tensor = copy(s.carried[0], made.tensor);
  inner.carried = {made.tensor};
  if (statement.start)
    inner.carried = {dialect::FillOp::create(b, loc, made.tensor.getType(), startValue(), made.tensor)};
  statement.result().tensor = made.tensor;
  statement.result().encoding = dialect::getEncoding(cast<RankedTensorType>(made.tensor.getType()));
  workspace = &made;
  Value sums = contributions(inner)[0];
  workspace = nullptr;
  statement.result() = result;
  Value stored = copy(sums, s.carried[0]);
  memref::DeallocOp::create(b, loc, made.memory);
  return {stored};
}

} // namespace tulle::passes
