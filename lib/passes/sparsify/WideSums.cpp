// Narrow results whose elements the loops come to again: they are summed in a wide workspace.
#include "dialect/Scalars.h"
#include "levels/Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

/// A workspace in the type of the sums, dense over the result's levels whose coordinates `s` does not fix.
LoopEmitter::Workspace LoopEmitter::makeWorkspace(const LoopState &s) {
  const SparseOperand &result = statement.result();
  Workspace made;
  SmallVector<Value> sizes;
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (size_t l = 0; l < result.digits.size(); ++l) {
    Value &size = made.sizes.emplace_back();
    if (coordinateOf(s, result, l, made.fixed.emplace_back()))
      continue;
    size = dialect::LevelSizeOp::create(b, loc, result.tensor, b.getI64IntegerAttr(int64_t(l)));
    sizes.push_back(size);
    count = b.createOrFold<arith::MulIOp>(loc, count, size);
  }
  Type wide = algebra.yieldOperand().getType();
  made.memory = levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, wide), count);
  auto type = RankedTensorType::get(SmallVector<int64_t>(sizes.size(), ShapedType::kDynamic), wide);
  made.tensor = dialect::StorageOp::create(b, loc, type, made.memory, sizes);
  return made;
}

/// Loops over the workspace's elements: `each` gets what is carried, and the iterators of the element in
/// the result and in the workspace. `at` are those of the levels above `level`.
Value LoopEmitter::forWorkspace(const Workspace &workspace, unsigned level, std::pair<Value, Value> at,
                                unsigned depth, Value carried,
                                llvm::function_ref<Value(Value, std::pair<Value, Value>)> each) {
  const SparseOperand &result = statement.result();
  if (level == result.digits.size())
    return each(carried, at);
  auto locate = [&](Value tensor, unsigned own, Value parent, Value coordinate) -> Value {
    auto encoding = dialect::getEncoding(cast<RankedTensorType>(tensor.getType()));
    auto type = dialect::IteratorType::get(b.getContext(), encoding, own);
    return dialect::LocateOp::create(b, loc, type, tensor, own, parent, coordinate);
  };
  if (Value fixed = workspace.fixed[level]) {
    at.first = locate(result.tensor, level, at.first, fixed);
    return forWorkspace(workspace, level + 1, at, depth, carried, each);
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value range = dialect::RangeOp::create(b, loc, zero, workspace.sizes[level]);
  auto loop = dialect::IterateOp::create(b, loc, carried.getType(), range, carried,
                                         dialect::LoopAttr::get(b.getContext(), dialect::LoopKind::Parallel));
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), carried.getType()}, {loc, loc});
  at.first = locate(result.tensor, level, at.first, body->getArgument(0));
  at.second = locate(workspace.tensor, depth, at.second, body->getArgument(0));
  dialect::YieldOp::create(b, loc,
                           forWorkspace(workspace, level + 1, at, depth + 1, body->getArgument(1), each));
  return loop.getResult(0);
}

LoopEmitter::Carried LoopEmitter::inWorkspace(const LoopState &s,
                                              llvm::function_ref<Carried(const LoopState &)> contributions) {
  if (statement.pattern)
    return inPattern(s, contributions);
  const SparseOperand result = statement.result();
  Type wide = algebra.yieldOperand().getType(), narrow = getElementTypeOrSelf(result.tensor.getType());
  Workspace made = makeWorkspace(s);
  LoopState inner = s;
  inner.operands.back().iterators.clear();
  if (statement.start) {
    inner.carried = {dialect::FillOp::create(b, loc, made.tensor.getType(), startValue(), made.tensor)};
  } else {
    made.tensor =
        forWorkspace(made, 0, {}, 0, made.tensor, [&](Value carried, std::pair<Value, Value> at) -> Value {
          Value before = dialect::LoadOp::create(b, loc, narrow, s.carried[0], at.first);
          before = arith::ExtFOp::create(b, loc, wide, before);
          return dialect::StoreOp::create(b, loc, carried.getType(), before, carried, at.second);
        });
    inner.carried = {made.tensor};
  }
  statement.result().tensor = made.tensor;
  statement.result().encoding = dialect::getEncoding(cast<RankedTensorType>(made.tensor.getType()));
  workspace = &made;
  Value sums = contributions(inner)[0];
  workspace = nullptr;
  statement.result() = result;
  Value stored =
      forWorkspace(made, 0, {}, 0, s.carried[0], [&](Value carried, std::pair<Value, Value> at) -> Value {
        Value sum = dialect::LoadOp::create(b, loc, wide, sums, at.second);
        sum = arith::TruncFOp::create(b, loc, narrow, sum);
        return dialect::StoreOp::create(b, loc, carried.getType(), sum, carried, at.first);
      });
  memref::DeallocOp::create(b, loc, made.memory);
  return {stored};
}

/// The same of a result whose pattern exists: as many sums as it has slots.
LoopEmitter::Carried LoopEmitter::inPattern(const LoopState &s,
                                            llvm::function_ref<Carried(const LoopState &)> contributions) {
  Type wide = algebra.yieldOperand().getType();
  auto type = cast<RankedTensorType>(s.carried[0].getType());
  Type narrow = type.getElementType();
  Value count = dialect::StoredCountOp::create(b, loc, s.carried[0]);
  Value range = dialect::RangeOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, 0), count);
  auto memoryType = [](Type element) { return MemRefType::get({ShapedType::kDynamic}, element); };
  Value memory = levels::allocate(b, loc, memoryType(wide), count);
  auto forSlots = [&](Value tensor, llvm::function_ref<void(Value values, Value at)> each) -> Value {
    auto loop =
        dialect::IterateOp::create(b, loc, tensor.getType(), range, tensor,
                                   dialect::LoopAttr::get(b.getContext(), dialect::LoopKind::Parallel));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), tensor.getType()}, {loc, loc});
    Type element = getElementTypeOrSelf(tensor.getType());
    Value values = dialect::ValuesOp::create(b, loc, memoryType(element), body->getArgument(1));
    each(values, body->getArgument(0));
    Value next = dialect::WithValuesOp::create(b, loc, tensor.getType(), body->getArgument(1), values);
    dialect::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  };
  Value sums = dialect::WithValuesOp::create(b, loc, type.clone(wide), s.carried[0], memory);
  LoopState inner = s;
  if (statement.start) {
    inner.carried = {dialect::FillOp::create(b, loc, sums.getType(), startValue(), sums)};
  } else {
    Value before = dialect::ValuesOp::create(b, loc, memoryType(narrow), s.carried[0]);
    inner.carried = {forSlots(sums, [&](Value values, Value at) {
      Value value = memref::LoadOp::create(b, loc, before, at);
      memref::StoreOp::create(b, loc, arith::ExtFOp::create(b, loc, wide, value), values, at);
    })};
  }
  Workspace made{sums, memory, {}, {}};
  workspace = &made;
  Value summed = contributions(inner)[0];
  workspace = nullptr;
  Value from = dialect::ValuesOp::create(b, loc, memoryType(wide), summed);
  Value stored = forSlots(s.carried[0], [&](Value values, Value at) {
    Value sum = memref::LoadOp::create(b, loc, from, at);
    memref::StoreOp::create(b, loc, arith::TruncFOp::create(b, loc, narrow, sum), values, at);
  });
  memref::DeallocOp::create(b, loc, memory);
  return {stored};
}

} // namespace tulle::passes
