// tulle-fuse-init: rows of a dense result get their start value in the iteration of the loop that updates
// them.
//
// A row is then written while it is in the cache, by the thread that works on it, and code that keeps the row
// in registers need not write it before at all.
#include "dialect/Dialect.h"
#include "format/Encoding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
int64_t rowsEachRound(IterateOp loop, RankedTensorType type) {
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
bool isOfRound(Value row, IterateOp loop, int64_t rows) {
  Value round = loop.getBody().getArgument(0);
  if (rows == 1)
    return row == round;
  auto add = row.getDefiningOp<arith::AddIOp>();
  auto multiply = add ? add.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  return multiply && multiply.getLhs() == round && getConstantIntValue(multiply.getRhs()) == rows &&
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
    if (!locate || (locate.getLevel() == 0 && !isOfRound(locate.getCoordinate(), loop, rows)))
      return false;
    touches = true;
  }
  return touches;
}

Value fillBelow(OpBuilder &b, FillOp fill, Value parent, unsigned level, Value carried);

/// Sets the elements at the coordinates `first` to `first + count` of a level below `parent`; returns the
/// tensor after that.
Value fillAlong(OpBuilder &b, FillOp fill, Value parent, unsigned level, Value first, Value count,
                Value carried) {
  Location loc = fill.getLoc();
  EncodingAttr encoding = getEncoding(fill.getTensor().getType());
  Value range = RangeOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, 0), count);
  auto loop = IterateOp::create(b, loc, carried.getType(), range, carried,
                                LoopAttr::get(b.getContext(), LoopKind::Parallel));
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), carried.getType()}, {loc, loc});
  Value coordinate = body->getArgument(0);
  if (first)
    coordinate = arith::AddIOp::create(b, loc, first, coordinate);
  auto type = IteratorType::get(b.getContext(), encoding, level);
  Value at = LocateOp::create(b, loc, type, fill.getTensor(), level, parent, coordinate);
  YieldOp::create(b, loc, fillBelow(b, fill, at, level + 1, body->getArgument(1)));
  return loop.getResult(0);
}

/// Sets the elements below `parent`; returns the tensor after that.
Value fillBelow(OpBuilder &b, FillOp fill, Value parent, unsigned level, Value carried) {
  Location loc = fill.getLoc();
  if (level == getEncoding(fill.getTensor().getType()).getValue().levels.size())
    return StoreOp::create(b, loc, carried.getType(), fill.getValue(), carried, parent);
  Value size = LevelSizeOp::create(b, loc, fill.getTensor(), level);
  return fillAlong(b, fill, parent, level, Value(), size, carried);
}

/// Sets the rows of an iteration, of which the last has those that are left.
Value fillRows(OpBuilder &b, FillOp fill, Value round, int64_t rows, Value carried) {
  Location loc = fill.getLoc();
  Value tensor = fill.getTensor();
  if (rows == 1) {
    auto iterator = IteratorType::get(b.getContext(), getEncoding(fill.getTensor().getType()), 0);
    Value at = LocateOp::create(b, loc, iterator, tensor, 0, Value(), round);
    return fillBelow(b, fill, at, 1, carried);
  }
  Value each = arith::ConstantIndexOp::create(b, loc, rows);
  Value first = arith::MulIOp::create(b, loc, round, each);
  Value left = arith::SubIOp::create(b, loc, LevelSizeOp::create(b, loc, tensor, 0), first);
  Value count = arith::MinUIOp::create(b, loc, left, each);
  return fillAlong(b, fill, Value(), 0, first, count, carried);
}

void sink(FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  if (!fill->hasOneUse() || type.getRank() == 0 || !isDense(type))
    return;
  OpOperand &use = *fill->use_begin();
  auto loop = dyn_cast<IterateOp>(use.getOwner());
  if (!loop || loop.getKind() != LoopKind::Parallel)
    return;
  const int64_t rows = rowsEachRound(loop, type);
  // A row of one element is kept in a register and written once as it is.
  const bool single = rows == 1 && type.getRank() == 1;
  if (rows == 0 || single || !staysInRows(loop, fill.getTensor(), rows))
    return;
  Block &body = loop.getBody().front();
  Value carried = body.getArgument(use.getOperandNumber()); // the space's place is the coordinate's
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Value filled = fillRows(b, fill, body.getArgument(0), rows, carried);
  carried.replaceUsesWithIf(filled,
                            [&](OpOperand &other) { return other.getOwner() != filled.getDefiningOp(); });
  use.set(fill.getTensor());
  fill.erase();
}

struct FuseInit : impl::FuseInitBase<FuseInit> {
  void runOnOperation() override {
    for (FillOp fill : llvm::to_vector(getOperation().getOps<FillOp>()))
      sink(fill);
  }
};

} // namespace
} // namespace tulle::passes
