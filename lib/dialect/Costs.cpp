#include "dialect/Costs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace tulle::dialect {

static constexpr StringLiteral kCpu = "tulle.cpu";

/// Calls `field` with the name and the value of everything that is a number.
template <typename Cpu, typename Field> static void forEachNumber(Cpu &cpu, Field field) {
  field("vector_bits", cpu.vectorBits);
  field("registers", cpu.registers);
  field("l1", cpu.l1);
  field("l2", cpu.l2);
  field("near", cpu.nearBytes);
  field("line", cpu.line);
  field("gathers", cpu.gathers);
  field("masks", cpu.masks);
  field("foresees", cpu.foresees);
  field("intersects", cpu.intersects);
  field("fetch_ahead", cpu.fetchAhead);
  field("fetch_gathers", cpu.fetchGathers);
  field("fetch_tiles", cpu.fetchTiles);
  field("fetch_following", cpu.fetchFollowing);
  field("fetch_rows", cpu.fetchRows);
  field("fetch_blocks", cpu.fetchBlocks);
  field("fetch_wide_rows", cpu.fetchWideRows);
  field("fetch_trees", cpu.fetchTrees);
  field("entries_per_fetch", cpu.entriesPerFetch);
  field("vectors_per_fetch", cpu.vectorsPerFetch);
  field("gather_steps", cpu.gatherSteps);
}

iteration::CostModel costModel(Operation *op) {
  iteration::Cpu cpu;
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto attributes = module ? module->getAttrOfType<DictionaryAttr>(kCpu) : DictionaryAttr();
  if (!attributes)
    return iteration::CostModel(cpu);
  if (auto name = attributes.getAs<StringAttr>("name"))
    cpu.name = name.str();
  forEachNumber(cpu, [&](StringRef name, auto &into) {
    if (auto value = attributes.getAs<IntegerAttr>(name))
      into = value.getInt();
  });
  return iteration::CostModel(cpu);
}

void setCpu(ModuleOp module, const iteration::Cpu &cpu) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> attributes{b.getNamedAttr("name", b.getStringAttr(cpu.name))};
  forEachNumber(cpu, [&](StringRef name, int64_t value) {
    attributes.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  });
  module->setAttr(kCpu, b.getDictionaryAttr(attributes));
}

void explainChoice(Operation *op, StringRef reason) {
  if (op->getContext()->getRemarkEngine())
    remark::passed(op->getLoc(), remark::RemarkOpts::name("Choice").category(kChoice))
        << remark::reason("{0}", reason);
}

} // namespace tulle::dialect
