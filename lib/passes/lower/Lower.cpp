// tulle-lower: functions and their signatures, and every op that is not a loop.
#include "dialect/Attributes.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "passes/Passes.h"
#include "passes/lower/InPlace.h"
#include "passes/lower/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

namespace tulle::passes {
#define GEN_PASS_DEF_LOWER
#include "passes/Passes.h.inc"
} // namespace tulle::passes

namespace tulle::lower {

std::optional<levels::Iterator> Lowering::parentIterator(Value parent) const {
  if (!parent)
    return std::nullopt;
  return iterators.lookup(parent);
}

Space Lowering::spaceAt(Location loc, Value tensor, uint64_t level, Value parent) {
  return makeSpace(b, loc, *tensors.lookup(tensor), unsigned(level), parentIterator(parent));
}

void Lowering::lowerSpace(SpaceOp op) {
  Value condition = op.getCondition() ? values.lookup(op.getCondition()) : Value();
  spaces[op.getResult()] = makeSpace(b, op.getLoc(), *tensors.lookup(op.getTensor()), unsigned(op.getLevel()),
                                     parentIterator(op.getParent()), condition);
}

void Lowering::lowerLocate(LocateOp op) {
  Space space = spaceAt(op.getLoc(), op.getTensor(), op.getLevel(), op.getParent());
  Value coordinate = values.lookup(op.getCoordinate());
  Value position = space.format->locate(space.emitter(b, op.getLoc()), space.parent, coordinate);
  iterators[op.getResult()] = space.at(position, {}, coordinate);
}

void Lowering::lowerSearch(SearchOp op) {
  Location loc = op.getLoc();
  Space space = spaceAt(loc, op.getTensor(), op.getLevel(), op.getParent());
  levels::LevelEmitter emit = space.emitter(b, loc);
  Value coordinate = values.lookup(op.getCoordinate());
  if (std::optional<levels::Found> place = space.format->find(emit, space.parent, coordinate)) {
    iterators[op.getResult()] = space.at(place->position, {}, coordinate);
    values.map(op.getFound(), place->found);
    return;
  }
  Value position = lowerBound(b, loc, space, space.range.begin, space.range.end, coordinate);
  Value inBounds = emit.compare(arith::CmpIPredicate::ult, position, space.range.end);
  Value found = guarded(b, loc, inBounds, [&] {
    return emit.compare(arith::CmpIPredicate::eq, space.coordinate(b, loc, position), coordinate);
  });
  Value end;
  if (!space.unique())
    end = ifElse(
        b, loc, found, b.getIndexType(),
        [&] { return Values{segmentEnd(b, loc, space, position, coordinate)}; },
        [&] { return Values{position}; })[0];
  iterators[op.getResult()] = space.at(position, end, coordinate);
  values.map(op.getFound(), found);
}

/// What repeated entries of one coordinate mean: their sum (of truth values: or).
static Value sum(OpBuilder &b, Location loc, Value x, Value y) {
  Type type = x.getType();
  if (type.isInteger(1))
    return arith::OrIOp::create(b, loc, x, y);
  if (isa<ComplexType>(type))
    return complex::AddOp::create(b, loc, x, y);
  if (isa<FloatType>(type))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

/// Truth values are bytes in memory. What the format says is in none.
static Value loadValue(OpBuilder &b, Location loc, const levels::Storage &storage, Value at) {
  if (Attribute same = explicitAttr(storage.encoding, storage.element))
    return materialize(b, loc, same, storage.element);
  Value value = memref::LoadOp::create(b, loc, storage.fields.back(), at);
  if (!storage.element.isInteger(1))
    return value;
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

static Value toMemory(OpBuilder &b, Location loc, Value value) {
  return value.getType().isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, b.getI8Type(), value)) : value;
}

void Lowering::lowerSpaceSize(SpaceSizeOp op) {
  Location loc = op.getLoc();
  Space space = spaces.lookup(op.getSpace());
  levels::Emitter emit = space.emitter(b, loc);
  Value size;
  if (space.format->full())
    size = emit.levelSize(space.level);
  else if (space.hasPadding())
    size = walk(loc, space, space.range.begin, space.range.end,
                LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/false, emit.constant(0),
                [&](Value, const levels::Iterator &, Values count) {
                  return Values{emit.add(count[0], emit.constant(1))};
                })[0];
  else
    size = emit.sub(space.range.end, space.range.begin);
  values.map(op.getResult(), size);
}

void Lowering::lowerValues(ValuesOp op) {
  const levels::Storage &storage = *tensors.lookup(op.getTensor());
  unsigned field = storage.layout.valuesField();
  if (op.getLevel())
    field = storage.layout.coordinates[*op.getLevel()]->field;
  values.map(op.getResult(), storage.fields[field]);
}

void Lowering::lowerLoad(LoadOp op) {
  Location loc = op.getLoc();
  const levels::Storage &storage = *tensors.lookup(op.getTensor());
  levels::Emitter emit(b, loc, storage);
  levels::Iterator at{emit.constant(0), {}, {}, {}};
  if (op.getIterator())
    at = iterators.lookup(op.getIterator());
  Value value = loadValue(b, loc, storage, at.position);
  if (at.end)
    value = forLoop(b, loc, emit.add(at.position, emit.constant(1)), at.end, LoopKind::Reduction, value,
                    [&](Value next, Values total) {
                      return Values{sum(b, loc, total[0], loadValue(b, loc, storage, next))};
                    })[0];
  values.map(op.getResult(), value);
}

void Lowering::lowerStore(StoreOp op) {
  Location loc = op.getLoc();
  const levels::Storage *storage = tensors.lookup(op.getTensor());
  levels::Emitter emit(b, loc, *storage);
  levels::Iterator at{emit.constant(0), {}, {}, {}};
  if (op.getIterator())
    at = iterators.lookup(op.getIterator());
  Value value = toMemory(b, loc, values.lookup(op.getValue()));
  memref::StoreOp::create(b, loc, value, storage->fields.back(), at.position);
  if (at.end) {
    // The entries of one coordinate add up to the value: the first has it all.
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    forLoop(b, loc, emit.add(at.position, emit.constant(1)), at.end, LoopKind::Parallel, {},
            [&](Value next, Values) {
              memref::StoreOp::create(b, loc, zero, storage->fields.back(), next);
              return Values{};
            });
  }
  tensors[op.getResult()] = storage;
}

void Lowering::lowerFill(FillOp op) {
  Location loc = op.getLoc();
  const levels::Storage *storage = tensors.lookup(op.getTensor());
  levels::Emitter emit(b, loc, *storage);
  Value buffer = storage->fields.back(), value = toMemory(b, loc, values.lookup(op.getValue()));
  Value count = memref::DimOp::create(b, loc, buffer, emit.constant(0));
  forLoop(b, loc, emit.constant(0), count, LoopKind::Parallel, {}, [&](Value at, Values) {
    memref::StoreOp::create(b, loc, value, buffer, at);
    return Values{};
  });
  tensors[op.getResult()] = storage;
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
  for (Operation &op : block.without_terminator())
    lowerOp(op);
}

void Lowering::lowerOp(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](SpaceOp op) { lowerSpace(op); })
      .Case([&](LocateOp op) { lowerLocate(op); })
      .Case([&](SearchOp op) { lowerSearch(op); })
      .Case([&](PositionTableOp op) { lowerPositionTable(op); })
      .Case([&](LookupOp op) { lowerLookup(op); })
      .Case([&](LoadOp op) { lowerLoad(op); })
      .Case([&](StoreOp op) { lowerStore(op); })
      .Case([&](FillOp op) { lowerFill(op); })
      .Case([&](LikeOp op) { tensors[op.getResult()] = tensors.lookup(op.getTensor()); })
      .Case([&](RangeOp op) {
        ranges[op.getResult()] = {values.lookup(op.getLo()), values.lookup(op.getHi())};
      })
      .Case([&](LevelSizeOp op) {
        levels::Emitter emit(b, op.getLoc(), *tensors.lookup(op.getTensor()));
        values.map(op.getResult(), emit.levelSize(unsigned(op.getLevel())));
      })
      .Case([&](SpaceSizeOp op) { lowerSpaceSize(op); })
      .Case([&](StoredCountOp op) {
        levels::Emitter emit(b, op.getLoc(), *tensors.lookup(op.getTensor()));
        Value count = memref::DimOp::create(b, op.getLoc(), emit.storage.fields.back(), emit.constant(0));
        values.map(op.getResult(), count);
      })
      .Case([&](StorageOp op) { lowerStorage(op); })
      .Case([&](WithValuesOp op) { lowerWithValues(op); })
      .Case([&](CoordinatesOp op) { lowerCoordinates(op); })
      .Case([&](tensor::DimOp op) {
        values.map(op.getResult(), tensors.lookup(op.getSource())->dims[*op.getConstantIndex()]);
      })
      .Case([&](tensor::CastOp op) { tensors[op.getResult()] = tensors.lookup(op.getSource()); })
      .Case([&](IterateOp op) { lowerIterate(op); })
      .Case([&](CoiterateOp op) { lowerCoiterate(op); })
      .Case([&](ParallelOp op) { lowerParallel(op); })
      .Case([&](PartitionOp op) { lowerPartition(op); })
      .Case([&](WorkOp op) { lowerWork(op); })
      .Case([&](PartitionBoundaryOp op) { lowerPartitionBoundary(op); })
      .Case([&](SliceOp op) { lowerSlice(op); })
      .Case([&](RestrictOp op) { lowerRestrict(op); })
      .Case([&](ValuesOp op) { lowerValues(op); })
      .Case([&](ThreadsOp op) { lowerThreads(op); })
      .Case([&](scf::IfOp op) { lowerIf(op); })
      .Case([&](scf::ForOp op) { lowerFor(op); })
      .Default([&](Operation *op) { lowerPlain(*op); });
}

