// What statements need before there can be loops: queries become statements on the pattern, conversions are
// inserted where operands' level orders clash, and those of arguments move to the caller.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Reshape.h"
#include "dialect/SliceArguments.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/sparsify/Slices.h"
#include "passes/sparsify/Statement.h"
#include <algorithm>
#include <map>

namespace tulle::passes {
using namespace mlir;
using dialect::Aggregate;
#define GEN_PASS_DEF_EXPANDQUERY
#define GEN_PASS_DEF_RESOLVEORDER
#define GEN_PASS_DEF_HOISTCONVERT
#include "passes/Passes.h.inc"

namespace {

//===--- Queries ---===//

struct ExpandQuery : impl::ExpandQueryBase<ExpandQuery> {
  void runOnOperation() override {
    SmallVector<dialect::QueryOp> queries;
    getOperation().walk([&](dialect::QueryOp op) { queries.push_back(op); });
    if (queries.empty())
      return markAllAnalysesPreserved();
    for (dialect::QueryOp op : queries) {
      OpBuilder b(op);
      op.getResult().replaceAllUsesWith(expand(b, op));
      op.erase();
    }
  }

  static Value expand(OpBuilder &b, dialect::QueryOp op) {
    unsigned rank = unsigned(op.getTensor().getType().getRank());
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::reduction);
    for (AffineExpr selected : op.getSelect().getResults())
      kinds[cast<AffineDimExpr>(selected).getPosition()] = utils::IteratorType::parallel;
    auto generic = linalg::GenericOp::create(
        b, op.getLoc(), op.getType(), op.getTensor(), op.getInit(),
        {b.getMultiDimIdentityMap(rank), op.getSelect()}, kinds,
        [&](OpBuilder &nested, Location loc, ValueRange args) { body(nested, loc, op, args[0], args[1]); });
    return generic.getResult(0);
  }

  static void body(OpBuilder &b, Location loc, dialect::QueryOp op, Value element, Value soFar) {
    Value combined = combine(b, loc, op, soFar);
    Value stored = dialect::StoredOp::create(b, loc, b.getI1Type(), element);
    linalg::YieldOp::create(b, loc, Value(arith::SelectOp::create(b, loc, stored, combined, soFar)));
  }

  static Value combine(OpBuilder &b, Location loc, dialect::QueryOp op, Value soFar) {
    Type type = soFar.getType();
    switch (op.getAggregate()) {
    case Aggregate::Count:
      return arith::AddIOp::create(b, loc, soFar, arith::ConstantIntOp::create(b, loc, type, 1));
    case Aggregate::Id:
      return arith::ConstantIntOp::create(b, loc, type, 1);
    case Aggregate::Max:
      return arith::MaxSIOp::create(b, loc, soFar, value(b, loc, *op.getValue(), type));
    case Aggregate::Min:
      return arith::MinSIOp::create(b, loc, soFar, value(b, loc, *op.getValue(), type));
    }
    llvm_unreachable("an aggregate outside its enumeration");
  }

  /// The expression at the entry's coordinates.
  static Value value(OpBuilder &b, Location loc, AffineMap map, Type type) {
    SmallVector<Value> coordinates;
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      coordinates.push_back(linalg::IndexOp::create(b, loc, d));
    Value index = affine::expandAffineExpr(b, loc, map.getResult(0), coordinates, {});
    return arith::IndexCastOp::create(b, loc, type, index);
  }
};

//===--- Clashing orders ---===//

struct ResolveOrder : impl::ResolveOrderBase<ResolveOrder> {
  void runOnOperation() override {
    auto visit = [&](linalg::GenericOp generic) { return WalkResult(resolve(generic)); };
    if (getOperation()->walk(visit).wasInterrupted())
      signalPassFailure();
  }

