// tulle-index-operands: co-iterations that meet the same rows in every iteration of a loop look them up.
//
//   iterate k in A(i, :)                              tabulate M(i, :) in %table
//     coiterate j in B(k, :) & M(i, :)       becomes  iterate k in A(i, :)
//       …                                               iterate j in B(k, :)
//                                                         %at, %found = lookup %j of M(i, :) in %table
//                                                         if %found …
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "iteration/Plan.h"
#include "levels/Control.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_INDEXOPERANDS
#include "passes/Passes.h.inc"

namespace {

bool isLoop(Operation *op) { return isa<IterateOp, CoiterateOp, scf::ForOp, scf::WhileOp>(op); }

/// The op that holds the co-iteration and stands where the space could: behind what the space depends on.
/// Null where no loop is in between, so that the space would be met once.
Operation *reuseLoop(SpaceOp space, CoiterateOp op) {
  Block *known =
      space.getParent() ? space.getParent().getParentBlock() : &op->getParentOfType<func::FuncOp>().front();
  Operation *at = known->findAncestorOpInBlock(*op);
  if (!at)
    return nullptr;
  for (Operation *inner = op->getParentOp(); at->isAncestor(inner); inner = inner->getParentOp())
    if (isLoop(inner))
      return at;
  return nullptr;
}

/// The outermost loop of the function, or of the parallel region, that `op` is, or is in.
Operation *outermostLoop(Operation *op) {
  Operation *outermost = op;
  for (; !isa<ParallelOp, func::FuncOp>(op); op = op->getParentOp())
    if (isLoop(op))
      outermost = op;
  return outermost;
}

/// A space that is met again and again.
struct Indexed {
  SpaceOp space;
  unsigned number;             ///< in the set
  Operation *reuse;            ///< the loop whose iterations meet it
  Value table{}, profitable{}; ///< the latter null where it is known
};

class Rewrite {
public:
  Rewrite(CoiterateOp op, const iteration::Costs &costs) : op(op), loc(op.getLoc()), b(op), costs(costs) {}

  void run() {
    if (!match())
      return;
    for (Indexed &t : indexed)
      makeTable(t);
    b.setInsertionPoint(op);
    Value condition;
    for (Indexed &t : indexed) {
      if (t.profitable)
        condition = condition ? arith::AndIOp::create(b, loc, condition, t.profitable) : t.profitable;
    }
    std::string walked(1, char('a' + driver));
    explainChoice(
        op, "rows that iterations of a loop share are looked up in position tables: " + op.getSet().str() +
                " walks " + walked + " alone; a merge would walk all of them in every round");
    if (Value few = isShort()) {
      condition = condition ? arith::AndIOp::create(b, loc, condition, few) : few;
      op.setStrategy(Strategy::Gallop);
    }
    if (!condition) {
      op.replaceAllUsesWith(iterate());
      op.erase();
      return;
    }
    auto branch = scf::IfOp::create(b, loc, op.getResultTypes(), condition, /*withElseRegion=*/true);
    op.replaceAllUsesWith(branch.getResults());
    auto fill = [&](Block *block, llvm::function_ref<ValueRange()> emit) {
      b.setInsertionPointToStart(block);
      ValueRange results = emit();
      if (!results.empty() || !block->mightHaveTerminator())
        scf::YieldOp::create(b, loc, results);
    };
    fill(branch.thenBlock(), [&] { return iterate(); });
    fill(branch.elseBlock(), [&]() -> ValueRange {
      op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      b.setInsertionPointAfter(op);
      return op.getResults();
    });
  }

private:
  /// Whether all spaces but one are met again and again, and each case has that one.
  bool match() {
    if (op.getStrategy() != Strategy::Auto || op.getRange() || op.getFlags() || comparesVectors())
      return false;
    unsigned drivers = 0;
    for (auto [k, value] : llvm::enumerate(op.getSpaces())) {
      auto space = value.getDefiningOp<SpaceOp>();
      auto argument = space ? dyn_cast<BlockArgument>(space.getTensor()) : BlockArgument();
      bool known = argument && !space.getCondition() && isa<func::FuncOp>(argument.getOwner()->getParentOp());
      Operation *reuse = known && isIndexable(space.getType()) ? reuseLoop(space, op) : nullptr;
      if (reuse) {
        indexed.push_back({space, unsigned(k), reuse});
      } else {
        driver = unsigned(k);
        ++drivers;
      }
    }
    return drivers == 1 && !indexed.empty() &&
           llvm::all_of(op.getCases(), [&](int64_t minterm) { return minterm >> driver & 1; });
  }

