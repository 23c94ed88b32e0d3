// tulle-expand-assembly: every tulle.assemble becomes the algorithm that its strategy names.
// tulle-expand-convert: conversions as walks over their source.
#include "dialect/Scalars.h"
#include "dialect/SliceArguments.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_EXPANDASSEMBLY
#define GEN_PASS_DEF_EXPANDCONVERT
#include "passes/Passes.h.inc"

using format::LevelKind;

/// The assembly's tensor, with a strategy.
static FailureOr<Value> chosen(AssembleOp made) {
  if (failed(chooseStrategy(made)))
    return failure();
  return made.getResult();
}

/// An assembly of the op's entries, whose loops it gets, as a tensor in another encoding.
static FailureOr<Value> assembleAs(OpBuilder &b, AssembleOp op, const format::Encoding &encoding) {
  auto made =
      AssembleOp::create(b, op.getLoc(), withEncoding(op.getResult().getType(), encoding), op.getSizes(),
                         op.getBound(), op.getEntries(), op.getOrderAttr(), op.getUniqueAttr(),
                         op.getCombineAttr(), op.getPlanAttr(), AssemblyStrategyAttr(), UnitAttr());
  made.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  return chosen(made);
}

/// An assembly of the tensor's entries in the order of their dimensions, once each, which `insert` puts into
/// it where the builder stands.
static FailureOr<Value> assembleOnce(OpBuilder &b, Location loc, RankedTensorType type, ValueRange sizes,
                                     AffineMapAttr order, Combine combine, AssemblyPlan plan,
                                     llvm::function_ref<void()> insert) {
  auto made = AssembleOp::create(b, loc, type, sizes, Value(), Value(), order, /*unique=*/bool(order),
                                 combine, plan, AssemblyStrategyAttr());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&made.getBody().emplaceBlock());
    insert();
  }
  return chosen(made);
}

/// Scatter where the stream's order gives no positions: an assembly of the sorted entries, and one of the new
/// tensor from these.
static FailureOr<Value> sortFirst(OpBuilder &b, AssembleOp op) {
  RankedTensorType type = op.getResult().getType();
  const format::Encoding &target = getEncoding(type).getValue();
  const auto rank = unsigned(type.getRank());
  format::Encoding encoding = format::parseFormat("COO-soa", rank);
  encoding.posWidth = 64;
  encoding.crdWidth = target.crdWidth == 32 ? 32 : 64;
  encoding.fill = target.fill;
  FailureOr<Value> sorted = assembleAs(b, op, encoding);
  if (failed(sorted))
    return failure();
  auto identity = AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(rank, b.getContext()));
  return assembleOnce(b, op.getLoc(), type, op.getSizes(), identity, op.getCombine(), op.getPlan(), [&] {
    traverseStored(b, op.getLoc(), *sorted, op.getSizes(), *format::inverseMap(encoding), {},
                   [&](ValueRange dims, Value value) { InsertOp::create(b, op.getLoc(), value, dims); });
  });
}

/// The target's levels as those of a COO tensor: its storage order is the target's.
static FailureOr<Value> levelByLevel(OpBuilder &b, AssembleOp op) {
  RankedTensorType type = op.getResult().getType();
  format::Encoding entries = getEncoding(type).getValue();
  entries.posWidth = entries.crdWidth = 64;
  for (auto [l, level] : llvm::enumerate(entries.levels)) {
    level.format = {};
    level.format.kind = l == 0 ? LevelKind::Compressed : LevelKind::Singleton;
    level.format.unique = l + 1 == entries.levels.size();
    level.format.soa = l > 0;
  }
  FailureOr<Value> sorted = assembleAs(b, op, entries);
  if (failed(sorted))
    return failure();
  return BuildLevelsOp::create(b, op.getLoc(), type, *sorted, op.getSizes()).getResult();
}