  /// Every conversion makes one more operand follow the loops; one that loops over indices cannot follow may
  /// be converted again for these.
  LogicalResult resolve(linalg::GenericOp generic) {
    const unsigned most = 2 * generic->getNumOperands();
    for (unsigned step = 0;; ++step) {
      FailureOr<SparseStatement> statement = SparseStatement::read(generic);
      if (failed(statement))
        return failure();
      if (std::optional<StorageTraversal> traversal = planStorageTraversal(*statement))
        return refuseOrder(*statement, *traversal);
      auto planned = statement->plan();
      auto *conversion = std::get_if<iteration::Conversion>(&planned);
      std::optional<iteration::Conversion> unwalkable = conversionToDigits(*statement);
      if (!conversion && !unwalkable) {
        const auto &plan = std::get<iteration::Plan>(planned);
        if (step < most && statement->wanted.empty() && succeeded(visitGapsOnce(*statement, plan)))
          continue;
        return checkLoops(*statement, plan);
      }
      if (!statement->wanted.empty())
        return refuseOrder(*statement, unwalkable ? *unwalkable : *conversion);
      if (!conversion)
        conversion = &*unwalkable;
      const bool possible = step < most && conversion->target != encodingOf(generic, conversion->operand);
      if (!(possible && succeeded(convert(generic, *conversion))) &&
          !searchReshape(generic, conversion->operand))
        return refuse(*statement, *conversion);
    }
  }

  /// Where nothing is stored, the result meets a constant, which is as good once as often (`max=`), or what
  /// is added to it is the same for all that is reduced (`+= (A(i,j) - m(i)) ** 2`). The coordinates without
  /// an entry are counted, not visited, where the loops over the result stand outside of those that are
  /// reduced; else each of them would meet each element. So they do, of one sparse operand: several need not
  /// have an order in common. Fails where nothing has to change, or can.
  LogicalResult visitGapsOnce(const SparseStatement &statement, const iteration::Plan &plan) {
    auto isReduced = [&](const iteration::LoopVar &loop) { return statement.reduction[loop.index]; };
    if (statement.result().sparse || statement.assembled ||
        std::ranges::is_partitioned(plan.order, [&](auto &loop) { return !isReduced(loop); }))
      return failure();
    Presence nothing;
    for (auto [o, operand] : llvm::enumerate(ArrayRef(statement.operands).drop_back()))
      if (operand.sparse)
        nothing.absent |= uint64_t(1) << o;
    BodyAlgebra algebra(statement.generic);
    if (!llvm::has_single_bit(nothing.absent) || algebra.isNoOp(nothing) ||
        !(algebra.isIdempotentConstant(nothing) || addsTheSame(statement, algebra, nothing)))
      return failure();
    iteration::WantedOrder order;
    for (bool reduced : {false, true})
      for (unsigned index = 0; index < statement.reduction.size(); ++index)
        if (statement.reduction[index] == reduced)
          order.push_back({index, 0, 0});
    auto planned = iteration::plan(statement.reduction, statement.planOperands(), order);
    if (auto *ordered = std::get_if<iteration::Plan>(&planned)) {
      setOrder(statement.generic, ordered->order);
      return success();
    }
    auto &conversion = std::get<iteration::Conversion>(planned);
    conversion.reason = "each coordinate without an entry would be visited for each element of the result";
    return conversion.target != encodingOf(statement.generic, conversion.operand)
               ? convert(statement.generic, conversion)
               : failure();
  }

  /// Whether what is added to an element of the result depends on no index that is reduced.
  static bool addsTheSame(const SparseStatement &statement, BodyAlgebra &algebra, Presence nothing) {
    Value added = algebra.addend(nothing);
    if (!added)
      return false;
    const BodyAlgebra::Reads reads = algebra.reads(added, nothing);
    auto isRead = [&](unsigned index) {
      bool read = reads.indices.contains(index);
      for (auto [o, operand] : llvm::enumerate(ArrayRef(statement.operands).drop_back()))
        for (const iteration::Subscript &subscript : operand.subscripts)
          for (auto [used, coefficient] : subscript.terms)
            read |= used == index && reads.inputs >> o & 1;
      return read;
    };
    return llvm::none_of(llvm::seq(unsigned(statement.reduction.size())),
                         [&](unsigned index) { return statement.reduction[index] && isRead(index); });
  }

