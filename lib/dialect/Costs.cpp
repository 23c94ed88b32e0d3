#include "dialect/Costs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace tulle::dialect {

static constexpr StringLiteral kCpu = "tulle.cpu";

iteration::CostModel costModel(Operation *op) {
  iteration::Cpu cpu;
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto attributes = module ? module->getAttrOfType<DictionaryAttr>(kCpu) : DictionaryAttr();
  if (!attributes)
    return iteration::CostModel(cpu);
  auto read = [&](StringRef name, auto &into) {
    if (auto value = attributes.getAs<IntegerAttr>(name))
      into = value.getInt();
  };
  if (auto name = attributes.getAs<StringAttr>("name"))
    cpu.name = name.str();
  read("vector_bits", cpu.vectorBits);
  read("registers", cpu.registers);
  read("l1", cpu.l1);
  read("l2", cpu.l2);
  read("near", cpu.nearBytes);
  read("line", cpu.line);
  read("gathers", cpu.gathers);
  read("masks", cpu.masks);
  read("foresees", cpu.foresees);
  return iteration::CostModel(cpu);
}

void setCpu(ModuleOp module, const iteration::Cpu &cpu) {
  Builder b(module.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  module->setAttr(
      kCpu, b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(cpu.name)),
                                 number("vector_bits", cpu.vectorBits), number("registers", cpu.registers),
                                 number("l1", cpu.l1), number("l2", cpu.l2), number("near", cpu.nearBytes),
                                 number("line", cpu.line), number("gathers", cpu.gathers),
                                 number("masks", cpu.masks), number("foresees", cpu.foresees)}));
}

void explainChoice(Operation *op, StringRef reason) {
  if (op->getContext()->getRemarkEngine())
    remark::passed(op->getLoc(), remark::RemarkOpts::name("Choice").category(kChoice))
        << remark::reason("{0}", reason);
}

} // namespace tulle::dialect
