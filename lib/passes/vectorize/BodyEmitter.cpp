#include "passes/vectorize/BodyEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
using mlir::Operation;
using mlir::Type;
using mlir::Value;

constexpr int64_t cacheLineBytes = 64;

static uint64_t bytesOf(Value vector) {
  auto type = mlir::cast<mlir::VectorType>(vector.getType());
  return uint64_t(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
}

BodyEmitter::BodyEmitter(mlir::OpBuilder &builder, const VectorizationLegality &plan, const Lanes &lanes,
                         Value first, Value mask)
    : b(builder), plan(plan), lanes(lanes), baseMask(mask) {
  scf::ForOp loop = plan.loop;
  scalars.map(loop.getInductionVar(), first);
}

void BodyEmitter::bind(const mlir::IRMapping &outer) {
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
  mlir::Location loc = keptStore->getLoc();
  Value value = asVector(loc, keptStore.getValueToStore());
  // Lanes that are off all through keep garbage: they are not stored.
  Value mask = keptStore->getParentOp() == plan.loop ? Value() : maskAt(keptStore);
  return mask ? arith::SelectOp::create(b, loc, mask, value, keptElement).getResult() : value;
}

Value BodyEmitter::valueOf(Value value) {
  emitFor(value);
  return asVector(value.getLoc(), value);
}

void BodyEmitter::emitFor(Value value) {
  scf::ForOp loop = plan.loop;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || isEmitted(value))
    return;
  for (Value operand : op->getOperands())
    emitFor(operand);
  emitOp(op);
}

llvm::SmallVector<Value> BodyEmitter::emit(mlir::ValueRange accumulators) {
  scf::ForOp loop = plan.loop;
  emitBlock(*loop.getBody(), [](Operation *) { return true; });
  llvm::SmallVector<Value> results;
  for (auto [reduction, acc] : llvm::zip_equal(plan.reductions, accumulators))
    results.push_back(combine(reduction, acc));
  return results;
}

void BodyEmitter::emitBlock(mlir::Block &block, Filter wanted) {
  for (Operation &op : block.without_terminator()) {
    if (auto branch = mlir::dyn_cast<scf::IfOp>(op))
      emitBlock(*branch.thenBlock(), wanted);
    else if (!plan.isReductionStep(&op) && wanted(&op))
      emitOp(&op);
  }
}

void BodyEmitter::prefetch(int64_t iterations, int64_t offset,
                           llvm::function_ref<bool(memref::LoadOp)> which) {
  scf::ForOp loop = plan.loop;
  loop.getBody()->walk([&](memref::LoadOp load) {
    Value index = load.getIndices()[0], buffer = scalars.lookupOrDefault(load.getMemRef());
    if (plan.shapeOf(index) != LaneShape::Consecutive || hoistedLoads.contains(load) || load == keptLoad ||
        (which && !which(load)))
      return;
    const int64_t bytes = load.getType().getIntOrFloatBitWidth() / 8;
    if ((offset * bytes) % cacheLineBytes >= lanes.count * bytes)
      return;
    mlir::Location loc = load.getLoc();
    Value later = arith::AddIOp::create(b, loc, scalars.lookupOrDefault(index),
                                        arith::ConstantIndexOp::create(b, loc, iterations));
    memref::PrefetchOp::create(b, loc, buffer, later, /*isWrite=*/false, /*localityHint=*/3,
                               /*isDataCache=*/true);
  });
}

//===--- PrefetchPlan of an outer loop ---===//

void BodyEmitter::hoist(Filter isFixed) {
  scf::ForOp loop = plan.loop;
  loop.getBody()->walk([&](scf::IfOp branch) {
    Operation *condition = branch.getCondition().getDefiningOp();
    if (!condition || !loop->isProperAncestor(condition) || isFixed(condition))
      hoistedBranches.insert(branch);
  });
  loop.getBody()->walk<mlir::WalkOrder::PreOrder>([&](Operation *op) {
    if (plan.isReductionStep(op) || op->getNumResults() != 1 || !isFixed(op))
      return;
    auto load = mlir::dyn_cast<memref::LoadOp>(op);
    if (load && plan.shapeOf(load) == LaneShape::PerLane) {
      hoistedLoads.insert(load);
      vectors.map(load.getResult(),
                  emitLoad(load, hoistedMask(load, load.getMemRef(), load.getIndices()[0])));
    } else {
      emitOp(op);
    }
  });
}

