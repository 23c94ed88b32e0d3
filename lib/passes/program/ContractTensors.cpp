// tulle-contract-tensors: a tensor whose values live within one block of a loop over blocks, or within one
// iteration of another one, has memory for that (array contraction).
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Scalars.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/program/LoopBlocks.h"
#include "passes/program/TensorFlow.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_CONTRACTTENSORS
#include "passes/Passes.h.inc"

namespace {

/// A destination that one loop carries, over blocks or over coordinates.
class Candidate {
public:
  Candidate(func::FuncOp function, IterateOp loop, unsigned number)
      : function(function), loop(loop), number(number), block(program::blockOf(loop)) {}

  bool contract() {
    if (!loop.getResult(number).use_empty() || !findDestination())
      return false;
    program::OwnAccesses accesses(loop);
    if (!accesses.add(program::carriedArgument(loop, number)) || !accesses.level())
      return false;
    // One element of an iteration is a value, whose memory nothing reads.
    if (!block && cast<RankedTensorType>(destination.getType()).getRank() < 2)
      return false;
    if (!block || *accesses.level() != 0)
      return contractInside(accesses);
    std::optional<BlockArgument> like = isOwn() ? findPattern() : std::nullopt;
    if (!like || !findSizes())
      return false;
    replace(*like);
    return true;
  }

private:
  /// The destination, which is filled at most, and has no other use than in the loop, but for its pattern.
  bool findDestination() {
    Value init = loop.getInits()[number];
    fill = init.getDefiningOp<FillOp>();
    if (fill)
      for (Operation *user : llvm::make_early_inc_range(fill->getUsers()))
        if (auto dim = dyn_cast<tensor::DimOp>(user)) // a fill changes no size
          dim.getSourceMutable().assign(fill.getTensor());
    if (fill && !fill->hasOneUse())
      return false;
    destination = dyn_cast<BlockArgument>(fill ? fill.getTensor() : init);
    return destination && destination.getOwner() == &function.getBody().front() &&
           function.getArgAttr(destination.getArgNumber(), kStatementAttr) &&
           llvm::all_of(destination.getUses(), [&](OpOperand &use) {
             Operation *user = use.getOwner();
             if (block && user == block)
               return false;
             auto dim = dyn_cast<tensor::DimOp>(user);
             return (dim && dim.getConstantIndex()) || user == fill || user == loop ||
                    (program::readsPattern(user) && loop->isAncestor(user));
           });
  }

  /// Whether accesses at coordinates of the first level can be at those of the block.
  bool isOwn() {
    auto type = cast<RankedTensorType>(destination.getType());
    if (!EmptyOp::isPossibleFor(type))
      return false;
    auto space = dyn_cast<SpaceType>(block.getType());
    const format::Level &first = getEncoding(type).getValue().levels[0];
    return space ? space.getEncoding() == getEncoding(type) && space.getLevel() == 0
                 : first.format.kind == format::LevelKind::Dense;
  }

  /// An argument that has the pattern, or null where there are dense levels only; none if nothing has it.
  std::optional<BlockArgument> findPattern() {
    auto type = cast<RankedTensorType>(destination.getType());
    if (llvm::all_of(getEncoding(type).getValue().levels, [](const format::Level &level) {
          return level.format.kind == format::LevelKind::Dense;
        }))
      return BlockArgument();
    Attribute pattern = function.getArgAttr(destination.getArgNumber(), kPatternAttr);
    for (BlockArgument arg : function.getArguments()) {
      auto has = [&](StringRef name) { return function.getArgAttr(arg.getArgNumber(), name); };
      if (pattern && has(kPatternAttr) == pattern && !has(kStatementAttr) && !has(kSourceAttr) &&
          getEncoding(cast<RankedTensorType>(arg.getType())) == getEncoding(type))
        return arg;
    }
    return std::nullopt;
  }

