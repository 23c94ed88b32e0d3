#include "dialect/Costs.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tulle::dialect {

static constexpr StringLiteral kCpu = kCpuAttr;

namespace {

/// What a number may be: passes divide by some, and unroll by others.
struct Bounds {
  int64_t least, most;
  bool powerOfTwo = false;
};

/// Calls `field` with the name, the value and the bounds of everything that is a number.
template <typename Cpu, typename Field> void forEachNumber(Cpu &cpu, Field field) {
  constexpr Bounds yesOrNo{0, 1}, bytes{1 << 10, int64_t(1) << 40}, distance{0, 1 << 20}, count{1, 64};
  field("vector_bits", cpu.vectorBits, Bounds{64, 2048, /*powerOfTwo=*/true});
  field("registers", cpu.registers, Bounds{4, 1024});
  field("l1", cpu.l1, bytes);
  field("l2", cpu.l2, bytes);
  field("near", cpu.nearBytes, bytes);
  field("line", cpu.line, Bounds{16, 1024, /*powerOfTwo=*/true});
  field("gathers", cpu.gathers, yesOrNo);
  field("masks", cpu.masks, yesOrNo);
  field("foresees", cpu.foresees, yesOrNo);
  field("intersects", cpu.intersects, yesOrNo);
  field("fetch_ahead", cpu.fetchAhead, distance);
  field("fetch_gathers", cpu.fetchGathers, distance);
  field("fetch_tiles", cpu.fetchTiles, distance);
  field("fetch_blocks", cpu.fetchBlocks, distance);
  field("fetch_following", cpu.fetchFollowing, distance);
  field("fetch_rows", cpu.fetchRows, distance);
  field("fetch_wide_rows", cpu.fetchWideRows, distance);
  field("fetch_trees", cpu.fetchTrees, distance);
  field("entries_per_fetch", cpu.entriesPerFetch, count);
  field("vectors_per_fetch", cpu.vectorsPerFetch, count);
  field("gather_steps", cpu.gatherSteps, count);
}

} // namespace

LogicalResult verifyCpu(Operation *op, Attribute value) {
  auto cpu = dyn_cast<DictionaryAttr>(value);
  if (!cpu || !isa<ModuleOp>(op))
    return op->emitError() << "'" << kCpu << "' is a dictionary of a module";
  iteration::Cpu known;
  size_t found = cpu.contains("name");
  if (found && !cpu.getAs<StringAttr>("name"))
    return op->emitError() << "'" << kCpu << "': 'name' is a string";
  LogicalResult result = success();
  forEachNumber(known, [&](StringRef name, auto &, Bounds bounds) {
    Attribute value = cpu.get(name);
    if (!value)
      return;
    ++found;
    auto number = dyn_cast<IntegerAttr>(value);
    if (number && number.getType().isSignlessInteger(64) && number.getInt() >= bounds.least &&
        number.getInt() <= bounds.most && (!bounds.powerOfTwo || llvm::isPowerOf2_64(number.getInt())))
      return;
    result = op->emitError() << "'" << kCpu << "': '" << name << "' is a number of 64 bits, "
                             << (bounds.powerOfTwo ? "a power of two " : "") << "from " << bounds.least
                             << " to " << bounds.most;
  });
  if (succeeded(result) && found != cpu.size())
    return op->emitError() << "'" << kCpu << "' has something that is not known of a processor";
  return result;
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
  forEachNumber(cpu, [&](StringRef name, auto &into, Bounds) {
    if (auto value = attributes.getAs<IntegerAttr>(name))
      into = value.getInt();
  });
  return iteration::CostModel(cpu);
}

void setCpu(ModuleOp module, const iteration::Cpu &cpu) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> attributes{b.getNamedAttr("name", b.getStringAttr(cpu.name))};
  forEachNumber(cpu, [&](StringRef name, int64_t value, Bounds) {
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
