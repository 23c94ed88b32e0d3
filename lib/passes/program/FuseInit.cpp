// tulle-fuse-init: rows of a dense result get their start value in the iteration of the loop that updates
// them.
//
// A row is then written while it is in the cache, by the thread that works on it, and code that keeps the row
// in registers need not write it before at all. So do blocks of a result with a given pattern, in the loop
// over stored ones. Of several loops with disjoint rows, each starts its own, and the rows that are left are
// filled in front of them.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/program/DisjointLoops.h"
#include "passes/program/LoopBlocks.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_FUSEINIT
#include "passes/Passes.h.inc"

namespace {

using levels::Values;

bool isDense(RankedTensorType type) {
  return llvm::all_of(getEncoding(type).getValue().levels, [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense;
  });
}

/// Whether the value is the size of that dimension of the tensor. An index has one size in a statement; in
/// several, which parts of one result are made by, sizes that are the same have a number.
bool isSizeOf(Value size, Value tensor, unsigned dimension) {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  if (!dim)
    return false;
  auto numbersOf = [](Value of) {
    auto argument = dyn_cast<BlockArgument>(of);
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    auto known = function ? function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kSizesAttr)
                          : DenseI64ArrayAttr();
    return known ? known.asArrayRef() : ArrayRef<int64_t>();
  };
  const ArrayRef<int64_t> from = numbersOf(dim.getSource()), own = numbersOf(tensor);
  const std::optional<int64_t> index = dim.getConstantIndex();
  return from.empty() || own.empty() || (index && from[size_t(*index)] == own[dimension]);
}

/// How many coordinates of a tensor's dimension each iteration of the loop stands for, if together they are
/// all of it: 1 of a loop over `0 to n`, c over `0 to (n + c - 1) / c`, else 0.
int64_t coordinatesPerIteration(IterateOp loop, Value tensor, unsigned dimension) {
  auto range = loop.getSpace().getDefiningOp<RangeOp>();
  if (!range || !isConstantIntValue(range.getLo(), 0))
    return 0;
  if (isSizeOf(range.getHi(), tensor, dimension))
    return 1;
  auto divide = range.getHi().getDefiningOp<arith::DivUIOp>();
  auto add = divide ? divide.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  std::optional<int64_t> count = divide ? getConstantIntValue(divide.getRhs()) : std::nullopt;
  bool rounded = add && count && *count > 0 && isSizeOf(add.getLhs(), tensor, dimension) &&
                 getConstantIntValue(add.getRhs()) == *count - 1;
  return rounded ? *count : 0;
}

/// The dimension whose coordinates are those of the tensor's first level; nullopt for others.
std::optional<unsigned> rowDimension(Value tensor) {
  const format::Level &first =
      getEncoding(cast<RankedTensorType>(tensor.getType())).getValue().levels.front();
  return first.expr && first.expr->kind == format::ExprKind::Dim ? std::optional(unsigned(first.expr->value))
                                                                 : std::nullopt;
}

/// How many rows each iteration of the loop has, if together they have all coordinates of the tensor's first
/// level; else 0.
int64_t rowsPerIteration(IterateOp loop, Value tensor) {
  const std::optional<unsigned> dimension = rowDimension(tensor);
  return dimension ? coordinatesPerIteration(loop, tensor, *dimension) : 0;
}

bool isEqual(Value x, Value y) {
  const std::optional<int64_t> constant = getConstantIntValue(x);
  return x == y || (constant && constant == getConstantIntValue(y));
}

/// The operands of a commutative operation, that which equals `first` in front; nothing where there is none.
template <typename Op> std::optional<std::pair<Value, Value>> operandsWith(Value value, Value first) {
  auto op = value.getDefiningOp<Op>();
  if (op && isEqual(op.getLhs(), first))
    return std::pair(op.getLhs(), op.getRhs());
  if (op && isEqual(op.getRhs(), first))
    return std::pair(op.getRhs(), op.getLhs());
  return std::nullopt;
}