  /// Where values travel in registers and no loop runs inside, whole vectors of coordinates are compared.
  bool comparesVectors() {
    bool carries = llvm::any_of(op.getResultTypes(), [](Type t) { return !isa<RankedTensorType>(t); });
    return carries && !op->walk([&](Operation *inner) {
                           return inner != op && isLoop(inner) ? WalkResult::interrupt()
                                                               : WalkResult::advance();
                         }).wasInterrupted();
  }

  /// Whether the walked row is not so much longer than the others that these are better searched for in it;
  /// null where it has to be walked anyway.
  Value isShort() {
    auto walked = cast<TypedValue<SpaceType>>(op.getSpaces()[driver]);
    const int64_t all = (int64_t(1) << op.getSpaces().size()) - 1;
    if (op.getCases() != ArrayRef<int64_t>{all} || !isIndexable(walked.getType()))
      return {};
    Value shortest;
    for (Indexed &t : indexed) {
      Value size = SpaceSizeOp::create(b, loc, t.space.getResult());
      shortest = shortest ? arith::MinUIOp::create(b, loc, shortest, size).getResult() : size;
    }
    Value ratio = arith::ConstantIndexOp::create(b, loc, costs.mergeGallopRatio);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, SpaceSizeOp::create(b, loc, walked),
                                 arith::MulIOp::create(b, loc, shortest, ratio));
  }

  static bool isIndexable(SpaceType type) {
    return iteration::hasTables(type.getEncoding().getValue().levels[type.getLevel()].format);
  }

