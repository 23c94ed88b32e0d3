// Reductions whose iterations have a result each (rfactor): what they shared becomes a tensor with an
// element, or a copy of the result, for each of them, and loops behind combine these in order. Source:
// Suriana, Adams and Kamil, "Parallel associative reductions in Halide", 2017.
#include "dialect/Scalars.h"
#include "levels/Control.h"
#include "passes/Passes.h"
#include "passes/parallel/SetLoops.h"

namespace tulle::passes {
#define GEN_PASS_DEF_FACTORREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tulle::passes

namespace tulle::parallel {
using namespace mlir;
using namespace tulle::dialect;

namespace {

class Factor {
public:
  Factor(IterateOp loop, StringRef name)
      : b(loop), emit(b, loop.getLoc()), loop(loop), name(name),
        range(loop.getSpace().getDefiningOp<RangeOp>()) {}

  LogicalResult run() {
    if (!range)
      return refuse()
             << "they are over what an operand stores, and have no numbers; split the loop, and say it of "
                "the loop over tiles";
    if (loop.getKind() == LoopKind::Parallel)
      return refuse() << "each has results of its own already; it takes a loop over what is summed";
    return carriesValuesOnly(loop) ? ofValues() : ofTensor();
  }

private:
  OpBuilder b;
  Emitter emit;
  IterateOp loop;
  StringRef name;
  RangeOp range;

  InFlightDiagnostic refuse() {
    const StringRef index = loop.getLoop().getIndex().getValue();
    return mlir::emitError(locationOf(loop, ("rfactor " + index).str()))
           << "iterations of " << index << " cannot have partial results: ";
  }
  LogicalResult refuseOrder() {
    return refuse()
           << "what they share is not reduced by one operation that may be regrouped, as sums and products "
              "of floats may be without strict floating point";
  }

  /// How many iterations there are.
  Value count() {
    Value size = b.createOrFold<arith::SubIOp>(emit.loc, range.getHi(), range.getLo());
    return b.createOrFold<arith::MaxSIOp>(emit.loc, size, emit.constant(0));
  }
  /// The number of the iteration at a coordinate.
  Value number(Value coordinate) {
    return b.createOrFold<arith::SubIOp>(emit.loc, coordinate, range.getLo());
  }
  LoopAttr partialLoop() {
    return loop.getLoop()
        .withKind(LoopKind::Parallel)
        .withDirectives(loop.getLoop().getDirectives().withoutRfactor());
  }
  Value named(Value tensor) { return levels::named(tensor, name); }

  //===--- Values ---===//

  Value locate(Value tensor, Value at) {
    auto type = IteratorType::get(b.getContext(), getEncoding(cast<RankedTensorType>(tensor.getType())), 0);
    return LocateOp::create(b, emit.loc, type, tensor, 0, Value(), at);
  }

  LogicalResult ofValues() {
    const std::optional<Combiners> combiners = combinersOf(loop);
    if (!combiners || llvm::is_contained(combiners->identities, Attribute()))
      return refuseOrder();
    Value iterations = count();
    SmallVector<Value> memory, tensors;
    for (Value result : loop.getResults()) {
      memory.push_back(emit.allocate(memoryType(result.getType()), iterations));
      auto type = RankedTensorType::get({ShapedType::kDynamic}, result.getType());
      tensors.push_back(named(StorageOp::create(b, emit.loc, type, memory.back(), iterations)));
    }
    const SmallVector<Value> inits = initValues(loop);
    IterateOp partial = partialValues(*combiners, tensors);
    IterateOp combined = combinedValues(*combiners, iterations, inits, partial.getResults());
    for (Value each : memory)
      memref::DeallocOp::create(b, emit.loc, each);
    loop.replaceAllUsesWith(combined.getResults());
    loop.erase();
    return success();
  }

  /// The loop, each iteration of which starts from the identity and stores what it has in the end.
  IterateOp partialValues(const Combiners &combiners, ArrayRef<Value> tensors) {
    OpBuilder::InsertionGuard guard(b);
    auto made = IterateOp::create(b, emit.loc, ValueRange(tensors).getTypes(), range, tensors, partialLoop(),
                                  /*each=*/false);
    Block *from = &loop.getBody().front(), *to = &made.getBody().emplaceBlock();
    b.setInsertionPointToStart(to);
    Value coordinate = to->addArgument(b.getIndexType(), emit.loc);
    from->getArgument(0).replaceAllUsesWith(coordinate);
    for (auto [k, tensor] : llvm::enumerate(tensors)) {
      to->addArgument(tensor.getType(), emit.loc);
      Type type = getElementTypeOrSelf(tensor.getType());
      from->getArgument(unsigned(k) + 1)
          .replaceAllUsesWith(materialize(b, emit.loc, combiners.identities[k], type));
    }
    const SmallVector<Value> results(from->getTerminator()->getOperands());
    from->getTerminator()->erase();
    to->getOperations().splice(to->end(), from->getOperations());
    b.setInsertionPointToEnd(to);
    SmallVector<Value> stored;
    for (auto [result, tensor] : llvm::zip(results, to->getArguments().drop_front()))
      stored.push_back(
          StoreOp::create(b, emit.loc, tensor.getType(), result, tensor, locate(tensor, number(coordinate))));
    YieldOp::create(b, emit.loc, stored);
    return made;
  }