/// The loop in each iteration of `tiles` over c coordinates of a dimension, fewer in the last one, if that is
/// what the tile does with `carried`: `t * c to min(n, t * c + c)`, of a loop over `0 to ceil(n / c)`.
IterateOp loopOverTile(IterateOp tiles, BlockArgument carried, Value tensor) {
  const std::optional<unsigned> dimension = rowDimension(tensor);
  auto all = tiles.getSpace().getDefiningOp<RangeOp>();
  auto count = all ? all.getHi().getDefiningOp<arith::CeilDivUIOp>() : arith::CeilDivUIOp();
  auto inner = carried.hasOneUse() ? dyn_cast<IterateOp>(*carried.user_begin()) : IterateOp();
  auto tile = inner ? inner.getSpace().getDefiningOp<RangeOp>() : RangeOp();
  if (!count || !tile || !isConstantIntValue(all.getLo(), 0) || !dimension ||
      !isSizeOf(count.getLhs(), tensor, *dimension))
    return {};
  auto begin = operandsWith<arith::MulIOp>(tile.getLo(), tiles.getBody().getArgument(0));
  auto end = operandsWith<arith::MinUIOp>(tile.getHi(), count.getLhs());
  if (!begin || !end || !isEqual(begin->second, count.getRhs()))
    return {};
  auto next = operandsWith<arith::AddIOp>(end->second, tile.getLo());
  return next && isEqual(next->second, count.getRhs()) ? inner : IterateOp();
}

/// Whether `x` is a coordinate of a loop that ends before `bound`.
bool isBelow(Value x, int64_t bound) {
  auto argument = dyn_cast<BlockArgument>(x);
  auto loop = argument ? dyn_cast<IterateOp>(argument.getOwner()->getParentOp()) : IterateOp();
  auto range = loop && argument.getArgNumber() == 0 ? loop.getSpace().getDefiningOp<RangeOp>() : RangeOp();
  if (!range)
    return false;
  Value end = range.getHi();
  if (auto least = end.getDefiningOp<arith::MinUIOp>())
    end = getConstantIntValue(least.getLhs()) ? least.getLhs() : least.getRhs();
  std::optional<int64_t> most = getConstantIntValue(end);
  return most && *most <= bound;
}

/// Whether `row` is one of those of the loop's iteration: the coordinate, or `coordinate * rows + offset`.
bool isOfIteration(Value row, IterateOp loop, int64_t rows) {
  Value at = loop.getBody().getArgument(0);
  if (rows == 1)
    return row == at;
  auto add = row.getDefiningOp<arith::AddIOp>();
  auto multiply = add ? add.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  return multiply && multiply.getLhs() == at && getConstantIntValue(multiply.getRhs()) == rows &&
         isBelow(add.getRhs(), rows);
}

/// Whether every iteration touches no row of the tensor but its own. Where none touches any, nothing says
/// that the iterations are the rows.
bool staysInRows(IterateOp loop, Value tensor, int64_t rows) {
  bool touches = false;
  for (Operation *user : tensor.getUsers()) {
    if (!loop->isProperAncestor(user) || isa<tensor::DimOp, LevelSizeOp>(user))
      continue;
    auto locate = dyn_cast<LocateOp>(user);
    if (!locate)
      return false;
    // Below an iterator from outside of the loop, all iterations are in one row.
    const bool own = locate.getLevel() == 0 ? isOfIteration(locate.getCoordinate(), loop, rows)
                                            : loop.getBody().isAncestor(locate.getParent().getParentRegion());
    if (!own)
      return false;
    touches = true;
  }
  return touches;
}

/// Whether what `outer` does with the tensor is done in the loop inside.
bool isTouchedOnlyIn(IterateOp inner, IterateOp outer, Value tensor) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    return !outer->isProperAncestor(user) || inner->isProperAncestor(user) ||
           isa<tensor::DimOp, LevelSizeOp>(user);
  });
}

/// Stores of a start value; each returns the tensor after that.
class RowInit : levels::Indices {
public:
  RowInit(FillOp fill, OpBuilder b)
      : Indices(b, fill.getLoc()), fill(fill), tensor(fill.getTensor()),
        encoding(getEncoding(fill.getTensor().getType())) {}

  /// Sets the elements below an iterator, where levels from `level` on are full, but for blocks of which all
  /// levels have these sizes.
  Value setIncomplete(Value iterator, unsigned level, ArrayRef<Value> sizes, Value carried) {
    Value isIncomplete = arith::ConstantIntOp::create(b, loc, 0, 1);
    for (auto [k, size] : llvm::enumerate(sizes)) {
      Value differs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, size,
                                            LevelSizeOp::create(b, loc, tensor, level + k));
      isIncomplete = arith::OrIOp::create(b, loc, isIncomplete, differs);
    }
    Value count = arith::SelectOp::create(b, loc, isIncomplete, LevelSizeOp::create(b, loc, tensor, level),
                                          constant(0));
    return setAlong(iterator, level, Value(), count, carried);
  }

  /// Sets the rows of an iteration, of which the last has those that are left.
  Value setRows(Value iteration, int64_t rows, Value carried) {
    if (rows == 1)
      return setBelow(locate(0, Value(), iteration), 1, carried);
    Value each = constant(rows), first = times(iteration, each);
    Value left = sub(LevelSizeOp::create(b, loc, tensor, 0), first);
    return setAlong(Value(), 0, first, arith::MinUIOp::create(b, loc, left, each), carried);
  }