/// A rank counts different coordinates. The entries of a row of a matrix are its columns; beyond that,
/// several have the same one: those of the ranked and the counted dimension become a matrix of their own.
/// Null where none is needed.
static FailureOr<Value> pairsOfRank(OpBuilder &b, AssembleOp op, const Stream &stream) {
  const format::ExprNode *rank = rankOf(stream.order);
  if (!rank || op.getResult().getType().getRank() <= 2)
    return Value();
  Location loc = op.getLoc();
  format::Encoding encoding = format::parseFormat("CSR", 2);
  encoding.posWidth = encoding.crdWidth = 64;
  auto dense = RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic}, b.getI1Type());
  auto of = [&](ValueRange dims) { return Values{dims[rank->dims[0]], dims[rank->dims[1]]}; };
  return assembleOnce(b, loc, withEncoding(dense, encoding), of(op.getSizes()), {}, Combine::Or,
                      AssemblyPlan::Auto, [&] {
                        Value present = arith::ConstantIntOp::create(b, loc, 1, 1);
                        cloneCounting(b, stream, nullptr,
                                      [&](ValueRange dims) { InsertOp::create(b, loc, present, of(dims)); });
                      });
}

/// What the op's loops insert.
static EntriesOp entriesOf(OpBuilder &b, AssembleOp op) {
  RankedTensorType tensor = op.getResult().getType();
  auto type = EntriesType::get(b.getContext(), unsigned(tensor.getRank()), tensor.getElementType());
  const int64_t alignment = alignmentOf(op.getBody(), getEncoding(tensor).getValue()).value_or(1);
  auto entries = EntriesOp::create(b, op.getLoc(), type, op.getBound(), op.getEntries(),
                                   alignment == 1 ? IntegerAttr() : b.getI64IntegerAttr(alignment),
                                   op.getOrderAttr(), op.getUniqueAttr());
  entries.getBody().takeBody(op.getBody());
  op.getBody().emplaceBlock();
  return entries;
}

namespace {

struct ExpandAssembly : impl::ExpandAssemblyBase<ExpandAssembly> {
  using ExpandAssemblyBase::ExpandAssemblyBase;

  void runOnOperation() override {
    unsigned left = 0;
    getOperation()->walk([&](AssembleOp) { left += mostSteps; });
    // Post-order: what is assembled inside the loops of another is expanded first. A strategy may leave an
    // assembly that it prepared the entries for.
    while (AssembleOp op = innermost()) {
      if (left-- == 0) {
        op.emitError("preparing the entries of this tensor does not come to an end");
        return signalPassFailure();
      }
      if (failed(expand(op)))
        return signalPassFailure();
    }
  }

  /// More assemblies than any strategy makes of one.
  static constexpr unsigned mostSteps = 16;

