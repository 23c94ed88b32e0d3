// Results that are not stored to where they are. Those whose pattern nobody has yet: the loops insert entries
// instead of storing values. Narrow ones whose elements several iterations add to: they are summed in a wide
// workspace, which is rounded once.
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/sparsify/Emitter.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tulle::passes {
using namespace mlir;
using dialect::Combine;

//===--- New tensors ---===//

Value LoopEmitter::assemble() {
  auto type = cast<RankedTensorType>(statement.init.getType());
  SmallVector<Value> dims;
  for (const iteration::Subscript &subscript : statement.result().subscripts)
    dims.push_back(sizes[subscript.terms[0].first]);
  std::optional<Combine> combine = combiner();
  if (!onceEach && !combine) {
    statement.generic.emitError(
        "several values meet at one coordinate of a sparse result, and nothing says what "
        "becomes of them: expected a sum, product, minimum, maximum, and, or, xor");
    return {};
  }
  AffineMap order = insertionOrder();
  auto [inserts, entries] = insertionBounds();
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(statement.generic);
  const bool scheduled = schedule && schedule.getAssemble();
  auto op = dialect::AssembleOp::create(
      b, loc, type, dims, inserts, entries, order.isEmpty() ? AffineMapAttr() : AffineMapAttr::get(order),
      onceEach, combine.value_or(Combine::Add),
      scheduled ? schedule.getAssemble().getValue() : dialect::AssemblyPlan::Auto,
      schedule ? schedule.getWorkspace() : dialect::AssemblyStrategyAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getBody().emplaceBlock());
  loops(outermost(), 0);
  return failed ? Value() : op.getResult();
}

bool LoopEmitter::isIndexedBy(const SparseOperand &operand, unsigned index) const {
  return llvm::any_of(operand.subscripts, [&](const iteration::Subscript &s) {
    return s.isVariable() && s.terms[0].first == index;
  });
}

/// The numbers of stored entries of some operands, combined; null of none.
template <typename Op> Value LoopEmitter::storedCounts(ArrayRef<unsigned> operands) {
  Value result;
  for (unsigned o : operands) {
    Value count = dialect::StoredCountOp::create(b, loc, statement.operands[o].tensor);
    result = result ? Op::create(b, loc, result, count).getResult() : count;
  }
  return result;
}

/// At most as many inserts as entries of an operand without which nothing is inserted, or of several that are
/// not all missing at once, if each insert belongs to one of their entries; null when nothing is that cheap.
/// And at most as many coordinates as entries of an operand without which nothing is inserted, where each
/// entry belongs to one of them: a mask. Null where inserts are bounded, or nothing is that cheap.
std::pair<Value, Value> LoopEmitter::insertionBounds() {
  uint64_t all = 0;
  SmallVector<unsigned> covering, enough, masks;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    auto isIndexedByAll = [&](bool reduced) {
      return llvm::all_of(llvm::enumerate(statement.reduction), [&](auto index) {
        return index.value() != reduced || isIndexedBy(statement.operands[o], unsigned(index.index()));
      });
    };
    if (!statement.operands[o].sparse || !isIndexedByAll(/*reduced=*/false))
      continue;
    const bool required = algebra.isNoOp({uint64_t(1) << o, 0});
    if (!onceEach && required)
      masks.push_back(o);
    // Once each, there is one insert for all iterations of a reduction.
    if (!onceEach && !isIndexedByAll(/*reduced=*/true))
      continue;
    all |= uint64_t(1) << o;
    covering.push_back(o);
    if (required)
      enough.push_back(o);
  }
  Value inserts = storedCounts<arith::MinUIOp>(enough);
  if (!inserts && all && algebra.isNoOp({all, 0}))
    inserts = storedCounts<arith::AddIOp>(covering);
  return {inserts, storedCounts<arith::MinUIOp>(masks)};
}

/// One element: inserted where the body runs; or, where reductions run inside, accumulated in a register and
/// inserted if anything was.
LoopEmitter::Carried LoopEmitter::newElement(LoopState s, unsigned depth) {
  if (depth == plan.order.size())
    return leaf(s);
  LoopState inner = s;
  inner.scalar = true;
  inner.carried = {startValue(), boolean(false)};
  Carried result = loops(inner, depth);
  return insertWhere(result[1], s, [&] { return result[0]; });
}

/// Inserts where the condition holds, everywhere without one.
LoopEmitter::Carried LoopEmitter::insertWhere(Value condition, const LoopState &s,
                                              llvm::function_ref<Value()> value) {
  OpBuilder::InsertionGuard guard(b);
  if (condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false).thenBlock());
  insert(s, value());
  return {};
}