  IterateOp combinedValues(const Combiners &combiners, Value iterations, ValueRange inits,
                           ValueRange tensors) {
    Value all = RangeOp::create(b, emit.loc, emit.constant(0), iterations);
    OpBuilder::InsertionGuard guard(b);
    auto made = IterateOp::create(b, emit.loc, inits.getTypes(), all, inits,
                                  loop.getLoop().withDirectives({}), /*each=*/false);
    Block *body = &made.getBody().emplaceBlock();
    b.setInsertionPointToStart(body);
    Value at = body->addArgument(b.getIndexType(), emit.loc);
    SmallVector<Value> sums;
    for (auto [init, tensor, combiner] : llvm::zip(inits, tensors, combiners.operations)) {
      Value sum = body->addArgument(init.getType(), emit.loc);
      Value own = LoadOp::create(b, emit.loc, init.getType(), tensor, locate(tensor, at));
      sums.push_back(combine(b, combiner, sum, own));
    }
    YieldOp::create(b, emit.loc, sums);
    return made;
  }

  //===--- A tensor ---===//

  LogicalResult ofTensor() {
    if (!denseResult(loop))
      return refuse()
             << "they are of a result that is no dense tensor of numbers; store it in a dense format";
    Operation *combiner = combinerOfStores(loop, Aliases(loop));
    if (!combiner || !identity(combiner))
      return refuseOrder();
    Value result = initsOf(loop)[0].get(), iterations = count();
    Type element = getElementTypeOrSelf(result.getType());
    Value size = StoredCountOp::create(b, emit.loc, result);
    Value memory = levels::allocate(b, emit.loc, Emitter::bufferOf(element), emit.elements(iterations, size));
    Value copies = named(copiesOf(emit, result, /*first=*/0, memory, iterations));
    Value start = materialize(b, emit.loc, identity(combiner), element);
    copies = FillOp::create(b, emit.loc, copies.getType(), start, copies);
    auto own = cast<IterateOp>(b.clone(*loop));
    own.setLoopAttr(partialLoop());
    locateInside(own);
    OpBuilder inside = OpBuilder::atBlockBegin(&own.getBody().front());
    Value copy = inside.createOrFold<arith::SubIOp>(emit.loc, own.getBody().getArgument(0), range.getLo());
    redirect(own, Aliases(own), copies, copy);
    Value sum = combineCopies(combiner, result, size, own.getResult(0), iterations);
    memref::DeallocOp::create(b, emit.loc, memory);
    loop.getResult(0).replaceAllUsesWith(sum);
    loop.erase();
    return success();
  }

  /// What a loop around has located of the result is located in each iteration, where its copy is known.
  static void locateInside(IterateOp own) {
    const Aliases aliases(own);
    OpBuilder b = OpBuilder::atBlockBegin(&own.getBody().front());
    DenseMap<Operation *, Value> located;
    auto outside = [&](Value iterator) {
      auto locate = iterator ? iterator.getDefiningOp<LocateOp>() : LocateOp();
      return locate && !own->isAncestor(locate) && aliases.contains(locate.getTensor()) ? locate : LocateOp();
    };
    auto inside = [&](auto &&self, LocateOp locate) -> Value {
      if (Value made = located.lookup(locate))
        return made;
      LocateOp above = outside(locate.getParent());
      Value parent = above ? self(self, above) : Value();
      auto copy = cast<LocateOp>(b.clone(*locate));
      if (parent)
        copy.getParentMutable().assign(parent);
      return located[locate] = copy;
    };
    own.getBody().walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (LocateOp locate = outside(operand.get()))
          operand.set(inside(inside, locate));
    });
  }

  Value combineCopies(Operation *combiner, Value tensor, Value size, Value copies, Value iterations) {
    Value all = RangeOp::create(b, emit.loc, emit.constant(0), iterations), summands = emit.valuesOf(copies);
    OpBuilder::InsertionGuard guard(b);
    auto made = IterateOp::create(b, emit.loc, tensor.getType(), all, tensor,
                                  loop.getLoop().withDirectives({}), /*each=*/false);
    Block *body = &made.getBody().emplaceBlock();
    b.setInsertionPointToStart(body);
    Value copy = body->addArgument(b.getIndexType(), emit.loc);
    Value sum = body->addArgument(tensor.getType(), emit.loc), values = emit.valuesOf(sum);
    addCopy(emit, combiner, values, emit.constant(0), size, summands, emit.times(copy, size));
    YieldOp::create(b, emit.loc, emit.withValues(sum, values));
    return made.getResult(0);
  }
};

struct FactorReductions : passes::impl::FactorReductionsBase<FactorReductions> {
  using FactorReductionsBase::FactorReductionsBase;

  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation().walk([&](Operation *op) {
      const LoopAttr loop = loopOverSets(op);
      if (loop && loop.getDirectives() && loop.getDirectives().getRfactor())
        loops.push_back(op);
    });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (Operation *op : loops)
      if (failed(factor(op)))
        return signalPassFailure();
  }

  LogicalResult factor(Operation *op) {
    const LoopAttr attr = loopOverSets(op);
    noteDone(getOperation(), attr, {.rfactor = attr.getDirectives().getRfactor()});
    if (auto loop = dyn_cast<IterateOp>(op))
      return Factor(loop, attr.getDirectives().getRfactor().getValue()).run();
    const StringRef index = attr.getIndex().getValue();
    return mlir::emitError(locationOf(op, ("rfactor " + index).str()))
           << "iterations of " << index
           << " cannot have partial results: several operands are iterated, and they have no numbers; split "
              "the "
              "loop, and say it of the loop over tiles";
  }
};

} // namespace
} // namespace tulle::parallel
