// Follows the value of the only insert to the tensor it is loaded from, and the loops around to its levels.
#include "passes/assemble/algorithms/BufferReuse.h"
#include "dialect/Attributes.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/choose/InsertLoops.h"
#include "passes/assemble/choose/Strategies.h"
#include "passes/parallel/SetLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;

/// The loop that iterates over the positions `iterator` is one of, each by itself, and nothing else.
static IterateOp loopOver(Value iterator, Value tensor, unsigned level) {
  auto argument = dyn_cast_or_null<BlockArgument>(iterator);
  auto loop = argument ? dyn_cast<IterateOp>(argument.getOwner()->getParentOp()) : IterateOp();
  auto space = loop && loop.getNumResults() == 0 ? loop.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  if (!space || space.getTensor() != tensor || space.getLevel() != level)
    return {};
  const auto &levels = encodingOf(tensor).levels;
  return loop.getEach() || levels[level].format.unique ? loop : IterateOp();
}

/// The loops around the insert that visit every value of the tensor once, in order; empty where they do not.
static SmallVector<IterateOp> loopsAround(InsertOp insert, LoadOp load) {
  Value tensor = load.getTensor(), iterator = load.getIterator();
  auto levels = unsigned(encodingOf(tensor).levels.size());
  SmallVector<IterateOp> loops(levels);
  Operation *inside = insert;
  for (unsigned l = levels; l-- > 0;) {
    IterateOp loop = loopOver(iterator, tensor, l);
    if (!loop || inside->getParentOp() != loop)
      return {};
    loops[l] = loop;
    iterator = loop.getSpace().getDefiningOp<SpaceOp>().getParent();
    inside = loop;
  }
  return isa<EntriesOp>(inside->getParentOp()) ? loops : SmallVector<IterateOp>();
}

/// Whether the positions of the last level follow each other without gaps, in the order of storage.
static bool isPacked(const format::Encoding &encoding) {
  return llvm::all_of(encoding.levels, [](const format::Level &level) {
    LevelKind kind = level.format.kind;
    return kind == LevelKind::Dense || kind == LevelKind::Compressed ||
           (kind == LevelKind::Singleton && !level.format.padded);
  });
}

/// Whether there is a coordinate of the level for each value.
static bool belongsToValues(const format::Encoding &encoding, unsigned level) {
  for (unsigned l = level + 1; l < encoding.levels.size(); ++l)
    if (encoding.levels[l].format.kind != LevelKind::Singleton)
      return false;
  return true;
}

/// The field of coordinates that stand by themselves, one for each position.
static const format::Field *ownField(const format::Layout &layout, unsigned level) {
  const auto &ref = layout.coordinates[level];
  return ref && ref->stride == 1 && layout.fields[ref->field].width != 2 ? &layout.fields[ref->field]
                                                                         : nullptr;
}