  static const format::Encoding &encodingOf(Value tensor) {
    return dialect::getEncoding(cast<RankedTensorType>(tensor.getType())).getValue();
  }
  static const format::Encoding &encodingOf(linalg::GenericOp generic, unsigned operand) {
    return encodingOf(generic->getOperand(operand));
  }

  //===--- Orders that a schedule asks for ---===//

  static InFlightDiagnostic atOrder(linalg::GenericOp generic) {
    return mlir::emitError(dialect::locationOf(generic, "reorder"));
  }

  static LogicalResult refuseOrder(const SparseStatement &statement, const StorageTraversal &traversal) {
    if (statement.wanted.empty())
      return success();
    return atOrder(statement.generic)
           << "the loops follow " << nameOfOperand(statement.generic, traversal.operand) << " as "
           << format::displayName(encodingOf(statement.generic, traversal.operand))
           << " is stored, which is no order of indices; convert it to a format whose levels are";
  }

  static LogicalResult refuseOrder(const SparseStatement &statement,
                                   const iteration::Conversion &conversion) {
    const std::string operand = nameOfOperand(statement.generic, conversion.operand);
    format::Encoding target = conversion.target;
    target.posWidth = target.crdWidth = 0;
    InFlightDiagnostic error = atOrder(statement.generic);
    error << "loops in this order do not follow " << operand << " as "
          << format::displayName(encodingOf(statement.generic, conversion.operand)) << ": "
          << conversion.reason;
    if (statement.pattern && statement.leaderOf(*statement.pattern) == conversion.operand)
      return error << ", and the result is stored where it is";
    Operation *made = statement.operands[conversion.operand].tensor.getDefiningOp();
    if (isa_and_nonnull<dialect::OneHotOp, dialect::ReshapeOp>(made))
      return error << ", whose coordinates are made from those of another tensor";
    return error << "; convert(" << operand << ", " << format::displayName(target)
                 << ") before it is an order that does";
  }

  /// Every loop that the schedule names is there.
  static LogicalResult checkLoops(const SparseStatement &statement, const iteration::Plan &plan) {
    const std::vector<std::string> indices = nameOfIndices(statement.generic);
    for (const iteration::LoopVar &wanted : statement.wanted)
      if (llvm::none_of(plan.order, [&](auto &loop) { return iteration::isMeant(loop, wanted); })) {
        std::vector<std::string> loops;
        for (const iteration::LoopVar &loop : plan.order)
          loops.push_back(iteration::nameOf(loop, indices));
        return atOrder(statement.generic) << "no loop " << iteration::nameOf(wanted, indices)
                                          << ": the loops are " << llvm::join(loops, ", ");
      }
    return success();
  }

  /// Names the operand that no conversion helps, and those that its order clashes with.
  static LogicalResult refuse(const SparseStatement &statement, const iteration::Conversion &conversion) {
    linalg::GenericOp generic = statement.generic;
    auto describe = [&](unsigned operand) {
      return nameOfOperand(generic, operand) + " as " + format::displayName(encodingOf(generic, operand));
    };
    InFlightDiagnostic error = generic.emitError("no loop order follows ");
    error << describe(conversion.operand);
    for (auto [o, operand] : llvm::enumerate(statement.operands))
      if (o != conversion.operand && operand.sparse)
        error << ", " << describe(unsigned(o));
    return error << ": of " << nameOfOperand(generic, conversion.operand) << ", " << conversion.reason
                 << "; store one of them in the order of the others' dimensions, without blocks";
  }

