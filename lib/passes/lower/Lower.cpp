// tulle-lower: functions and their signatures, and every op that is not a loop; tulle-expand-segments.
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "passes/Passes.h"
#include "passes/lower/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

namespace tulle::passes {
#define GEN_PASS_DEF_LOWER
#define GEN_PASS_DEF_EXPANDSEGMENTS
#include "passes/Passes.h.inc"
} // namespace tulle::passes

namespace tulle::lower {

/// The element of the buffer of values that is at a position. Of a sum, the first part is the start of what
/// the second runs over: elements stay a start and a loop's index.
static Value valueAt(const Emitter &emit, Value position) {
  Value first = emit.storage.firstValue;
  if (!first)
    return position;
  if (auto sum = position.getDefiningOp<arith::AddIOp>())
    return emit.add(emit.sub(sum.getLhs(), first), sum.getRhs());
  return emit.sub(position, first);
}

/// Truth values are bytes in memory. What the format says is in none.
static Value loadValue(const Emitter &emit, Value at) {
  Type element = emit.storage.element;
  if (Attribute same = explicitAttr(emit.storage.encoding, element))
    return materialize(emit.builder, emit.loc, same, element);
  Value value = memref::LoadOp::create(emit.builder, emit.loc, emit.storage.fields.back(), valueAt(emit, at));
  if (!element.isInteger(1))
    return value;
  Value zero = arith::ConstantIntOp::create(emit.builder, emit.loc, 0, 8);
  return emit.compare(arith::CmpIPredicate::ne, value, zero);
}

static Value toMemory(OpBuilder &b, Location loc, Value value) {
  return value.getType().isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, b.getI8Type(), value)) : value;
}

void Lowering::lower(LikeOp op) { tensors[op.getResult()] = tensors.lookup(op.getTensor()); }

void Lowering::lower(tensor::CastOp op) { tensors[op.getResult()] = tensors.lookup(op.getSource()); }

void Lowering::lower(LevelSizeOp op) {
  values.map(op.getResult(), emitter(op, op.getTensor()).levelSize(unsigned(op.getLevel())));
}

void Lowering::lower(StoredCountOp op) {
  Emitter emit = emitter(op, op.getTensor());
  values.map(op.getResult(),
             memref::DimOp::create(b, op.getLoc(), emit.storage.fields.back(), emit.constant(0)));
}

void Lowering::lower(tensor::DimOp op) {
  values.map(op.getResult(), tensors.lookup(op.getSource())->dims[*op.getConstantIndex()]);
}

void Lowering::lower(ValuesOp op) {
  const levels::Storage &storage = *tensors.lookup(op.getTensor());
  values.map(op.getResult(), storage.fields[op.getLevel() ? storage.layout.coordinates[*op.getLevel()]->field
                                                          : storage.layout.valuesField()]);
}

/// The position of an access; the tensor of order 0 has one.
Iterator Lowering::iteratorOf(const Emitter &emit, Value iterator) const {
  return iterator ? iterators.lookup(iterator) : Iterator{emit.constant(0), {}, {}, {}};
}

void Lowering::lower(LoadOp op) {
  Location loc = op.getLoc();
  Emitter emit = emitter(op, op.getTensor());
  const Iterator at = iteratorOf(emit, op.getIterator());
  Value value = loadValue(emit, at.position);
  if (at.end) // repeated entries of one coordinate mean their sum (of truth values: or)
    value = forLoop(
        b, loc, emit.next(at.position), at.end, LoopKind::Reduction, value,
        [&](Value next, Values total) { return Values{add(b, loc, total[0], loadValue(emit, next))}; })[0];
  values.map(op.getResult(), value);
}

void Lowering::lower(StoreOp op) {
  Location loc = op.getLoc();
  Emitter emit = emitter(op, op.getTensor());
  Value buffer = emit.storage.fields.back();
  const Iterator at = iteratorOf(emit, op.getIterator());
  Value value = toMemory(b, loc, values.lookup(op.getValue()));
  memref::StoreOp::create(b, loc, value, buffer, valueAt(emit, at.position));
  if (at.end) {
    // The entries of one coordinate add up to the value: the first has it all.
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    levels::forEach(b, loc, emit.next(at.position), at.end, LoopKind::Parallel,
                    [&](Value next) { memref::StoreOp::create(b, loc, zero, buffer, valueAt(emit, next)); });
  }
  tensors[op.getResult()] = &emit.storage;
}

