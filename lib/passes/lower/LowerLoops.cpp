// tulle-lower-loops: chosen loops count positions, or carry them from entry to entry; what is below them
// stays a loop over the sets of coordinates below one iterator.
//
// A space or a range is counted. Where each coordinate may have several entries, a while loop goes from the
// first of one coordinate to that of the next. Of a set of several spaces, the loop carries a position in
// each: a step visits the smallest coordinate there, or, over a range, the next one, by the case of the
// spaces that have it, and moves these on. How a set is merged otherwise is a choice of tulle-lower, for the
// loops that are left.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/lower/SetConditions.h"
#include "llvm/ADT/StringSet.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LOWERLOOPS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using namespace tulle::dialect;
using iteration::Minterm;
using iteration::SetExpression;
using lower::concat;
using lower::dropFront;
using lower::forLoop;
using lower::Values;
using lower::whileLoop;

StringRef indexOf(LoopAttr loop) { return loop.getIndex() ? loop.getIndex().getValue() : StringRef(); }

/// Whether the format may have positions without an entry.
bool hasPadding(SpaceType type) { return levels::find(type.getFormat())->hasPadding(type.getFormat()); }

/// The region's body where the builder stands, on these arguments; what it yields.
Values inlineBody(OpBuilder &b, Region &region, ValueRange arguments) {
  Block &body = region.front();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  Values yielded(body.getTerminator()->getOperands());
  body.getTerminator()->erase();
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(), body.getOperations());
  return yielded;
}

/// A space, and what a loop along it needs.
struct Along {
  Along(const lower::Emitter &emit, Value space) : emit(emit), space(space) {
    auto bounds = BoundsOp::create(emit.builder, emit.loc, space);
    begin = bounds.getBegin();
    end = bounds.getEnd();
  }

  const lower::Emitter &emit;
  Value space, begin, end;

  SpaceType type() const { return cast<SpaceType>(space.getType()); }
  bool unique() const { return type().getFormat().unique; }
  Value hasEntries(Value number) const { return emit.isLess(number, end); }
  IteratorAtOp at(Value number, Value until = {}, Value condition = {}) const {
    return IteratorAtOp::create(emit.builder, emit.loc, space, number, unique() ? Value() : until, condition);
  }
  /// The first entry; nothing where the end is reached.
  Value first() const {
    return hasPadding(type()) ? NextOp::create(emit.builder, emit.loc, space, begin, Value()) : begin;
  }
  /// The entry behind those of the coordinate at the number.
  Value next(Value number, Value coordinate) const {
    return NextOp::create(emit.builder, emit.loc, space, number, coordinate);
  }
  /// The same where the space has the coordinate, else the number.
  Value advance(Value number, Value has, Value coordinate) const {
    if (unique() && !hasPadding(type()))
      return emit.add(number,
                      arith::IndexCastUIOp::create(emit.builder, emit.loc, emit.builder.getIndexType(), has));
    return emit.choose(has, [&] { return next(number, coordinate); }, [&] { return number; });
  }
};

//===--- Loops over one space ---===//

Values lowerIterate(const lower::Emitter &emit, IterateOp op) {
  OpBuilder &b = emit.builder;
  const Location loc = op.getLoc();
  const LoopAttr loop = op.getLoop();
  const Along along(emit, op.getSpace());
  auto run = [&](IteratorAtOp at, Values now) {
    return inlineBody(b, op.getBody(), concat({at.getCoordinate(), at.getIterator()}, now));
  };
  auto namedAt = [&](Value number, Value until = {}) {
    if (!loop.valueName().empty())
      levels::named(number, loop.valueName() + "_pos");
    IteratorAtOp at = along.at(number, until);
    levels::named(at.getCoordinate(), loop.valueName());
    return at;
  };
  if (!isa<SpaceType>(op.getSpace().getType()))
    return forLoop(b, loc, along.begin, along.end, loop, op.getInits(), [&](Value coordinate, Values now) {
      return inlineBody(b, op.getBody(), concat({coordinate}, now));
    });
  if (along.unique() || lower::visitsEachEntry(op))
    return forLoop(b, loc, along.begin, along.end, loop, op.getInits(), [&](Value number, Values now) {
      IteratorAtOp at = namedAt(number);
      if (!hasPadding(along.type()))
        return run(at, now);
      return emit.branch(
          at.getEntry(), ValueRange(now).getTypes(), [&] { return run(at, now); }, [&] { return now; });
    });
  auto more = [&](Values now) { return along.hasEntries(now[0]); };
  Values results = whileLoop(b, loc, concat({along.first()}, op.getInits()), more, [&](Values now) {
    Value next = along.next(now[0], along.at(now[0]).getCoordinate());
    return concat({next}, run(namedAt(now[0], next), dropFront(now, 1)));
  });
  return dropFront(results, 1);
}

