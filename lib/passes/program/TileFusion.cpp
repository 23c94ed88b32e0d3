// The loops of a producer are restricted to an iteration's elements, where each loop counts a level of the
// tensor: rows from the first to the last that a tile has a part of, and of each row that part.
#include "passes/program/TileFusion.h"
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Scalars.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/program/DistinctRows.h"
#include "passes/program/LoopPair.h"
#include "passes/program/TensorFlow.h"
#include "passes/program/TileProducers.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::program {
using namespace mlir;
using namespace tulle::dialect;

namespace {

/// The loops, one after the other, that make a tensor, and the loop over tiles that reads it.
class TileFusion : TileProducers {
public:
  using TileProducers::TileProducers;

  /// Whether there is such a loop.
  bool findTile();
  StringRef whyNot(ArrayRef<CountedNumber> counted);
  /// Appends what the producers' loops count then, where it is more than one digit.
  void fuse(std::vector<CountedNumber> &counted);

private:
  bool canFollow();
  void appendNumbers(std::vector<CountedNumber> &counted);
  void makeStorage(OpBuilder &b);
  void retype(Value tensor, RankedTensorType type);
  IterateOp loopOverRows(OpBuilder &b);
  Value locate(OpBuilder &b, Location loc, ArrayRef<Value> numbers);
  void relocateLoad(LoadOp load);
  void relocate(Operation *access);
  Linear digitOf(IterateOp loop, const Owned &owned) const;
  Linear firstOf(Operation *inside, size_t axis, size_t digit);
  void restrict(IterateOp loop);
  void countFrom(IterateOp loop, Value lo, Value hi, Value most);
  bool isPoint(const Owned &owned) const;
  static void inlineAt(IterateOp loop, Value coordinate);
  void useOtherSizes();
  void rename();

