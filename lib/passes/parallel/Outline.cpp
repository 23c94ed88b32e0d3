// tulle-outline: outlines parallel regions, and regions that must not be inlined, into functions; so are the
// outermost loops of a function that has many of them.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_OUTLINE
#include "passes/Passes.h.inc"

namespace {

struct Outline : impl::OutlineBase<Outline> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock())
        wrapLoops(function.getBody().front());
    // Regions inside others first: what is left of them is a call.
    SmallVector<Operation *> regions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        auto region = dyn_cast<scf::ExecuteRegionOp>(op);
        if (isa<dialect::ParallelOp>(op) ||
            (region && region.getNoInline() && region.getRegion().hasOneBlock()))
          regions.push_back(op);
      });
    for (auto [number, op] : llvm::enumerate(regions)) {
      if (isa<dialect::ParallelOp>(op) && op->getNumResults() != 0) {
        op->emitError("expected a region that carries nothing; run tulle-lower first");
        return signalPassFailure();
      }
      std::string of = std::to_string(number) + "_" + op->getParentOfType<func::FuncOp>().getName().str();
      auto parallel = dyn_cast<dialect::ParallelOp>(op);
      parallel ? outline(parallel, of) : outline(cast<scf::ExecuteRegionOp>(op), of);
      op->erase();
    }
  }

  /// LLVM looks from each loop of a function at those before it (experiment 065): of many, each gets a region
  /// of its own. What has memory as result keeps its place.
  void wrapLoops(Block &block) {
    auto loops = llvm::filter_to_vector(llvm::make_pointer_range(block), [](Operation *op) {
      return op->getNumRegions() > 0 && !isa<dialect::ParallelOp, scf::ExecuteRegionOp>(op) &&
             llvm::none_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
    });
    if (int64_t(loops.size()) <= dialect::costModel(getOperation()).costs.mostLoops)
      return;
    for (Operation *loop : loops) {
      OpBuilder b(loop);
      auto region = scf::ExecuteRegionOp::create(b, loop->getLoc(), loop->getResultTypes(),
                                                 /*no_inline=*/b.getUnitAttr());
      loop->replaceAllUsesWith(region);
      b.createBlock(&region.getRegion());
      loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      scf::YieldOp::create(b, loop->getLoc(), loop->getResults());
    }
  }

  /// Values from outside become arguments; constants are cloned, so that they stay known.
  static SmallVector<Value> captures(Region &region) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(region, used);
    OpBuilder b = OpBuilder::atBlockBegin(&region.front());
    SmallVector<Value> kept;
    DenseMap<Value, Value> copies;
    for (Value value : used) {
      Operation *constant = value.getDefiningOp();
      if (constant && constant->hasTrait<OpTrait::ConstantLike>())
        copies[value] = b.clone(*constant)->getResult(0);
      else
        kept.push_back(value);
    }
    replaceIn(region, copies);
    return kept;
  }

  /// Looks at what the region uses: a value may have uses in many others.
  static void replaceIn(Region &region, const DenseMap<Value, Value> &values) {
    region.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (Value replaced = values.lookup(operand.get()))
          operand.set(replaced);
    });
  }

  /// Whether each buffer is captured once: two views of one may overlap.
  static bool areDistinct(ArrayRef<Value> captured) {
    llvm::SmallPtrSet<Value, 8> seen;
    return llvm::all_of(captured, [&](Value value) {
      auto buffer = dyn_cast<MemrefValue>(value);
      return !buffer || seen.insert(memref::skipViewLikeOps(buffer)).second;
    });
  }

  func::FuncOp declare(Location loc, const std::string &name, TypeRange types, TypeRange results = {}) {
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto function = func::FuncOp::create(b, loc, name, b.getFunctionType(types, results));
    function.setPrivate();
    return function;
  }

  /// Moves the region into a function of its arguments and the captured values.
  func::FuncOp moveIntoFunction(Region &region, const std::string &name, ArrayRef<Value> captured) {
    SmallVector<Type> types(region.getArgumentTypes());
    llvm::append_range(types, ValueRange(captured).getTypes());
    Location loc = region.getLoc();
    Operation *terminator = region.front().getTerminator();
    func::FuncOp function = declare(loc, name, types, terminator->getOperandTypes());
    if (areDistinct(captured))
      function->setAttr(dialect::kNoaliasAttr, UnitAttr::get(&getContext()));
    function.getBody().takeBody(region);
    Block &body = function.getBody().front();
    DenseMap<Value, Value> arguments;
    for (Value value : captured)
      arguments[value] = body.addArgument(value.getType(), loc);
    replaceIn(function.getBody(), arguments);
    OpBuilder b(terminator);
    func::ReturnOp::create(b, loc, terminator->getOperands());
    terminator->erase();
    return function;
  }

  void outline(dialect::ParallelOp op, const std::string &of) {
    SmallVector<Value> operands{op.getTasks()};
    SmallVector<Value> captured = captures(op.getBody());
    llvm::append_range(operands, captured);
    moveIntoFunction(op.getBody(), (dialect::kTaskPrefix + of).str(), captured);
    func::FuncOp launch =
        declare(op.getLoc(), (dialect::kLaunchPrefix + of).str(), ValueRange(operands).getTypes());
    OpBuilder b(op);
    func::CallOp::create(b, op.getLoc(), launch, operands);
  }

  void outline(scf::ExecuteRegionOp op, const std::string &of) {
    SmallVector<Value> captured = captures(op.getRegion());
    func::FuncOp block = moveIntoFunction(op.getRegion(), "block" + of, captured);
    block.setNoInline(true);
    OpBuilder b(op);
    op->replaceAllUsesWith(func::CallOp::create(b, op.getLoc(), block, captured));
  }
};

} // namespace
} // namespace tulle::passes
