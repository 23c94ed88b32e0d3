// tulle-cache-registers: as a schedule says, registers hold what loops inside of a loop read or update of a
// tensor.
//
// An innermost loop with a constant trip count becomes straight-line vector code, which has no index: its
// accesses are then the same in all iterations of a loop around it that does not change their addresses. What
// is read is loaded once before that loop, and what is updated is carried by it.
#include "dialect/Costs.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "passes/Passes.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/vectorize/Reductions.h"
#include "llvm/ADT/MapVector.h"

namespace tulle::passes {
#define GEN_PASS_DEF_CACHEREGISTERS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using Values = SmallVector<Value>;

std::string nameOf(Operation *loop) {
  StringAttr index = dialect::loopOf(loop).getIndex();
  return index ? "the loop over " + index.str() : std::string("a loop inside");
}

//===--- Innermost loops ---===//

/// The last value that `tile * size` has in the loop over tiles, if its bound is a constant.
std::optional<int64_t> lastTileBegin(Value begin) {
  auto product = begin.getDefiningOp<arith::MulIOp>();
  auto tile = product ? dyn_cast<BlockArgument>(product.getLhs()) : BlockArgument();
  auto tiles = tile ? dyn_cast<scf::ForOp>(tile.getOwner()->getParentOp()) : scf::ForOp();
  if (!tiles || tile != tiles.getInductionVar() || !hasUnitStep(tiles))
    return std::nullopt;
  const std::optional<int64_t> size = getConstantIntValue(product.getRhs()),
                               end = getConstantIntValue(tiles.getUpperBound());
  return size && end ? std::optional((*end - 1) * *size) : std::nullopt;
}

/// How often the loop runs, where that is the same each time: of the tiles `begin to min(begin + n, size)`,
/// if even the last one is full.
std::optional<int64_t> constantTripCount(scf::ForOp loop) {
  if (std::optional<int64_t> exactly = exactTripCount(loop); exactly || !hasUnitStep(loop))
    return exactly;
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  const std::optional<int64_t> size = minWithConstant(end), last = size ? lastTileBegin(begin) : std::nullopt;
  if (last)
    end = end.getDefiningOp()->getOperand(getConstantIntValue(end.getDefiningOp()->getOperand(0)) ? 1 : 0);
  Value length = otherOperand<arith::AddIOp>(end, begin);
  const std::optional<int64_t> iterations = length ? getConstantIntValue(length) : std::nullopt;
  return !size || (last && iterations && *last + *iterations <= *size) ? iterations : std::nullopt;
}

/// An innermost loop as straight-line code: whole vectors, and a masked one.
class StraightLine : levels::Indices {
public:
  StraightLine(VectorizationLegality legality, int64_t iterations, const Lanes &lanes)
      : Indices(legality.loop), legality(std::move(legality)), iterations(iterations), lanes(lanes) {}

  void emit() {
    scf::ForOp loop = legality.loop;
    // Sums wait for the adder unless there are several chains of them.
    constexpr int64_t mostChains = 4;
    const int64_t vectors = llvm::divideCeil(iterations, lanes.count),
                  count = std::clamp<int64_t>(vectors, 1, mostChains);
    SmallVector<Values> chains;
    chains.resize(size_t(count));
    for (Values &chain : chains)
      for (auto [reduction, init] : llvm::zip_equal(legality.reductions, loop.getInitArgs()))
        chain.push_back(initialLanes(b, loc, reduction, lanes, init));
    for (int64_t v = 0; v < vectors; ++v) {
      const int64_t left = iterations - v * lanes.count;
      Value mask = left < lanes.count ? activeLanes(b, loc, lanes, constant(left)) : Value();
      Value first = b.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), constant(v * lanes.count));
      Values &chain = chains[size_t(v % count)];
      chain = BodyEmitter(b, legality, lanes, first, mask).emit(chain);
    }
    loop.replaceAllUsesWith(reduced(chains));
    loop.erase();
  }

