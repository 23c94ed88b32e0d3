// What loops and indices say of themselves: bounds, trip counts, segments, and small forms of loops. Clones
// of parts of loops, whole groups of iterations, and loop metadata that keeps LLVM from transforming a loop
// again.
#pragma once
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <optional>

namespace tulle::passes {

inline bool isZero(mlir::Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }
inline bool hasUnitStep(mlir::scf::ForOp loop) { return mlir::matchPattern(loop.getStep(), mlir::m_One()); }

/// The bits of an element in memory.
inline int64_t bitsOf(mlir::Type element) {
  if (element.isIndex())
    return mlir::IndexType::kInternalStorageBitWidth;
  auto complex = mlir::dyn_cast<mlir::ComplexType>(element);
  return complex ? 2 * bitsOf(complex.getElementType()) : int64_t(element.getIntOrFloatBitWidth());
}

/// Whether the loop is there, and its iterations are independent.
inline bool isParallel(mlir::scf::ForOp loop) { return loop && dialect::loopOf(loop).isParallel(); }
/// Whether `holds` for an operation, or for one inside of it.
inline bool anyIn(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> holds) {
  return op
      ->walk([&](mlir::Operation *each) {
        return holds(each) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// How many iterations a vector instruction does, as the schedule says, else one in a loop that hardly ever
/// runs; 0 where that is open.
inline unsigned fixedLanes(mlir::scf::ForOp loop) {
  const dialect::LoopAttr attr = dialect::loopOf(loop);
  const dialect::DirectivesAttr said = attr.getDirectives();
  return said && said.getVectorize() ? unsigned(said.getVectorize()) : attr.getRare();
}
/// How many iterations the schedule lets the loop's body do; 0 where it says nothing.
inline unsigned scheduledUnroll(mlir::scf::ForOp loop) {
  const dialect::DirectivesAttr said = dialect::loopOf(loop).getDirectives();
  return said ? unsigned(said.getUnroll()) : 0;
}
/// The loop has so many lanes as the schedule says, where it does.
void noteLanes(mlir::scf::ForOp loop);
/// So many iterations, or vectors, as the schedule says stand in its body, and nothing else is to be done of
/// it.
void dropDirectives(mlir::scf::ForOp loop);

/// Whether no loop is around this one in the function, or in a parallel region.
bool isOutermost(mlir::Operation *loop);
inline bool isInnermost(mlir::scf::ForOp loop) {
  return !anyIn(loop,
                [&](mlir::Operation *op) { return op != loop && mlir::isa<mlir::LoopLikeOpInterface>(op); });
}

/// Whether the schedule says that iterations of the loop prefetch something.
inline bool isPrefetchScheduled(mlir::scf::ForOp loop) {
  const dialect::DirectivesAttr said = dialect::loopOf(loop).getDirectives();
  return said && said.getPrefetch() &&
         llvm::any_of(said.getPrefetch().getValue(), [](mlir::NamedAttribute distance) {
           return !mlir::cast<mlir::IntegerAttr>(distance.getValue()).getValue().isZero();
         });
}
/// Whether the schedule says of the loop, of one around it or of one inside that registers hold something
/// there.
bool isHoldScheduled(mlir::Operation *op);
/// Whether the schedule says what stands in the body of a loop in an operation, itself included, in an
/// innermost one what it prefetches, or what registers hold: code that is more than that does not take its
/// place.
inline bool isBodyScheduled(mlir::Operation *op) {
  return isHoldScheduled(op) || anyIn(op, [](mlir::Operation *inner) {
           auto loop = mlir::dyn_cast<mlir::scf::ForOp>(inner);
           return loop && (scheduledUnroll(loop) != 0 || (isInnermost(loop) && isPrefetchScheduled(loop)));
         });
}

/// The loops in an operation, inner ones first unless the order is another one.
template <mlir::WalkOrder Order = mlir::WalkOrder::PostOrder>
llvm::SmallVector<mlir::scf::ForOp> loopsIn(mlir::Operation *op) {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  op->walk<Order>([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
  return loops;
}

/// The constant of `min(x, constant)`, the upper bound of loops over the part of a tile inside a dimension.
std::optional<int64_t> minWithConstant(mlir::Value bound);
/// An upper bound of the trip count: of constant bounds, `x to x + constant`, or `0 to min(x, constant)`.
std::optional<int64_t> maxTripCount(mlir::scf::ForOp loop);
/// The trip count of a loop with constant bounds.
std::optional<int64_t> exactTripCount(mlir::scf::ForOp loop);

/// The other operand of a sum or a product; null where the value is no such operation on `operand`.
template <typename Op> mlir::Value otherOperand(mlir::Value value, mlir::Value operand) {
  auto op = value.getDefiningOp<Op>();
  if (!op || (op.getLhs() != operand && op.getRhs() != operand))
    return {};
  return op.getLhs() == operand ? op.getRhs() : op.getLhs();
}

/// Erases what nothing uses, and has no effect.
void eraseDead(mlir::Block *block);

/// Whether the operation has no region and no effect but loading.
bool onlyLoads(mlir::Operation *op);
/// The load behind the integer casts of a value; null where there is none.
mlir::memref::LoadOp loadBehindCasts(mlir::Value value);
/// Whether the value is such a load, or a bound of a segment.
bool isLoaded(mlir::Value value);

/// Whether each value that `value` is computed from is accepted: `decide` accepts it, refuses it, or leaves
/// it to its operands (nothing). Each is asked once: a body is a graph, and repeated squaring has as many
/// paths as its result.
bool acceptsSlice(mlir::Value value, llvm::function_ref<std::optional<bool>(mlir::Value)> decide);
/// Whether the value is computed in the inner loop's body from its induction variable, and from what is known
/// before the outer loop.
bool isFunctionOfIndex(mlir::Value value, mlir::scf::ForOp inner, mlir::scf::ForOp outer);

/// Whether `loop` iterates over the `tulle.segment` of `pos` at q in each iteration q of the loop around it.
bool iteratesSegments(mlir::scf::ForOp around, mlir::scf::ForOp loop);
/// The outermost loop, without results, that `loop` iterates over the segments of; null where there is none.
mlir::scf::ForOp rowLoopOf(mlir::scf::ForOp loop);

/// `for i in 0..size: buffer[offset + i] = value`; offset is null where there is none.
struct InitLoop {
  mlir::scf::ForOp loop;
  mlir::Value offset, size;
  mlir::TypedAttr value;
};
/// Matches a loop that initializes the buffer, and does nothing else.
std::optional<InitLoop> asInitLoop(mlir::Operation *op, mlir::Value buffer);
/// The loop before `op`, in its block, that initializes the buffer, where nothing between the two accesses
/// it.
std::optional<InitLoop> findInitLoop(mlir::Operation *op, mlir::Value buffer);
/// What is added to the loop's index in `index`: null where nothing; fails for another form.
std::optional<mlir::Value> offsetFrom(mlir::Value index, mlir::scf::ForOp loop);

//===--- Transformations ---===//

inline constexpr llvm::StringLiteral kLoopAnnotationAttr = "llvm.loop_annotation";

/// LLVM does not vectorize the loop.
void disableVectorization(mlir::scf::ForOp loop, mlir::LLVM::LoopUnrollAttr unroll = {});
/// LLVM does not unroll the loop, but may vectorize it.
void disableUnrolling(mlir::scf::ForOp loop);
/// LLVM neither vectorizes nor unrolls the loop.
void disableLoopTransforms(mlir::scf::ForOp loop);
inline bool hasLoopAnnotation(mlir::scf::ForOp loop) { return loop->hasAttr(kLoopAnnotationAttr); }

/// Splits whole groups of `size` iterations off a loop, which becomes their epilogue: `emit(first, carried)`
/// emits a group, and returns what it carries to the next one. LLVM transforms neither.
void splitGroups(
    mlir::scf::ForOp loop, int64_t size,
    llvm::function_ref<levels::Values(levels::IndicesAt at, mlir::Value first, mlir::ValueRange carried)>
        emit);

/// `then` in a branch that runs where the condition holds, `otherwise` in one that runs elsewhere.
void branch(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise);
/// Runs `version()`, which returns the results of the loop if it has some, where the condition holds, and the
/// loop elsewhere.
template <typename Version>
void addVersion(mlir::OpBuilder &b, mlir::Operation *loop, mlir::Value condition, Version version) {
  auto emit = [&] {
    if constexpr (std::is_void_v<decltype(version())>)
      return version(), levels::Values();
    else
      return levels::Values(version());
  };
  auto move = [&] {
    loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    b.setInsertionPointAfter(loop);
    return levels::Values(loop->getResults());
  };
  levels::Values results = levels::ifElse(b, loop->getLoc(), condition, loop->getResultTypes(), emit, move);
  loop->replaceUsesWithIf(
      results, [&](mlir::OpOperand &use) { return use.getOwner()->getBlock() != loop->getBlock(); });
}
/// `body(index)`, for each `step`-th index of lower <= index < upper.
mlir::scf::ForOp forSteps(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lower, mlir::Value upper,
                          mlir::Value step, llvm::function_ref<void(mlir::Value index)> body);

/// A loop over 0 <= at < size whose iterations store apart from each other to the tensor that it carries.
mlir::Value storeApart(mlir::OpBuilder &b, mlir::Location loc, mlir::Value size, mlir::Value tensor,
                       llvm::function_ref<mlir::Value(mlir::Value at, mlir::Value carried)> body);

/// The locality of prefetches into L1, and into L2.
inline constexpr unsigned kIntoL1 = 3, kIntoL2 = 2;
/// Emits the prefetch of an element.
void emitPrefetch(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer, mlir::Value index,
                  bool isWrite = false, unsigned locality = kIntoL1);

/// Clones the body of a loop of a nest, for this iteration, without the loop at its end, and extends `map`.
void clonePrologue(mlir::OpBuilder &b, mlir::scf::ForOp loop, mlir::Value iteration, mlir::IRMapping &map);

/// Clones the backward slice of `value` within its block.
mlir::Value cloneSlice(mlir::OpBuilder &b, mlir::Value value, mlir::Block *block, mlir::IRMapping &map);
/// The same, of a value of a loop's body, for another value of the induction variable.
mlir::Value cloneSlice(mlir::OpBuilder &b, mlir::Value value, mlir::scf::ForOp loop, mlir::Value iteration);
/// The bounds of a loop in such an iteration of the loop around.
std::pair<mlir::Value, mlir::Value> cloneBounds(mlir::OpBuilder &b, mlir::scf::ForOp loop,
                                                mlir::scf::ForOp around, mlir::Value iteration);

} // namespace tulle::passes
