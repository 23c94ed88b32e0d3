// tulle-prefetch: what a schedule says is prefetched.
//
// The address of an access in a later iteration is computed from what says where that is: the loads on the
// way are of elements that exist. Coordinates at the loop's own index bound how far ahead the loop may look;
// other loads are of their buffer's last element at most.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PREFETCH
#include "passes/Passes.h.inc"

using namespace mlir;

/// What is said of an argument; null for other buffers.
static Attribute factOf(Value buffer, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function ? function.getArgAttr(argument.getArgNumber(), name) : Attribute();
}

StringRef operandOf(Value buffer) {
  auto name = dyn_cast_or_null<StringAttr>(factOf(buffer, dialect::kNameAttr));
  return name ? name.getValue() : StringRef();
}

bool hasFewerBytes(Value buffer, int64_t bytes) {
  auto below = dyn_cast_or_null<IntegerAttr>(factOf(buffer, dialect::kBytesBelowAttr));
  return below && below.getInt() <= bytes;
}

bool isPrefetchScheduled(scf::ForOp loop, Value buffer) {
  const StringRef operand = operandOf(buffer);
  for (; loop && !operand.empty(); loop = loop->getParentOfType<scf::ForOp>())
    if (const dialect::DirectivesAttr said = dialect::loopOf(loop).getDirectives();
        said && said.prefetchOf(operand))
      return true;
  return false;
}

namespace {

/// An operation that reads a buffer at an index, and how many elements from there on.
struct Access {
  Value buffer, index;
  int64_t elements = 1;
};

Access accessOf(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op); load && load.getIndices().size() == 1)
    return {load.getMemRef(), load.getIndices()[0]};
  if (auto load = dyn_cast<vector::LoadOp>(op); load && load.getIndices().size() == 1)
    return {load.getBase(), load.getIndices()[0]};
  if (auto load = dyn_cast<vector::MaskedLoadOp>(op); load && load.getIndices().size() == 1)
    return {load.getBase(), load.getIndices()[0]};
  if (auto segment = dyn_cast<dialect::SegmentOp>(op))
    return {segment.getPositions(), segment.getAt(), 2};
  return {};
}

/// The prefetches of one operand in the iterations of a loop.
class LoopPrefetch : levels::Indices {
public:
  LoopPrefetch(scf::ForOp loop, StringRef operand, int64_t distance, const iteration::Cpu &cpu)
      : Indices(loop), loop(loop), distance(distance), line(cpu.line),
        locality(cpu.prefetchIntoL2 ? kIntoL2 : kIntoL1) {
    loop.getBody()->walk([&](Operation *op) {
      if (Access access = accessOf(op); access.buffer && operandOf(access.buffer) == operand)
        add(access, op);
    });
  }

  bool emit() {
    const bool isIndirect = llvm::any_of(accesses, [](const Found &found) { return !found.isSegment; });
    for (const Found &found : accesses)
      // Where a segment begins is needed before its first entry can be prefetched.
      emit(found, found.isSegment && isIndirect ? 2 * distance : distance);
    return !accesses.empty();
  }

private:
  struct Found {
    Access access;
    scf::ForOp lines; ///< the loop inside whose iterations read consecutive elements, or null
    bool isSegment;
  };
  scf::ForOp loop;
  int64_t distance, line;
  unsigned locality;
  SmallVector<Found> accesses;
  Operation *last = nullptr; ///< that has been emitted into the loop's body
  llvm::DenseSet<std::pair<Value, std::pair<Value, int64_t>>> emitted; ///< buffer, index, line behind it

  void add(const Access &access, Operation *op) {
    if (!loop.isDefinedOutsideOfLoop(access.buffer) || !isKnown(access.index) || !depends(access.index))
      return;
    auto inner = op->getParentOfType<scf::ForOp>();
    const bool consecutive = inner != loop && isShift(access.index, inner) && isKnown(inner.getUpperBound());
    accesses.push_back({access, consecutive ? inner : scf::ForOp(), isa<dialect::SegmentOp>(op)});
  }

  /// Whether the value can be computed for another iteration.
  bool isKnown(Value value) {
    SmallVector<Value> bounds;
    const bool known = acceptsSlice(value, [&](Value at) -> std::optional<bool> {
      if (loop.isDefinedOutsideOfLoop(at) || at == loop.getInductionVar())
        return true;
      if (!at.getType().isIntOrIndex())
        return false;
      if (auto inner = indexedBy(at)) {
        bounds.push_back(inner.getLowerBound());
        return true;
      }
      Operation *op = at.getDefiningOp();
      const bool copied =
          op && op->getNumRegions() == 0 && (isa<memref::LoadOp, dialect::SegmentOp>(op) || isPure(op));
      return copied ? std::nullopt : std::optional(false);
    });
    return known && llvm::all_of(bounds, [&](Value bound) { return isKnown(bound); });
  }

