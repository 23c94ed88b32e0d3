// Emits an operation once for all lanes: a clone on scalars where its value is uniform or consecutive, else a
// vector operation, under the mask of the branches around it.
#include "passes/vectorize/BodyEmitter.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;
using vector::CombiningKind;
using Values = SmallVector<Value>;

constexpr int64_t cacheLineBytes = 64;

static uint64_t bytesOf(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return uint64_t(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
}

BodyEmitter::BodyEmitter(OpBuilder &builder, const VectorizationLegality &legality, const Lanes &lanes,
                         Value first, Value mask)
    : IndicesAt(builder, scf::ForOp(legality.loop).getLoc()), legality(legality), lanes(lanes),
      baseMask(mask) {
  scf::ForOp loop = legality.loop;
  scalars.map(loop.getInductionVar(), first);
}

void BodyEmitter::bind(const IRMapping &outer) {
  for (auto [from, to] : outer.getValueMap())
    scalars.map(from, to);
}

void BodyEmitter::keepInRegister(memref::LoadOp load, Value value, memref::StoreOp store) {
  vectors.map(load.getResult(), value);
  keptLoad = load;
  keptElement = value;
  keptStore = store;
}

Value BodyEmitter::storedValue() {
  Value value = asVector(keptStore.getValueToStore());
  // Lanes that are always inactive hold garbage: they are not stored.
  Value mask = isInLoop(keptStore) ? Value() : maskAt(keptStore);
  return mask ? select(mask, value, keptElement) : value;
}

Value BodyEmitter::valueOf(Value value) {
  emitFor(value);
  return asVector(value);
}

void BodyEmitter::emitFor(Value value) {
  scf::ForOp loop = legality.loop;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || isEmitted(value))
    return;
  for (Value operand : op->getOperands())
    emitFor(operand);
  emitOp(op);
}

Values BodyEmitter::emit(ValueRange accumulators) {
  scf::ForOp loop = legality.loop;
  emitBlock(*loop.getBody());
  Values results;
  for (auto [reduction, acc] : llvm::zip_equal(legality.reductions, accumulators))
    results.push_back(combine(reduction, acc));
  return results;
}

void BodyEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      emitBlock(*branch.thenBlock());
    else if (!legality.isReductionStep(&op))
      emitOp(&op);
  }
}

bool BodyEmitter::isKnown(Value index) {
  scf::ForOp loop = legality.loop;
  return acceptsSlice(index, [&](Value at) -> std::optional<bool> {
    if (scalars.contains(at) || loop.isDefinedOutsideOfLoop(at))
      return true;
    return at.getDefiningOp() && isPure(at.getDefiningOp()) ? std::nullopt : std::optional(false);
  });
}

void BodyEmitter::prefetch(int64_t iterations, int64_t offset, function_ref<bool(memref::LoadOp)> which) {
  scf::ForOp loop = legality.loop;
  loop.getBody()->walk([&](memref::LoadOp load) {
    Value index = load.getIndices()[0];
    if (shapeOf(index) != LaneShape::Consecutive || hoistedLoads.contains(load) || load == keptLoad ||
        (which && !which(load)) || isPrefetchScheduled(loop, load.getMemRef()))
      return;
    const int64_t bytes = load.getType().getIntOrFloatBitWidth() / 8;
    if ((offset * bytes) % cacheLineBytes >= lanes.count * bytes || !isKnown(index))
      return;
    emitFor(index);
    emitPrefetch(b, loc, scalar(load.getMemRef()), add(scalar(index), constant(iterations)));
  });
}

//===--- Hoisting out of an outer loop ---===//

void BodyEmitter::hoist(Filter isInvariant, function_ref<bool(Value)> isKnown) {
  scf::ForOp loop = legality.loop;
  loop.getBody()->walk([&](scf::IfOp branch) {
    if (isKnown(branch.getCondition()))
      hoistedBranches.insert(branch);
  });
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (legality.isReductionStep(op) || op->getNumResults() != 1 || !isInvariant(op))
      return;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && shapeOf(load) == LaneShape::Varying) {
      hoistedLoads.insert(load);
      vectors.map(load.getResult(),
                  emitLoad(load, hoistedMask(load, load.getMemRef(), load.getIndices()[0])));
    } else {
      emitOp(op);
    }
  });
}