  IterateOp tile;
  SmallVector<LoadOp> loads; ///< in the tile
  std::optional<TileReads> reads;
  SmallVector<Value> begins, ends; ///< of the tile, by axis; null where it is whole
  SmallVector<Value> sizes;        ///< of the tile's tensor
  Value storage;                   ///< the tile's tensor
  std::optional<size_t> selected;  ///< the axis along which integers select coordinates
  DistinctRows distinct;
  Value number, row; ///< of the coordinates selected, that for which the producers run
  llvm::DenseSet<Value> seen;
  llvm::DenseMap<Operation *, Value> begun; ///< where loops begin that count from 0
};

//===--- Whether it can be ---===//

bool TileFusion::findTile() {
  const Attribute index = place.getValue().back();
  for (Operation *user : last.getResult(0).getUsers())
    if (!readsPattern(user))
      for (auto loop = user->getParentOfType<IterateOp>(); loop && !loop->isAncestor(last);
           loop = loop->getParentOfType<IterateOp>()) {
        if (loop.getLoop().getIndex() == index && !loop.getLoop().getBlocks())
          tile = loop;
        if (tile)
          return !canFollow();
      }
  return false;
}

/// Whether two loops, of which one may be inside of what the other becomes a part of, visit the same.
static bool visitSame(IterateOp a, IterateOp b) {
  if (a.getSpace() == b.getSpace())
    return true;
  auto r = a.getSpace().getDefiningOp<RangeOp>(), q = b.getSpace().getDefiningOp<RangeOp>();
  auto s = a.getSpace().getDefiningOp<SpaceOp>(), t = b.getSpace().getDefiningOp<SpaceOp>();
  return (r && q && r.getLo() == q.getLo() && r.getHi() == q.getHi()) ||
         (s && t && s.getTensor() == t.getTensor() && s.getLevel() == t.getLevel());
}

/// Whether one loop may be both, or becomes it where the loops around do.
bool TileFusion::canFollow() {
  SmallVector<IterateOp> path; // from the tile outwards
  for (Operation *op = tile;; op = op->getParentOp()) {
    if (!isa<IterateOp>(op))
      return false;
    path.push_back(cast<IterateOp>(op));
    if (op->getBlock() == last->getBlock())
      break;
  }
  if (!LoopPair(last, path.back()).whyNot().empty())
    return false;
  IterateOp own = last;
  for (IterateOp loop : llvm::drop_begin(llvm::reverse(path))) {
    auto inner = own.getBody().front().getOps<IterateOp>();
    auto next = llvm::find_if(inner, [&](IterateOp each) { return visitSame(each, loop); });
    if (next == inner.end())
      return false;
    own = *next;
  }
  return true;
}

StringRef TileFusion::whyNot(ArrayRef<CountedNumber> counted) {
  if (StringRef why = findProducers(); !why.empty())
    return why;
  for (OpOperand &use : last.getResult(0).getUses()) {
    if (readsPattern(use.getOwner()))
      continue;
    auto load = dyn_cast<LoadOp>(use.getOwner());
    if (!load)
      return "it is returned, or goes on after what reads it";
    if (!tile->isProperAncestor(load))
      return "it is read outside of that loop, too";
    loads.push_back(load);
  }
  reads.emplace(tile, loads, last->getBlock(), counted);
  if (StringRef why = reads->whyNot(); !why.empty())
    return why;
  if (StringRef why = findAccesses(loads); !why.empty())
    return why;
  if (StringRef why = findOwners(reads->axes()); !why.empty())
    return why;
  return areOperandsReplaced(tile) ? "what it is computed from is replaced before, or by what reads it" : "";
}

//===--- The loops of a tile ---===//

void TileFusion::fuse(std::vector<CountedNumber> &counted) {
  OpBuilder b(reads->point());
  makeStorage(b);
  IterateOp each = selected ? loopOverRows(b) : IterateOp();
  for (IterateOp producer : producers)
    producer->moveBefore(each ? each.getBody().front().getTerminator() : reads->point());
  producers.front().getInitsMutable().assign(each ? Value(each.getBody().getArguments().back()) : storage);
  retype(storage, cast<RankedTensorType>(storage.getType()));
  if (each) {
    last.getResult(0).replaceAllUsesWith(each.getResult(0));
    each.getBody().front().getTerminator()->setOperand(0, last.getResult(0));
  }
  for (LoadOp load : loads)
    relocateLoad(load);
  for (auto &[loop, owned] : owners)
    restrict(cast<IterateOp>(loop));
  for (Operation *access : accesses)
    relocate(access);
  useOtherSizes();
  rename();
  appendNumbers(counted);
  for (auto &[loop, owned] : owners)
    if (isPoint(owned))
      inlineAt(cast<IterateOp>(loop), owned.axis == selected ? row : begins[owned.axis]);
}

/// Whether a loop has one iteration: a tile has one coordinate of its level, of which no other producer has
/// a part.
bool TileFusion::isPoint(const Owned &owned) const {
  const TileAxis &axis = reads->axes()[owned.axis];
  Linear next = axis.begin;
  next.constant += 1;
  return axis.levels.size() == 1 && (axis.selection || llvm::is_contained(axis.ends, next)) &&
         llvm::all_of(owners, [&](const auto &other) {
           return other.second.level != owned.level ||
                  (other.second.offset == 0 &&
                   isa<RangeType>(cast<IterateOp>(other.first).getSpace().getType()));
         });
}

void TileFusion::inlineAt(IterateOp loop, Value coordinate) {
  Block &body = loop.getBody().front();
  IRRewriter rewriter(loop);
  SmallVector<Value> made(body.getTerminator()->getOperands()), arguments{coordinate};
  llvm::append_range(arguments, loop.getInits());
  rewriter.eraseOp(body.getTerminator());
  for (Value &value : made) // what an iteration hands on unchanged is what it had
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body)
      value = arguments[argument.getArgNumber()];
  rewriter.inlineBlockBefore(&body, loop, arguments);
  rewriter.replaceOp(loop, made);
}

/// x * y, or more elements than any allocator gives: without a division, which no loop is left by.
Value elements(OpBuilder &b, Location loc, Value x, Value y) {
  if (matchPattern(x, m_One()))
    return y;
  if (matchPattern(y, m_One()))
    return x;
  levels::IndicesAt at(b, loc);
  auto product = arith::MulUIExtendedOp::create(b, loc, x, y);
  return at.select(at.is(arith::CmpIPredicate::eq, product.getHigh(), at.constant(0)), product.getLow(),
                   at.constant(int64_t(1) << 58));
}

