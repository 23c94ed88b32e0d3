// tulle-outline: outlines parallel regions, and regions that must not be inlined, into functions.
#include "dialect/Attributes.h"
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
      if (op->getNumResults() != 0) {
        op->emitError("expected a region that carries nothing; run tulle-lower first");
        return signalPassFailure();
      }
      std::string of = std::to_string(number) + "_" + op->getParentOfType<func::FuncOp>().getName().str();
      auto parallel = dyn_cast<dialect::ParallelOp>(op);
      parallel ? outline(parallel, of) : outline(cast<scf::ExecuteRegionOp>(op), of);
      op->erase();
    }
  }

  /// Values from outside become arguments; constants are cloned, so that they stay known.
  static SmallVector<Value> captures(Region &region) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(region, used);
    OpBuilder b = OpBuilder::atBlockBegin(&region.front());
    SmallVector<Value> kept;
    for (Value value : used) {
      Operation *constant = value.getDefiningOp();
      if (!constant || !constant->hasTrait<OpTrait::ConstantLike>()) {
        kept.push_back(value);
        continue;
      }
      Value copy = b.clone(*constant)->getResult(0);
      replaceAllUsesInRegionWith(value, copy, region);
    }
    return kept;
  }

  /// Whether each buffer is captured once: two views of one may overlap.
  static bool areDistinct(ArrayRef<Value> captured) {
    llvm::SmallPtrSet<Value, 8> seen;
    return llvm::all_of(captured, [&](Value value) {
      auto buffer = dyn_cast<MemrefValue>(value);
      return !buffer || seen.insert(memref::skipViewLikeOps(buffer)).second;
    });
  }

  func::FuncOp declare(Location loc, const std::string &name, TypeRange types) {
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto function = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
    function.setPrivate();
    return function;
  }

  /// Moves the region into a function of its arguments and the captured values.
  func::FuncOp moveIntoFunction(Region &region, const std::string &name, ArrayRef<Value> captured) {
    SmallVector<Type> types(region.getArgumentTypes());
    llvm::append_range(types, ValueRange(captured).getTypes());
    Location loc = region.getLoc();
    func::FuncOp function = declare(loc, name, types);
    if (areDistinct(captured))
      function->setAttr(dialect::kNoaliasAttr, UnitAttr::get(&getContext()));
    function.getBody().takeBody(region);
    Block &body = function.getBody().front();
    for (Value value : captured)
      replaceAllUsesInRegionWith(value, body.addArgument(value.getType(), loc), function.getBody());
    OpBuilder b(body.getTerminator());
    func::ReturnOp::create(b, loc);
    body.getTerminator()->erase();
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
    func::CallOp::create(b, op.getLoc(), block, captured);
  }
};

} // namespace
} // namespace tulle::passes
