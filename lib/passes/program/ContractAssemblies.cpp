// tulle-contract-assemblies: a new tensor of which each iteration of a loop reads one row is a row in that
// iteration (array contraction).
//
// Where a schedule says so: a row is made again for each loop that reads it, and its memory is not that of
// the tensor. What the row is accumulated in, an array or a hash table, is the assembly's strategy.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_CONTRACTASSEMBLIES
#include "passes/Passes.h.inc"

namespace {

/// The only loop of an assembly; null where there are several, or something else has an effect.
IterateOp onlyLoop(AssembleOp made) {
  IterateOp found;
  for (Operation &op : made.getBody().front()) {
    auto loop = dyn_cast<IterateOp>(op);
    if (!(loop ? !std::exchange(found, loop) : isMemoryEffectFree(&op)))
      return {};
  }
  return found;
}

/// The loops in which the schedule says that the assembly is computed; null without any.
ArrayAttr placeOf(AssembleOp made) {
  IterateOp loop = onlyLoop(made);
  const DirectivesAttr said = loop ? loop.getLoop().getDirectives() : DirectivesAttr();
  const ArrayAttr place = said ? said.getComputeAt() : ArrayAttr();
  return place && !place.empty() ? place : ArrayAttr();
}

/// A tensor that an assembly makes, and the loop that reads a row of it in each iteration.
class Contraction {
public:
  explicit Contraction(AssembleOp made)
      : made(made), loop(onlyLoop(made)), type(made.getResult().getType()),
        isHashed(made.getStrategy() == AssemblyStrategy::Hashed) {}

  /// Why there cannot be a row at a time; empty if there can.
  std::string whyNot() {
    if (!hasRows())
      return "its rows are not one level of stored coordinates below one that has all: CSR is such a format";
    if (resultNumber() && !isIntermediate())
      return "it is a result, which is stored as a whole";
    if (made.getPlan() != AssemblyPlan::Auto)
      return "a row's memory is that of the largest row, and no plan of assemble sizes it";
    if (std::string why = findReads(); !why.empty())
      return why;
    if (consumer.getSpace() != loop.getSpace() || loop.getEach() || consumer.getEach())
      return "their loops do not visit the same coordinates: of a tensor that stores some rows only, "
             "convert(…, CSR) makes them all of them";
    if (!insertsOwnRows())
      return "an iteration of its loop makes more than one row";
    return "";
  }

  void contract() {
    renameScheduled(made, loop.getLoop(), consumer.getLoop().getIndex());
    AssembleOp row = makeRow();
    retarget(row);
    consumer.setLoopAttr(loopOfBoth());
    removeResult();
    made.erase();
    explainChoice(consumer, isHashed ? "contracting: a new tensor is a row of each iteration, in a hash table"
                                     : "contracting: a new tensor is a row of each iteration, in an array "
                                       "with a bit set");
  }

private:
  /// The place of the assembly is this loop; what else is said of its loop is said of this one.
  LoopAttr loopOfBoth() {
    const LoopAttr attr = consumer.getLoop();
    llvm::SetVector<Attribute> of;
    for (LoopAttr each : {loop.getLoop(), attr})
      if (each.getOf())
        of.insert_range(each.getOf());
    DirectivesAttr said = attr.getDirectives();
    if (DirectivesAttr own = loop.getLoop().getDirectives().withoutPlace())
      said = said ? said.orElse(own) : own;
    return LoopAttr::get(attr.getContext(), attr.getKind(), attr.getIndex(),
                         ArrayAttr::get(attr.getContext(), of.getArrayRef()), said, attr.getCacheResident(),
                         attr.getBlocks(), attr.getRare());
  }

  AssembleOp made;
  IterateOp loop, consumer;
  RankedTensorType type;
  const bool isHashed;
  bool needsOrder = false; ///< of a row's entries: what reads them merges or searches
  unsigned rows = 0;       ///< the dimension of the first level
  SmallVector<LocateOp> located;
  SmallVector<Operation *> reads; ///< of a row's level and its values
  SmallVector<Operation *> sizes; ///< what depends on the tensor's sizes alone