  void makeTable(Indexed &t) {
    Operation *all = outermostLoop(t.reuse);
    b.setInsertionPoint(all);
    Value tensor = t.space.getTensor();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value size = b.createOrFold<LevelSizeOp>(loc, tensor, t.space.getLevel());
    const format::Encoding &encoding = getEncoding(t.space.getTensor().getType()).getValue();
    // The level's size is known where it is that of a dimension.
    std::optional<int64_t> known;
    const format::Expr &e = encoding.levels[t.space.getLevel()].expr;
    if (auto type = t.space.getTensor().getType(); e && e->kind == format::ExprKind::Dim)
      if (int64_t extent = type.getDimSize(unsigned(e->value)); !ShapedType::isDynamic(extent))
        known = extent;
    if (!known || *known > costs.smallLevel) {
      auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
      Value entries = StoredCountOp::create(b, loc, tensor);
      Value most = arith::MulIOp::create(b, loc, entries, constant(costs.sparsest));
      most = arith::MaxUIOp::create(b, loc, most, constant(costs.smallLevel));
      t.profitable = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, size, most);
      size = arith::SelectOp::create(b, loc, t.profitable, size, zero);
    }
    Type element = b.getIntegerType(encoding.posWidth > 32 ? 64 : 32);
    t.table = levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, element), size);
    Value none = arith::ConstantIntOp::create(b, loc, element, -1);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto clear = scf::ForOp::create(b, loc, zero, size, one);
    clear->setAttr(dialect::kLoopAttr, LoopAttr::get(b.getContext(), LoopKind::Parallel));
    b.setInsertionPointToStart(clear.getBody());
    memref::StoreOp::create(b, loc, none, t.table, clear.getInductionVar());
    b.setInsertionPointAfter(all);
    memref::DeallocOp::create(b, loc, t.table);

    b.setInsertionPoint(t.reuse);
    t.space = cast<SpaceOp>(b.clone(*t.space));
    if (t.profitable)
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, t.profitable, false).thenBlock());
    PositionTableOp::create(b, loc, t.space, t.table);
  }

  /// The loop over the one space that is left.
  ValueRange iterate() {
    SmallVector<Value> inits(op.getInits());
    auto space = cast<TypedValue<SpaceType>>(op.getSpaces()[driver]);
    auto loop = IterateOp::create(b, loc, op.getResultTypes(), space, inits, op.getLoop());
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> types{b.getIndexType(), iteratorType(space.getType())};
    llvm::append_range(types, op.getResultTypes());
    Block *body = b.createBlock(&loop.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    iterators.assign(op.getSpaces().size(), Value());
    found.assign(op.getSpaces().size(), Value());
    iterators[driver] = body->getArgument(1);
    for (Indexed &t : indexed) {
      auto lookup = LookupOp::create(b, loc, iteratorType(t.space.getType()), b.getI1Type(), t.space, t.table,
                                     body->getArgument(0));
      iterators[t.number] = lookup.getResult();
      found[t.number] = lookup.getFound();
    }
    YieldOp::create(b, loc, visit(0, body));
    return loop.getResults();
  }

  IteratorType iteratorType(SpaceType space) {
    return IteratorType::get(b.getContext(), space.getEncoding(), space.getLevel());
  }

  /// The cases from this one on; returns the values carried on.
  SmallVector<Value> visit(unsigned number, Block *body) {
    SmallVector<Value> carried(body->getArguments().drop_front(2));
    if (number == op.getCases().size())
      return carried;
    Value condition = isCase(number);
    if (!condition)
      return copyCase(number, body);
    bool otherwise = !carried.empty() || number + 1 < op.getCases().size();
    auto branch = scf::IfOp::create(b, loc, op.getResultTypes(), condition, otherwise);
    OpBuilder::InsertionGuard guard(b);
    auto fill = [&](Block *block, llvm::function_ref<SmallVector<Value>()> emit) {
      b.setInsertionPointToStart(block);
      SmallVector<Value> values = emit();
      if (!values.empty() || !block->mightHaveTerminator())
        scf::YieldOp::create(b, loc, values);
    };
    fill(branch.thenBlock(), [&] { return copyCase(number, body); });
    if (otherwise)
      fill(branch.elseBlock(), [&] { return visit(number + 1, body); });
    return SmallVector<Value>(branch.getResults());
  }

  /// Whether the coordinate is of this case, which those before are not; null where it must be.
  Value isCase(unsigned number) {
    uint64_t minterm = uint64_t(op.getCases()[number]);
    uint64_t sets = uint64_t(1) << indexed.size();
    if (number + 1 == sets)
      return {};
    Value condition;
    for (Indexed &t : indexed) {
      Value has = found[t.number];
      if (!(minterm >> t.number & 1))
        has = arith::XOrIOp::create(b, loc, has, arith::ConstantIntOp::create(b, loc, 1, 1));
      condition = condition ? arith::AndIOp::create(b, loc, condition, has) : has;
    }
    return condition;
  }

  SmallVector<Value> copyCase(unsigned number, Block *body) {
    uint64_t minterm = uint64_t(op.getCases()[number]);
    Block &source = op.getCaseRegions()[number].front();
    IRMapping mapping;
    unsigned next = 0;
    mapping.map(source.getArgument(next++), body->getArgument(0));
    for (unsigned k = 0; k < iterators.size(); ++k)
      if (minterm >> k & 1)
        mapping.map(source.getArgument(next++), iterators[k]);
    for (Value carried : body->getArguments().drop_front(2))
      mapping.map(source.getArgument(next++), carried);
    for (Operation &inner : source.without_terminator())
      b.clone(inner, mapping);
    SmallVector<Value> values;
    for (Value value : source.getTerminator()->getOperands())
      values.push_back(mapping.lookupOrDefault(value));
    return values;
  }

  CoiterateOp op;
  Location loc;
  OpBuilder b;
  const iteration::Costs &costs;
  unsigned driver = 0;
  SmallVector<Indexed> indexed;
  SmallVector<Value> iterators, found; ///< by the number of a space
};

struct IndexOperands : impl::IndexOperandsBase<IndexOperands> {
  void runOnOperation() override {
    SmallVector<CoiterateOp> ops;
    getOperation()->walk([&](CoiterateOp op) { ops.push_back(op); });
    const iteration::Costs costs = dialect::costModel(getOperation()).costs;
    for (CoiterateOp op : ops)
      Rewrite(op, costs).run();
  }
};

} // namespace
} // namespace tulle::passes