  /// The loop inside that the value is the index of; null for others.
  scf::ForOp indexedBy(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto inner = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    return inner && inner.getInductionVar() == value ? inner : scf::ForOp();
  }

  /// Whether the value is another one in another iteration.
  bool depends(Value value) {
    SmallVector<Value> bounds;
    const bool same = acceptsSlice(value, [&](Value at) -> std::optional<bool> {
      if (loop.isDefinedOutsideOfLoop(at))
        return true;
      if (at == loop.getInductionVar())
        return false;
      if (auto inner = indexedBy(at))
        bounds.push_back(inner.getLowerBound());
      return std::nullopt;
    });
    return !same || llvm::any_of(bounds, [&](Value bound) { return depends(bound); });
  }

  /// Whether the value is the loop's index and something that is the same in all of its iterations.
  static bool isShift(Value value, scf::ForOp inner) {
    if (value == inner.getInductionVar())
      return true;
    auto sum = value.getDefiningOp<arith::AddIOp>();
    if (!sum)
      return false;
    auto isInvariant = [&](Value at) {
      return acceptsSlice(at, [&](Value v) -> std::optional<bool> {
        if (inner.isDefinedOutsideOfLoop(v))
          return true;
        return v.getDefiningOp() && isPure(v.getDefiningOp()) ? std::nullopt : std::optional(false);
      });
    };
    return (isShift(sum.getLhs(), inner) && isInvariant(sum.getRhs())) ||
           (isShift(sum.getRhs(), inner) && isInvariant(sum.getLhs()));
  }

  /// Whether the operation loads at the loop's own index, in each iteration.
  bool isAtIndex(Operation *op, const Access &access) {
    return op->getBlock() == loop.getBody() && access.index == loop.getInductionVar();
  }

  /// The operations that load on the way to the values.
  SmallVector<Operation *> loadsBehind(ArrayRef<Value> values) {
    llvm::SetVector<Operation *> loads;
    SmallVector<Value> open(values);
    while (!open.empty())
      (void)acceptsSlice(open.pop_back_val(), [&](Value at) -> std::optional<bool> {
        if (loop.isDefinedOutsideOfLoop(at))
          return true;
        if (auto inner = indexedBy(at); inner && inner != loop)
          open.push_back(inner.getLowerBound());
        if (Operation *op = at.getDefiningOp(); op && accessOf(op).buffer)
          loads.insert(op);
        return std::nullopt;
      });
    return loads.takeVector();
  }

  void emit(const Found &found, int64_t ahead) {
    SmallVector<Value> values{found.access.index};
    if (scf::ForOp lines = found.lines)
      values.append({lines.getLowerBound(), lines.getUpperBound()});
    b.setInsertionPoint(loop);
    Value shift = b.createOrFold<arith::MulIOp>(loc, constant(ahead), loop.getStep()), exists;
    for (Operation *op : loadsBehind(values)) {
      const Access access = accessOf(op);
      Value size = sizeOf(access.buffer);
      if (isAtIndex(op, access))
        shift = min(shift, sub(access.elements == 1 ? size : sub(size, constant(access.elements - 1)),
                               loop.getUpperBound()));
      else if (op->getBlock() != loop.getBody()) // it may have nothing to load
        exists = both(exists, is(arith::CmpIPredicate::uge, size, constant(access.elements)));
    }
    if (last)
      b.setInsertionPointAfter(last);
    else
      b.setInsertionPointToStart(loop.getBody());
    if (exists) {
      last = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
      b.setInsertionPointToStart(cast<scf::IfOp>(last).thenBlock());
    }
    prefetchAt(found, shift);
    if (!exists)
      last = &*std::prev(b.getInsertionPoint());
  }

  void prefetchAt(const Found &found, Value shift) {
    IRMapping later;
    later.map(loop.getInductionVar(), b.createOrFold<arith::AddIOp>(loc, loop.getInductionVar(), shift));
    if (found.lines)
      return emitLines(found, later);
    Value index = valueIn(found.access.index, later);
    if (isNew(found.access.buffer, index))
      emitPrefetch(b, loc, found.access.buffer, index, /*isWrite=*/false, locality);
  }

  int64_t lineElements(Value buffer) const {
    return std::max<int64_t>(1, line * 8 / bitsOf(cast<MemRefType>(buffer.getType()).getElementType()));
  }