  /// A dimension of an argument that stays, for each of the destination's.
  bool findSizes() {
    auto sizesOf = [&](BlockArgument arg) {
      auto known = function.getArgAttrOfType<DenseI64ArrayAttr>(arg.getArgNumber(), kSizesAttr);
      return known && !function.getArgAttr(arg.getArgNumber(), kWholeAttr) ? known.asArrayRef()
                                                                           : ArrayRef<int64_t>();
    };
    for (int64_t size : sizesOf(destination))
      for (BlockArgument arg : function.getArguments()) {
        const auto *found = llvm::find(sizesOf(arg), size);
        if (function.getArgAttr(arg.getArgNumber(), kStatementAttr) || found == sizesOf(arg).end())
          continue;
        sizes.push_back({arg, found - sizesOf(arg).begin()});
        break;
      }
    return int64_t(sizes.size()) == cast<RankedTensorType>(destination.getType()).getRank();
  }

  static Value constantBefore(Operation *op, int64_t value) {
    OpBuilder b(op);
    return arith::ConstantIndexOp::create(b, op->getLoc(), value);
  }

  //===--- A level below the first, or one coordinate ---===//

  /// All accesses are at coordinates of the block, of a level below others or without blocks at the loop's
  /// own: the tensor is one of the iteration's own, which has as many of them, numbered from the first one.
  bool contractInside(const program::OwnAccesses &accesses) {
    const uint64_t level = *accesses.level();
    auto type = cast<RankedTensorType>(destination.getType());
    const format::Encoding &encoding = getEncoding(type).getValue();
    if (!isa<RangeType>(block ? block.getType() : loop.getSpace().getType()) ||
        !llvm::all_of(encoding.levels, [](const format::Level &each) {
          return each.format.kind == format::LevelKind::Dense && each.expr->kind == format::ExprKind::Dim;
        }))
      return false;
    const auto dim = unsigned(encoding.levels[level].expr->value);
    SmallVector<LocateOp> located;
    if (!type.isDynamicDim(dim) || !findSizes() || !findLocates(accesses, level, located))
      return false;
    replaceInside(dim, located);
    return true;
  }

