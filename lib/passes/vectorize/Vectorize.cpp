// tulle-vectorize: vectorize innermost loops that gather or reduce.
//
// A legal loop becomes a loop of whole vectors (for sums of consecutive data: two loops, the first with
// several independent accumulators), and a scalar epilogue. Rows of sparse matrices are short: on them a
// scalar epilogue is faster than a masked one, unless a sample finds that they differ (VersionBySampling.h),
// and half-width gathers are faster than full-width ones.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/LoopMatchers.h"
#include "passes/analysis/SegmentLoops.h"
#include "passes/analysis/TripCount.h"
#include "passes/vectorize/VectorLoops.h"
#include "passes/vectorize/VersionBySampling.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VECTORIZE
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Says why an innermost loop stays scalar.
void remarkMissed(scf::ForOp loop, const MissedVectorization &missed) {
  if (!isInnermost(loop))
    return;
  std::string reason = ("'" + missed.op->getName().getStringRef() + "' " + missed.why).str();
  remark::missed(missed.op->getLoc(), remark::RemarkOpts::name("ScalarLoop").category("tulle-vectorize"))
      << remark::reason("{0}", reason);
}

/// Whether an iteration computes so much that a masked vector is faster than some of them one by one.
bool isHeavy(scf::ForOp loop) {
  int64_t work = 0;
  for (Operation &op : *loop.getBody())
    if (isa<arith::DivFOp, math::SqrtOp>(op))
      work += 8;
    else if (op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()) && !isa<memref::LoadOp>(op))
      ++work;
  return work >= 8;
}

/// A masked loop without an epilogue: segments of stored entries are often shorter than a vector. Whole
/// vectors have a loop of their own, without masks, where these take time.
void predicate(const VectorizationLegality &legality, const Lanes &lanes, bool splitsWholeVectors) {
  scf::ForOp loop = legality.loop;
  levels::Indices at(loop);
  Value step = at.constant(lanes.count);
  Value position = loop.getLowerBound(), end = loop.getUpperBound();
  auto vectors = [&](Value limit, ValueRange carried, function_ref<Value(Value)> maskAt) {
    auto some = scf::ForOp::create(at.b, at.loc, position, limit, step, carried);
    disableLoopTransforms(some);
    OpBuilder::InsertionGuard guard(at.b);
    at.b.setInsertionPointToStart(some.getBody());
    Value first = some.getInductionVar();
    BodyEmitter(at.b, legality, lanes, first, maskAt(first)).emit({});
    return some;
  };
  if (splitsWholeVectors) {
    scf::ForOp whole =
        vectors(at.sub(end, at.constant(lanes.count - 1)), position, [](Value) { return Value(); });
    OpBuilder last = OpBuilder::atBlockEnd(whole.getBody());
    Value next = arith::AddIOp::create(last, at.loc, whole.getInductionVar(), step);
    scf::YieldOp::create(last, at.loc, next);
    position = whole.getResult(0);
  }
  vectors(end, {}, [&](Value first) { return activeLanes(at.b, at.loc, lanes, at.sub(end, first)); });
  loop.erase();
}

struct VectorizePass : impl::VectorizeBase<VectorizePass> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    SmallPtrSet<Operation *, 4> overReading;
    // Where gathers are instructions, local rows gather by loads; an over-reading row would need both.
    if (sampleRows && !model.cpu.gathers)
      for (scf::ForOp loop : loopsIn(getOperation()))
        if (scf::ForOp version = versionBySampling(loop, model))
          overReading.insert(version);
    SmallVector<scf::ForOp> loops = loopsIn(getOperation());
    for (scf::ForOp loop : loops) {
      MissedVectorization missed;
      std::optional<VectorizationLegality> legality = analyzeLoop(loop, &missed);
      if (!legality) {
        remarkMissed(loop, missed);
        continue;
      }
      if (isPredicated(*legality)) {
        const unsigned bits = legality->widestBits;
        Lanes lanes;
        lanes.count = model.rowVectorLength(bits, model.vectorLength(bits, 0).value);
        predicate(*legality, lanes, !model.cpu.masks);
        continue;
      }
      std::optional<VectorShape> shape = shapeOf(*legality, model);
      if (!shape)
        continue;
      shape->overReads = overReading.contains(loop);
      VectorLoops vectors(std::move(*legality), *shape, model);
      vectors.emit();
      for (auto [before, now] : vectors.replaced())
        for (scf::ForOp &other : loops)
          if (other.getOperation() == before)
            other = cast<scf::ForOp>(now);
    }
  }

private:
  /// LLVM vectorizes consecutive accesses well.
  static bool isConsecutive(const VectorizationLegality &legality) {
    return !legality.gathers && !legality.branches && legality.reductions.empty();
  }

  bool isPredicated(const VectorizationLegality &legality) const {
    scf::ForOp loop = legality.loop;
    return !vl && !scalable && isConsecutive(legality) && isLoaded(loop.getLowerBound()) && isHeavy(loop);
  }

  /// The vectors of a loop; nothing where it is left to LLVM.
  std::optional<VectorShape> shapeOf(const VectorizationLegality &legality,
                                     const iteration::CostModel &model) const {
    scf::ForOp loop = legality.loop;
    // Scalarized scatters cost what the scalar loop costs.
    if (!vl && (isConsecutive(legality) || legality.scatters))
      return std::nullopt;
    Lanes lanes;
    const iteration::Choice<unsigned> length = model.vectorLength(legality.widestBits, vl, legality.gathers);
    lanes.count = length.value;
    // Short loops, over a block or over few entries, are left to LLVM, which unrolls them where it can.
    std::optional<int64_t> most = maxTripCount(loop), exactly = exactTripCount(loop);
    if (most && *most <= 4 * lanes.count && !(exactly && *exactly >= 2 * lanes.count))
      return std::nullopt;
    dialect::explainChoice(loop, length.reason);
    if (legality.gathers && !vl && !model.cpu.gathers)
      dialect::explainChoice(loop, "gathers are scalarized: " + std::string(model.cpu.name) +
                                       " has no instruction that takes less");
    lanes.scalable = scalable;
    lanes.index32 = index32;
    lanes.scalarizeGathers = scalarizeGathers || (!vl && !model.cpu.gathers);
    // Rows of a dense operand are as long as a dimension, segments of stored entries are short.
    bool regular =
        !vl && !scalable && !legality.gathers && !legality.branches && !isLoaded(loop.getLowerBound());
    return VectorShape{lanes, regular ? model.rowVectorLength(legality.widestBits, lanes.count)
                                      : unsigned(lanes.count)};
  }
};

} // namespace
} // namespace tulle::passes