private:
  Value locate(unsigned level, Value parent, Value coordinate) {
    auto type = IteratorType::get(b.getContext(), encoding, level);
    return LocateOp::create(b, loc, type, tensor, level, parent, coordinate);
  }

  /// Sets the elements at the coordinates `first` to `first + count` of a level below `parent`.
  Value setAlong(Value parent, unsigned level, Value first, Value count, Value carried) {
    return storeApart(b, loc, count, carried, [&](Value at, Value inside) {
      return setBelow(locate(level, parent, first ? add(first, at) : at), level + 1, inside);
    });
  }

  /// Sets the elements below `parent`.
  Value setBelow(Value parent, unsigned level, Value carried) {
    if (level == encoding.getValue().levels.size())
      return StoreOp::create(b, loc, carried.getType(), fill.getValue(), carried, parent);
    return setAlong(parent, level, Value(), LevelSizeOp::create(b, loc, tensor, level), carried);
  }

  FillOp fill;
  Value tensor;
  EncodingAttr encoding;
};

/// Makes the carried tensor of a loop begin each iteration with its own rows at the start value.
void startRows(FillOp fill, IterateOp loop, unsigned argument, int64_t rows) {
  Block &body = loop.getBody().front();
  Value carried = body.getArgument(argument);
  Value filled = RowInit(fill, OpBuilder::atBlockBegin(&body)).setRows(body.getArgument(0), rows, carried);
  carried.replaceUsesWithIf(filled,
                            [&](OpOperand &other) { return other.getOwner() != filled.getDefiningOp(); });
}

//===--- Blocks below stored coordinates ---===//

/// The loops that visit a result with a given pattern, one for each level: all positions of its outer levels,
/// each once, and below each of them a block, of which they assign all elements but padding.
class BlockNest {
public:
  explicit BlockNest(FillOp fill)
      : tensor(fill.getTensor()), encoding(getEncoding(fill.getTensor().getType()).getValue()) {
    auto isFull = [](const format::Level &level) { return format::isFull(level.format); };
    outer = unsigned(std::find_if_not(encoding.levels.rbegin(), encoding.levels.rend(), isFull).base() -
                     encoding.levels.begin());
    const size_t levels = encoding.levels.size();
    if (outer == 0 || outer == levels)
      return;
    OpOperand *use = &*fill->use_begin();
    while (use && loops.size() < levels)
      use = visit(*use);
    auto store = use ? dyn_cast<StoreOp>(use->getOwner()) : StoreOp();
    isAssigned = store && isOfLoops(store.getIterator(), levels) && store->hasOneUse() &&
                 store->getNextNode() == store->getBlock()->getTerminator();
  }

  /// Whether the tensor is of this form.
  explicit operator bool() const { return isAssigned; }
  /// The loop over the blocks.
  IterateOp blocks() const { return loops[outer - 1]; }
  /// The first level of a block.
  unsigned level() const { return outer; }

  /// How far each loop over a block goes, for an insertion point in the iterations of `blocks()`; empty where
  /// that depends on the loops inside.
  SmallVector<Value> sizes(OpBuilder &b) const {
    SmallVector<Value> found;
    for (IterateOp loop : ArrayRef(loops).drop_front(outer)) {
      Value size = at(b, loop.getSpace().getDefiningOp<RangeOp>().getHi());
      if (!size)
        return {};
      found.push_back(size);
    }
    return found;
  }

private:
  /// Adds the loop that a tensor goes on with where that is the next level's. Returns the one use of the
  /// tensor in its iterations.
  OpOperand *visit(OpOperand &use) {
    auto loop = dyn_cast<IterateOp>(use.getOwner());
    if (!loop || loop.getKind() != LoopKind::Parallel || loop.getEach() || loop.getNumResults() != 1 ||
        !visitsLevel(loop))
      return nullptr;
    loops.push_back(loop);
    BlockArgument carried = program::carriedArgument(loop, 0);
    return carried.hasOneUse() ? &*carried.use_begin() : nullptr;
  }