private:
  VectorizationLegality legality;
  int64_t iterations;
  Lanes lanes;

  Values reduced(ArrayRef<Values> chains) {
    Values results;
    for (auto [k, reduction] : llvm::enumerate(legality.reductions)) {
      Value lanes = chains.front()[k];
      for (const Values &chain : chains.drop_front())
        lanes = combine(b, loc, reduction, lanes, chain[k]);
      results.push_back(reduceLanes(b, loc, reduction, lanes, legality.loop.getInitArgs()[k]));
    }
    return results;
  }
};

//===--- Accesses ---===//

/// A load or a store of one element, or of consecutive ones.
struct Access {
  Value buffer, index, mask; ///< mask: null where all lanes are active
  Type type;
  Value stored; ///< null of a load
};

std::optional<Access> accessOf(Operation *op) {
  auto of = [](auto access, Type type, Value mask, Value stored) -> std::optional<Access> {
    if (access.getIndices().size() != 1)
      return std::nullopt;
    return Access{access->getOperand(stored && !mask ? 1 : 0), access.getIndices()[0], mask, type, stored};
  };
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return of(load, load.getType(), {}, {});
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return of(store, store.getValueToStore().getType(), {}, store.getValueToStore());
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return of(load, load.getVectorType(), {}, {});
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return of(store, store.getVectorType(), {}, store.getValueToStore());
  if (auto load = dyn_cast<vector::MaskedLoadOp>(op))
    return of(load, load.getVectorType(), load.getMask(), {});
  if (auto store = dyn_cast<vector::MaskedStoreOp>(op))
    return of(store, store.getVectorType(), store.getMask(), store.getValueToStore());
  return std::nullopt;
}