/// How many elements of the buffer are left from the first of consecutive lanes on; not positive where none.
Value BodyEmitter::elementsLeft(Value buffer, Value index) { return sub(sizeOf(buffer), scalar(index)); }

/// The lanes whose element is in bounds of the buffer.
Value BodyEmitter::lanesInBounds(Value buffer, Value index) {
  if (shapeOf(index) == LaneShape::Consecutive)
    return activeLanes(b, loc, lanes, elementsLeft(buffer, index));
  Value sizes = vector::BroadcastOp::create(b, loc, lanes.of(b.getIndexType()), sizeOf(buffer));
  return is(CmpIPredicate::ult, asVector(index), sizes);
}

Value BodyEmitter::hoistedMask(Operation *op, Value buffer, Value index) {
  if (allActive)
    return baseMask;
  Value mask = maskAt(op, [&](Operation *branch) { return hoistedBranches.contains(branch); });
  return conjunction(mask, lanesInBounds(buffer, index));
}

Value BodyEmitter::allLanesActive(memref::LoadOp load, memref::StoreOp store) {
  Value result;
  auto addMask = [&](Value mask) {
    if (isa<VectorType>(mask.getType()))
      mask = vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, mask);
    result = both(result, mask);
  };
  auto addAccess = [&](Value buffer, Value index) {
    if (shapeOf(index) != LaneShape::Consecutive)
      return addMask(lanesInBounds(buffer, index));
    Value left = elementsLeft(buffer, index);
    addMask(is(CmpIPredicate::sge, left, constant(lanes.count)));
  };
  for (Operation *branch : hoistedBranches)
    addMask(asVector(cast<scf::IfOp>(branch).getCondition()));
  for (Operation *op : hoistedLoads)
    addAccess(cast<memref::LoadOp>(op).getMemRef(), cast<memref::LoadOp>(op).getIndices()[0]);
  addAccess(load.getMemRef(), load.getIndices()[0]);
  if (store.getMemRef() != load.getMemRef() || store.getIndices() != load.getIndices())
    addAccess(store.getMemRef(), store.getIndices()[0]);
  return result;
}

void BodyEmitter::assumeAllLanesActive() {
  allActive = true;
  masks.clear();
}

Value BodyEmitter::loadHoisted(memref::LoadOp load) {
  return emitLoad(load,
                  isInLoop(load) ? baseMask : hoistedMask(load, load.getMemRef(), load.getIndices()[0]));
}

void BodyEmitter::storeHoisted(memref::StoreOp store, Value value, bool nonTemporal) {
  Value index = store.getIndices()[0];
  emitStore(store, value, isInLoop(store) ? baseMask : hoistedMask(store, store.getMemRef(), index),
            nonTemporal);
}

Value BodyEmitter::isLineAligned(memref::StoreOp store, Value condition) {
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, scalar(store.getMemRef()));
  Value bytes = constant(store.getMemRefType().getElementTypeBitWidth() / 8);
  Value address = add(start, times(scalar(store.getIndices()[0]), bytes));
  Value within = both(address, constant(cacheLineBytes - 1));
  return both(is(CmpIPredicate::eq, within, constant(0)), condition);
}

//===--- Values ---===//

Value BodyEmitter::splat(Type element, TypedAttr value) {
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(lanes.of(element), value));
}

Value BodyEmitter::zeros(Type element) { return splat(element, cast<TypedAttr>(b.getZeroAttr(element))); }

Value BodyEmitter::asVector(Value value) {
  if (Value known = vectors.lookupOrNull(value))
    return known;
  Value wide = vector::BroadcastOp::create(b, loc, lanes.of(value.getType()), scalar(value));
  if (shapeOf(value) == LaneShape::Consecutive)
    wide = add(wide, stepVector());
  vectors.map(value, wide);
  return wide;
}