/// How many elements of the buffer are left from the first of consecutive lanes on; not positive where none.
Value BodyEmitter::elementsLeft(mlir::Location loc, Value buffer, Value index) {
  Value size = memref::DimOp::create(b, loc, buffer, arith::ConstantIndexOp::create(b, loc, 0));
  return arith::SubIOp::create(b, loc, size, scalars.lookupOrDefault(index));
}

/// The lanes whose element the buffer has.
Value BodyEmitter::lanesInside(mlir::Location loc, Value buffer, Value index) {
  if (plan.shapeOf(index) == LaneShape::Consecutive)
    return firstLanes(b, loc, lanes, elementsLeft(loc, buffer, index));
  Value size = memref::DimOp::create(b, loc, buffer, arith::ConstantIndexOp::create(b, loc, 0));
  Value sizes = vector::BroadcastOp::create(b, loc, lanes.of(b.getIndexType()), size);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, asVector(loc, index), sizes);
}

Value BodyEmitter::hoistedMask(Operation *op, Value buffer, Value index) {
  if (allAreOn)
    return baseMask;
  mlir::Location loc = op->getLoc();
  Value mask = maskAt(op, [&](Operation *branch) { return hoistedBranches.contains(branch); });
  return both(loc, mask, lanesInside(loc, buffer, index));
}

Value BodyEmitter::allOn(memref::LoadOp load, memref::StoreOp store) {
  Value all;
  auto add = [&](mlir::Location loc, Value lanesOn) {
    if (mlir::isa<mlir::VectorType>(lanesOn.getType()))
      lanesOn = vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, lanesOn);
    all = all ? arith::AndIOp::create(b, loc, all, lanesOn).getResult() : lanesOn;
  };
  auto addAccess = [&](Operation *op, Value buffer, Value index) {
    mlir::Location loc = op->getLoc();
    if (plan.shapeOf(index) != LaneShape::Consecutive)
      return add(loc, lanesInside(loc, buffer, index));
    Value left = elementsLeft(loc, buffer, index);
    Value count = arith::ConstantIndexOp::create(b, loc, lanes.count);
    add(loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, left, count));
  };
  for (Operation *branch : hoistedBranches)
    add(branch->getLoc(), asVector(branch->getLoc(), mlir::cast<scf::IfOp>(branch).getCondition()));
  for (Operation *op : hoistedLoads)
    addAccess(op, mlir::cast<memref::LoadOp>(op).getMemRef(), mlir::cast<memref::LoadOp>(op).getIndices()[0]);
  addAccess(load, load.getMemRef(), load.getIndices()[0]);
  if (store.getMemRef() != load.getMemRef() || store.getIndices() != load.getIndices())
    addAccess(store, store.getMemRef(), store.getIndices()[0]);
  return all;
}

void BodyEmitter::assumeAllOn() {
  allAreOn = true;
  masks.clear();
}

Value BodyEmitter::loadHoisted(memref::LoadOp load) {
  bool always = load->getParentOp() == plan.loop;
  return emitLoad(load, always ? baseMask : hoistedMask(load, load.getMemRef(), load.getIndices()[0]));
}

void BodyEmitter::storeHoisted(memref::StoreOp store, Value value, bool streams) {
  Value index = store.getIndices()[0];
  bool always = store->getParentOp() == plan.loop;
  emitStore(store, value, always ? baseMask : hoistedMask(store, store.getMemRef(), index), streams);
}

Value BodyEmitter::startsLine(memref::StoreOp store, Value condition) {
  mlir::Location loc = store.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  Value buffer = scalars.lookupOrDefault(store.getMemRef());
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  Value bytes = constant(store.getMemRefType().getElementTypeBitWidth() / 8);
  Value offset = arith::MulIOp::create(b, loc, scalars.lookupOrDefault(store.getIndices()[0]), bytes);
  Value place = arith::AddIOp::create(b, loc, start, offset);
  Value within = arith::AndIOp::create(b, loc, place, constant(cacheLineBytes - 1));
  Value starts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, within, constant(0));
  return arith::AndIOp::create(b, loc, starts, condition);
}

//===--- Values ---===//

Value BodyEmitter::splat(mlir::Location loc, Type element, mlir::TypedAttr value) {
  return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(lanes.of(element), value));
}

Value BodyEmitter::zeros(mlir::Location loc, Type element) {
  return splat(loc, element, mlir::cast<mlir::TypedAttr>(b.getZeroAttr(element)));
}

Value BodyEmitter::asVector(mlir::Location loc, Value value) {
  if (Value known = vectors.lookupOrNull(value))
    return known;
  Value scalar = scalars.lookupOrDefault(value);
  Value wide = vector::BroadcastOp::create(b, loc, lanes.of(value.getType()), scalar);
  if (plan.shapeOf(value) == LaneShape::Consecutive)
    wide = arith::AddIOp::create(b, loc, wide, laneNumbers(loc));
  vectors.map(value, wide);
  return wide;
}