/// An address as a sum of terms, each of which adds nothing and is no constant, and an offset.
std::pair<Values, int64_t> splitOffset(Value index) {
  Values terms, open{index};
  int64_t offset = 0;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (std::optional<int64_t> constant = getConstantIntValue(next))
      offset += *constant;
    else if (auto sum = next.getDefiningOp<arith::AddIOp>())
      open.append({sum.getLhs(), sum.getRhs()});
    else
      terms.push_back(next);
  }
  llvm::sort(terms, [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
  return {std::move(terms), offset};
}

/// Whether an element is there at the address even if no iteration accesses it. Where segments begin there
/// need not be one, while a coordinate that an argument stores has one, if what is around the loop may read
/// it.
bool isAlwaysThere(Value index, bool mayLoad) {
  return acceptsSlice(index, [&](Value value) -> std::optional<bool> {
    Operation *op = value.getDefiningOp();
    if (auto load = dyn_cast_or_null<memref::LoadOp>(op))
      return mayLoad && isa<BlockArgument>(load.getMemRef()) ? std::nullopt : std::optional(false);
    const bool fits =
        !op || (op->getNumRegions() == 0 && !isa<dialect::SegmentOp>(op) && isMemoryEffectFree(op));
    return fits ? std::nullopt : std::optional(false);
  });
}

//===--- Loops around ---===//

/// What the loops inside of one have of a tensor is in registers while they run.
class HeldTensor {
public:
  HeldTensor(scf::ForOp loop, StringRef tensor, const iteration::CostModel &model, unsigned vl)
      : loop(loop), tensor(tensor), model(model), vl(vl) {}

  /// Replaces the innermost loops that have the tensor. Returns why that cannot be; empty where it is done.
  std::string emitInnermost() {
    for (scf::ForOp inner : loopsIn(loop)) {
      // Between this loop and the innermost one there has to be one for which registers hold something.
      if (inner == loop ||
          inner->getParentOfType<LoopLikeOpInterface>().getOperation() == loop.getOperation() ||
          !isInnermost(inner) || !hasVaryingAccess(inner))
        continue;
      const std::optional<int64_t> iterations = constantTripCount(inner);
      if (!iterations)
        return nameOf(inner) + " has no constant trip count; bound(…) gives an index one";
      if (scheduledUnroll(inner) != 0)
        return nameOf(inner) + " has unroll(…): all of its iterations stand in the body";
      MissedVectorization missed;
      std::optional<VectorizationLegality> legality = analyzeLoop(inner, &missed);
      if (!legality)
        return nameOf(inner) + " cannot be vectorized: '" + missed.op->getName().getStringRef().str() + "' " +
               missed.why;
      const Lanes lanes = lanesOf(*legality, *iterations);
      if (std::string why = whyTooMany(llvm::divideCeil(*iterations, lanes.count)); !why.empty())
        return why;
      noteLanes(inner);
      StraightLine(std::move(*legality), *iterations, lanes).emit();
    }
    return "";
  }

  /// Hoists what the loops inside have of the tensor, or returns why not.
  std::string hoist() {
    SmallVector<Operation *> inside;
    loop.getBody()->walk([&](Operation *op) {
      if (isa<LoopLikeOpInterface>(op))
        inside.push_back(op);
    });
    std::string reason(noLoop);
    for (Operation *&each : inside)
      for (Value buffer : buffersIn(each))
        if (std::string why = hoistFrom(each, usersIn(each, buffer)); !why.empty())
          reason = std::move(why);
    // What the loops inside read may be outside of them already.
    if (held == 0)
      return reason == noLoop && isInBodyOnly() ? "" : reason;
    return whyTooMany(held);
  }

  static constexpr StringLiteral noLoop = "no loop inside of it has the same elements in several iterations";

private:
  scf::ForOp loop;
  StringRef tensor;
  const iteration::CostModel &model;
  unsigned vl;
  int64_t held = 0; ///< vectors, or elements

  /// Returns why not; empty where it is done.
  std::string hoistFrom(Operation *&inside, ArrayRef<Operation *> users) {
    if (std::string why = whyNotInvariant(inside, users); !why.empty())
      return why;
    if (llvm::any_of(users, [](Operation *op) { return bool(accessOf(op)->stored); }))
      return carry(inside, users);
    hoistLoads(inside, users);
    return "";
  }

  bool isInBodyOnly() {
    return llvm::any_of(*loop.getBody(), [&](Operation &op) { return isOfTensor(&op); }) &&
           !anyIn(loop, [&](Operation *op) { return isOfTensor(op) && op->getParentOp() != loop; });
  }

  bool isOfTensor(Operation *op) const {
    return op->getNumRegions() == 0 && !isa<memref::PrefetchOp, memref::DimOp>(op) &&
           llvm::any_of(op->getOperands(), [&](Value value) {
             return isa<MemRefType>(value.getType()) && operandOf(value) == tensor;
           });
  }

  /// Whether the loop has the tensor at addresses that depend on its index.
  bool hasVaryingAccess(scf::ForOp inner) const {
    return anyIn(inner, [&](Operation *op) {
      std::optional<Access> access = isOfTensor(op) ? accessOf(op) : std::nullopt;
      return access && !inner.isDefinedOutsideOfLoop(access->index);
    });
  }

  Lanes lanesOf(const VectorizationLegality &legality, int64_t iterations) const {
    const unsigned scheduled = fixedLanes(legality.loop);
    const int64_t widest = scheduled ? scheduled : vl ? vl : model.cpu.vectorBits / legality.widestBits;
    Lanes lanes;
    lanes.count =
        scheduled ? widest : std::min<int64_t>(widest, int64_t(llvm::PowerOf2Ceil(uint64_t(iterations))));
    lanes.scalarizeGathers = !model.cpu.gathers && legality.guardedGathers.empty();
    return lanes;
  }

  std::string whyTooMany(int64_t vectors) const {
    // The code between the loads and the stores needs some.
    const int64_t most = std::max<int64_t>(1, int64_t(model.cpu.registers) * 7 / 8);
    return vectors <= most ? ""
                           : std::to_string(vectors) + " vectors are more than the " + std::to_string(most) +
                                 " that " + std::string(model.cpu.name) +
                                 " has registers for; cache(…, stack), or a smaller tile, has room";
  }

  SmallVector<Value> buffersIn(Operation *inside) const {
    llvm::SetVector<Value> buffers;
    inside->walk([&](Operation *op) {
      if (isOfTensor(op))
        for (Value value : op->getOperands())
          if (isa<MemRefType>(value.getType()) && operandOf(value) == tensor)
            buffers.insert(value);
    });
    return buffers.takeVector();
  }

  static SmallVector<Operation *> usersIn(Operation *inside, Value buffer) {
    SmallVector<Operation *> users;
    inside->walk([&](Operation *op) {
      if (op->getNumRegions() == 0 && !isa<memref::PrefetchOp, memref::DimOp>(op) &&
          llvm::is_contained(op->getOperands(), buffer))
        users.push_back(op);
    });
    return users;
  }

  std::string whyNotInvariant(Operation *inside, ArrayRef<Operation *> users) const {
    auto around = cast<LoopLikeOpInterface>(inside);
    for (Operation *op : users) {
      const std::optional<Access> access = accessOf(op);
      if (!access)
        return "its elements lie apart: cache(…, stack) copies them";
      if (!around.isDefinedOutsideOfLoop(access->index) ||
          (access->mask && !around.isDefinedOutsideOfLoop(access->mask)))
        return "its address changes in " + nameOf(inside) + ", which may hold it itself";
      const bool mayLoad = op->getParentOp() == inside && isa<scf::ForOp>(inside);
      if (!isAlwaysThere(access->index, mayLoad))
        return "its address is read from memory, and without an iteration there may be no such element";
    }
    return "";
  }

  using Key = std::tuple<Value, Value, Type>; ///< index, mask, and type of an access

  void hoistLoads(Operation *inside, ArrayRef<Operation *> loads) {
    llvm::MapVector<Key, Operation *> first;
    for (Operation *load : loads) {
      const Access access = *accessOf(load);
      auto [known, isNew] = first.try_emplace({access.index, access.mask, access.type}, load);
      if (isNew) {
        load->moveBefore(inside);
        continue;
      }
      load->replaceAllUsesWith(known->second);
      load->erase();
    }
    countAt(inside, int64_t(first.size()));
  }

  /// Of what loops in the outermost one hold, that which reaches it is all there is.
  void countAt(Operation *inside, int64_t vectors) {
    if (inside->getParentOfType<LoopLikeOpInterface>().getOperation() == loop.getOperation())
      held += vectors;
  }

  static std::string whyNotCarried(Operation *inside,
                                   const llvm::MapVector<Key, SmallVector<Operation *>> &groups) {
    if (!isa<scf::ForOp>(inside))
      return "it is updated in a co-iteration, which carries no vectors";
    SmallVector<std::pair<int64_t, int64_t>> ranges;
    const Values base = splitOffset(std::get<0>(groups.front().first)).first;
    for (const auto &[key, users] : groups) {
      for (Operation *op : users)
        if (op->getParentOp() != inside)
          return "it is updated under a condition";
      auto vector = dyn_cast<VectorType>(std::get<Type>(key));
      auto [terms, offset] = splitOffset(std::get<0>(key));
      if (terms != base)
        return "it is updated at addresses that may be the same";
      ranges.push_back({offset, offset + (vector ? vector.getNumElements() : 1)});
    }
    llvm::sort(ranges);
    for (size_t k = 1; k < ranges.size(); ++k)
      if (ranges[k].first < ranges[k - 1].second)
        return "it is updated at addresses that are the same in part";
    return "";
  }

  static Value load(OpBuilder &b, Location loc, Operation *as) {
    const Access access = *accessOf(as);
    auto vector = dyn_cast<VectorType>(access.type);
    if (!vector)
      return memref::LoadOp::create(b, loc, access.buffer, access.index);
    if (!access.mask)
      return vector::LoadOp::create(b, loc, vector, access.buffer, access.index);
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
    return vector::MaskedLoadOp::create(b, loc, vector, access.buffer, access.index, access.mask, zeros);
  }

  static void store(OpBuilder &b, Location loc, Operation *as, Value value) {
    const Access access = *accessOf(as);
    if (!isa<VectorType>(access.type))
      memref::StoreOp::create(b, loc, value, access.buffer, access.index);
    else if (!access.mask)
      vector::StoreOp::create(b, loc, value, access.buffer, access.index);
    else
      vector::MaskedStoreOp::create(b, loc, access.buffer, access.index, access.mask, value);
  }

  /// What the element is behind the accesses, in their order, if it is `value` before them.
  static Value valueBehind(ArrayRef<Operation *> accesses, Value value) {
    for (Operation *op : accesses)
      if (Value stored = accessOf(op)->stored)
        value = stored;
      else
        op->replaceAllUsesWith(ValueRange(value));
    return value;
  }

  /// The loop carries what it updates.
  std::string carry(Operation *&inside, ArrayRef<Operation *> users) {
    llvm::MapVector<Key, SmallVector<Operation *>> groups;
    for (Operation *op : users) {
      const Access access = *accessOf(op);
      groups[{access.index, access.mask, access.type}].push_back(op);
    }
    if (std::string why = whyNotCarried(inside, groups); !why.empty())
      return why;
    auto before = cast<scf::ForOp>(inside);
    IRRewriter b(before);
    Values inits;
    for (const auto &[key, ops] : groups)
      inits.push_back(load(b, before.getLoc(), ops.front()));
    const unsigned others = before.getNumRegionIterArgs();
    const DictionaryAttr attributes = before->getDiscardableAttrDictionary();
    auto carrying = cast<scf::ForOp>(
        *before.replaceWithAdditionalYields(b, inits, /*replaceInitOperandUsesInLoop=*/false,
                                            [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
                                              Values yielded;
                                              for (auto [group, argument] : llvm::zip_equal(groups, carried))
                                                yielded.push_back(valueBehind(group.second, argument));
                                              return yielded;
                                            }));
    carrying->setDiscardableAttrs(attributes);
    b.setInsertionPointAfter(carrying);
    for (auto [group, value] : llvm::zip_equal(groups, carrying.getResults().drop_front(others))) {
      if (llvm::any_of(group.second, [](Operation *op) { return bool(accessOf(op)->stored); }))
        store(b, carrying.getLoc(), group.second.front(), value);
      for (Operation *op : llvm::reverse(group.second))
        op->erase();
    }
    inside = carrying;
    countAt(inside, int64_t(groups.size()));
    return "";
  }
};

struct CacheRegistersPass : impl::CacheRegistersBase<CacheRegistersPass> {
  using CacheRegistersBase::CacheRegistersBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    // By loop and tensor, where there is a copy of the loop that can, and else why one of them cannot.
    llvm::MapVector<std::pair<StringAttr, StringAttr>, std::pair<scf::ForOp, std::string>> asked;
    bool changed = false;
    // Loops inside first: what these hold, those around may hold longer.
    for (scf::ForOp loop : loopsIn(getOperation())) {
      const dialect::LoopAttr attr = dialect::loopOf(loop);
      const dialect::DirectivesAttr said = attr.getDirectives();
      if (!said)
        continue;
      changed = true;
      for (StringAttr tensor : said.cachedIn(dialect::CachePlace::Registers)) {
        std::string why = hold(loop, tensor, model);
        auto [outcome, isNew] = asked.try_emplace({attr.getIndex(), tensor}, loop, why);
        std::string &known = outcome->second.second;
        if (why.empty())
          dialect::noteCached(loop, tensor);
        if (why.empty() || (!known.empty() && known == HeldTensor::noLoop))
          known = std::move(why);
      }
      loop->setAttr(dialect::kLoopAttr,
                    attr.withDirectives(said.withoutCache(dialect::CachePlace::Registers)));
    }
    if (!changed)
      markAllAnalysesPreserved();
    for (auto &[names, outcome] : asked)
      if (!outcome.second.empty()) {
        const StringRef index = names.first.getValue();
        mlir::emitError(dialect::locationOf(outcome.first, ("cache " + index).str()))
            << "registers hold nothing of " << names.second.getValue() << " in the loop over " << index
            << ": " << outcome.second;
        return signalPassFailure();
      }
  }

private:
  /// Returns why nothing is held; empty where something is.
  std::string hold(scf::ForOp loop, StringAttr tensor, const iteration::CostModel &model) {
    HeldTensor held(loop, tensor, model, vl);
    std::string why = held.emitInnermost();
    if (!why.empty())
      return why;
    simplifyAddresses(loop);
    return held.hoist();
  }

  /// One value for each address, outside of the loops that do not change it.
  void simplifyAddresses(scf::ForOp loop) {
    loop.getBody()->walk([](LoopLikeOpInterface inside) { moveLoopInvariantCode(inside); });
    IRRewriter rewriter(loop.getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, loop);
  }
};

} // namespace
} // namespace tulle::passes