void LoopEmitter::insert(const LoopState &s, Value value) {
  auto type = cast<RankedTensorType>(statement.init.getType());
  value = resized(value, type.getElementType());
  SmallVector<Value> coordinates;
  for (const iteration::Subscript &subscript : statement.result().subscripts)
    coordinates.push_back(indexValue(s, subscript.terms[0].first));
  OpBuilder::InsertionGuard guard(b);
  if (statement.generic->hasAttr(dialect::kDropAttr)) {
    Value fill = dialect::materialize(b, loc, dialect::fillAttr(type), type.getElementType());
    Value kept = isNot(value, fill);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, kept, /*withElseRegion=*/false).thenBlock());
  }
  dialect::InsertOp::create(b, loc, value, coordinates);
}

Value LoopEmitter::isNot(Value x, Value y) {
  if (isa<ComplexType>(x.getType()))
    return complex::NotEqualOp::create(b, loc, x, y);
  if (isa<FloatType>(x.getType()))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, y);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, y);
}

/// What an element is before anything was accumulated, as wide as it is accumulated.
Value LoopEmitter::startValue() {
  Type type = getElementTypeOrSelf(statement.init.getType());
  return resized(dialect::materialize(b, loc, statement.start, type), algebra.yieldOperand().getType());
}

/// The result's coordinates by which entries are inserted in ascending order: the digits of the outer loops,
/// as far as these are iterated in order, up to the first reduction, which starts everything inside it again.
AffineMap LoopEmitter::insertionOrder() const {
  MLIRContext *context = b.getContext();
  const std::vector<iteration::Subscript> &subscripts = statement.result().subscripts;
  auto ascending = [&](unsigned depth) {
    for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
      for (auto [l, level] : llvm::enumerate(plan.levels[o]))
        if (level.mode == iteration::LevelMode::Drive && level.loop == depth &&
            !statement.operands[o].encoding.getValue().levels[l].format.ordered)
          return false;
    return true;
  };
  // Tiles one after the other, and in each what it has, are all in order.
  auto isInTiles = [&](unsigned depth) {
    unsigned next = depth;
    while (next + 1 < plan.order.size() && plan.order[next].isOverTiles &&
           plan.order[next + 1].index == plan.order[depth].index)
      ++next;
    return !plan.order[next].isOverTiles;
  };
  SmallVector<AffineExpr> digits;
  for (unsigned depth = 0; depth < plan.order.size() && !repeats(depth) && ascending(depth); ++depth) {
    const iteration::LoopVar &v = plan.order[depth];
    if (isReduction(depth))
      continue; // one coordinate at most
    if (v.isOverTiles && isInTiles(depth))
      continue;
    if (v.isOverTiles)
      break;
    unsigned dim =
        llvm::find_if(subscripts, [&](auto &s) { return s.terms[0].first == v.index; }) - subscripts.begin();
    AffineExpr digit = getAffineDimExpr(dim, context).floorDiv(v.stride);
    digits.push_back(v.modulus == 0 ? digit : digit % v.modulus);
  }
  return AffineMap::get(subscripts.size(), 0, digits, context);
}

/// The monoid of the body's reduction.
std::optional<Combine> LoopEmitter::combiner() const {
  using Found = std::optional<Combine>;
  for (Operation *user : algebra.accumulatorArg().getUsers())
    if (Found found =
            llvm::TypeSwitch<Operation *, Found>(user)
                .Case<arith::AddFOp, arith::AddIOp, complex::AddOp>([](auto) { return Combine::Add; })
                .Case<arith::MulFOp, arith::MulIOp, complex::MulOp>([](auto) { return Combine::Mul; })
                .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return Combine::Min; })
                .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return Combine::Max; })
                .Case([](arith::AndIOp) { return Combine::And; })
                .Case([](arith::OrIOp) { return Combine::Or; })
                .Case([](arith::XOrIOp) { return Combine::Xor; })
                .Default(Found()))
      return found;
  return std::nullopt;
}

//===--- Wide sums ---===//

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
      const iteration::Subscript &subscript = result.subscripts[digit.dim];
      return !subscript.terms.empty() &&
             v == iteration::LoopVar{subscript.terms[0].first, digit.stride, digit.modulus};
    });
  };
  auto isWhole = [&](unsigned index, unsigned depth) {
    return llvm::none_of(ArrayRef(plan.order).drop_front(depth),
                         [&](const iteration::LoopVar &v) { return v.index == index; });
  };
  unsigned found = 0;
  for (unsigned depth = 0; depth < plan.order.size() && !repeats(depth); ++depth)
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
  return storeApart(b, loc, made.sizes[level], to, [&](Value at, Value carried) {
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
  return storeApart(b, loc, count, to, [&](Value at, Value carried) -> Value {
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
