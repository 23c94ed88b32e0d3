// tulle-index-operands: co-iterations that meet the same rows in every iteration of a loop read their
// positions from a table.
//
//   iterate k in A(i, :)                              table of M(i, :) in %table
//     coiterate j in B(k, :) & M(i, :)       becomes  iterate k in A(i, :)
//       …                                               iterate j in B(k, :)
//                                                         %at, %found = lookup %j of M(i, :) in %table
//                                                         if %found …
#include "dialect/Costs.h"
#include "iteration/Plan.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_INDEXOPERANDS
#include "passes/Passes.h.inc"

namespace {

using levels::Values;

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

/// A space that is met again and again, or whose coordinates are at addresses.
struct Indexed {
  SpaceOp space;
  unsigned number;             ///< in the set
  Operation *reuse;            ///< the loop whose iterations meet it; null of one that needs no table
  Value table{}, profitable{}; ///< the latter null where it is known
};

/// Whether one comparison, or one bit, says if a coordinate is stored, and its position follows.
bool hasAddresses(SpaceType space) {
  using enum format::LevelKind;
  const format::LevelFormat &level = space.getFormat();
  return !level.padded && llvm::is_contained({Ragged, Jagged, Banded, Bitmap}, level.kind);
}

class Rewrite : levels::Indices {
public:
  Rewrite(CoiterateOp op, const iteration::Costs &costs) : Indices(op), op(op), costs(costs) {}

  void run() {
    if (!match())
      return;
    for (Indexed &t : indexed)
      if (t.reuse)
        makeTable(t);
    b.setInsertionPoint(op);
    Value condition;
    for (Indexed &t : indexed)
      if (t.profitable)
        condition = both(condition, t.profitable);
    std::string iterated(1, char('a' + driver));
    const bool tables = llvm::any_of(indexed, [](const Indexed &t) { return t.reuse; });
    explainChoice(op,
                  std::string(tables ? "rows that iterations of a loop share are read from position tables"
                                     : "coordinates are looked up at their addresses") +
                      ": " + op.getSet().str() + " iterates " + iterated +
                      " alone; a merge would iterate all of them in every iteration");
    if (Value few = isShort()) {
      condition = both(condition, few);
      op.setStrategy(Strategy::Gallop);
    }
    if (!condition) {
      op.replaceAllUsesWith(iterate());
      op.erase();
      return;
    }
    addVersion(b, op, condition, [&] { return iterate(); });
  }

private:
  /// Whether all spaces but one are met again and again, or have addresses, and each case has that one.
  bool match() {
    if (op.getStrategy() != Strategy::Auto || op.getRange() || op.getFlags() || comparesWords())
      return false;
    SmallVector<unsigned> drivers;
    for (auto [k, value] : llvm::enumerate(op.getSpaces())) {
      auto space = value.getDefiningOp<SpaceOp>();
      const bool known = space && !space.getCondition(), addresses = known && hasAddresses(space.getType());
      Operation *reuse = known && !addresses ? tableLoop(space) : nullptr;
      if (reuse || addresses)
        indexed.push_back({space, unsigned(k), reuse});
      else
        drivers.push_back(unsigned(k));
    }
    if (drivers.empty()) { // of several with addresses, one that each case has is iterated
      auto *iterated =
          llvm::find_if(indexed, [&](const Indexed &t) { return !t.reuse && isRequired(t.number); });
      if (iterated == indexed.end())
        return false;
      drivers.push_back(iterated->number);
      indexed.erase(iterated);
    }
    driver = drivers.front();
    return drivers.size() == 1 && !indexed.empty() && isRequired(driver);
  }

  bool isRequired(unsigned space) {
    return llvm::all_of(op.getCases(), [&](int64_t minterm) { return minterm >> space & 1; });
  }

  /// The loop that a table of the space is made before; null where none pays off.
  Operation *tableLoop(SpaceOp space) {
    auto argument = dyn_cast<BlockArgument>(space.getTensor());
    const bool isArgument = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
    return isArgument && isIndexable(space.getType()) && !comparesVectors() ? reuseLoop(space, op) : nullptr;
  }

  /// Of bitmaps, words are compared.
  bool comparesWords() {
    return llvm::all_of(op.getSpaces(), [](Value space) {
      return cast<SpaceType>(space.getType()).getFormat().kind == format::LevelKind::Bitmap;
    });
  }

  /// Where values travel in registers and no loop runs inside, whole vectors of coordinates are compared.
  bool comparesVectors() {
    bool carries = llvm::any_of(op.getResultTypes(), [](Type t) { return !isa<RankedTensorType>(t); });
    return carries && !anyIn(op, [&](Operation *inner) { return inner != op && isLoop(inner); });
  }

  /// Whether the iterated row is not so much longer than the others that these are better searched for in it;
  /// null where it has to be iterated anyway.
  Value isShort() {
    auto iterated = cast<TypedValue<SpaceType>>(op.getSpaces()[driver]);
    const int64_t all = (int64_t(1) << op.getSpaces().size()) - 1;
    if (op.getCases() != ArrayRef<int64_t>{all} || !isIndexable(iterated.getType()) ||
        !llvm::all_of(indexed, [](const Indexed &t) { return t.reuse; }))
      return {};
    Value shortest;
    for (Indexed &t : indexed) {
      Value size = SpaceSizeOp::create(b, loc, t.space.getResult());
      shortest = shortest ? arith::MinUIOp::create(b, loc, shortest, size).getResult() : size;
    }
    Value ratio = constant(costs.mergeGallopRatio), size = SpaceSizeOp::create(b, loc, iterated);
    return is(arith::CmpIPredicate::ule, size, times(shortest, ratio));
  }