void Lowering::lower(FillOp op) {
  Location loc = op.getLoc();
  Emitter emit = emitter(op, op.getTensor());
  Value buffer = emit.storage.fields.back(), value = toMemory(b, loc, values.lookup(op.getValue()));
  Value count = memref::DimOp::create(b, loc, buffer, emit.constant(0));
  levels::forEach(b, loc, emit.constant(0), count, LoopKind::Parallel,
                  [&](Value at) { memref::StoreOp::create(b, loc, value, buffer, at); });
  tensors[op.getResult()] = &emit.storage;
}

/// An op that touches no tensor: copied, its regions lowered.
void Lowering::lowerPlain(Operation &op) {
  Operation *copy = op.cloneWithoutRegions(values);
  b.insert(copy);
  for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    Block &source = from.front();
    SmallVector<Location> locs(source.getNumArguments(), op.getLoc());
    Block *block = b.createBlock(&to, {}, SmallVector<Type>(source.getArgumentTypes()), locs);
    values.map(source.getArguments(), block->getArguments());
    lowerBlock(source);
    if (Operation *terminator = source.getTerminator())
      b.clone(*terminator, values);
  }
}

void Lowering::lowerBlock(Block &block) {
  const size_t outside = temporaries.size();
  Operation *last = nullptr;
  for (EmptyOp op : block.getOps<EmptyOp>())
    last = op;
  auto ops = block.without_terminator();
  auto rest = last ? std::next(last->getIterator()) : ops.begin();
  for (Operation &op : llvm::make_range(ops.begin(), rest))
    lowerOp(op);
  auto lowerRest = [&] {
    for (Operation &op : llvm::make_range(rest, ops.end()))
      lowerOp(op);
  };
  // A loop around allocations keeps no constant in a vector register: each call may overwrite them. What
  // works on the memory therefore becomes a function of its own (tulle-outline).
  if (last && isa<YieldOp>(block.back()) && plain(block.back().getOperands()).empty()) {
    auto region = scf::ExecuteRegionOp::create(b, last->getLoc(), TypeRange(), /*no_inline=*/b.getUnitAttr());
    b.createBlock(&region.getRegion());
    lowerRest();
    scf::YieldOp::create(b, last->getLoc());
    b.setInsertionPointAfter(region);
  } else {
    lowerRest();
  }
  while (temporaries.size() > outside)
    memref::DeallocOp::create(b, func.getLoc(), temporaries.pop_back_val());
}

namespace {
template <typename... Ops> struct OpList {
  static bool holds(Operation *op) { return isa<Ops...>(op); }
  template <typename Lower> static void dispatch(Operation &op, Lower lower, function_ref<void()> others) {
    llvm::TypeSwitch<Operation *>(&op).template Case<Ops...>(lower).Default([&](Operation *) { others(); });
  }
};
} // namespace

/// Ops whose operands or results are tensors, iterators, spaces or ranges. Tensors pass through casts and
/// scf's ops as the storage they are; iterators and spaces do not.
using LoweredOps =
    OpList<SpaceOp, LocateOp, SearchOp, PositionTableOp, LookupOp, RangeOp, LoadOp, StoreOp, FillOp, LikeOp,
           LevelSizeOp, SpaceSizeOp, StoredCountOp, StorageOp, CoordinatesOp, BoundsOp, IteratorAtOp, NextOp,
           IterateOp, CoiterateOp, ParallelOp, PartitionOp, WorkOp, PartitionBoundaryOp, SliceOp, RestrictOp,
           ShiftOp, BoundsBelowOp, EnclosingOp, BoundedIndicesOp, DistinctIndicesOp, OneHotOp, ReshapeOp,
           ValuesOp, WithValuesOp, EmptyOp, ThreadsOp, tensor::DimOp, tensor::CastOp, scf::IfOp, scf::ForOp,
           scf::WhileOp>;

void Lowering::lowerOp(Operation &op) {
  LoweredOps::dispatch(op, [&](auto known) { lower(known); }, [&] { lowerPlain(op); });
}

/// Whether an op may have tensors, iterators, spaces or ranges among its operands or results here.
static bool understands(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    return type && index && *index >= 0 && *index < type.getRank();
  }
  return LoweredOps::holds(op) || isa<YieldOp, scf::ConditionOp, func::ReturnOp>(op) ||
         (isa<scf::YieldOp>(op) && isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op->getParentOp()));
}

static bool isSetType(Type type) { return isa<IteratorType, SpaceType, RangeType>(type); }