/// Whether an op may have tensors, iterators, spaces or ranges among its operands or results here.
static bool understands(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    return type && index && *index >= 0 && *index < type.getRank();
  }
  return isa<SpaceOp, LocateOp, SearchOp, PositionTableOp, LookupOp, RangeOp, LoadOp, StoreOp, FillOp, LikeOp,
             LevelSizeOp, SpaceSizeOp, StoredCountOp, StorageOp, CoordinatesOp, IterateOp, CoiterateOp,
             ParallelOp, PartitionOp, WorkOp, PartitionBoundaryOp, SliceOp, RestrictOp, ValuesOp,
             WithValuesOp>(op) ||
         // Tensors pass through these, as the storage they are; places in them do not.
         isa<tensor::CastOp, YieldOp, scf::IfOp, scf::ForOp, func::ReturnOp>(op) ||
         (isa<scf::YieldOp>(op) && isa<scf::IfOp, scf::ForOp>(op->getParentOp()));
}

static bool isPlace(Type type) { return isa<IteratorType, SpaceType, RangeType>(type); }

LogicalResult Lowering::check() {
  auto executable = [&](Location loc, Type type) -> LogicalResult {
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
  };
  if (!func.getBody().hasOneBlock())
    return func.emitError("expected one block: control flow is structured at this stage");
  for (BlockArgument arg : func.getArguments()) {
    if (failed(executable(arg.getLoc(), arg.getType())))
      return failure();
    if (isPlace(arg.getType()))
      return emitError(arg.getLoc()) << "expected no argument of type " << arg.getType()
                                     << ": places in tensors stay within one function";
  }
  WalkResult result = func.getBody().walk([&](Operation *op) {
    if (auto made = dyn_cast<StorageOp>(op); made && failed(executable(op->getLoc(), made.getType())))
      return WalkResult::interrupt();
    auto isOurs = [](Type type) { return isa<TensorType, EntriesType>(type) || isPlace(type); };
    bool touches = llvm::any_of(op->getOperandTypes(), isOurs) || llvm::any_of(op->getResultTypes(), isOurs);
    if (touches && !understands(op)) {
      op->emitError("expected tensors and places in them to be used by loads, stores and loops only; run "
                    "tulle-sparsify first");
      return WalkResult::interrupt();
    }
    bool passes = isa<YieldOp, scf::IfOp, scf::ForOp, scf::YieldOp, IterateOp, CoiterateOp, ParallelOp>(op);
    if (passes && llvm::any_of(op->getResultTypes(), isPlace)) {
      op->emitError(
          "expected no iterator, space or range among the results: places stay within their region");
      return WalkResult::interrupt();
    }
    for (Region &region : op->getRegions())
      if (!region.empty() && !region.hasOneBlock()) {
        op->emitError("expected one block in each region: control flow is structured at this stage");
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  std::optional<Conflict> conflict = findConflict(func);
  return conflict ? emitConflict(*conflict) : success();
}

/// What a tensor value is from here on.
const levels::Storage *Lowering::addStorage(Value tensor, ValueRange fields, ValueRange dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  storages.push_back(levels::Storage::create(b, func.getLoc(), getEncoding(type).getValue(),
                                             type.getElementType(), fields, dims));
  return tensors[tensor] = storages.back().get();
}

void Lowering::lowerStorage(StorageOp op) {
  Values fields, dims;
  for (Value buffer : op.getBuffers())
    fields.push_back(values.lookup(buffer));
  for (auto [size, known] : llvm::zip(op.getSizes(), op.getType().getShape()))
    dims.push_back(ShapedType::isDynamic(known)
                       ? values.lookup(size)
                       : Value(arith::ConstantIndexOp::create(b, op.getLoc(), known)));
  made.insert(addStorage(op.getResult(), fields, dims));
}

void Lowering::lowerWithValues(WithValuesOp op) {
  const levels::Storage &pattern = *tensors.lookup(op.getTensor());
  if (auto own = op.getValues().getDefiningOp<ValuesOp>();
      own && !own.getLevel() && tensors.lookup(own.getTensor()) == &pattern) {
    tensors[op.getResult()] = &pattern;
    return;
  }
  Values fields(pattern.fields.begin(), pattern.fields.end());
  fields[pattern.layout.valuesField()] = values.lookup(op.getValues());
  addStorage(op.getResult(), fields, Values(pattern.dims.begin(), pattern.dims.end()));
}

static std::string fieldName(const format::Field &field) {
  static constexpr StringRef names[] = {"size", "perm", "pos", "crd", "bits"};
  if (field.kind == format::FieldKind::Values)
    return "val";
  return (names[size_t(field.kind)] + Twine(field.level)).str();
}

/// Calls the buffers of a tensor A `A_pos1`, `A_crd1`, `A_val`, its sizes `A_dim0`. `first`: where those of
/// each argument of the function begin.
void Lowering::nameBuffers(Block &entry, ArrayRef<unsigned> first) {
  for (auto [arg, at] : llvm::zip(func.getArguments(), first)) {
    auto tensor = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!tensor || !type)
      continue;
    unsigned next = at;
    auto name = [&](const Twine &field) {
      levels::named(entry.getArgument(next++), (tensor.getValue() + "_" + field).str());
    };
    for (const format::Field &field : format::layout(getEncoding(type).getValue()).fields)
      name(fieldName(field));
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      name("dim" + Twine(dim));
  }
}

func::FuncOp Lowering::createFunction() {
  SmallVector<Type> inputs;
  std::vector<unsigned> first;
  for (Type type : func.getArgumentTypes()) {
    first.push_back(unsigned(inputs.size()));
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
  nameBuffers(*entry, first);
  for (auto [arg, at] : llvm::zip(func.getArguments(), first)) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type) {
      values.map(arg, entry->getArgument(at));
      continue;
    }
    const format::Encoding &encoding = getEncoding(type).getValue();
    ValueRange fields = entry->getArguments().slice(at, format::layout(encoding).fields.size());
    at += fields.size();
    Values dims;
    for (int64_t size : type.getShape()) {
      Value dim = entry->getArgument(at++);
      dims.push_back(
          ShapedType::isDynamic(size) ? dim : Value(arith::ConstantIndexOp::create(b, func.getLoc(), size)));
    }
    addStorage(arg, fields, dims);
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
} // namespace