  /// Where coordinates of the level are located, for accesses of this tensor alone; false where sizes of the
  /// level, or iterators for other tensors, come from it, too.
  bool findLocates(const program::OwnAccesses &accesses, uint64_t level, SmallVectorImpl<LocateOp> &located) {
    auto isOf = [&](Value tensor) { return tensor == destination || accesses.isOf(tensor); };
    return !loop.walk([&](Operation *op) {
                  auto locate = dyn_cast<LocateOp>(op);
                  if (!locate) {
                    const bool reads = program::readsPattern(op) && !isa<tensor::DimOp>(op) &&
                                       llvm::any_of(op->getOperands(), isOf);
                    auto size = dyn_cast<LevelSizeOp>(op);
                    return reads && !(size && size.getLevel() != level) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
                  }
                  if (!isOf(locate.getTensor()))
                    return WalkResult::advance();
                  if (locate.getLevel() == level)
                    located.push_back(locate);
                  const bool own = llvm::all_of(locate->getUsers(), [&](Operation *user) {
                    auto load = dyn_cast<LoadOp>(user);
                    auto store = dyn_cast<StoreOp>(user);
                    auto inner = dyn_cast<LocateOp>(user);
                    return (load && isOf(load.getTensor())) || (store && isOf(store.getTensor())) ||
                           (inner && isOf(inner.getTensor()));
                  });
                  return own ? WalkResult::advance() : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  /// The first coordinate that an iteration has of the level, and how many there are.
  std::pair<Value, Value> ownCoordinates(OpBuilder &b) {
    levels::IndicesAt at(b, loop.getLoc());
    if (!block)
      return {loop.getBody().getArgument(0), at.constant(1)};
    auto bounds = BoundsOp::create(b, block.getLoc(), block);
    Value end = arith::MaxUIOp::create(b, block.getLoc(), bounds.getBegin(), bounds.getEnd());
    return {bounds.getBegin(), at.sub(end, bounds.getBegin())};
  }

  void replaceInside(unsigned dim, ArrayRef<LocateOp> located) {
    // The size of one coordinate is that of all: it is known before the loop.
    OpBuilder inside = atFirst(), outside(loop), &before = block ? inside : outside;
    Location loc = loop.getLoc();
    auto type = cast<RankedTensorType>(destination.getType());
    auto [begin, coordinates] = ownCoordinates(before);
    SmallVector<Value> dims = wholeDims(before);
    dims[dim] = coordinates;
    levels::IndicesAt at(before, loc);
    Value count = dims[0];
    for (Value size : ArrayRef(dims).drop_front())
      count = at.elements(count, size);
    auto memory = MemRefType::get({ShapedType::kDynamic}, memoryType(type.getElementType()));
    Value buffer = levels::allocate(inside, loc, memory, count);
    Value own = StorageOp::create(inside, loc, type, buffer, dims);
    Value start = fill ? Value(FillOp::create(inside, loc, type, fill.getValue(), own)) : own;
    for (LocateOp locate : located)
      locate.getCoordinateMutable().assign(block ? levels::Indices(locate).sub(locate.getCoordinate(), begin)
                                                 : constantBefore(locate, 0));
    useInLoop(own, start);
    inside.setInsertionPoint(loop.getBody().front().getTerminator());
    memref::DeallocOp::create(inside, loc, buffer);
  }

  //===--- Both ---===//

  /// Where an iteration begins, behind its block if it has one.
  OpBuilder atFirst() {
    return block ? OpBuilder(block->getBlock(), std::next(block->getIterator()))
                 : OpBuilder::atBlockBegin(&loop.getBody().front());
  }

  /// The sizes of the whole tensor; what asked it for its sizes asks an argument that stays.
  SmallVector<Value> wholeDims(OpBuilder &b) {
    SmallVector<Value> dims;
    for (auto [arg, d] : sizes)
      dims.push_back(tensor::DimOp::create(b, loop.getLoc(), arg, d));
    for (Operation *user : llvm::make_early_inc_range(destination.getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        auto [arg, d] = sizes[size_t(*dim.getConstantIndex())];
        dim.getSourceMutable().assign(arg);
        dim.getIndexMutable().assign(constantBefore(dim, d));
      }
    return dims;
  }

  /// The loop works on the block's own tensor, and carries nothing.
  void useInLoop(Value own, Value start) {
    program::carriedArgument(loop, number).replaceAllUsesWith(start);
    destination.replaceUsesWithIf(own, [&](OpOperand &use) { return program::readsPattern(use.getOwner()); });
    Block &body = loop.getBody().front();
    body.getTerminator()->setOperand(number, program::carriedArgument(loop, number));
    explainChoice(loop, block ? "contracting: a tensor has memory for one block at a time"
                              : "contracting: a tensor has memory for one iteration at a time");
  }

  void replace(BlockArgument like) {
    OpBuilder b = atFirst();
    auto type = cast<RankedTensorType>(destination.getType());
    Value empty = EmptyOp::create(b, block.getLoc(), type, wholeDims(b), like, block);
    Value start = empty;
    if (fill)
      start = FillOp::create(b, block.getLoc(), type, fill.getValue(), empty);
    useInLoop(empty, start);
  }

  func::FuncOp function;
  IterateOp loop;
  unsigned number;
  PartitionOp block;
  FillOp fill;
  BlockArgument destination;
  SmallVector<std::pair<BlockArgument, int64_t>> sizes;
};

struct ContractTensors : impl::ContractTensorsBase<ContractTensors> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    bool changed = false;
    for (IterateOp loop : llvm::to_vector(function.getOps<IterateOp>()))
      for (unsigned k = 0; k < loop.getNumResults(); ++k)
        changed |= Candidate(function, loop, k).contract();
    if (!changed)
      return markAllAnalysesPreserved();
    RewritePatternSet patterns(&getContext());
    IterateOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