/// Whether the type can be that of a tensor with data.
static LogicalResult checkExecutable(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  const format::Encoding &encoding = getEncoding(tensor).getValue();
  std::string why = whyNotExecutable(encoding, tensor.getElementType());
  if (!why.empty())
    return emitError(loc) << "cannot hold data in " << tensor << ": " << why;
  if (format::hasSlices(encoding))
    return emitError(loc) << "expected no slices: run tulle-resolve-slices before tulle-sparsify";
  return success();
}

static LogicalResult checkOp(Operation *op) {
  if (auto made = dyn_cast<StorageOp>(op); made && failed(checkExecutable(op->getLoc(), made.getType())))
    return failure();
  auto isOurs = [](Type type) { return isa<TensorType, EntriesType>(type) || isSetType(type); };
  bool touches = llvm::any_of(op->getOperandTypes(), isOurs) || llvm::any_of(op->getResultTypes(), isOurs);
  if (touches && !understands(op))
    return op->emitError(
        "expected tensors, spaces and iterators to be used by loads, stores and loops only; run "
        "tulle-sparsify first");
  bool passes =
      isa<YieldOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp, IterateOp, CoiterateOp, ParallelOp>(op);
  if (passes && llvm::any_of(op->getResultTypes(), isSetType))
    return op->emitError(
        "expected no iterator, space or range among the results: these stay within their region");
  if (llvm::any_of(op->getRegions(), [](Region &region) { return !region.empty() && !region.hasOneBlock(); }))
    return op->emitError("expected one block in each region: control flow is structured at this stage");
  return success();
}

LogicalResult Lowering::check() {
  if (!func.getBody().hasOneBlock())
    return func.emitError("expected one block: control flow is structured at this stage");
  for (BlockArgument arg : func.getArguments()) {
    if (failed(checkExecutable(arg.getLoc(), arg.getType())))
      return failure();
    if (isSetType(arg.getType()))
      return emitError(arg.getLoc()) << "expected no argument of type " << arg.getType()
                                     << ": spaces and iterators stay within one function";
  }
  if (func.getBody().walk([](Operation *op) { return WalkResult(checkOp(op)); }).wasInterrupted())
    return failure();
  return checkInPlace(func);
}

/// What a tensor value is from here on.
const levels::Storage *Lowering::addStorage(Value tensor, ValueRange fields, ValueRange sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Values dims;
  for (auto [size, known] : llvm::zip(sizes, type.getShape()))
    dims.push_back(
        ShapedType::isDynamic(known) ? size : Value(arith::ConstantIndexOp::create(b, func.getLoc(), known)));
  storages.push_back(levels::Storage::create(b, func.getLoc(), getEncoding(type).getValue(),
                                             type.getElementType(), fields, dims));
  return tensors[tensor] = storages.back().get();
}

void Lowering::lower(StorageOp op) {
  made.insert(addStorage(op.getResult(), plain(op.getBuffers()), plain(op.getSizes())));
}

void Lowering::lower(WithValuesOp op) {
  const levels::Storage &pattern = *tensors.lookup(op.getTensor());
  if (auto own = op.getValues().getDefiningOp<ValuesOp>();
      own && !own.getLevel() && tensors.lookup(own.getTensor()) == &pattern) {
    tensors[op.getResult()] = &pattern;
    return;
  }
  Values fields(pattern.fields.begin(), pattern.fields.end());
  fields[pattern.layout.valuesField()] = values.lookup(op.getValues());
  addStorage(op.getResult(), fields, pattern.dims);
}

static std::string fieldName(const format::Field &field) {
  static constexpr StringRef names[] = {"size", "perm", "pos", "crd", "bits"};
  if (field.kind == format::FieldKind::Values)
    return "val";
  return (names[size_t(field.kind)] + Twine(field.level)).str();
}

/// Calls the buffers of a tensor A `A_pos1`, `A_crd1`, `A_val`, its sizes `A_dim0`.
static void nameBuffers(StringRef tensor, const format::Layout &layout, ValueRange fields, ValueRange sizes) {
  for (auto [field, value] : llvm::zip(layout.fields, fields))
    levels::named(value, (tensor + "_" + fieldName(field)).str());
  for (auto [dim, value] : llvm::enumerate(sizes))
    levels::named(value, (tensor + "_dim" + Twine(dim)).str());
}