  /// Whether iterations are coordinates of the next level below those of the loops around: of outer levels
  /// all, of a block the first ones.
  bool visitsLevel(IterateOp loop) const {
    const format::Level &level = encoding.levels[loops.size()];
    auto range = loop.getSpace().getDefiningOp<RangeOp>();
    if (range && loops.size() >= outer)
      return isConstantIntValue(range.getLo(), 0);
    if (range)
      return format::isFull(level.format) && visitsAll(level, loop);
    auto space = loop.getSpace().getDefiningOp<SpaceOp>();
    return space && space.getLevel() == loops.size() && !space.getCondition() &&
           level.format.kind == format::LevelKind::Compressed && isOfLoops(space.getParent(), loops.size());
  }

  /// Of a level that is a dimension, or a quotient of one.
  bool visitsAll(const format::Level &level, IterateOp loop) const {
    const bool isQuotient =
        level.expr->kind == format::ExprKind::FloorDiv && level.expr->rhs->kind == format::ExprKind::Constant;
    const format::Expr &dimension = isQuotient ? level.expr->lhs : level.expr;
    return dimension->kind == format::ExprKind::Dim &&
           coordinatesPerIteration(loop, tensor, unsigned(dimension->value)) ==
               (isQuotient ? level.expr->rhs->value : 1);
  }

  /// Whether it is the iterator of the first `depth` loops together.
  bool isOfLoops(Value iterator, size_t depth) const {
    if (depth == 0)
      return !iterator;
    IterateOp loop = loops[depth - 1];
    if (isa<SpaceType>(loop.getSpace().getType()))
      return iterator == loop.getBody().getArgument(1);
    auto locate = iterator ? iterator.getDefiningOp<LocateOp>() : LocateOp();
    return locate && locate.getLevel() == depth - 1 &&
           locate.getCoordinate() == loop.getBody().getArgument(0) &&
           isOfLoops(locate.getParent(), depth - 1);
  }

  /// The value, computed anew where that is done inside of the iterations of `blocks()`; null where it cannot
  /// be.
  Value at(OpBuilder &b, Value value) const {
    Operation *made = value.getDefiningOp();
    Region &body = blocks().getBody();
    if (value.getParentRegion() == &body ? !made : !body.isAncestor(value.getParentRegion()))
      return value;
    if (!made || made->getNumResults() != 1 || made->getNumRegions() != 0 || !isMemoryEffectFree(made))
      return {};
    IRMapping map;
    for (Value operand : made->getOperands()) {
      Value mapped = at(b, operand);
      if (!mapped)
        return {};
      map.map(operand, mapped);
    }
    return b.clone(*made, map)->getResult(0);
  }

  Value tensor;
  const format::Encoding &encoding;
  unsigned outer; ///< levels down to the last that is not full
  bool isAssigned = false;
  SmallVector<IterateOp> loops;
};

/// Blocks that lie within the dimensions are assigned whole, and need no start value. Those that do not get
/// theirs in the loop over blocks.
void fuseBlocks(FillOp fill) {
  BlockNest nest(fill);
  if (!nest)
    return;
  IterateOp loop = nest.blocks();
  OpBuilder b = OpBuilder::atBlockBegin(&loop.getBody().front());
  SmallVector<Value> sizes = nest.sizes(b);
  if (sizes.empty())
    return;
  Value carried = program::carriedArgument(loop, 0);
  OpOperand &use = *carried.use_begin();
  use.set(RowInit(fill, b).setIncomplete(loop.getBody().getArgument(1), nest.level(), sizes, carried));
  fill.replaceAllUsesWith(fill.getTensor());
  fill.erase();
}

//===--- Rows ---===//

void fuse(FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  if (!fill->hasOneUse() || type.getRank() == 0)
    return;
  if (!isDense(type))
    return fuseBlocks(fill);
  OpOperand &use = *fill->use_begin();
  auto loop = dyn_cast<IterateOp>(use.getOwner());
  if (!loop || loop.getKind() != LoopKind::Parallel)
    return;
  BlockArgument carried =
      loop.getBody().getArgument(use.getOperandNumber()); // the coordinate has the number of the space
  int64_t rows = rowsPerIteration(loop, fill.getTensor());
  if (IterateOp tile = loopOverTile(loop, carried, fill.getTensor());
      tile && tile.getKind() == LoopKind::Parallel && isTouchedOnlyIn(tile, loop, fill.getTensor())) {
    carried = tile.getBody().getArgument(carried.use_begin()->getOperandNumber());
    loop = tile;
    rows = 1;
  }
  // A row of one element is kept in a register and written once as it is.
  const bool single = rows == 1 && type.getRank() == 1;
  if (rows == 0 || single || !staysInRows(loop, fill.getTensor(), rows))
    return;
  startRows(fill, loop, carried.getArgNumber(), rows);
  use.set(fill.getTensor());
  fill.erase();
}

//===--- Loops with disjoint rows ---===//

