// Moves conversions of arguments to the caller.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_HOISTCONVERT
#include "passes/Passes.h.inc"

namespace {

struct HoistConvert : impl::HoistConvertBase<HoistConvert> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<dialect::ConvertOp> converts;
    function.walk([&](dialect::ConvertOp op) { converts.push_back(op); });
    for (dialect::ConvertOp op : converts) {
      auto arg = dyn_cast<BlockArgument>(op.getSource());
      if (!arg || arg.getOwner() != &function.getBody().front()) {
        op.emitError("only an argument of the function can be converted");
        return signalPassFailure();
      }
      hoist(function, op, arg.getArgNumber());
    }
  }

  /// The converted tensor becomes an argument; the unconverted one goes when nothing else reads it.
  void hoist(func::FuncOp function, dialect::ConvertOp op, unsigned number) {
    Builder b(function.getContext());
    Attribute source = dialect::getEncoding(cast<RankedTensorType>(op.getSource().getType()));
    Attribute name = function.getArgAttr(number, dialect::kNameAttr);
    Value target = existing(function, op, name);
    if (!target) {
      SmallVector<NamedAttribute> attrs{b.getNamedAttr(dialect::kSourceAttr, source)};
      for (StringRef kept : {dialect::kNameAttr, dialect::kEntriesAttr, dialect::kWholeAttr})
        if (Attribute attr = function.getArgAttr(number, kept))
          attrs.push_back(b.getNamedAttr(kept, attr));
      (void)function.insertArgument(number + 1, op.getType(), b.getDictionaryAttr(attrs), op.getLoc());
      target = function.getArgument(number + 1);
    }
    op.getResult().replaceAllUsesWith(target);
    op.erase();
    // Sizes are the same in every format.
    for (OpOperand &use : llvm::make_early_inc_range(function.getArgument(number).getUses()))
      if (isa<tensor::DimOp>(use.getOwner()))
        use.set(target);
    if (function.getArgument(number).use_empty())
      (void)function.eraseArgument(number);
  }

  static Value existing(func::FuncOp function, dialect::ConvertOp op, Attribute name) {
    for (BlockArgument arg : function.getArguments())
      if (name && arg.getType() == op.getType() &&
          function.getArgAttr(arg.getArgNumber(), dialect::kNameAttr) == name &&
          function.getArgAttr(arg.getArgNumber(), dialect::kSourceAttr))
        return arg;
    return {};
  }
};

} // namespace
} // namespace tulle::passes