std::optional<BufferReuse> BufferReuse::find(const Target &target, const Stream &stream, bool share) {
  const Order &order = stream.order;
  if (!order.unique || !order.sorted() || !growsAtEnds(target) || target.storedLevels() == 0 ||
      target.storedLevels() != target.levels())
    return std::nullopt;
  SmallVector<InsertOp> inserts = insertsOf(*stream.loops);
  auto load = inserts.size() == 1 ? inserts[0].getValue().getDefiningOp<LoadOp>() : LoadOp();
  // Truth values become 0 or 1 when they are read.
  if (!load || !load.getIterator() || load.getType() != target.storage.element || load.getType().isInteger(1))
    return std::nullopt;
  format::Encoding from = encodingOf(load.getTensor());
  SmallVector<IterateOp> loops = loopsAround(inserts[0], load);
  if (loops.empty() || !isPacked(from))
    return std::nullopt;

  BufferReuse found;
  found.source = load.getTensor();
  // A bound of the entries is where the end of an aliased buffer is cut off, as that of one with memory to
  // spare.
  found.aliases = share && stream.bound && target.plan != AssemblyPlan::Count;
  format::Layout layout = format::layout(from);
  // The source's level that stores the coordinates of a target's, one for each entry.
  auto sourceLevel = [&](unsigned l) -> std::optional<unsigned> {
    const format::Expr &e = order.levels[l];
    if (e->kind == format::ExprKind::Dim)
      for (unsigned k = 0; k < from.levels.size(); ++k)
        if (ownField(layout, k) && belongsToValues(from, k) &&
            inserts[0].getCoordinates()[size_t(e->value)] == loops[k].getBody().getArgument(0))
          return k;
    return std::nullopt;
  };
  found.outerLevel = sourceLevel(0);
  for (unsigned l = 0; l < target.levels(); ++l) {
    const format::Field *own = ownField(target.storage.layout, l);
    std::optional<unsigned> k = sourceLevel(l);
    if (!own || !k || !belongsToValues(target.encoding(), l))
      continue;
    const format::Field *other = ownField(layout, *k);
    if (other->width == own->width && other->isSigned == own->isSigned) {
      found.targetFields.push_back(target.storage.layout.coordinates[l]->field);
      found.sourceLevels.push_back(*k);
    }
  }
  found.targetFields.push_back(target.storage.layout.valuesField());
  return found;
}

/// What all values of the source are, where it stores none.
Attribute BufferReuse::valueOfAll(const Target &target) const {
  return explicitAttr(encodingOf(source), target.storage.element);
}

bool BufferReuse::isAliased(const Target &target, size_t number) const {
  const bool isValues = number == sourceLevels.size();
  return aliases && !(isValues && valueOfAll(target));
}

Value BufferReuse::buffer(const Target &target, Type type, std::optional<unsigned> level) const {
  auto found = ValuesOp::create(target.builder, target.loc, type, source);
  if (level)
    found.setLevel(*level);
  return found;
}

Value BufferReuse::buffer(const Target &target, size_t number) const {
  return buffer(target, target.bufferType(targetFields[number]),
                number < sourceLevels.size() ? std::optional(sourceLevels[number]) : std::nullopt);
}

Value BufferReuse::outerCoordinates(const Target &target) const {
  if (!outerLevel || targetFields.size() + 1 != target.storage.layout.fields.size())
    return {};
  auto from = cast<RankedTensorType>(source.getType());
  format::Layout layout = format::layout(getEncoding(from).getValue());
  Type type = levels::fieldTypes(layout, from.getElementType())[layout.coordinates[*outerLevel]->field];
  return buffer(target, type, outerLevel);
}

void BufferReuse::alias(Target &target) const {
  for (size_t number = 0; number < targetFields.size(); ++number)
    if (isAliased(target, number))
      target.storage.fields[targetFields[number]] = buffer(target, number);
}

void BufferReuse::copy(const Target &target, Value chunk, Value chunks) const {
  if (llvm::all_of(llvm::seq(targetFields.size()), [&](size_t n) { return isAliased(target, n); }))
    return;
  Value count = make<StoredCountOp>(target, source);
  // The source may have memory behind its last entry.
  Value held = make<memref::DimOp>(target, target.storage.fields.back(), target.constant(0));
  count = target.umin(count, held);
  // Chunks begin at whole lines of any element.
  auto [first, last] = parallel::chunkBounds(target.builder, target.loc, count, {chunk, chunks}, kCacheLine);
  for (auto [number, field] : llvm::enumerate(targetFields)) {
    if (isAliased(target, number))
      continue;
    Value to = target.storage.fields[field];
    Attribute same = number == sourceLevels.size() ? valueOfAll(target) : Attribute();
    if (same)
      fillElements(target, to, first, last,
                   materialize(target.builder, target.loc, same, target.storage.element));
    else
      copyElements(target, buffer(target, number), first, to, first, target.sub(last, first));
  }
}

} // namespace tulle::assemble