/// 0, 1, 2, …; a constant where it can be, because convert-to-llvm leaves the cast of a lowered vector.step
/// behind.
Value BodyEmitter::stepVector() {
  VectorType type = lanes.of(b.getIndexType());
  if (lanes.scalable)
    return vector::StepOp::create(b, loc, type);
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    numbers.push_back(b.getIndexAttr(lane));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
}

Value BodyEmitter::asIndex(Value value) {
  return value.getType().isIndex()
             ? value
             : arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value).getResult();
}

Value BodyEmitter::maskAt(Operation *op, Filter counts) {
  SmallVector<scf::IfOp> branches; // from the innermost
  for (Operation *parent = op->getParentOp(); parent != legality.loop; parent = parent->getParentOp())
    branches.push_back(cast<scf::IfOp>(parent));
  Value mask = baseMask;
  for (scf::IfOp branch : llvm::reverse(branches))
    if (counts(branch) && !(allActive && hoistedBranches.contains(branch)))
      mask = conjunction(mask, asVector(branch.getCondition()));
  return mask;
}

Value BodyEmitter::maskAt(Operation *op) {
  auto [it, isNew] = masks.try_emplace(op->getParentOp());
  if (isNew)
    it->second = maskAt(op, [](Operation *) { return true; });
  return it->second;
}

void BodyEmitter::emitOp(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    if (store != keptStore)
      emitStore(store, asVector(store.getValueToStore()), maskAt(op));
    return;
  }
  if (auto prefetch = dyn_cast<memref::PrefetchOp>(op))
    return emitPrefetches(prefetch);
  Value result = op->getResult(0);
  if (isEmitted(result))
    return;
  if (shapeOf(result) != LaneShape::Varying) {
    if (!reassociateConstant(op))
      b.clone(*op, scalars);
    return;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    vectors.map(result, emitLoad(load, readsInactiveLanes ? Value() : maskAt(op)));
    return;
  }
  Values operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return asVector(operand); });
  vectors.map(result, clone(b, op, lanes.of(result.getType()), operands)->getResult(0));
}

/// `x + (p + constant)` becomes `(x + p) + constant`: the vectors of a tile share the sum, and the constant
/// is part of the address.
bool BodyEmitter::reassociateConstant(Operation *op) {
  auto sum = dyn_cast<arith::AddIOp>(op);
  if (!sum || shapeOf(sum) != LaneShape::Consecutive)
    return false;
  for (auto [x, y] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    auto inner = scalar(y).getDefiningOp<arith::AddIOp>();
    if (!inner || !matchPattern(inner.getRhs(), m_Constant()))
      continue;
    scalars.map(sum.getResult(), add(add(scalar(x), inner.getLhs()), inner.getRhs()));
    return true;
  }
  return false;
}

//===--- Memory ---===//

Value BodyEmitter::emitLoad(memref::LoadOp load, Value mask) {
  Value index = load.getIndices()[0], buffer = scalar(load.getMemRef());
  VectorType type = lanes.of(load.getType());
  if (shapeOf(index) == LaneShape::Consecutive) {
    if (!mask)
      return vector::LoadOp::create(b, loc, type, buffer, scalar(index));
    return vector::MaskedLoadOp::create(b, loc, type, buffer, scalar(index), mask, zeros(load.getType()));
  }
  if (Value first = mask ? Value() : strideTwoStart(index))
    return loadStrideTwo(type, buffer, first);
  return emitGather(load, mask);
}

/// Inactive lanes of a scalarized gather load the first element: the caller has made sure that there is one.
Value BodyEmitter::emitGather(memref::LoadOp load, Value mask) {
  Value index = load.getIndices()[0], buffer = scalar(load.getMemRef());
  VectorType type = lanes.of(load.getType());
  if (!lanes.scalarizeGathers) {
    Value zero = constant(0), all = mask ? mask : splat(b.getI1Type(), b.getBoolAttr(true));
    return vector::GatherOp::create(b, loc, type, buffer, zero, narrowIndex(index), all,
                                    zeros(load.getType()));
  }
  Values elements;
  forEachLane(index, mask, [&](Value at) { elements.push_back(memref::LoadOp::create(b, loc, buffer, at)); });
  return vector::FromElementsOp::create(b, loc, type, elements);
}