/// 0, 1, 2, …; a constant where it can be, because convert-to-llvm leaves the cast of a lowered vector.step
/// behind.
Value BodyEmitter::laneNumbers(mlir::Location loc) {
  mlir::VectorType type = lanes.of(b.getIndexType());
  if (lanes.scalable)
    return vector::StepOp::create(b, loc, type);
  llvm::SmallVector<mlir::Attribute> numbers;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    numbers.push_back(b.getIndexAttr(lane));
  return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, numbers));
}

Value BodyEmitter::both(mlir::Location loc, Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return arith::AndIOp::create(b, loc, a, c);
}

Value BodyEmitter::maskAt(Operation *op, Filter counts) {
  llvm::SmallVector<scf::IfOp> branches; // from the innermost
  for (Operation *parent = op->getParentOp(); parent != plan.loop; parent = parent->getParentOp())
    branches.push_back(mlir::cast<scf::IfOp>(parent));
  Value mask = baseMask;
  for (scf::IfOp branch : llvm::reverse(branches))
    if (counts(branch) && !(allAreOn && hoistedBranches.contains(branch)))
      mask = both(op->getLoc(), mask, asVector(op->getLoc(), branch.getCondition()));
  return mask;
}

Value BodyEmitter::maskAt(Operation *op) {
  auto [it, isNew] = masks.try_emplace(op->getParentOp());
  if (isNew)
    it->second = maskAt(op, [](Operation *) { return true; });
  return it->second;
}