/// The tile's bounds, and a tensor with an element for each of what an iteration reads.
void TileFusion::makeStorage(OpBuilder &b) {
  Location loc = tile.getLoc();
  auto type = cast<RankedTensorType>(destination.getType());
  const format::Encoding &encoding = getEncoding(type).getValue();
  OpBuilder before(tile.getBody().front().findAncestorOpInBlock(*reads->point()));
  bool isConstant = true;
  SmallVector<Value> &dims = sizes;
  Value integers;
  for (const TileAxis &axis : reads->axes()) {
    if (axis.whole) {
      begins.push_back({});
      ends.push_back({});
      dims.push_back(
          tensor::DimOp::create(before, loc, destination, encoding.levels[axis.levels[0].level].expr->value));
      continue;
    }
    begins.push_back(axis.begin.emit(b, loc));
    Value end;
    for (const Linear &sum : axis.ends) {
      Value value = sum.emit(b, loc);
      end = end ? b.createOrFold<arith::MinUIOp>(loc, value, end) : value;
    }
    ends.push_back(end);
    Value width = reads->width(before, loc, axis);
    isConstant &= bool(width);
    dims.push_back(width ? width : b.createOrFold<arith::SubIOp>(loc, end, begins.back()));
    if (axis.selection) {
      selected = begins.size() - 1;
      integers = dims.back();
      Value size =
          tensor::DimOp::create(before, loc, destination, encoding.levels[axis.levels[0].level].expr->value);
      dims.back() = arith::MinUIOp::create(width ? before : b, loc, integers, size);
    }
  }
  if (isConstant) // all iterations can use the same memory, also those that read nothing
    b.setInsertionPoint(before.getBlock(), before.getInsertionPoint());
  Value count = dims[0];
  for (Value size : ArrayRef(dims).drop_front())
    count = elements(b, loc, count, size);
  auto memory = MemRefType::get({ShapedType::kDynamic}, memoryType(type.getElementType()));
  Value buffer = levels::allocate(b, loc, memory, count);
  const SmallVector<int64_t> shape(dims.size(), ShapedType::kDynamic);
  RankedTensorType own = withEncoding(RankedTensorType::get(shape, type.getElementType()),
                                      format::denseEncoding(unsigned(dims.size())));
  storage = StorageOp::create(b, loc, own, buffer, dims);
  OpBuilder atEnd(b.getBlock()->getTerminator());
  memref::DeallocOp::create(atEnd, loc, buffer);
  if (selected) {
    auto indices = MemRefType::get({ShapedType::kDynamic}, b.getIndexType());
    distinct.rows = levels::allocate(b, loc, indices, dims[*selected]);
    distinct.numbers = levels::allocate(b, loc, indices, integers);
    memref::DeallocOp::create(atEnd, loc, distinct.rows);
    memref::DeallocOp::create(atEnd, loc, distinct.numbers);
  }
  b.setInsertionPoint(reads->point());
  if (fill)
    storage = FillOp::create(b, loc, own, fill.getValue(), storage);
}

/// The producers run for each coordinate that the tile's integers select, once.
IterateOp TileFusion::loopOverRows(OpBuilder &b) {
  Location loc = tile.getLoc();
  const TileAxis &axis = reads->axes()[*selected];
  const format::Encoding &encoding = getEncoding(cast<RankedTensorType>(destination.getType())).getValue();
  Value size = tensor::DimOp::create(b, loc, destination, encoding.levels[axis.levels[0].level].expr->value);
  distinct.find(b, *reads, axis, begins[*selected], ends[*selected], size);
  Value all = RangeOp::create(b, loc, levels::IndicesAt(b, loc).constant(0), distinct.count);
  auto each = IterateOp::create(b, loc, storage.getType(), all, storage,
                                LoopAttr::get(b.getContext(), LoopKind::Parallel), /*each=*/false);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&each.getBody(), {}, {b.getIndexType(), storage.getType()}, {loc, loc});
  number = body->getArgument(0);
  row = memref::LoadOp::create(b, loc, distinct.rows, number);
  YieldOp::create(b, loc, body->getArgument(1));
  return each;
}