/// Calls `emit` with the index of each lane. What it emits stands right behind that: eight indices at a time
/// would take most registers that hold integers.
void BodyEmitter::forEachLane(Value index, Value mask, function_ref<void(Value)> emit) {
  if (!mask && forEachReloaded(index, emit))
    return;
  Value vector = narrowIndex(index);
  if (mask)
    vector = select(mask, vector, zeros(cast<VectorType>(vector.getType()).getElementType()));
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    emit(asIndex(vector::ExtractOp::create(b, loc, vector, lane)));
}

/// An index that is loaded from consecutive elements, or every second one, loaded again for each lane: that
/// is faster than extracting lanes. False for others.
bool BodyEmitter::forEachReloaded(Value index, function_ref<void(Value)> emit) {
  memref::LoadOp load = loadBehindCasts(index);
  if (!load || shapeOf(load) != LaneShape::Varying || hoistedLoads.contains(load))
    return false;
  Value at = load.getIndices()[0];
  const bool consecutive = shapeOf(at) == LaneShape::Consecutive;
  Value first = consecutive ? scalar(at) : strideTwoStart(at);
  if (!first)
    return false;
  SmallVector<Operation *> casts;
  for (Value value = index; value != load.getResult(); value = casts.back()->getOperand(0))
    casts.push_back(value.getDefiningOp());
  for (int64_t lane = 0; lane < lanes.count; ++lane) {
    Value element = add(first, constant(consecutive ? lane : 2 * lane));
    IRMapping copy;
    copy.map(load.getResult(), memref::LoadOp::create(b, loc, scalar(load.getMemRef()), element).getResult());
    for (Operation *cast : llvm::reverse(casts))
      b.clone(*cast, copy);
    emit(copy.lookup(index));
  }
  return true;
}

/// Of each lane, or of the first of consecutive ones.
void BodyEmitter::emitPrefetches(memref::PrefetchOp prefetch) {
  Value index = prefetch.getIndices()[0], buffer = scalar(prefetch.getMemref());
  auto emitAt = [&](Value at) {
    emitPrefetch(b, loc, buffer, at, prefetch.getIsWrite(), prefetch.getLocalityHint());
  };
  if (shapeOf(index) != LaneShape::Varying)
    return emitAt(scalar(index));
  forEachLane(index, readsInactiveLanes ? Value() : maskAt(prefetch), emitAt);
}

void BodyEmitter::emitStore(memref::StoreOp store, Value value, Value mask, bool nonTemporal) {
  Value index = store.getIndices()[0], buffer = scalar(store.getMemRef());
  if (shapeOf(index) != LaneShape::Consecutive)
    return emitScatter(value, buffer, narrowIndex(index), mask);
  if (mask)
    vector::MaskedStoreOp::create(b, loc, buffer, scalar(index), mask, value);
  else if (nonTemporal || storesLines)
    vector::StoreOp::create(b, loc, value, buffer, scalar(index), /*nontemporal=*/true,
                            llvm::MaybeAlign(std::min(bytesOf(value), uint64_t(cacheLineBytes))));
  else
    vector::StoreOp::create(b, loc, value, buffer, scalar(index));
}

/// A scalarized scatter is a store for each lane where all are active: the instruction takes longer than
/// those.
void BodyEmitter::emitScatter(Value value, Value buffer, Value indices, Value mask) {
  if (lanes.scalarizeGathers && mask) {
    Value all = vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, mask);
    return branch(
        b, loc, all, [&] { emitScatter(value, buffer, indices, {}); },
        [&] { vector::ScatterOp::create(b, loc, Type(), buffer, constant(0), indices, mask, value); });
  }
  if (lanes.scalarizeGathers) {
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
      Value at = asIndex(vector::ExtractOp::create(b, loc, indices, lane));
      memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, lane), buffer, at);
    }
    return;
  }
  Value zero = constant(0), all = mask ? mask : splat(b.getI1Type(), b.getBoolAttr(true));
  vector::ScatterOp::create(b, loc, Type(), buffer, zero, indices, all, value);
}

