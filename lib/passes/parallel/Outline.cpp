// tulle-outline: outlines parallel regions into functions.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
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
    SmallVector<dialect::ParallelOp> regions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](dialect::ParallelOp op) { regions.push_back(op); });
    for (auto [number, op] : llvm::enumerate(regions)) {
      if (op->getNumResults() != 0) {
        op.emitError("expected a region that carries nothing; run tulle-lower first");
        return signalPassFailure();
      }
      outline(op, unsigned(number));
    }
  }

  /// Values from outside become arguments; constants are cloned, so that they stay known.
  static SmallVector<Value> captures(dialect::ParallelOp op) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op.getBody(), used);
    OpBuilder b = OpBuilder::atBlockBegin(&op.getBody().front());
    SmallVector<Value> kept;
    for (Value value : used) {
      Operation *constant = value.getDefiningOp();
      if (!constant || !constant->hasTrait<OpTrait::ConstantLike>()) {
        kept.push_back(value);
        continue;
      }
      Value copy = b.clone(*constant)->getResult(0);
      replaceAllUsesInRegionWith(value, copy, op.getBody());
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

  static func::FuncOp declare(OpBuilder &b, Location loc, StringRef name, TypeRange types) {
    auto function = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
    function.setPrivate();
    return function;
  }

  void outline(dialect::ParallelOp op, unsigned number) {
    Location loc = op.getLoc();
    SmallVector<Value> outside = captures(op);
    SmallVector<Type> types{IndexType::get(&getContext())};
    llvm::append_range(types, ValueRange(outside).getTypes());
    std::string of = std::to_string(number) + "_" + op->getParentOfType<func::FuncOp>().getName().str();

    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    func::FuncOp task = declare(b, loc, (dialect::kTaskPrefix + of).str(), types);
    if (areDistinct(outside))
      task->setAttr(dialect::kNoaliasAttr, b.getUnitAttr());
    func::FuncOp launch = declare(b, loc, (dialect::kLaunchPrefix + of).str(), types);

    task.getBody().takeBody(op.getBody());
    Block &body = task.getBody().front();
    for (Value value : outside)
      replaceAllUsesInRegionWith(value, body.addArgument(value.getType(), loc), task.getBody());
    Operation *terminator = body.getTerminator();
    b.setInsertionPoint(terminator);
    func::ReturnOp::create(b, loc);
    terminator->erase();

    b.setInsertionPoint(op);
    SmallVector<Value> operands{op.getTasks()};
    llvm::append_range(operands, outside);
    func::CallOp::create(b, loc, launch, operands);
    op.erase();
  }
};

} // namespace
} // namespace tulle::passes