  /// Reads an operand that is a reshape at digits, or sums, by searches: loops need not follow it then. It is
  /// this one, or, where that is none, another; false without one.
  static bool searchReshape(linalg::GenericOp generic, unsigned operand) {
    auto reshapeOf = [&](unsigned o) { return generic->getOperand(o).getDefiningOp<dialect::ReshapeOp>(); };
    for (unsigned o = 0; !reshapeOf(operand) && o < generic.getNumDpsInputs(); ++o)
      operand = reshapeOf(o) ? o : operand;
    dialect::ReshapeOp reshape = reshapeOf(operand);
    if (!reshape)
      return false;
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    maps[operand] =
        reshape.getExpand() ? sumsOf(reshape, maps[operand]) : reshape.getMap().compose(maps[operand]);
    if (!inversePermutation(concatAffineMaps(maps, generic.getContext())))
      return false; // nothing would say how long a loop is
    generic.setIndexingMapsAttr(Builder(generic.getContext()).getAffineMapArrayAttr(maps));
    Value source = reshape.getSource();
    // What was a slice before the conversion is one no longer behind it.
    auto converted = source.getDefiningOp<dialect::ConvertOp>();
    const bool isWhole = converted && !format::hasSlices(encodingOf(converted.getSource()));
    generic->setOperand(operand, isWhole ? converted.getSource() : source);
    dialect::explainChoice(generic, nameOfOperand(generic, operand) + " is searched at " +
                                        (reshape.getExpand() ? "sums" : "digits") +
                                        ": no order of loops follows all operands");
    return true;
  }

  /// The coordinates of an expanded tensor, at those of its digits.
  static AffineMap sumsOf(dialect::ReshapeOp reshape, AffineMap digits) {
    const auto order = size_t(reshape.getSource().getType().getRank());
    SmallVector<AffineExpr> sums(order, getAffineConstantExpr(0, digits.getContext()));
    for (auto [k, digit] : llvm::enumerate(reshape.getDigits()))
      sums[digit.dim] = sums[digit.dim] + digits.getResult(k) * digit.stride;
    return AffineMap::get(digits.getNumDims(), 0, sums, digits.getContext());
  }

  /// What the source of a reshape, or the operand where that is none, has to be stored in; nothing where no
  /// encoding has that view (a block as large as its dimension is no digit).
  static std::optional<format::Encoding> sourceTarget(dialect::ReshapeOp reshape,
                                                      const format::Encoding &target) {
    if (!reshape)
      return target;
    const auto own = unsigned(reshape.getSource().getType().getRank());
    const std::vector<format::Digit> digits = reshape.getDigits();
    const std::optional<format::Encoding> source =
        dialect::viewEncoding(target, digits, !reshape.getExpand(), own);
    const bool isSame = source && dialect::viewEncoding(*source, digits, reshape.getExpand(),
                                                        unsigned(target.order())) == target;
    return isSame ? source : std::nullopt;
  }