/// What the tensor continues in has the type of the tile's; sizes are asked of the whole.
void TileFusion::retype(Value tensor, RankedTensorType type) {
  if (!seen.insert(tensor).second)
    return;
  for (OpOperand &use : llvm::make_early_inc_range(tensor.getUses())) {
    if (readsPattern(use.getOwner())) {
      use.set(destination);
      continue;
    }
    for (Value next : continuations(use))
      retype(next, type);
  }
  tensor.setType(type);
}

/// The iterator of the tile's tensor at a number along each axis, each from the tile's first.
Value TileFusion::locate(OpBuilder &b, Location loc, ArrayRef<Value> numbers) {
  const EncodingAttr encoding = getEncoding(cast<RankedTensorType>(storage.getType()));
  Value iterator;
  for (auto [level, number] : llvm::enumerate(numbers))
    iterator = LocateOp::create(b, loc, IteratorType::get(b.getContext(), encoding, int64_t(level)), storage,
                                uint64_t(level), iterator, number);
  return iterator;
}

void TileFusion::relocateLoad(LoadOp load) {
  OpBuilder b(load);
  SmallVector<Value> numbers;
  for (auto [a, axis] : llvm::enumerate(reads->axes())) {
    Value index = TileReads::indexOf(b, load, axis);
    const Linear fromBegin = Linear::of(index).minus(axis.begin);
    if (axis.selection)
      index = distinct.numberAt(axis, begins[a]);
    else if (!axis.whole)
      index = fromBegin.isConstant() ? fromBegin.emit(b, load.getLoc())
                                     : b.createOrFold<arith::SubIOp>(load.getLoc(), index, begins[a]);
    numbers.push_back(index);
  }
  load.getIteratorMutable().assign(locate(b, load.getLoc(), numbers));
}

void TileFusion::relocate(Operation *access) {
  OpBuilder b(access);
  Location loc = access->getLoc();
  auto load = dyn_cast<LoadOp>(access);
  MutableOperandRange iterator =
      load ? load.getIteratorMutable() : cast<StoreOp>(access).getIteratorMutable();
  const SmallVector<Value> coordinates = *coordinatesOf(iterator[0].get());
  SmallVector<Value> numbers;
  for (auto [a, axis] : llvm::enumerate(reads->axes())) {
    Value index = coordinates[axis.levels.back().level];
    if (axis.selection) {
      index = number;
    } else if (!axis.whole) {
      // What the innermost loop counts stands last: the rest is known before it.
      Linear first = Linear::of(index);
      first.constant += axis.levels.back().shift;
      for (auto &[owner, owned] : owners)
        if (owned.axis == a && owned.digit + 1 == axis.levels.size() && owner->isProperAncestor(access))
          index = cast<IterateOp>(owner).getBody().getArgument(0);
      first.terms.erase(index);
      first.add(firstOf(access, a, axis.levels.size() - 1));
      if (first != axis.begin)
        index = b.createOrFold<arith::AddIOp>(
            loc, b.createOrFold<arith::SubIOp>(loc, first.emit(b, loc), begins[a]), index);
    }
    numbers.push_back(index);
  }
  iterator.assign(locate(b, loc, numbers));
}

/// The number along an axis at which what stands below coarser digits begins, those that the loops around
/// have; the digit is the first below them.
Linear TileFusion::firstOf(Operation *inside, size_t axis, size_t digit) {
  Linear sum;
  for (auto &[owner, owned] : owners)
    if (owned.axis == axis && owned.digit < digit && owner->isProperAncestor(inside)) {
      Linear coordinate = Linear::of(cast<IterateOp>(owner).getBody().getArgument(0));
      coordinate.constant += owned.offset;
      sum.add(coordinate, reads->axes()[axis].levels[owned.digit].stride);
    }
  return sum;
}