  void emitLines(const Found &found, IRMapping &later) {
    scf::ForOp inner = found.lines;
    Value begin = valueIn(inner.getLowerBound(), later), end = valueIn(inner.getUpperBound(), later);
    emitInvariant(found.access.index, inner, later);
    auto lines = forSteps(b, loc, begin, end, constant(lineElements(found.access.buffer)), [&](Value at) {
      IRMapping inside = later;
      inside.map(inner.getInductionVar(), at);
      Value index = valueIn(found.access.index, inside);
      emitPrefetch(b, loc, found.access.buffer, index, /*isWrite=*/false, locality);
    });
    disableLoopTransforms(lines);
  }

  /// What of the value is the same in all iterations of the loop inside.
  void emitInvariant(Value value, scf::ForOp inner, IRMapping &later) {
    const bool varies = !acceptsSlice(value, [&](Value at) -> std::optional<bool> {
      return at == inner.getInductionVar() ? std::optional(false) : std::nullopt;
    });
    if (!varies)
      valueIn(value, later);
    else if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        emitInvariant(operand, inner, later);
  }

  /// Whether nothing has prefetched that line yet, as far as the index says it.
  bool isNew(Value buffer, Value index) {
    int64_t behind = 0;
    Value base = index;
    if (auto sum = index.getDefiningOp<arith::AddIOp>())
      if (std::optional<int64_t> offset = getConstantIntValue(sum.getRhs()))
        std::tie(base, behind) = std::pair(sum.getLhs(), *offset / lineElements(buffer));
    return emitted.insert({buffer, {base, behind}}).second;
  }

  /// The value in another iteration, whose index `map` has; of a loop inside, in its first iteration.
  Value valueIn(Value value, IRMapping &map) {
    if (Value known = map.lookupOrNull(value))
      return known;
    if (loop.isDefinedOutsideOfLoop(value))
      return value;
    if (auto inner = indexedBy(value)) {
      Value first = valueIn(inner.getLowerBound(), map);
      map.map(value, first);
      return first;
    }
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      valueIn(operand, map);
    const Access access = accessOf(op);
    if (access.buffer && !isAtIndex(op, access)) {
      IRMapping clamped = map;
      Value last = sub(sizeOf(access.buffer), constant(access.elements));
      clamped.map(access.index,
                  arith::MinUIOp::create(b, loc, map.lookupOrDefault(access.index), last).getResult());
      Operation *copy = b.clone(*op, clamped);
      map.map(op->getResults(), copy->getResults());
    } else {
      b.clone(*op, map);
    }
    return map.lookup(value);
  }
};

struct PrefetchPass : impl::PrefetchBase<PrefetchPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    bool changed = false;
    // By loop and operand, whether something is prefetched, and one of the loops.
    llvm::MapVector<std::pair<StringAttr, StringAttr>, std::pair<bool, scf::ForOp>> asked;
    for (scf::ForOp loop : loopsIn(getOperation())) {
      const dialect::LoopAttr attr = dialect::loopOf(loop);
      const DictionaryAttr said =
          attr.getDirectives() ? attr.getDirectives().getPrefetch() : DictionaryAttr();
      for (NamedAttribute named : said ? said.getValue() : ArrayRef<NamedAttribute>()) {
        const int64_t distance = cast<IntegerAttr>(named.getValue()).getInt();
        changed = true;
        dialect::noteDone(loop, attr, {.prefetch = DictionaryAttr::get(&getContext(), named)});
        if (distance == 0)
          continue;
        auto &[found, any] = asked[{attr.getIndex(), named.getName()}];
        any = loop;
        found |= LoopPrefetch(loop, named.getName(), distance, model.cpu).emit();
        markAsDone(loop, named.getName());
      }
    }
    if (!changed)
      markAllAnalysesPreserved();
    for (auto &[names, outcome] : asked)
      if (!outcome.first) {
        refuse(outcome.second, names.first, names.second);
        return signalPassFailure();
      }
  }

private:
  /// Nothing else of the operand is prefetched then.
  static void markAsDone(scf::ForOp loop, StringAttr operand) {
    const dialect::LoopAttr attr = dialect::loopOf(loop);
    dialect::Directives all = attr.getDirectives().all();
    NamedAttrList distances(all.prefetch);
    distances.set(operand, Builder(loop.getContext()).getI64IntegerAttr(0));
    all.prefetch = distances.getDictionary(loop.getContext());
    loop->setAttr(dialect::kLoopAttr,
                  attr.withDirectives(dialect::DirectivesAttr::get(loop.getContext(), all)));
  }

  static void refuse(scf::ForOp loop, StringAttr index, StringAttr operand) {
    mlir::emitError(dialect::locationOf(loop, ("prefetch " + index.getValue()).str()))
        << "nothing that the loop over " << index.getValue() << " reads of " << operand.getValue()
        << " is at an address that is known some iterations before";
  }
};

} // namespace
} // namespace tulle::passes