  /// Fails where the operand can have no such encoding.
  LogicalResult convert(linalg::GenericOp generic, const iteration::Conversion &conversion) {
    OpOperand &use = generic->getOpOperand(conversion.operand);
    auto type = cast<RankedTensorType>(use.get().getType());
    auto reshape = use.get().getDefiningOp<dialect::ReshapeOp>();
    const std::optional<format::Encoding> target = sourceTarget(reshape, conversion.target);
    Value source = reshape ? reshape.getSource() : use.get();
    // A conversion that turns out to be the wrong one is replaced, not followed by another.
    if (auto before = source.getDefiningOp<dialect::ConvertOp>())
      source = before.getSource();
    tensor::ExtractSliceOp slice = sliceBehind(source);
    const bool isCutHere = isCut(slice);
    if (!target || (isCutHere && !isInPlace(*target, slice)))
      return failure();
    generic.emitRemark() << nameOfOperand(generic, conversion.operand) << " is converted from "
                         << format::displayName(encodingOf(generic, conversion.operand)) << " to "
                         << format::displayName(conversion.target)
                         << " before the loops: " << conversion.reason;
    dialect::explainChoice(generic, nameOfOperand(generic, conversion.operand) + " is converted to " +
                                        format::displayName(conversion.target) + ": " + conversion.reason +
                                        (conversion.figures.empty() ? "" : " (" + conversion.figures + ")"));
    OpBuilder b(generic);
    // Of a slice that the caller cuts, it converts the slice itself: loops over levels of what it was cut
    // from would leave it.
    if (slice)
      source = slice.getSource();
    if (auto before = source.getDefiningOp<dialect::ConvertOp>())
      source = before.getSource();
    auto own = cast<RankedTensorType>(source.getType());
    Value converted =
        dialect::ConvertOp::create(b, generic.getLoc(), dialect::withEncoding(own, *target), source);
    if (reshape)
      converted =
          dialect::ReshapeOp::create(b, reshape.getLoc(), dialect::withEncoding(type, conversion.target),
                                     converted, reshape.getExpand(), reshape.getMap(), reshape.getSizes());
    if (isCutHere)
      converted = tensor::ExtractSliceOp::create(
          b, slice.getLoc(), dialect::withEncoding(slice.getType(), *target), converted,
          slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
    use.set(converted);
    if (slice && slice->use_empty())
      slice.erase();
    return success();
  }
};

//===--- Conversions of arguments ---===//

struct HoistConvert : impl::HoistConvertBase<HoistConvert> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<dialect::ConvertOp> converts;
    function.walk([&](dialect::ConvertOp op) { converts.push_back(op); });
    for (dialect::ConvertOp op : converts) {
      auto arg = dyn_cast<BlockArgument>(op.getSource());
      if (!arg || arg.getOwner() != &function.getBody().front()) {
        op.emitError("only an argument of the function can be converted");
        return signalPassFailure();
      }
      hoist(function, op, arg.getArgNumber());
    }
    dialect::eraseUnusedSliceNumbers(function);
  }

  /// The converted tensor becomes an argument; the unconverted one goes when nothing else reads it.
  void hoist(func::FuncOp function, dialect::ConvertOp op, unsigned number) {
    Builder b(function.getContext());
    auto whole = function.getArgAttrOfType<dialect::EncodingAttr>(number, dialect::kWholeAttr);
    Attribute source = whole ? whole : dialect::getEncoding(cast<RankedTensorType>(op.getSource().getType()));
    Attribute name = function.getArgAttr(number, dialect::kNameAttr);
    Value target = existing(function, op, name);
    if (!target) {
      SmallVector<NamedAttribute> attrs{b.getNamedAttr(dialect::kSourceAttr, source)};
      for (StringRef kept : {dialect::kNameAttr, dialect::kEntriesAttr, dialect::kSizesAttr})
        if (Attribute attr = function.getArgAttr(number, kept))
          attrs.push_back(b.getNamedAttr(kept, attr));
      (void)function.insertArgument(number + 1, op.getType(), b.getDictionaryAttr(attrs), op.getLoc());
      target = function.getArgument(number + 1);
    }
    op.getResult().replaceAllUsesWith(target);
    op.erase();
    // Sizes are the same in every format.
    for (OpOperand &use : llvm::make_early_inc_range(function.getArgument(number).getUses()))
      if (isa<tensor::DimOp>(use.getOwner()))
        use.set(target);
    if (function.getArgument(number).use_empty())
      (void)function.eraseArgument(number);
  }

  static Value existing(func::FuncOp function, dialect::ConvertOp op, Attribute name) {
    for (BlockArgument arg : function.getArguments())
      if (name && arg.getType() == op.getType() &&
          function.getArgAttr(arg.getArgNumber(), dialect::kNameAttr) == name &&
          function.getArgAttr(arg.getArgNumber(), dialect::kSourceAttr))
        return arg;
    return {};
  }
};

} // namespace
} // namespace tulle::passes