void BodyEmitter::emitOp(Operation *op) {
  if (auto store = mlir::dyn_cast<memref::StoreOp>(op)) {
    if (store != keptStore)
      emitStore(store, asVector(op->getLoc(), store.getValueToStore()), maskAt(op));
    return;
  }
  Value result = op->getResult(0);
  if (isEmitted(result))
    return;
  if (plan.shapeOf(result) != LaneShape::PerLane) {
    if (!emitConstantLast(op))
      b.clone(*op, scalars);
    return;
  }
  if (auto load = mlir::dyn_cast<memref::LoadOp>(op)) {
    vectors.map(result, emitLoad(load, readsWhereOff ? Value() : maskAt(op)));
    return;
  }
  mlir::OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(asVector(op->getLoc(), operand));
  state.addTypes(lanes.of(result.getType()));
  state.addAttributes(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  vectors.map(result, b.create(state)->getResult(0));
}

/// `x + (p + constant)` becomes `(x + p) + constant`: the vectors of a tile share the sum, and the constant
/// is part of the address.
bool BodyEmitter::emitConstantLast(Operation *op) {
  auto sum = mlir::dyn_cast<arith::AddIOp>(op);
  if (!sum || plan.shapeOf(sum) != LaneShape::Consecutive)
    return false;
  for (auto [x, y] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    auto place = scalars.lookupOrDefault(y).getDefiningOp<arith::AddIOp>();
    if (!place || !mlir::matchPattern(place.getRhs(), mlir::m_Constant()))
      continue;
    Value shared = arith::AddIOp::create(b, op->getLoc(), scalars.lookupOrDefault(x), place.getLhs());
    scalars.map(sum.getResult(), arith::AddIOp::create(b, op->getLoc(), shared, place.getRhs()).getResult());
    return true;
  }
  return false;
}

//===--- Memory ---===//

Value BodyEmitter::emitLoad(memref::LoadOp load, Value mask) {
  mlir::Location loc = load.getLoc();
  Value index = load.getIndices()[0], buffer = scalars.lookupOrDefault(load.getMemRef());
  mlir::VectorType type = lanes.of(load.getType());
  if (plan.shapeOf(index) == LaneShape::Consecutive) {
    Value first = scalars.lookupOrDefault(index);
    if (!mask)
      return vector::LoadOp::create(b, loc, type, buffer, first);
    return vector::MaskedLoadOp::create(b, loc, type, buffer, first, mask, zeros(loc, load.getType()));
  }
  if (Value first = mask ? Value() : everySecond(loc, index))
    return loadEverySecond(loc, type, buffer, first);
  return emitGather(load, mask);
}

/// Lanes that are off read position 0 when the gather is taken apart: the caller has made sure that there is
/// one.
Value BodyEmitter::emitGather(memref::LoadOp load, Value mask) {
  mlir::Location loc = load.getLoc();
  Value index = load.getIndices()[0], buffer = scalars.lookupOrDefault(load.getMemRef());
  mlir::VectorType type = lanes.of(load.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  if (!lanes.takesGathersApart()) {
    Value all = mask ? mask : splat(loc, b.getI1Type(), b.getBoolAttr(true));
    return vector::GatherOp::create(b, loc, type, buffer, zero, narrowIndex(loc, index), all,
                                    zeros(loc, load.getType()));
  }
  llvm::SmallVector<Value> elements;
  for (Value at : placesApart(loc, index, mask))
    elements.push_back(memref::LoadOp::create(b, loc, buffer, at));
  return vector::FromElementsOp::create(b, loc, type, elements);
}

/// The index of each lane.
llvm::SmallVector<Value> BodyEmitter::placesApart(mlir::Location loc, Value index, Value mask) {
  if (llvm::SmallVector<Value> places = mask ? llvm::SmallVector<Value>() : storedPlaces(loc, index);
      !places.empty())
    return places;
  Value vector = narrowIndex(loc, index);
  Type place = mlir::cast<mlir::VectorType>(vector.getType()).getElementType();
  if (mask)
    vector = arith::SelectOp::create(b, loc, mask, vector, zeros(loc, place));
  llvm::SmallVector<Value> places;
  for (int64_t lane = 0; lane < lanes.count; ++lane) {
    Value at = vector::ExtractOp::create(b, loc, vector, lane);
    places.push_back(place.isIndex() ? at : arith::IndexCastUIOp::create(b, loc, b.getIndexType(), at));
  }
  return places;
}

/// An index that is read from memory in order, read for each lane: taking a vector of them apart takes
/// longer. Empty where it is not.
llvm::SmallVector<Value> BodyEmitter::storedPlaces(mlir::Location loc, Value index) {
  llvm::SmallVector<Operation *> casts;
  Value stored = index;
  while (mlir::isa_and_nonnull<arith::IndexCastUIOp, arith::IndexCastOp, arith::ExtUIOp>(
      stored.getDefiningOp())) {
    casts.push_back(stored.getDefiningOp());
    stored = casts.back()->getOperand(0);
  }
  auto load = stored.getDefiningOp<memref::LoadOp>();
  if (!load || plan.shapeOf(stored) != LaneShape::PerLane || hoistedLoads.contains(load))
    return {};
  Value place = load.getIndices()[0];
  const bool inOrder = plan.shapeOf(place) == LaneShape::Consecutive;
  Value first = inOrder ? scalars.lookupOrDefault(place) : everySecond(loc, place);
  if (!first)
    return {};
  llvm::SmallVector<Value> places;
  for (int64_t lane = 0; lane < lanes.count; ++lane) {
    Value offset = arith::ConstantIndexOp::create(b, loc, inOrder ? lane : 2 * lane);
    Value at = arith::AddIOp::create(b, loc, first, offset);
    mlir::IRMapping copy;
    copy.map(stored,
             memref::LoadOp::create(b, loc, scalars.lookupOrDefault(load.getMemRef()), at).getResult());
    for (Operation *cast : llvm::reverse(casts))
      b.clone(*cast, copy);
    places.push_back(copy.lookup(index));
  }
  return places;
}

void BodyEmitter::emitStore(memref::StoreOp store, Value value, Value mask, bool streams) {
  mlir::Location loc = store.getLoc();
  Value index = store.getIndices()[0], buffer = scalars.lookupOrDefault(store.getMemRef());
  if (plan.shapeOf(index) == LaneShape::Consecutive) {
    Value first = scalars.lookupOrDefault(index);
    if (mask)
      vector::MaskedStoreOp::create(b, loc, buffer, first, mask, value);
    else if (streams)
      vector::StoreOp::create(b, loc, value, buffer, first, /*nontemporal=*/true,
                              llvm::MaybeAlign(bytesOf(value)));
    else
      vector::StoreOp::create(b, loc, value, buffer, first);
    return;
  }
  emitScatter(loc, value, buffer, narrowIndex(loc, index), mask);
}

/// Taken apart, a store for each lane where all are on: the instruction takes longer than those.
void BodyEmitter::emitScatter(mlir::Location loc, Value value, Value buffer, Value places, Value mask) {
  if (lanes.takesGathersApart() && mask) {
    Value all = vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, mask);
    auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitScatter(loc, value, buffer, places, {});
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    vector::ScatterOp::create(b, loc, mlir::Type(), buffer, zero, places, mask, value);
    return;
  }
  if (lanes.takesGathersApart()) {
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
      Value at = vector::ExtractOp::create(b, loc, places, lane);
      if (!at.getType().isIndex())
        at = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), at);
      memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, lane), buffer, at);
    }
    return;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value all = mask ? mask : splat(loc, b.getI1Type(), b.getBoolAttr(true));
  vector::ScatterOp::create(b, loc, mlir::Type(), buffer, zero, places, all, value);
}