/// The loop visits what the tile has of its level, below the coordinates of the loops around.
void TileFusion::restrict(IterateOp loop) {
  levels::Indices at(loop);
  const Owned owned = owners.lookup(loop);
  const TileAxis::Level level = reads->axes()[owned.axis].levels[owned.digit];
  auto least = [&](Value x, Value y) { return at.b.createOrFold<arith::MinUIOp>(at.loc, x, y); };
  auto most = [&](Value x, Value y) { return at.b.createOrFold<arith::MaxUIOp>(at.loc, x, y); };
  auto minus = [&](Value x, Value y) { return at.b.createOrFold<arith::SubIOp>(at.loc, x, y); };
  const bool ofRow = owned.axis == selected;
  Value begin = ofRow ? row : begins[owned.axis];
  Value end = ofRow ? at.add(row, at.constant(1)) : ends[owned.axis];
  if (level.modulus != 0) {
    Value base = firstOf(loop, owned.axis, owned.digit).emit(at.b, at.loc);
    Value next = at.b.createOrFold<arith::AddIOp>(at.loc, base, at.constant(level.stride * level.modulus));
    begin = minus(most(begin, base), base);
    end = minus(least(end, next), base);
  }
  if (level.stride > 1) {
    begin = at.b.createOrFold<arith::DivUIOp>(at.loc, begin, at.constant(level.stride));
    end = at.b.createOrFold<arith::CeilDivUIOp>(at.loc, end, at.constant(level.stride));
  }
  if (owned.offset > 0) {
    Value offset = at.constant(owned.offset);
    begin = minus(most(begin, offset), offset);
    end = minus(most(end, offset), offset);
  } else if (owned.offset < 0) {
    Value offset = at.constant(-owned.offset);
    begin = at.add(begin, offset);
    end = at.add(end, offset);
  }
  if (auto range = loop.getSpace().getDefiningOp<RangeOp>()) {
    Value lo = most(range.getLo(), begin), hi = least(range.getHi(), end);
    if (level.stride == 1 && !isPoint(owned))
      return countFrom(loop, lo, hi, sizes[owned.axis]);
    loop.getSpaceMutable().assign(RangeOp::create(at.b, at.loc, lo, hi));
    return;
  }
  Value range = RangeOp::create(at.b, at.loc, begin, end);
  loop.getSpaceMutable().assign(RestrictOp::create(at.b, at.loc, loop.getSpace(), range));
}

/// The digit that a loop counts, from where it begins to count.
Linear TileFusion::digitOf(IterateOp loop, const Owned &owned) const {
  Value coordinate = loop.getBody().getArgument(0);
  auto begin = begun.find(loop);
  Linear digit = Linear::of(coordinate);
  if (begin != begun.end())
    digit.add(Linear::of(begin->second));
  digit.constant += owned.offset;
  return digit;
}

void TileFusion::appendNumbers(std::vector<CountedNumber> &counted) {
  for (IterateOp producer : producers)
    for (auto [a, axis] : llvm::enumerate(reads->axes())) {
      CountedNumber number{{}, axis.begin, axis.ends};
      for (auto [d, level] : llvm::enumerate(axis.levels))
        for (auto &[loop, owned] : owners)
          if (axis.levels.size() > 1 && owned.axis == a && owned.digit == d && producer->isAncestor(loop))
            number.digits.push_back({digitOf(cast<IterateOp>(loop), owned), level.stride, level.modulus});
      if (axis.levels.size() > 1 && number.digits.size() == axis.levels.size())
        counted.push_back(std::move(number));
    }
}

/// The loop counts its part of a tile from 0: so it is a loop of as many iterations as the tile has elements
/// at most, which later passes see.
void TileFusion::countFrom(IterateOp loop, Value lo, Value hi, Value most) {
  levels::Indices at(loop);
  Value count = at.sub(arith::MaxUIOp::create(at.b, at.loc, hi, lo), lo);
  count = arith::MinUIOp::create(at.b, at.loc, count, most);
  loop.getSpaceMutable().assign(RangeOp::create(at.b, at.loc, at.constant(0), count));
  at.b.setInsertionPointToStart(&loop.getBody().front());
  Value number = loop.getBody().getArgument(0);
  auto coordinate = arith::AddIOp::create(at.b, at.loc, lo, number);
  number.replaceAllUsesExcept(coordinate, coordinate);
  begun[loop] = lo;
}