  bool hasRows() {
    const format::Encoding &encoding = getEncoding(type).getValue();
    const std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
    if (!digits || encoding.order() != 2 || encoding.levels.size() != 2 || format::hasSlices(encoding))
      return false;
    rows = (*digits)[0].dim;
    const format::LevelFormat &outer = encoding.levels[0].format, &inner = encoding.levels[1].format;
    return outer.kind == format::LevelKind::Dense && inner.kind == format::LevelKind::Compressed &&
           inner.unique && inner.ordered;
  }

  /// The number of the function's result that the tensor is; nothing if it is none.
  std::optional<unsigned> resultNumber() {
    for (OpOperand &use : made.getResult().getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        return use.getOperandNumber();
    return std::nullopt;
  }
  bool isIntermediate() {
    auto function = made->getParentOfType<func::FuncOp>();
    return bool(function.getResultAttr(*resultNumber(), kIntermediateAttr));
  }

  /// Sorts the uses, which are at one coordinate of one loop.
  std::string findReads() {
    for (Operation *user : made.getResult().getUsers()) {
      if (auto locate = dyn_cast<LocateOp>(user)) {
        auto at = dyn_cast<BlockArgument>(locate.getCoordinate());
        auto around = at ? dyn_cast<IterateOp>(at.getOwner()->getParentOp()) : IterateOp();
        if (!around || at.getArgNumber() != 0 || (consumer && around != consumer))
          return "it is read at other coordinates than the loop's, or in several loops";
        consumer = around;
        located.push_back(locate);
      } else if (isa<SpaceOp, SearchOp, LoadOp>(user)) {
        reads.push_back(user);
      } else if (isa<LevelSizeOp, StoredCountOp>(user)) {
        sizes.push_back(user);
      } else if (!isa<func::ReturnOp>(user)) {
        return "more than the entries of its rows is read";
      }
    }
    const ArrayAttr place = placeOf(made);
    if (place.size() != 1)
      return "a row is for one iteration, and no block of them";
    if (!consumer || consumer.getLoop().getIndex() != place[0])
      return "a row of it is read in another loop, or inside of one";
    if (Operation *around = consumer->getParentOp(); !isa<func::FuncOp, AssembleOp>(around))
      return "a row of it would be made again in each iteration of a loop around it";
    for (Operation *read : reads) {
      Value parent = isa<SpaceOp>(read)    ? cast<SpaceOp>(read).getParent()
                     : isa<SearchOp>(read) ? cast<SearchOp>(read).getParent()
                                           : Value();
      if (!isa<LoadOp>(read) && (!parent || !llvm::is_contained(located, parent.getDefiningOp<LocateOp>())))
        return "it is read at other coordinates than the loop's, or in several loops";
      if (isa<SpaceOp>(read) && !llvm::all_of(read->getUsers(), llvm::IsaPred<IterateOp, CoiterateOp>))
        return "more than the entries of its rows is read";
      needsOrder |= isa<SearchOp>(read) || llvm::any_of(read->getUsers(), llvm::IsaPred<CoiterateOp>);
    }
    for (Operation *size : sizes)
      if (isa<StoredCountOp>(size) && !boundsOnly(size))
        return "the number of its entries is needed before they are there";
    return "";
  }

  /// Whether a number is needed for bounds of assemblies alone.
  static bool boundsOnly(Operation *op) {
    return llvm::all_of(op->getUses(), [](OpOperand &use) {
      auto assembly = dyn_cast<AssembleOp>(use.getOwner());
      return assembly ? use.get() == assembly.getBound() || use.get() == assembly.getEntries()
                      : isa<arith::ArithDialect>(use.getOwner()->getDialect()) && boundsOnly(use.getOwner());
    });
  }

  /// Whether each iteration inserts at its own coordinate of the first level.
  bool insertsOwnRows() {
    return !made.walk([&](InsertOp insert) {
                  const bool nested = insert->getParentOfType<AssembleOp>() != made;
                  return nested || insert.getCoordinates()[rows] == loop.getBody().getArgument(0)
                             ? WalkResult::advance()
                             : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  /// A list of coordinates and values, in widths that hold any: its errors would be taken for those of a
  /// result.
  RankedTensorType rowType() const {
    const format::Encoding &whole = getEncoding(type).getValue();
    format::Encoding row = format::parseFormat("(i) -> (i : compressed)", 1);
    row.levels[0].format.ordered = !isHashed || needsOrder;
    row.posWidth = 64;
    row.crdWidth = whole.crdWidth == 64 ? 64 : 32;
    row.fill = whole.fill;
    row.implicitVal = whole.implicitVal;
    return withEncoding(RankedTensorType::get(type.getDimSize(1 - rows), type.getElementType()), row);
  }

  /// The order in which the entries of one row arrive.
  AffineMapAttr orderOfRow() {
    const std::optional<AffineMap> order = made.getOrder();
    MLIRContext *context = made.getContext();
    if (!order || order->getNumResults() < 2 || order->getResult(0) != getAffineDimExpr(rows, context))
      return {};
    SmallVector<AffineExpr> dims(2);
    dims[rows] = getAffineConstantExpr(0, context);
    dims[1 - rows] = getAffineDimExpr(0, context);
    return AffineMapAttr::get(AffineMap::get(2, 0, order->getResults().drop_front(), context)
                                  .replaceDimsAndSymbols(dims, {}, 1, 0));
  }

  AssembleOp makeRow() {
    auto b = OpBuilder::atBlockBegin(&consumer.getBody().front());
    auto row = AssembleOp::create(
        b, made.getLoc(), rowType(), ValueRange(made.getSizes()[1 - rows]), Value(), Value(), orderOfRow(),
        made.getUniqueAttr(), made.getCombineAttr(), AssemblyPlanAttr(),
        AssemblyStrategyAttr::get(b.getContext(),
                                  isHashed ? AssemblyStrategy::Hashed : AssemblyStrategy::Bitmap),
        UnitAttr());
    Block &to = row.getBody().emplaceBlock(), &from = loop.getBody().front();
    from.getTerminator()->erase();
    for (auto [own, other] : llvm::zip(from.getArguments(), consumer.getBody().front().getArguments()))
      own.replaceAllUsesWith(other);
    to.getOperations().splice(to.end(), from.getOperations());
    row.walk([&](InsertOp insert) {
      if (insert->getParentOfType<AssembleOp>() == row)
        insert.getCoordinatesMutable().erase(rows);
    });
    return row;
  }

  /// What read a row of the tensor reads the row.
  void retarget(AssembleOp row) {
    Value tensor = row.getResult();
    EncodingAttr encoding = getEncoding(row.getResult().getType());
    auto iterator = IteratorType::get(row.getContext(), encoding, 0);
    for (Operation *read : reads) {
      read->replaceUsesOfWith(made.getResult(), tensor);
      if (auto space = dyn_cast<SpaceOp>(read)) {
        space.getParentMutable().clear();
        space.setLevel(0);
        space.getResult().setType(SpaceType::get(row.getContext(), encoding, 0));
        for (OpOperand &use : space.getResult().getUses())
          setIterators(use, iterator);
      } else if (auto search = dyn_cast<SearchOp>(read)) {
        search.getParentMutable().clear();
        search.setLevel(0);
        search.getResult().setType(iterator);
      }
    }
    for (LocateOp locate : located)
      locate.erase();
    for (Operation *size : sizes)
      replaceSize(size);
    if (isHashed && !needsOrder)
      loosenOrder();
  }

  /// The iterators of a loop over the space.
  static void setIterators(OpOperand &space, IteratorType type) {
    if (auto iterate = dyn_cast<IterateOp>(space.getOwner())) {
      iterate.getBody().getArgument(1).setType(type);
      return;
    }
    auto coiterate = cast<CoiterateOp>(space.getOwner());
    const unsigned number = space.getOperandNumber();
    if (coiterate.getFlags()) {
      coiterate.getCaseRegions()[0].getArgument(1 + number).setType(type);
      return;
    }
    for (auto [region, minterm] : llvm::zip(coiterate.getCaseRegions(), coiterate.getCases()))
      if ((minterm >> number & 1) != 0)
        region.getArgument(1 + unsigned(llvm::popcount(uint64_t(minterm) & ((uint64_t(1) << number) - 1))))
            .setType(type);
  }

  void replaceSize(Operation *op) {
    auto level = dyn_cast<LevelSizeOp>(op);
    if (!level)
      return dropBounds(op);
    level.replaceAllUsesWith(made.getSizes()[level.getLevel() == 0 ? rows : 1 - rows]);
    level.erase();
  }

  static void dropBounds(Operation *op) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto assembly = dyn_cast<AssembleOp>(user);
      if (!assembly) {
        dropBounds(user);
        continue;
      }
      if (assembly.getBound() == op->getResult(0))
        assembly.getBoundMutable().clear();
      if (assembly.getEntries() == op->getResult(0))
        assembly.getEntriesMutable().clear();
    }
    op->erase();
  }

  /// What the loops around insert comes in order of the consumer's coordinate at most: entries below it come
  /// in the row's order.
  void loosenOrder() {
    auto around = consumer->getParentOfType<AssembleOp>();
    const std::optional<AffineMap> order = around ? around.getOrder() : std::nullopt;
    if (!order || order->getNumResults() < 2)
      return;
    const bool isOutermost = consumer->getParentOp() == around;
    around.setOrderAttr(
        AffineMapAttr::get(isOutermost ? order->getSliceMap(0, 1)
                                       : AffineMap::get(order->getNumDims(), 0, around.getContext())));
  }

  /// The function makes one tensor less.
  void removeResult() {
    const std::optional<unsigned> number = resultNumber();
    if (!number)
      return;
    auto function = made->getParentOfType<func::FuncOp>();
    SmallVector<unsigned> makers; // numbers of results that are made, in order
    for (auto [k, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
      if (value.getDefiningOp<AssembleOp>())
        makers.push_back(unsigned(k));
    const int64_t own = llvm::find(makers, *number) - makers.begin();
    function.walk([&](func::CallOp call) {
      APInt said;
      if (call.getCallee() != kMakingFunction || !matchPattern(call.getOperand(0), m_ConstantInt(&said)))
        return;
      if (makers.size() == 2 || said.getSExtValue() == own)
        return call.erase();
      if (said.getSExtValue() < own)
        return;
      OpBuilder b(call);
      call->setOperand(0, arith::ConstantIntOp::create(b, call.getLoc(), said.getSExtValue() - 1, 64));
    });
    function.getBody().front().getTerminator()->eraseOperand(*number);
    (void)function.eraseResult(*number);
  }
};

struct ContractAssemblies : impl::ContractAssembliesBase<ContractAssemblies> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<AssembleOp> placed;
    for (AssembleOp made : function.getOps<AssembleOp>())
      if (placeOf(made))
        placed.push_back(made);
    if (placed.empty())
      return markAllAnalysesPreserved();
    for (AssembleOp made : llvm::to_vector(function.getOps<AssembleOp>()))
      hoistSpaces(made);
    for (AssembleOp made : placed)
      forwardSizes(made);
    IRRewriter rewriter(function);
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    for (AssembleOp made : placed)
      if (failed(contract(made)))
        return signalPassFailure();
  }

  /// What the loop is over is known before the assembly.
  static void hoistSpaces(AssembleOp made) {
    if (!onlyLoop(made))
      return;
    for (Operation &op : llvm::make_early_inc_range(made.getBody().front()))
      if (!isa<IterateOp>(op))
        op.moveBefore(made);
  }

  /// The sizes of a new tensor are what it is made with.
  static void forwardSizes(AssembleOp made) {
    for (Operation *user : llvm::make_early_inc_range(made.getResult().getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user); dim && dim.getConstantIndex()) {
        dim.replaceAllUsesWith(made.getSizes()[size_t(*dim.getConstantIndex())]);
        dim.erase();
      }
  }

  static LogicalResult contract(AssembleOp made) {
    const LoopAttr attr = onlyLoop(made).getLoop();
    const StringRef name = attr.lastStatement();
    const auto place = cast<StringAttr>(placeOf(made).getValue().back());
    Contraction contraction(made);
    const std::string why = contraction.whyNot();
    if (!why.empty()) {
      InFlightDiagnostic error = emitError(locationOf(onlyLoop(made), "compute_at"));
      error << "what reads '" << name << "' has no loop over " << place.getValue()
            << " that can make a row of it: " << why;
      if (made.getStrategy()) // of a workspace, which has no other place
        return error << "; a statement of the program has its tensor as a whole";
      return error << "; compute_root(" << name << ") leaves its loops as they are";
    }
    contraction.contract();
    return success();
  }
};

} // namespace
} // namespace tulle::passes