/// The index in lane 0 when it grows by two from lane to lane: consecutive * 2, or that plus a uniform
/// number.
Value BodyEmitter::everySecond(mlir::Location loc, Value index) {
  auto isUniform = [&](Value v) { return plan.shapeOf(v) == LaneShape::Uniform; };
  Value offset;
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    bool fixedFirst = isUniform(sum.getLhs());
    offset = fixedFirst ? sum.getLhs() : sum.getRhs();
    index = fixedFirst ? sum.getRhs() : sum.getLhs();
  }
  auto product = index.getDefiningOp<arith::MulIOp>();
  llvm::APInt stride;
  if (!product || lanes.scalable || lanes.count % 2 != 0 || (offset && !isUniform(offset)) ||
      plan.shapeOf(product.getLhs()) != LaneShape::Consecutive ||
      !mlir::matchPattern(product.getRhs(), mlir::m_ConstantInt(&stride)) || stride != 2)
    return nullptr;
  Value first = arith::MulIOp::create(b, loc, scalars.lookupOrDefault(product.getLhs()), product.getRhs());
  return offset ? arith::AddIOp::create(b, loc, first, scalars.lookupOrDefault(offset)).getResult() : first;
}

/// Two overlapping loads that end with the last lane's element, and one shuffle: what follows it may not be
/// memory.
Value BodyEmitter::loadEverySecond(mlir::Location loc, mlir::VectorType type, Value buffer, Value first) {
  Value second =
      arith::AddIOp::create(b, loc, first, arith::ConstantIndexOp::create(b, loc, lanes.count - 1));
  Value low = vector::LoadOp::create(b, loc, type, buffer, first);
  Value high = vector::LoadOp::create(b, loc, type, buffer, second);
  llvm::SmallVector<int64_t> picks;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    picks.push_back(lane < lanes.count / 2 ? 2 * lane : 2 * lane + 1);
  return vector::ShuffleOp::create(b, loc, low, high, picks);
}

/// The index as a vector of 32-bit integers where it is one, zero-extended, and stays non-negative as a
/// signed number.
Value BodyEmitter::narrowIndex(mlir::Location loc, Value index) {
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
  // Taken apart, an index is zero-extended on its own.
  bool fits = bits < 32 || (bits == 32 && (lanes.index32 || lanes.takesGathersApart()));
  if (!fits || !vectors.contains(narrow))
    return asVector(loc, index);
  Value lane = vectors.lookup(narrow);
  return bits == 32 ? lane : arith::ExtUIOp::create(b, loc, lanes.of(b.getI32Type()), lane).getResult();
}

Value BodyEmitter::combine(const Reduction &reduction, Value acc) {
  mlir::Location loc = reduction.combiner->getLoc();
  mlir::OperationState state(loc, reduction.combiner->getName());
  state.addOperands({acc, asVector(loc, reduction.input)});
  state.addTypes(acc.getType());
  state.addAttributes(reduction.combiner->getAttrs());
  state.propertiesAttr = reduction.combiner->getPropertiesAsAttribute();
  Value combined = b.create(state)->getResult(0);
  Value mask = maskAt(reduction.combiner);
  if (reduction.select) {
    Value condition = asVector(loc, reduction.condition);
    if (reduction.selectsOnTrue)
      mask = both(loc, mask, condition);
    else
      combined = arith::SelectOp::create(b, loc, condition, acc, combined);
  }
  return mask ? arith::SelectOp::create(b, loc, mask, combined, acc).getResult() : combined;
}

Value firstLanes(mlir::OpBuilder &b, mlir::Location loc, const Lanes &lanes, Value count) {
  // Lowered, create_mask looks at 32 bits.
  Value most = arith::ConstantIndexOp::create(b, loc, lanes.count);
  if (lanes.scalable)
    most = arith::MulIOp::create(b, loc, most, vector::VectorScaleOp::create(b, loc));
  return vector::CreateMaskOp::create(b, loc, lanes.of(b.getI1Type()),
                                      arith::MinSIOp::create(b, loc, count, most).getResult());
}

Value hasFirstElements(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Value> buffers) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), all;
  for (Value buffer : buffers) {
    Value size = memref::DimOp::create(b, loc, buffer, zero);
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, size, zero);
    all = all ? arith::AndIOp::create(b, loc, all, some).getResult() : some;
  }
  return all;
}

} // namespace tulle::passes