  AssembleOp innermost() {
    AssembleOp found;
    getOperation()->walk([&](AssembleOp op) {
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  LogicalResult expand(AssembleOp op) {
    if (!op->getParentOfType<func::FuncOp>())
      return op.emitError("expected to be inside a function");
    if (!op.getStrategy())
      return op.emitError("expected a strategy, which tulle-choose-assembly sets");
    hoistBounds(op);
    OpBuilder b(op);
    FailureOr<Value> made = expandStrategy(b, op);
    if (failed(made))
      return failure();
    op.getResult().replaceAllUsesWith(*made);
    op.erase();
    return success();
  }

  FailureOr<Value> expandStrategy(OpBuilder &b, AssembleOp op) {
    Target target(b, op.getLoc(), op.getResult().getType(), op.getSizes(), op.getCombine(), op.getPlan());
    const Stream stream = streamOf(op);
    const AssemblyStrategy strategy = *op.getStrategy();
    if (!fits(strategy, target, stream))
      return op.emitError("expected a strategy that fits the tensor and the order of its entries, got ")
             << stringifyAssemblyStrategy(strategy);
    if (strategy == AssemblyStrategy::LevelByLevel)
      return levelByLevel(b, op);
    const bool scatters = strategy == AssemblyStrategy::Scatter;
    if (scatters && !isReady(target, stream.order))
      return sortFirst(b, op);
    FailureOr<Value> pairs = scatters ? pairsOfRank(b, op, stream) : Value();
    if (failed(pairs))
      return failure();
    EntriesOp entries = entriesOf(b, op);
    if (strategy == AssemblyStrategy::RadixSort)
      sortAndAppend(target, entries, parallel);
    else
      target.storage.fields = opOf(target, strategy, entries, *pairs, op.getShare())->getResults();
    return target.finish();
  }

  Operation *opOf(const Target &target, AssemblyStrategy strategy, EntriesOp entries, Value pairs,
                  bool share) {
    OpBuilder &b = target.builder;
    SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
    ValueRange sizes = target.storage.dims;
    switch (strategy) {
    case AssemblyStrategy::AppendBlocks:
      return AppendBlocksOp::create(b, target.loc, types, entries, sizes, target.tensor, parallel,
                                    target.combine, target.plan);
    case AssemblyStrategy::Workspace:
      return WorkspaceOp::create(b, target.loc, types, entries, sizes, target.tensor, parallel,
                                 target.combine, target.plan);
    case AssemblyStrategy::Bitmap:
    case AssemblyStrategy::Hashed:
      return AccumulateOp::create(b, target.loc, types, entries, strategy == AssemblyStrategy::Hashed, sizes,
                                  target.tensor, /*parallel=*/false, target.combine, target.plan);
    case AssemblyStrategy::Scatter:
      return ScatterLevelsOp::create(b, target.loc, types, entries, pairs, sizes, target.tensor, parallel,
                                     target.combine, target.plan);
    default:
      return AppendOp::create(b, target.loc, types, entries, Value(), sizes, target.tensor, /*unique=*/false,
                              parallel, share, target.combine, target.plan);
    }
  }
};

//===--- Conversions ---===//

struct ExpandConvert : impl::ExpandConvertBase<ExpandConvert> {
  void runOnOperation() override {
    SmallVector<ConvertOp> converts;
    getOperation()->walk([&](ConvertOp op) {
      if (!op->use_empty() &&
          llvm::all_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
        converts.push_back(op);
    });
    if (converts.empty())
      return markAllAnalysesPreserved();
    for (ConvertOp op : converts)
      if (failed(expand(op)))
        return signalPassFailure();
  }

  static LogicalResult expand(ConvertOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    RankedTensorType type = op.getResult().getType();
    const format::Encoding &source = getEncoding(op.getSource().getType()).getValue();
    const bool sliced = format::hasSlices(source);
    const format::Encoding &target = getEncoding(type).getValue();
    if (target.explicitVal)
      return op.emitError("cannot check here that every value is ")
             << *target.explicitVal << "; convert to the format without explicitVal";
    std::optional<std::vector<format::Expr>> inverse = format::inverseMap(source);
    if (!inverse)
      return op.emitError("cannot walk over ")
             << format::displayName(source)
             << ": the coordinates of its dimensions do not follow from those of its levels";
    if (sliced && !isa<BlockArgument>(op.getSource()))
      return op.emitError("only an argument of the function can be a slice");
    auto order = AffineMapAttr::get(storageOrder(source, op.getContext()));
    const Slices slices = sliced ? replaceSliceByWhole(cast<BlockArgument>(op.getSource())) : Slices();
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(sliced && slices[d] ? getValueOrCreateConstantIndexOp(b, loc, slices[d]->size)
                                          : b.createOrFold<tensor::DimOp>(loc, op.getSource(), d));
    UnitAttr unique = storesOnce(source) ? b.getUnitAttr() : UnitAttr();
    const bool drop = format::isAllDense(source) && !format::isAllDense(target);
    // A dense source may hold far fewer entries than slots, and a slice than what it was cut from.
    Value bound = drop || sliced ? Value() : StoredCountOp::create(b, loc, op.getSource());
    auto made = AssembleOp::create(b, loc, type, sizes, bound, Value(), order, unique, CombineAttr(),
                                   AssemblyPlanAttr(), AssemblyStrategyAttr(), op.getShareAttr());
    b.createBlock(&made.getBody());
    traverseStored(b, loc, op.getSource(), sizes, *inverse, slices, [&](ValueRange dims, Value value) {
      if (drop) {
        auto differs = scf::IfOp::create(b, loc, differsFromFill(b, loc, target, value), false);
        b.setInsertionPointToStart(differs.thenBlock());
      }
      InsertOp::create(b, loc, value, dims);
    });
    op.getResult().replaceAllUsesWith(made.getResult());
    op.erase();
    return success();
  }

  /// Signed zeros are equal, and nothing equals a nan.
  static Value differsFromFill(OpBuilder &b, Location loc, const format::Encoding &encoding, Value value) {
    Type type = value.getType();
    Value fill = materialize(b, loc, fillAttr(encoding, type), type);
    if (isa<ComplexType>(type))
      return complex::NotEqualOp::create(b, loc, value, fill);
    if (isa<FloatType>(type))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, fill);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, fill);
  }
};

} // namespace
} // namespace tulle::passes
