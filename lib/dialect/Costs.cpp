// Reads the processor from the module's attribute; a reason becomes a remark where the context has an engine
// for these.
#include "dialect/Costs.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace tulle::dialect {

iteration::CostModel costModel(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto cpu = module ? module->getAttrOfType<CpuAttr>(kCpuAttr) : CpuAttr();
  return cpu ? iteration::CostModel(cpu.getValue()) : iteration::CostModel();
}

void setCpu(ModuleOp module, const iteration::Cpu &cpu) {
  module->setAttr(kCpuAttr, CpuAttr::get(module.getContext(), cpu));
}

void explainChoice(Operation *op, StringRef reason) {
  if (op->getContext()->getRemarkEngine())
    remark::passed(op->getLoc(), remark::RemarkOpts::name("Choice").category(kChoice))
        << remark::reason("{0}", reason);
}

} // namespace tulle::dialect