//===--- Loops over a set of several ---===//

class CoiterateLowering {
public:
  CoiterateLowering(const lower::Emitter &emit, CoiterateOp op)
      : emit(emit), b(emit.builder), loc(emit.loc), op(op), count(unsigned(op.getSpaces().size())) {
    for (int64_t minterm : op.getCases())
      if (minterm != 0)
        nonempty.push_back(Minterm(minterm));
    if (op.getFlags())
      set = *SetExpression::parse(std::string_view(op.getSet()), count);
    for (Value space : op.getSpaces()) {
      // Of coordinates outside of the range, nothing is visited.
      Value inside = op.getRange() ? RestrictOp::create(b, loc, space, op.getRange()) : space;
      spaces.emplace_back(emit, inside);
    }
  }

  /// What is carried on at the end.
  Values lower() {
    Values carried = llvm::map_to_vector<6>(spaces, [](const Along &along) { return along.first(); });
    llvm::append_range(carried, op.getInits());
    if (Value range = op.getRange()) {
      auto bounds = BoundsOp::create(b, loc, range);
      // Positions are carried, so that the iterations are not independent whatever the op says.
      carried = forLoop(
          b, loc, bounds.getBegin(), bounds.getEnd(), op.getLoop().withKind(LoopKind::Reduction), carried,
          [&](Value coordinate, const Values &now) { return visit(coordinate, look(now), now); });
    } else {
      carried = whileLoop(
          b, loc, carried, [&](const Values &now) { return isOpen(now); },
          [&](const Values &now) {
            SmallVector<Seen> seen = look(now);
            Value smallest;
            for (Seen &entry : seen) {
              entry = beyondOthers(entry);
              smallest = emit.least(smallest, entry.coordinate);
            }
            levels::named(smallest, op.getLoop().valueName());
            return visit(smallest, seen, now);
          });
    }
    return dropFront(carried, count);
  }

private:
  /// The entry of a space that the loop is at.
  struct Seen {
    Value iterator, coordinate;
    Value exists; ///< null where it always does
  };

  /// Without a range: whether the space has an entry as long as the loop runs.
  bool isCertain(unsigned space) {
    return op.getFlags() ? set.isWithin(space)
                         : llvm::all_of(nonempty, [&](Minterm m) { return (m >> space & 1) != 0; });
  }

  /// Without a range: whether a coordinate can still be in the set.
  Value isOpen(const Values &now) {
    auto hasEntries = [&](unsigned k) { return spaces[k].hasEntries(now[k]); };
    if (op.getFlags())
      return evaluate(emit, set, /*negatedAs=*/true, hasEntries);
    Value any;
    for (Minterm minterm : iteration::minimalOf(nonempty)) {
      Value all;
      for (unsigned k : lower::members(minterm))
        all = emit.both(all, hasEntries(k));
      any = emit.either(any, all);
    }
    return any ? any : emit.bit(false);
  }

  SmallVector<Seen> look(const Values &now) {
    SmallVector<Seen> seen;
    for (auto [k, along] : llvm::enumerate(spaces)) {
      Value exists = !op.getRange() && isCertain(unsigned(k)) ? Value() : along.hasEntries(now[k]);
      IteratorAtOp at = along.at(now[k], {}, exists);
      seen.push_back({at.getIterator(), at.getCoordinate(), exists});
    }
    return seen;
  }

  /// Where there is no entry, at a coordinate beyond all others.
  Seen beyondOthers(const Seen &seen) const {
    if (!seen.exists)
      return seen;
    Value beyond = emit.constant(std::numeric_limits<int64_t>::max());
    return {seen.iterator, emit.select(seen.exists, seen.coordinate, beyond), Value()};
  }