/// Fills the rows that none of the loops visits, in front of them. A list of these rows is made from a mark
/// of each row that is visited: without branches, and at a cost that does not grow with the number of loops,
/// as that of a merge of their coordinates would.
class OtherRows : levels::Indices {
public:
  OtherRows(FillOp fill, const program::DisjointLoops &loops)
      : Indices(OpBuilder(loops.front()), fill.getLoc()), fill(fill), loops(loops),
        size(LevelSizeOp::create(b, loc, fill.getTensor(), 0)) {}

  /// Returns the tensor after that.
  Value run() {
    Value marks = allocate(b.getI8Type()), list = allocate(b.getIndexType());
    mark(marks);
    Value zero = constant(0);
    Value count =
        levels::forLoop(b, loc, zero, size, LoopKind::Reduction, zero, [&](Value row, Values found) {
          memref::StoreOp::create(b, loc, row, list, found[0]);
          Value mark = memref::LoadOp::create(b, loc, marks, row);
          Value isOther = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, mark, byte(0));
          return Values{add(found[0], arith::IndexCastUIOp::create(b, loc, b.getIndexType(), isOther))};
        })[0];
    Value filled = fillRows(list, count);
    memref::DeallocOp::create(b, loc, marks);
    memref::DeallocOp::create(b, loc, list);
    return filled;
  }

private:
  Value byte(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 8); }
  Value allocate(Type element) {
    return memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, element), size);
  }

  void mark(Value marks) {
    levels::forEach(b, loc, constant(0), size, LoopKind::Parallel,
                    [&](Value row) { memref::StoreOp::create(b, loc, byte(0), marks, row); });
    for (IterateOp loop : loops) {
      // Of a level without a parent: all that it depends on is an argument.
      Value space = b.clone(*loop.getSpace().getDefiningOp())->getResult(0);
      OpBuilder::InsertionGuard guard(b);
      auto visit = IterateOp::create(b, loc, TypeRange(), space, ValueRange(),
                                     LoopAttr::get(b.getContext(), LoopKind::Parallel), /*each=*/false);
      Type iterator = loop.getBody().getArgument(1).getType();
      Block *body = b.createBlock(&visit.getBody(), {}, {b.getIndexType(), iterator}, {loc, loc});
      memref::StoreOp::create(b, loc, byte(1), marks, body->getArgument(0));
      YieldOp::create(b, loc, ValueRange());
    }
  }

  Value fillRows(Value list, Value count) {
    Type type = fill.getTensor().getType();
    Value range = RangeOp::create(b, loc, constant(0), count);
    auto each = IterateOp::create(b, loc, type, range, fill.getTensor(),
                                  LoopAttr::get(b.getContext(), LoopKind::Parallel), /*each=*/false);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&each.getBody(), {}, {b.getIndexType(), type}, {loc, loc});
    Value row = memref::LoadOp::create(b, loc, list, body->getArgument(0));
    YieldOp::create(b, loc, RowInit(fill, b).setRows(row, 1, body->getArgument(1)));
    return each.getResult(0);
  }

  FillOp fill;
  const program::DisjointLoops &loops;
  Value size;
};

/// What an iteration reads of its row before it stores to it is the start value.
void forwardStart(FillOp fill, IterateOp loop) {
  for (Operation *user : llvm::to_vector(program::carriedArgument(loop, 0).getUsers()))
    if (auto load = dyn_cast<LoadOp>(user)) {
      load.replaceAllUsesWith(fill.getValue());
      load.erase();
    }
}

void fuse(program::DisjointLoops &loops) {
  auto fill = loops.front().getInits()[0].getDefiningOp<FillOp>();
  if (!fill)
    return;
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  const bool single = type.getRank() == 1;
  const bool ofRows =
      isDense(type) && rowDimension(fill.getTensor()) && program::ownLevel(loops.front()) == 0;
  if (single || !ofRows) {
    for (IterateOp loop : loops)
      forwardStart(fill, loop);
    return;
  }
  for (IterateOp loop : loops)
    startRows(fill, loop, program::carriedArgument(loop, 0).getArgNumber(), 1);
  loops.front().getInitsMutable()[0].set(OtherRows(fill, loops).run());
  fill.erase();
}

struct FuseInit : impl::FuseInitBase<FuseInit> {
  void runOnOperation() override {
    for (FillOp fill : llvm::to_vector(getOperation().getOps<FillOp>()))
      fuse(fill);
    if (!getOperation().isExternal())
      for (program::DisjointLoops &loops : program::disjointLoops(getOperation().front()))
        fuse(loops);
  }
};

} // namespace
} // namespace tulle::passes
