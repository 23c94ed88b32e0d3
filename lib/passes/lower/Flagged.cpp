// A co-iteration with presence flags: an n-way merge whose body stands in the code once. A step takes the
// smallest coordinate among the operands; an operand that has it is present, and its position advances by
// that bit. What the code takes grows with the number of operands, not with that of their subsets.
#include "iteration/Set.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;
using iteration::SetExpression;

namespace {

class FlaggedMerge {
public:
  FlaggedMerge(OpBuilder &b, CoiterateOp op, SmallVector<Space> spaces)
      : b(b), loc(op.getLoc()), spaces(std::move(spaces)) {
    count = unsigned(this->spaces.size());
    set = *SetExpression::parse(std::string_view(op.getSet().data(), op.getSet().size()), count);
  }

  /// What runs at a coordinate: with the iterators, the flags and the carried values.
  using Body = llvm::function_ref<Values(Value, ArrayRef<levels::Iterator>, ArrayRef<Value>, Values)>;

  /// Every coordinate of the set that some operand has.
  Values merge(Values inits, Body body) {
    Values carried;
    for (const Space &space : spaces)
      carried.push_back(nextEntry(b, loc, space, space.range.begin));
    llvm::append_range(carried, inits);
    auto running = [&](Values now) {
      // The set goes on while it holds something of operands that have not ended.
      return evaluate(set, /*negatedAs=*/true,
                      [&](unsigned k) { return hasEntries(b, loc, spaces[k], now[k]); });
    };
    auto step = [&](Values now) {
      Values coordinates;
      Value least;
      for (unsigned k = 0; k < count; ++k) {
        coordinates.push_back(set.isWithin(k) ? spaces[k].coordinate(b, loc, now[k])
                                              : sentinelCoordinate(b, loc, spaces[k], now[k]));
        least = least ? Value(arith::MinUIOp::create(b, loc, least, coordinates[k])) : coordinates[k];
      }
      return visit(least, coordinates, now, body);
    };
    return Values(llvm::drop_begin(whileLoop(b, loc, carried, running, step), count));
  }

  /// Every coordinate of the set from `lo` to `hi`.
  Values sweep(Value lo, Value hi, Values inits, Body body) {
    Values carried;
    for (const Space &space : spaces)
      carried.push_back(firstFrom(b, loc, space, lo));
    llvm::append_range(carried, inits);
    // Positions travel from one iteration to the next, so that these are not independent.
    carried = forLoop(b, loc, lo, hi, LoopKind::Reduction, carried, [&](Value coordinate, Values now) {
      Values coordinates;
      for (unsigned k = 0; k < count; ++k)
        coordinates.push_back(sentinelCoordinate(b, loc, spaces[k], now[k]));
      return visit(coordinate, coordinates, now, body);
    });
    return Values(llvm::drop_begin(carried, count));
  }

private:
  Values visit(Value coordinate, ArrayRef<Value> coordinates, Values now, Body body) {
    Values has, next, rest(llvm::drop_begin(now, count));
    SmallVector<levels::Iterator> at;
    for (unsigned k = 0; k < count; ++k) {
      levels::Emitter emit = spaces[k].emitter(b, loc);
      has.push_back(emit.compare(CmpIPredicate::eq, coordinates[k], coordinate));
      next.push_back(advance(b, loc, spaces[k], now[k], has[k], coordinate));
      at.push_back(spaces[k].at(now[k], next[k], coordinate));
    }
    auto run = [&] { return body(coordinate, at, has, rest); };
    if (set.isUnion(count)) {
      llvm::append_range(next, run());
      return next;
    }
    Value inside = evaluate(set, /*negatedAs=*/std::nullopt, [&](unsigned k) { return has[k]; });
    llvm::append_range(next, ifElse(b, loc, inside, ValueRange(rest).getTypes(), run, [&] { return rest; }));
    return next;
  }

  Value bit(bool value) { return arith::ConstantIntOp::create(b, loc, value, 1); }

  /// The expression with a bit for each operand. `negatedAs`: what stands for every negation.
  Value evaluate(const SetExpression &e, std::optional<bool> negatedAs,
                 llvm::function_ref<Value(unsigned)> operand) {
    using Kind = SetExpression::Kind;
    switch (e.kind) {
    case Kind::Operand:
      return operand(e.operand);
    case Kind::Everything:
    case Kind::Nothing:
      return bit(e.kind == Kind::Everything);
    case Kind::Not:
      if (negatedAs)
        return bit(*negatedAs);
      return arith::XOrIOp::create(b, loc, evaluate(e.parts[0], negatedAs, operand), bit(true));
    case Kind::And:
    case Kind::Or:
      break;
    }
    Value result;
    for (const SetExpression &part : e.parts) {
      Value next = evaluate(part, negatedAs, operand);
      if (!result)
        result = next;
      else if (e.kind == Kind::And)
        result = arith::AndIOp::create(b, loc, result, next);
      else
        result = arith::OrIOp::create(b, loc, result, next);
    }
    return result;
  }

  OpBuilder &b;
  Location loc;
  SmallVector<Space> spaces;
  SetExpression set;
  unsigned count = 0;
};

} // namespace

Values Lowering::lowerFlagged(CoiterateOp op, ValueRange inits) {
  SmallVector<Space> walked;
  for (Value space : op.getSpaces())
    walked.push_back(spaces.lookup(space));
  FlaggedMerge loop(b, op, std::move(walked));
  auto body = [&](Value coordinate, ArrayRef<levels::Iterator> at, ArrayRef<Value> has, Values carried) {
    return emitBody(op.getCaseRegions()[0], coordinate, at, op.getInits(), carried, has);
  };
  if (!op.getRange())
    return loop.merge(Values(inits), body);
  auto [lo, hi] = ranges.lookup(op.getRange());
  return loop.sweep(lo, hi, Values(inits), body);
}

} // namespace tulle::lower