  static bool isIndexable(SpaceType type) {
    return iteration::hasTables(type.getEncoding().getValue().levels[type.getLevel()].format);
  }

  /// The level's size, where it is that of a dimension and known.
  static std::optional<int64_t> knownSize(SpaceOp space) {
    auto type = cast<RankedTensorType>(space.getTensor().getType());
    const format::Expr &e = getEncoding(type).getValue().levels[space.getLevel()].expr;
    if (!e || e->kind != format::ExprKind::Dim || type.isDynamicDim(unsigned(e->value)))
      return std::nullopt;
    return type.getDimSize(unsigned(e->value));
  }

  void makeTable(Indexed &t) {
    Operation *all = outermostLoop(t.reuse);
    b.setInsertionPoint(all);
    Value tensor = t.space.getTensor(), zero = constant(0);
    Value size = b.createOrFold<LevelSizeOp>(loc, tensor, t.space.getLevel());
    if (std::optional<int64_t> known = knownSize(t.space); !known || *known > costs.smallLevel) {
      Value most = times(StoredCountOp::create(b, loc, tensor), constant(costs.sparsest));
      most = arith::MaxUIOp::create(b, loc, most, constant(costs.smallLevel));
      t.profitable = is(arith::CmpIPredicate::ule, size, most);
      size = select(t.profitable, size, zero);
    }
    Type element = b.getIntegerType(t.space.getType().getEncoding().getValue().posWidth > 32 ? 64 : 32);
    t.table = levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, element), size);
    Value none = arith::ConstantIntOp::create(b, loc, element, -1);
    levels::forEach(b, loc, zero, size, LoopKind::Parallel,
                    [&](Value at) { memref::StoreOp::create(b, loc, none, t.table, at); });
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
    auto space = cast<TypedValue<SpaceType>>(op.getSpaces()[driver]);
    auto loop = IterateOp::create(b, loc, op.getResultTypes(), space, op.getInits(), op.getLoop());
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> types{b.getIndexType(), iteratorType(space.getType())};
    llvm::append_range(types, op.getResultTypes());
    Block *body = b.createBlock(&loop.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    iterators.assign(op.getSpaces().size(), Value());
    found.assign(op.getSpaces().size(), Value());
    iterators[driver] = body->getArgument(1);
    for (Indexed &t : indexed) {
      std::tie(iterators[t.number], found[t.number]) = find(t, body->getArgument(0));
    }
    YieldOp::create(b, loc, visit(0, body));
    return loop.getResults();
  }

  std::pair<Value, Value> find(Indexed &t, Value coordinate) {
    IteratorType type = iteratorType(t.space.getType());
    if (t.reuse) {
      auto lookup = LookupOp::create(b, loc, type, b.getI1Type(), t.space, t.table, coordinate);
      return {lookup.getResult(), lookup.getFound()};
    }
    auto search = SearchOp::create(b, loc, type, b.getI1Type(), t.space.getTensor(), t.space.getLevel(),
                                   t.space.getParent(), coordinate);
    return {search.getResult(), search.getFound()};
  }

  IteratorType iteratorType(SpaceType space) {
    return IteratorType::get(b.getContext(), space.getEncoding(), space.getLevel());
  }

  /// The cases from this one on; returns the values carried on.
  Values visit(unsigned number, Block *body) {
    if (number == op.getCases().size())
      return Values(body->getArguments().drop_front(2));
    Value condition = isCase(number);
    if (!condition)
      return copyCase(number, body);
    return levels::ifElse(
        b, loc, condition, op.getResultTypes(), [&] { return copyCase(number, body); },
        [&] { return visit(number + 1, body); });
  }

  /// Whether the coordinate is of this case, which those before are not; null where it must be.
  Value isCase(unsigned number) {
    uint64_t minterm = uint64_t(op.getCases()[number]);
    if (number + 1 == uint64_t(1) << indexed.size())
      return {};
    Value condition;
    for (Indexed &t : indexed) {
      Value has = found[t.number];
      if (!(minterm >> t.number & 1))
        has = arith::XOrIOp::create(b, loc, has, boolean(true));
      condition = both(condition, has);
    }
    return condition;
  }

  Values copyCase(unsigned number, Block *body) {
    uint64_t minterm = uint64_t(op.getCases()[number]);
    Block &source = op.getCaseRegions()[number].front();
    SmallVector<Value> arguments{body->getArgument(0)};
    for (auto [k, iterator] : llvm::enumerate(iterators))
      if (minterm >> k & 1)
        arguments.push_back(iterator);
    llvm::append_range(arguments, body->getArguments().drop_front(2));
    IRMapping mapping;
    mapping.map(source.getArguments(), arguments);
    for (Operation &inner : source.without_terminator())
      b.clone(inner, mapping);
    return llvm::map_to_vector<6>(source.getTerminator()->getOperands(),
                                  [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  CoiterateOp op;
  const iteration::Costs &costs;
  unsigned driver = 0;
  SmallVector<Indexed> indexed;
  SmallVector<Value> iterators, found; ///< by the number of a space
};

struct IndexOperands : impl::IndexOperandsBase<IndexOperands> {
  void runOnOperation() override {
    SmallVector<CoiterateOp> ops;
    getOperation()->walk([&](CoiterateOp op) { ops.push_back(op); });
    if (ops.empty())
      return markAllAnalysesPreserved();
    const iteration::Costs costs = dialect::costModel(getOperation()).costs;
    for (CoiterateOp op : ops)
      Rewrite(op, costs).run();
  }
};

} // namespace
} // namespace tulle::passes