/// The index in lane 0 when it grows by two from lane to lane: consecutive * 2, or that plus a uniform
/// number.
Value BodyEmitter::strideTwoStart(Value index) {
  auto isUniform = [&](Value v) { return shapeOf(v) == LaneShape::Uniform; };
  Value offset;
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    bool uniformFirst = isUniform(sum.getLhs());
    offset = uniformFirst ? sum.getLhs() : sum.getRhs();
    index = uniformFirst ? sum.getRhs() : sum.getLhs();
  }
  auto product = index.getDefiningOp<arith::MulIOp>();
  if (!product || lanes.scalable || lanes.count % 2 != 0 || (offset && !isUniform(offset)) ||
      shapeOf(product.getLhs()) != LaneShape::Consecutive || !isConstantIntValue(product.getRhs(), 2))
    return nullptr;
  Value first = times(scalar(product.getLhs()), product.getRhs());
  return offset ? add(first, scalar(offset)) : first;
}

/// Two overlapping loads that end with the last lane's element, and one shuffle: what follows it may be out
/// of bounds.
Value BodyEmitter::loadStrideTwo(VectorType type, Value buffer, Value first) {
  Value second = add(first, constant(lanes.count - 1));
  Value low = vector::LoadOp::create(b, loc, type, buffer, first);
  Value high = vector::LoadOp::create(b, loc, type, buffer, second);
  SmallVector<int64_t> picks;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    picks.push_back(lane < lanes.count / 2 ? 2 * lane : 2 * lane + 1);
  return vector::ShuffleOp::create(b, loc, low, high, picks);
}

/// The index as a vector of 32-bit integers where it is one, zero-extended, and stays non-negative as a
/// signed number.
Value BodyEmitter::narrowIndex(Value index) {
  Value narrow;
  if (auto cast = index.getDefiningOp<arith::IndexCastUIOp>())
    narrow = cast.getIn();
  else if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    narrow = cast.getIn();
  if (auto extend = narrow ? narrow.getDefiningOp<arith::ExtUIOp>() : nullptr)
    narrow = extend.getIn();
  else if (index.getDefiningOp<arith::IndexCastOp>())
    narrow = nullptr;
  unsigned bits = narrow ? narrow.getType().getIntOrFloatBitWidth() : 64;
  // Scalarized, an index is zero-extended on its own.
  bool fits = bits < 32 || (bits == 32 && (lanes.index32 || lanes.scalarizeGathers));
  if (!fits || !vectors.contains(narrow))
    return asVector(index);
  Value indices = vectors.lookup(narrow);
  return bits == 32 ? indices : arith::ExtUIOp::create(b, loc, lanes.of(b.getI32Type()), indices).getResult();
}

Value BodyEmitter::combine(const Reduction &reduction, Value acc) {
  Value combined =
      clone(b, reduction.combiner, acc.getType(), {acc, asVector(reduction.input)})->getResult(0);
  Value mask = maskAt(reduction.combiner);
  if (reduction.select) {
    Value condition = asVector(reduction.condition);
    if (reduction.selectsOnTrue)
      mask = conjunction(mask, condition);
    else
      combined = select(condition, acc, combined);
  }
  return mask ? select(mask, combined, acc) : combined;
}

Value activeLanes(OpBuilder &b, Location loc, const Lanes &lanes, Value count) {
  levels::IndicesAt at(b, loc);
  Value most = at.constant(lanes.count);
  if (lanes.scalable)
    most = at.times(most, vector::VectorScaleOp::create(b, loc));
  // Lowered, create_mask compares in 32 bits.
  return vector::CreateMaskOp::create(b, loc, lanes.of(b.getI1Type()), at.min(count, most));
}

Value areNonEmpty(OpBuilder &b, Location loc, ArrayRef<Value> buffers) {
  levels::IndicesAt at(b, loc);
  Value all;
  for (Value buffer : buffers)
    all = at.both(all, at.is(CmpIPredicate::sgt, at.sizeOf(buffer), at.constant(0)));
  return all;
}

} // namespace tulle::passes