/// Sizes of the whole tensor are those of another one that stays, as far as one has them.
void TileFusion::useOtherSizes() {
  for (Operation *user : llvm::make_early_inc_range(destination.getUsers()))
    if (auto size = dyn_cast<LevelSizeOp>(user)) {
      OpBuilder b(size);
      const auto &levels = getEncoding(cast<RankedTensorType>(destination.getType())).getValue().levels;
      size.replaceAllUsesWith(
          tensor::DimOp::create(b, size.getLoc(), destination, levels[size.getLevel()].expr->value)
              .getResult());
      size.erase();
    }
  auto sizesOf = [&](BlockArgument arg) {
    auto known = function.getArgAttrOfType<DenseI64ArrayAttr>(arg.getArgNumber(), kSizesAttr);
    const bool stays =
        known && !function.getArgAttr(arg.getArgNumber(), kWholeAttr) &&
        llvm::any_of(arg.getUsers(), [](Operation *user) { return !isa<tensor::DimOp>(user); });
    return stays ? known.asArrayRef() : ArrayRef<int64_t>();
  };
  const ArrayRef<int64_t> own =
      function.getArgAttrOfType<DenseI64ArrayAttr>(destination.getArgNumber(), kSizesAttr)
          ? function.getArgAttrOfType<DenseI64ArrayAttr>(destination.getArgNumber(), kSizesAttr).asArrayRef()
          : ArrayRef<int64_t>();
  for (Operation *user : llvm::make_early_inc_range(destination.getUsers())) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    const std::optional<int64_t> number = dim ? dim.getConstantIndex() : std::nullopt;
    if (!number || size_t(*number) >= own.size())
      continue;
    for (const bool isResult : {false, true})
      for (BlockArgument arg : function.getArguments()) {
        const auto *found = llvm::find(sizesOf(arg), own[size_t(*number)]);
        if (arg == destination || dim.getSource() != destination || found == sizesOf(arg).end() ||
            bool(function.getArgAttr(arg.getArgNumber(), kStatementAttr)) != isResult)
          continue;
        OpBuilder b(dim);
        dim.getIndexMutable().assign(
            arith::ConstantIndexOp::create(b, dim.getLoc(), found - sizesOf(arg).begin()));
        dim.getSourceMutable().assign(arg);
      }
  }
}

/// The loop over tiles has iterations of the producers' statements, too; what located the whole goes.
void TileFusion::rename() {
  llvm::SetVector<Attribute> of;
  for (IterateOp loop : producers)
    if (loop.getLoop().getOf())
      of.insert_range(loop.getLoop().getOf());
  const LoopAttr own = tile.getLoop();
  if (own.getOf())
    of.insert_range(own.getOf());
  tile.setLoopAttr(
      LoopAttr::get(own.getContext(), own.getKind(), own.getIndex(),
                    of.empty() ? ArrayAttr() : ArrayAttr::get(own.getContext(), of.getArrayRef()),
                    own.getDirectives(), own.getCacheResident(), own.getBlocks(), own.getRare()));
  bool changed = true;
  while (std::exchange(changed, false))
    for (Operation *user : llvm::make_early_inc_range(destination.getUsers()))
      if (isa<LocateOp, FillOp>(user) && user->use_empty()) {
        user->erase();
        changed = true;
      }
  explainChoice(tile,
                "fusing: each tile of this loop computes what it reads, and there is memory for one tile");
}

} // namespace

TileObstacles fuseTiles(func::FuncOp function) {
  TileObstacles obstacles;
  std::vector<CountedNumber> counted;
  if (function.getBody().empty())
    return obstacles;
  // What reads comes first: what it is computed from may be computed in its tiles.
  const SmallVector<IterateOp> loops(function.getOps<IterateOp>());
  for (IterateOp loop : llvm::reverse(loops)) {
    const ArrayAttr place = placeOf(loop);
    if (!place || place.empty() || loop->getNumResults() == 0)
      continue;
    TileFusion fusion(function, lastOfProducers(loop), place);
    if (!fusion.findTile())
      continue;
    const StringRef why = fusion.whyNot(counted);
    if (why.empty())
      fusion.fuse(counted);
    else
      obstacles[loop.getLoop().lastStatement()] = why;
  }
  return obstacles;
}

} // namespace tulle::program