/// The operands of whose memory a schedule says something.
static llvm::SetVector<StringAttr> scheduledOperands(func::FuncOp func) {
  llvm::SetVector<StringAttr> names;
  func.walk([&](Operation *op) {
    const LoopAttr loop = loopOverSets(op) ? loopOverSets(op) : isa<scf::ForOp>(op) ? loopOf(op) : LoopAttr();
    const DirectivesAttr said = loop ? loop.getDirectives() : DirectivesAttr();
    if (said && said.getPrefetch())
      for (NamedAttribute named : said.getPrefetch())
        names.insert(named.getName());
    for (CachePlace place : {CachePlace::Stack, CachePlace::Registers})
      if (said)
        names.insert_range(said.cachedIn(place));
  });
  return names;
}

func::FuncOp Lowering::createFunction() {
  SmallVector<Type> inputs;
  for (Type type : func.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      inputs.push_back(type);
      continue;
    }
    llvm::append_range(
        inputs, levels::fieldTypes(format::layout(getEncoding(tensor).getValue()), tensor.getElementType()));
    inputs.append(size_t(tensor.getRank()), b.getIndexType());
  }
  b.setInsertionPoint(func);
  auto lowered = func::FuncOp::create(b, func.getLoc(), func.getName(), b.getFunctionType(inputs, {}));
  for (NamedAttribute attr : func->getDiscardableAttrs())
    lowered->setDiscardableAttr(attr.getName(), attr.getValue());
  lowered.setVisibility(func.getVisibility());
  Block *entry = lowered.addEntryBlock();
  b.setInsertionPointToStart(entry);
  const llvm::SetVector<StringAttr> scheduled = scheduledOperands(func);
  unsigned next = 0;
  auto take = [&](size_t count) {
    next += unsigned(count);
    return ValueRange(entry->getArguments().slice(next - count, count));
  };
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type) {
      Value plain = take(1).front();
      values.map(arg, plain);
      if (auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr))
        levels::named(plain, name.getValue());
      continue;
    }
    const format::Layout layout = format::layout(getEncoding(type).getValue());
    ValueRange fields = take(layout.fields.size()), sizes = take(size_t(type.getRank()));
    if (auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr)) {
      nameBuffers(name, layout, fields, sizes);
      if (llvm::is_contained(scheduled, name))
        for (Value field : fields)
          lowered.setArgAttr(cast<BlockArgument>(field).getArgNumber(), kNameAttr, name);
    }
    if (Attribute below = func.getArgAttr(arg.getArgNumber(), kBytesBelowAttr))
      lowered.setArgAttr(cast<BlockArgument>(fields.back()).getArgNumber(), kBytesBelowAttr, below);
    addStorage(arg, fields, sizes);
    storages.back()->noPadding = bool(func.getArgAttr(arg.getArgNumber(), kNoPaddingAttr));
  }
  return lowered;
}

/// The buffers of tensors made here, and everything that is no tensor; results written in place are the
/// caller's already.
Values Lowering::returned(ValueRange operands) const {
  Values results;
  for (Value operand : operands) {
    if (!isa<RankedTensorType>(operand.getType()))
      results.push_back(values.lookup(operand));
    else if (const levels::Storage *storage = tensors.lookup(operand); made.contains(storage))
      llvm::append_range(results, storage->fields);
  }
  return results;
}

LogicalResult Lowering::run() {
  if (failed(check()))
    return failure();
  func::FuncOp lowered = createFunction();
  Block &body = func.getBody().front();
  lowerBlock(body);
  Values results = returned(body.getTerminator()->getOperands());
  func::ReturnOp::create(b, body.getTerminator()->getLoc(), results);
  lowered.setFunctionType(b.getFunctionType(lowered.getArgumentTypes(), ValueRange(results).getTypes()));
  if (!ok) {
    lowered.erase();
    return failure();
  }
  func.erase();
  return success();
}

} // namespace tulle::lower

namespace {
struct TulleLower : passes::impl::LowerBase<TulleLower> {
  void runOnOperation() override {
    auto touchesTensors = [](func::FuncOp func) {
      auto isTensorType = [](Type type) { return isa<TensorType>(type); };
      return llvm::any_of(func.getArgumentTypes(), isTensorType) ||
             llvm::any_of(func.getResultTypes(), isTensorType);
    };
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (func.isExternal()) {
        if (touchesTensors(func)) {
          func.emitError("expected a body: only functions that are compiled here may take tensors");
          return signalPassFailure();
        }
        continue;
      }
      if (failed(lower::Lowering(func).run()))
        return signalPassFailure();
    }
  }
};

/// Bounds of segments become loads, when no pass needs to know any more which segment a loop iterates.
struct ExpandSegments : passes::impl::ExpandSegmentsBase<ExpandSegments> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](SegmentOp segment) { segment.expand(rewriter); });
  }
};
} // namespace