  /// Visits a coordinate: the numbers behind it, and what is carried on.
  Values visit(Value coordinate, ArrayRef<Seen> seen, const Values &now) {
    Values has, next, carried = dropFront(now, count);
    for (auto [k, along] : llvm::enumerate(spaces)) {
      Value equal = emit.isEqual(seen[k].coordinate, coordinate);
      has.push_back(seen[k].exists ? emit.both(seen[k].exists, equal) : equal);
      next.push_back(along.advance(now[k], has[k], coordinate));
    }
    auto iterator = [&](unsigned k, Value condition = {}) -> Value {
      return spaces[k].unique() ? seen[k].iterator : spaces[k].at(now[k], next[k], condition).getIterator();
    };
    if (!op.getFlags())
      return concat(next, dispatch(0, coordinate, has, iterator, carried));
    auto run = [&] {
      Values arguments{coordinate};
      for (unsigned k = 0; k < count; ++k)
        arguments.push_back(iterator(k, has[k]));
      return inlineBody(b, op.getCaseRegions()[0], concat(concat(arguments, has), carried));
    };
    if (set.isUnion(count))
      return concat(next, run());
    Value inside = evaluate(emit, set, /*negatedAs=*/std::nullopt, [&](unsigned k) { return has[k]; });
    return concat(next, emit.branch(inside, ValueRange(carried).getTypes(), run, [&] { return carried; }));
  }

  /// The case, from that of a number on, of the spaces that have the coordinate.
  Values dispatch(size_t number, Value coordinate, const Values &has,
                  function_ref<Value(unsigned, Value)> iterator, const Values &carried) {
    const ArrayRef<int64_t> left = op.getCases().drop_front(number);
    if (left.empty())
      return carried;
    const auto minterm = Minterm(left.front());
    const Minterm all = (Minterm(1) << count) - 1;
    std::vector<Minterm> others(left.begin() + 1, left.end());
    for (Minterm other : lower::setsWithoutCase(all, op.getCases(), count))
      others.push_back(other);
    if (op.getRange() && !llvm::is_contained(op.getCases(), 0))
      others.push_back(0);
    auto run = [&] {
      Values arguments{coordinate};
      for (unsigned k : lower::members(minterm))
        arguments.push_back(iterator(k, Value()));
      return inlineBody(b, op.getCaseRegions()[number], concat(arguments, carried));
    };
    Value condition = hasExactly(emit, minterm, std::move(others), has);
    if (!condition)
      return run();
    return emit.branch(condition, ValueRange(carried).getTypes(), run,
                       [&] { return dispatch(number + 1, coordinate, has, iterator, carried); });
  }

  const lower::Emitter &emit;
  OpBuilder &b;
  Location loc;
  CoiterateOp op;
  unsigned count;
  std::vector<Minterm> nonempty; ///< the cases of coordinates that some space has
  SmallVector<Along> spaces;
  SetExpression set; ///< with flags
};

void lowerLoop(Operation *op) {
  OpBuilder b(op);
  const lower::Emitter emit(b, op->getLoc());
  auto iterate = dyn_cast<IterateOp>(op);
  const Values results =
      iterate ? lowerIterate(emit, iterate) : CoiterateLowering(emit, cast<CoiterateOp>(op)).lower();
  op->replaceAllUsesWith(results);
  op->erase();
}

struct LowerLoops : impl::LowerLoopsBase<LowerLoops> {
  using LowerLoopsBase::LowerLoopsBase;

  void runOnOperation() override {
    llvm::StringSet<> found;
    SmallVector<Operation *> all;
    getOperation()->walk([&](Operation *op) {
      if (LoopAttr loop = loopOverSets(op)) {
        found.insert(indexOf(loop));
        all.push_back(op);
      }
    });
    for (const std::string &name : loops)
      if (!found.contains(name)) {
        getOperation()->emitError() << "no loop over sets of coordinates has the index '" << name << "'";
        return signalPassFailure();
      }
    for (auto [number, op] : llvm::enumerate(all))
      if (isChosen(op, number))
        lowerLoop(op);
  }

  bool isChosen(Operation *op, size_t number) const {
    if (sample != 0) {
      constexpr uint64_t golden = 0x9E3779B97F4A7C15; // 2^64 / the golden ratio: products are spread evenly
      return (((sample + 1) * golden ^ (number + 1)) * golden) >> 63 != 0;
    }
    return loops.empty() || llvm::is_contained(loops, indexOf(loopOverSets(op)));
  }
};

} // namespace
} // namespace tulle::passes
