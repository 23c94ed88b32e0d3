#include "passes/register_tile/TileEmitter.h"

namespace tulle::passes {

using namespace mlir;
using Values = SmallVector<Value>;

BodyEmitter TileEmitter::part(Value first, Value mask, const Lanes &lanes) {
  BodyEmitter emitter(b, nest.legality, lanes, first, mask);
  emitter.hoist([&](Operation *op) { return nest.isOuterInvariant(op); });
  return emitter;
}

/// Where masks take time, tiles whose lanes are all active, but for conditions inside of the outer loops,
/// have a version of their own.
void TileEmitter::emitFull(Value begin, Value end, Value first, int64_t vectors, const Lanes &lanes) {
  std::vector<BodyEmitter> parts;
  for (int64_t v = 0; v < vectors; ++v)
    parts.push_back(part(add(first, constant(v * lanes.count)), {}, lanes));
  if (model.cpu.masks || nest.load->getParentOp() == nest.inner)
    return update(begin, end, parts, lanes);
  Value allActive;
  for (BodyEmitter &part : parts)
    allActive = both(allActive, part.allLanesActive(nest.load, nest.store));
  auto branch = scf::IfOp::create(b, loc, allActive, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  std::vector<BodyEmitter> unmasked(parts.begin(), parts.end());
  for (BodyEmitter &part : unmasked)
    part.assumeAllLanesActive();
  update(begin, end, unmasked, lanes);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  update(begin, end, parts, lanes);
}

void TileEmitter::emitMasked(Value begin, Value end, Value first, Value upper, const Lanes &lanes) {
  Value mask = activeLanes(b, loc, lanes, sub(upper, first));
  std::vector<BodyEmitter> parts{part(first, mask, lanes)};
  update(begin, end, parts, lanes);
}

/// The outer loops over the tile's elements: loaded before, stored after.
void TileEmitter::update(Value begin, Value end, Parts parts, const Lanes &lanes) {
  Values elements = initialElements(parts);
  store(parts, loops.run(begin, end, elements, parts, lanes), lanes);
}

/// The elements of a tile before the outer loops. Where they start from the fused initialization nothing is
/// loaded, not even by a mask without active lanes: that would bring the lines into the cache.
Values TileEmitter::initialElements(Parts parts) {
  auto loads = [&] {
    return llvm::map_to_vector(parts, [&](BodyEmitter part) { return part.loadHoisted(nest.load); });
  };
  if (!init)
    return loads();
  memref::LoadOp load = nest.load;
  Values values;
  for (BodyEmitter &part : parts)
    values.push_back(part.splat(load.getType(), init->value));
  return levels::ifElse(
      b, loc, startsFromInit, ValueRange(values).getTypes(), [&] { return values; },
      [&] { return Values(loads()); });
}

/// Stores are non-temporal where they write whole lines, the result starts from its initialization, and it is
/// larger than caches: others would load lines only to overwrite them.
void TileEmitter::store(Parts parts, ArrayRef<Value> values, const Lanes &lanes) {
  const int64_t bits = lanes.count * nest.legality.widestBits;
  auto storeAll = [&](bool nonTemporal) {
    for (auto [part, value] : llvm::zip_equal(parts, values))
      part.storeHoisted(nest.store, value, nonTemporal);
  };
  if (!storesNonTemporally || nest.store->getParentOp() != nest.inner ||
      int64_t(parts.size()) * bits % (model.cpu.line * 8) != 0)
    return storeAll(false);
  Value aligned = parts.front().isLineAligned(nest.store, storesNonTemporally);
  auto branch = scf::IfOp::create(b, loc, aligned, /*withElseRegion=*/true);
  for (bool nonTemporal : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint((nonTemporal ? branch.thenBlock() : branch.elseBlock())->getTerminator());
    storeAll(nonTemporal);
  }
}

} // namespace tulle::passes
