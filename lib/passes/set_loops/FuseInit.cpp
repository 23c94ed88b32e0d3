// tulle-fuse-init: rows of a dense result get their start value in the iteration of the loop that updates
// them.
//
// A row is then written while it is in the cache, by the thread that works on it, and code that keeps the row
// in registers need not write it before at all.
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_FUSEINIT
#include "passes/Passes.h.inc"

namespace {

bool isDense(RankedTensorType type) {
  return llvm::all_of(getEncoding(type).getValue().levels, [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense;
  });
}

/// How many rows each iteration of the loop has, if together they have all coordinates of the tensor's first
/// level: 1 of a loop over `0 to n`, c over `0 to (n + c - 1) / c`, else 0. A dimension's size is the same
/// for all tensors that a statement's index runs over.
int64_t rowsPerIteration(IterateOp loop, RankedTensorType type) {
  auto range = loop.getSpace().getDefiningOp<RangeOp>();
  const format::Level &first = getEncoding(type).getValue().levels.front();
  if (!range || !isConstantIntValue(range.getLo(), 0) || !first.expr ||
      first.expr->kind != format::ExprKind::Dim)
    return 0;
  if (range.getHi().getDefiningOp<tensor::DimOp>())
    return 1;
  auto divide = range.getHi().getDefiningOp<arith::DivUIOp>();
  auto add = divide ? divide.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  std::optional<int64_t> rows = divide ? getConstantIntValue(divide.getRhs()) : std::nullopt;
  bool rounded = add && rows && *rows > 0 && add.getLhs().getDefiningOp<tensor::DimOp>() &&
                 getConstantIntValue(add.getRhs()) == *rows - 1;
  return rounded ? *rows : 0;
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
    if (!locate || (locate.getLevel() == 0 && !isOfIteration(locate.getCoordinate(), loop, rows)))
      return false;
    touches = true;
  }
  return touches;
}

/// Stores of a start value; each returns the tensor after that.
class RowInit : levels::Indices {
public:
  RowInit(FillOp fill, OpBuilder b)
      : Indices(b, fill.getLoc()), fill(fill), tensor(fill.getTensor()),
        encoding(getEncoding(fill.getTensor().getType())) {}

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
    Value range = RangeOp::create(b, loc, constant(0), count);
    auto loop = IterateOp::create(b, loc, carried.getType(), range, carried,
                                  LoopAttr::get(b.getContext(), LoopKind::Parallel));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), carried.getType()}, {loc, loc});
    Value coordinate = body->getArgument(0);
    if (first)
      coordinate = add(first, coordinate);
    YieldOp::create(b, loc, setBelow(locate(level, parent, coordinate), level + 1, body->getArgument(1)));
    return loop.getResult(0);
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

void fuse(FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  if (!fill->hasOneUse() || type.getRank() == 0 || !isDense(type))
    return;
  OpOperand &use = *fill->use_begin();
  auto loop = dyn_cast<IterateOp>(use.getOwner());
  if (!loop || loop.getKind() != LoopKind::Parallel)
    return;
  const int64_t rows = rowsPerIteration(loop, type);
  // A row of one element is kept in a register and written once as it is.
  const bool single = rows == 1 && type.getRank() == 1;
  if (rows == 0 || single || !staysInRows(loop, fill.getTensor(), rows))
    return;
  Block &body = loop.getBody().front();
  Value carried = body.getArgument(use.getOperandNumber()); // the coordinate has the number of the space
  Value filled = RowInit(fill, OpBuilder::atBlockBegin(&body)).setRows(body.getArgument(0), rows, carried);
  carried.replaceUsesWithIf(filled,
                            [&](OpOperand &other) { return other.getOwner() != filled.getDefiningOp(); });
  use.set(fill.getTensor());
  fill.erase();
}

struct FuseInit : impl::FuseInitBase<FuseInit> {
  void runOnOperation() override {
    for (FillOp fill : llvm::to_vector(getOperation().getOps<FillOp>()))
      fuse(fill);
  }
};

} // namespace
} // namespace tulle::passes
