// tulle-contract-tensors: a tensor whose values live within one block of a loop over blocks has memory for
// one block (array contraction).
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// A destination that one loop over blocks carries.
class Candidate {
public:
  Candidate(func::FuncOp function, IterateOp loop, unsigned number)
      : function(function), loop(loop), number(number), block(program::blockOf(loop)) {}

  bool contract() {
    if (!loop.getResult(number).use_empty() || !findDestination() || !isOwn())
      return false;
    std::optional<BlockArgument> like = findPattern();
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
    if (fill && !fill->hasOneUse())
      return false;
    destination = dyn_cast<BlockArgument>(fill ? fill.getTensor() : init);
    return destination && destination.getOwner() == &function.getBody().front() &&
           function.getArgAttr(destination.getArgNumber(), kStatementAttr) &&
           llvm::all_of(destination.getUses(), [&](OpOperand &use) {
             Operation *user = use.getOwner();
             if (user == block)
               return false;
             auto dim = dyn_cast<tensor::DimOp>(user);
             return (dim && dim.getConstantIndex()) || user == fill || user == loop ||
                    (program::readsPattern(user) && loop->isAncestor(user));
           });
  }

  /// Whether all accesses are at coordinates of the block, of the first level.
  bool isOwn() {
    program::OwnAccesses accesses(loop);
    auto type = cast<RankedTensorType>(destination.getType());
    if (!EmptyOp::isPossibleFor(type) || !accesses.add(program::carriedArgument(loop, number)) ||
        accesses.level() != uint64_t(0))
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

  void replace(BlockArgument like) {
    OpBuilder b(block->getBlock(), std::next(block->getIterator()));
    auto type = cast<RankedTensorType>(destination.getType());
    SmallVector<Value> dims;
    for (auto [arg, d] : sizes)
      dims.push_back(tensor::DimOp::create(b, block.getLoc(), arg, d));
    for (Operation *user : llvm::make_early_inc_range(destination.getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        auto [arg, d] = sizes[size_t(*dim.getConstantIndex())];
        dim.getSourceMutable().assign(arg);
        dim.getIndexMutable().assign(constantBefore(dim, d));
      }
    Value empty = EmptyOp::create(b, block.getLoc(), type, dims, like, block);
    Value start = empty;
    if (fill)
      start = FillOp::create(b, block.getLoc(), type, fill.getValue(), empty);
    program::carriedArgument(loop, number).replaceAllUsesWith(start);
    destination.replaceUsesWithIf(empty,
                                  [&](OpOperand &use) { return program::readsPattern(use.getOwner()); });
    Block &body = loop.getBody().front();
    body.getTerminator()->setOperand(number, program::carriedArgument(loop, number));
    explainChoice(loop, "contracting: a tensor has memory for one block at a time");
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
      if (program::blockOf(loop))
        for (unsigned k = 0; k < loop.getNumResults(); ++k)
          changed |= Candidate(function, loop, k).contract();
    if (!changed)
      return;
    RewritePatternSet patterns(&getContext());
    IterateOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
