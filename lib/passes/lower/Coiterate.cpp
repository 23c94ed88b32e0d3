// A loop over a set expression: which loops it becomes depends on the set and on the strategy.
//
//   merge   one step per coordinate: the smallest coordinate among the operands is visited, and the operands
//   that have it
//           advance. Over two operands the loop runs while both have entries, and what remains of either is a
//           plain loop; over more, one loop runs while a case can still occur, and an exhausted operand reads
//           as a coordinate beyond all others.
//   gaps    a merge over a range: the coordinates that no operand has are runs between those that one has.
//   locate  one step per coordinate of a range, with one position per operand.
//   gallop  an intersection: the operands behind the largest coordinate gallop to it.
//   flags   an n-way merge whose body runs once with a presence flag for each operand (Flagged.cpp).
//   blocks  an intersection of two lists, or of two bitmaps: whole vectors of coordinates, or words, at a
//   time (Intersect.h).
// Left to itself (auto), an innermost intersection of two lists is blocks or leaps by the ratio of their
// lengths, a set with a range is merged with its gaps, and everything else is a merge.
#include "passes/lower/Intersect.h"
#include "passes/lower/Lowering.h"
#include <bit>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;
using iteration::Costs;
using iteration::Minterm;

class CoiterateLowering {
public:
  CoiterateLowering(Lowering &parent, CoiterateOp op)
      : parent(parent), op(op), b(parent.b), loc(op.getLoc()), cases(op.getCases()) {
    for (Value space : op.getSpaces()) {
      spaces.push_back(parent.spaces.lookup(space));
      begins.push_back(nextEntry(b, loc, spaces.back(), spaces.back().range.begin));
    }
    count = unsigned(spaces.size());
    for (int64_t minterm : cases)
      if (minterm != 0)
        nonempty.push_back(Minterm(minterm));
  }

  Values lower(Values inits);

private:
  /// What runs in the case of a minterm, or where there is no case.
  using Run = llvm::function_ref<Values(std::optional<Minterm> minterm)>;

  /// Up to so many operands, the sets without a case are listed.
  static constexpr unsigned kFewOperands = 6;

  Values merge(Values inits);
  Values gaps(Values inits);
  Values locate(Values inits);
  Values gallopAll(Values inits);
  /// Many coordinates at a time, what is left over by a merge; nullopt where the operands do not allow it.
  std::optional<Values> compareMany(Values inits);
  /// Chosen at run time, by the ratio of the lengths.
  Values mergeOrGallop(Values inits);
  void explain(const std::string &how) {
    explainChoice(op, ("strategy of " + op.getSet() + ": " + how).str());
  }
  /// No loop runs inside, and the cases are short enough for several copies.
  bool innermost();
  /// What is left of one operand once the others have ended.
  Values tail(unsigned operand, Value begin, Values carried);
  /// One loop over the operands of `among`, which runs while all of some element of `live` have entries left.
  /// Carried values start with the positions of all operands. `before` runs ahead of each visit, on the
  /// coordinate and the other carried values; the first of these is its own and not seen by the cases.
  Values step(Minterm among, ArrayRef<Minterm> live, Values carried,
              llvm::function_ref<Values(Value, Values)> before = nullptr);
  /// Branches to `run` for the minterm of `possible` that is the set of operands that have the coordinate, or
  /// for none. `others`: the sets that have no case.
  Values dispatch(ArrayRef<Minterm> possible, ArrayRef<Minterm> others, ArrayRef<Value> has, TypeRange types,
                  Run run);
  /// The subsets of `among`, from `first` on, that have no case.
  SmallVector<Minterm> without(Minterm among, Minterm first);
  Value hasExactly(Minterm minterm, ArrayRef<Minterm> rest, ArrayRef<Minterm> others, ArrayRef<Value> has);
  Values visit(Minterm minterm, Value coordinate, ArrayRef<levels::Iterator> at, Values carried);
  bool hasCase(Minterm minterm) const { return llvm::is_contained(cases, int64_t(minterm)); }

  levels::Emitter emitter() const { return spaces.front().emitter(b, loc); }
  Value constant(int64_t value) { return emitter().constant(value); }
  Value compare(CmpIPredicate predicate, Value x, Value y) { return emitter().compare(predicate, x, y); }
  Value both(Value x, Value y) { return !x ? y : !y ? x : Value(arith::AndIOp::create(b, loc, x, y)); }
  Value negate(Value x) {
    return arith::XOrIOp::create(b, loc, x, arith::ConstantIntOp::create(b, loc, 1, 1));
  }
  Value hasEntries(unsigned k, Value position) { return lower::hasEntries(b, loc, spaces[k], position); }
  Value sentinelCoordinate(unsigned k, Value position) {
    return lower::sentinelCoordinate(b, loc, spaces[k], position);
  }
  Value after(unsigned k, Value position, Value coordinate) {
    return lower::after(b, loc, spaces[k], position, coordinate);
  }
  Value advance(unsigned k, Value position, Value has, Value coordinate) {
    return lower::advance(b, loc, spaces[k], position, has, coordinate);
  }

  /// The first entry at or after coordinate `target`, which is beyond that at `position`.
  Value leapTo(unsigned k, Value position, Value target) {
    return nextEntry(b, loc, spaces[k], gallop(b, loc, spaces[k], position, spaces[k].range.end, target));
  }

  Lowering &parent;
  CoiterateOp op;
  OpBuilder &b;
  Location loc;
  ArrayRef<int64_t> cases;
  SmallVector<Minterm> nonempty; ///< cases without minterm 0
  SmallVector<Space> spaces;
  Values begins;
  unsigned count = 0;
};

Values CoiterateLowering::visit(Minterm minterm, Value coordinate, ArrayRef<levels::Iterator> at,
                                Values carried) {
  for (auto [region, id] : llvm::zip(op.getCaseRegions(), cases)) {
    if (id != int64_t(minterm))
      continue;
    SmallVector<levels::Iterator> its;
    for (unsigned k = 0; k < count; ++k)
      if (minterm >> k & 1)
        its.push_back(at[k]);
    return parent.emitBody(region, coordinate, its, op.getInits(), carried);
  }
  return carried;
}

SmallVector<Minterm> CoiterateLowering::without(Minterm among, Minterm first) {
  SmallVector<Minterm> others;
  if (count <= kFewOperands)
    for (Minterm m = first; m <= among; ++m)
      if ((m & ~among) == 0 && !hasCase(m))
        others.push_back(m);
  return others;
}

Value CoiterateLowering::hasExactly(Minterm minterm, ArrayRef<Minterm> rest, ArrayRef<Minterm> others,
                                    ArrayRef<Value> has) {
  // Only as many operands are asked as tell this set from the others that are left.
  SmallVector<Minterm> left(rest);
  llvm::append_range(left, others);
  Value condition;
  if (count > kFewOperands) {
    for (unsigned k = 0; k < count; ++k)
      if (has[k])
        condition = both(condition, minterm >> k & 1 ? has[k] : negate(has[k]));
    return condition;
  }
  for (unsigned k = 0; k < count && !left.empty(); ++k) {
    size_t before = left.size();
    llvm::erase_if(left, [&](Minterm other) { return ((other ^ minterm) >> k & 1) != 0; });
    if (left.size() < before)
      condition = both(condition, minterm >> k & 1 ? has[k] : negate(has[k]));
  }
  return condition;
}

Values CoiterateLowering::dispatch(ArrayRef<Minterm> possible, ArrayRef<Minterm> others, ArrayRef<Value> has,
                                   TypeRange types, Run run) {
  if (possible.size() > 4) {
    Value mask = constant(0);
    for (unsigned k = 0; k < count; ++k)
      if (has[k]) {
        Value bit = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), has[k]);
        mask = arith::OrIOp::create(b, loc, mask, arith::ShLIOp::create(b, loc, bit, constant(k)));
      }
    SmallVector<int64_t> ids(possible.begin(), possible.end());
    auto branch = scf::IndexSwitchOp::create(b, loc, types, mask, ids, unsigned(ids.size()));
    OpBuilder::InsertionGuard guard(b);
    auto fill = [&](Region &region, llvm::function_ref<Values()> emit) {
      b.createBlock(&region);
      Values yielded = emit();
      scf::YieldOp::create(b, loc, yielded);
    };
    fill(branch.getDefaultRegion(), [&] { return run(std::nullopt); });
    for (auto [region, minterm] : llvm::zip(branch.getCaseRegions(), possible))
      fill(region, [&] { return run(minterm); });
    return Values(branch.getResults());
  }
  if (possible.empty())
    return run(std::nullopt);
  Minterm minterm = possible.front();
  Value condition = hasExactly(minterm, possible.drop_front(), others, has);
  if (!condition)
    return run(minterm);
  return ifElse(
      b, loc, condition, types, [&] { return run(minterm); },
      [&] { return dispatch(possible.drop_front(), others, has, types, run); });
}

Values CoiterateLowering::step(Minterm among, ArrayRef<Minterm> live, Values carried,
                               llvm::function_ref<Values(Value, Values)> before) {
  Minterm certain = among;
  for (Minterm minterm : live)
    certain &= minterm;
  auto running = [&](Values now) {
    Value any;
    for (Minterm minterm : live) {
      Value all;
      for (unsigned k = 0; k < count; ++k)
        if (minterm >> k & 1)
          all = both(all, hasEntries(k, now[k]));
      any = any ? Value(arith::OrIOp::create(b, loc, any, all)) : all;
    }
    return any;
  };
  auto body = [&](Values now) {
    SmallVector<Value> coordinates(count), has(count);
    Value least;
    for (unsigned k = 0; k < count; ++k)
      if (among >> k & 1) {
        coordinates[k] =
            certain >> k & 1 ? spaces[k].coordinate(b, loc, now[k]) : sentinelCoordinate(k, now[k]);
        least = least ? Value(arith::MinUIOp::create(b, loc, least, coordinates[k])) : coordinates[k];
      }
    Values rest(llvm::drop_begin(now, count)), front;
    if (before) {
      rest = before(least, rest);
      front.push_back(rest.front());
      rest.erase(rest.begin());
    }
    SmallVector<Minterm> possible;
    for (Minterm minterm : nonempty)
      if ((minterm & ~among) == 0)
        possible.push_back(minterm);
    llvm::stable_sort(possible, [](Minterm x, Minterm y) { return std::popcount(x) > std::popcount(y); });
    for (unsigned k = 0; k < count; ++k)
      if (among >> k & 1)
        has[k] = compare(CmpIPredicate::eq, coordinates[k], least);
    SmallVector<Minterm> others = without(among, 1);
    // Where every set has a case, positions advance inside of the branches: one that is guessed right does
    // not wait for the coordinates. Else they advance without a branch.
    bool inside = others.empty() && count <= kFewOperands;
    Values advanced(now);
    for (unsigned k = 0; k < count && !inside; ++k)
      if (among >> k & 1)
        advanced[k] = advance(k, now[k], has[k], least);
    advanced.truncate(count);
    SmallVector<Type> types(ValueRange(rest).getTypes());
    if (inside)
      types.insert(types.begin(), count, b.getIndexType());
    Values results = dispatch(possible, others, has, types, [&](std::optional<Minterm> minterm) -> Values {
      Values positions = advanced, values = rest;
      if (minterm) {
        SmallVector<levels::Iterator> at(count);
        for (unsigned k = 0; k < count; ++k) {
          if (!(*minterm >> k & 1))
            continue;
          if (inside)
            positions[k] = after(k, now[k], least);
          at[k] = spaces[k].at(now[k], positions[k], least);
        }
        // Every operand that has the coordinate agrees on it.
        values = visit(*minterm, coordinates[unsigned(std::countr_zero(*minterm))], at, rest);
      }
      if (inside)
        values.insert(values.begin(), positions.begin(), positions.end());
      return values;
    });
    if (!inside)
      results.insert(results.begin(), advanced.begin(), advanced.end());
    results.insert(results.begin() + count, front.begin(), front.end());
    return results;
  };
  return whileLoop(b, loc, carried, running, body);
}

Values CoiterateLowering::tail(unsigned operand, Value begin, Values carried) {
  const Space &space = spaces[operand];
  SmallVector<levels::Iterator> at(count);
  return parent.walk(loc, space, begin, space.range.end, op.getLoop(), /*each=*/false, carried,
                     [&](Value coordinate, const levels::Iterator &iterator, Values now) {
                       at[operand] = iterator;
                       return visit(Minterm(1) << operand, coordinate, at, now);
                     });
}

Values CoiterateLowering::merge(Values inits) {
  Values carried = begins;
  llvm::append_range(carried, inits);
  if (count == 1)
    return hasCase(1) ? tail(0, begins[0], inits) : inits;
  if (count == 2) {
    carried = step(3, {3}, carried);
    Values rest(llvm::drop_begin(carried, 2));
    for (unsigned k = 0; k < 2; ++k)
      if (hasCase(Minterm(1) << k))
        rest = tail(k, carried[k], rest);
    return rest;
  }
  // The loop may end as soon as no case can occur any more; the smallest minterms decide this.
  SmallVector<Minterm> least;
  for (Minterm m : nonempty)
    if (llvm::none_of(nonempty, [&](Minterm other) { return other != m && (other & m) == other; }))
      least.push_back(m);
  if (least.empty())
    return inits;
  carried = step((Minterm(1) << count) - 1, least, carried);
  return Values(llvm::drop_begin(carried, count));
}

/// The end of the entries below coordinate `hi`. A range that ends early is rare: the last entry is looked at
/// first.
static Value endBefore(OpBuilder &b, Location loc, const Space &space, Value begin, Value hi) {
  levels::Emitter emit = space.emitter(b, loc);
  Value end = space.range.end;
  Value beyond = guarded(b, loc, emit.compare(CmpIPredicate::ult, begin, end), [&] {
    Value last = space.coordinate(b, loc, emit.sub(end, emit.constant(1)));
    return emit.compare(CmpIPredicate::uge, last, hi);
  });
  return ifElse(
      b, loc, beyond, b.getIndexType(), [&] { return Values{lowerBound(b, loc, space, begin, end, hi)}; },
      [&] { return Values{end}; })[0];
}

static bool sameSize(Value x, Value y) {
  APInt a, c;
  return x == y || (matchPattern(x, m_ConstantInt(&a)) && matchPattern(y, m_ConstantInt(&c)) && a == c);
}

Values CoiterateLowering::gaps(Values inits) {
  auto [lo, hi] = parent.ranges.lookup(op.getRange());
  Values carried;
  Minterm all = (Minterm(1) << count) - 1;
  SmallVector<Minterm> any;
  for (unsigned k = 0; k < count; ++k) {
    Space &space = spaces[k];
    Value begin = firstFrom(b, loc, space, lo);
    if (!sameSize(hi, space.emitter(b, loc).levelSize(space.level)))
      space.range.end = endBefore(b, loc, space, begin, hi);
    carried.push_back(begin);
    any.push_back(Minterm(1) << k);
  }
  // Carried first: the coordinate up to which everything is visited.
  auto fill = [&](Value until, Values now) {
    Values rest(llvm::drop_begin(now));
    return forLoop(b, loc, now[0], until, op.getLoop(), rest,
                   [&](Value coordinate, Values inner) { return visit(0, coordinate, {}, inner); });
  };
  Values rest{lo};
  llvm::append_range(rest, inits);
  if (count == 1) {
    rest = parent.walk(loc, spaces[0], carried[0], spaces[0].range.end,
                       op.getLoop().withKind(LoopKind::Reduction), /*each=*/false, rest,
                       [&](Value coordinate, const levels::Iterator &iterator, Values now) {
                         Values result{emitter().add(coordinate, constant(1))};
                         llvm::append_range(result, visit(1, coordinate, iterator, fill(coordinate, now)));
                         return result;
                       });
    return fill(hi, rest);
  }
  llvm::append_range(carried, rest);
  carried = step(all, any, carried, [&](Value coordinate, Values now) {
    Values result{emitter().add(coordinate, constant(1))};
    llvm::append_range(result, fill(coordinate, now));
    return result;
  });
  return fill(hi, Values(llvm::drop_begin(carried, count)));
}

Values CoiterateLowering::locate(Values inits) {
  Value lo = constant(0), hi = emitter().levelSize(spaces[0].level);
  if (op.getRange())
    std::tie(lo, hi) = parent.ranges.lookup(op.getRange());
  Values carried;
  for (const Space &space : spaces)
    carried.push_back(firstFrom(b, loc, space, lo));
  llvm::append_range(carried, inits);
  // Positions travel from iteration to iteration, so the iterations are not independent whatever the op says.
  carried = forLoop(
      b, loc, lo, hi, op.getLoop().withKind(LoopKind::Reduction), carried, [&](Value coordinate, Values now) {
        Values has;
        SmallVector<levels::Iterator> at;
        Values next;
        for (unsigned k = 0; k < count; ++k) {
          Value own = sentinelCoordinate(k, now[k]);
          has.push_back(compare(CmpIPredicate::eq, own, coordinate));
          next.push_back(advance(k, now[k], has[k], coordinate));
          at.push_back(spaces[k].at(now[k], next[k], coordinate));
        }
        SmallVector<Minterm> possible(cases.begin(), cases.end());
        Minterm all = (Minterm(1) << count) - 1;
        Values rest(llvm::drop_begin(now, count));
        llvm::append_range(next, dispatch(possible, without(all, 0), has, ValueRange(rest).getTypes(),
                                          [&](std::optional<Minterm> minterm) {
                                            return minterm ? visit(*minterm, coordinate, at, rest) : rest;
                                          }));
        return next;
      });
  return Values(llvm::drop_begin(carried, count));
}

Values CoiterateLowering::gallopAll(Values inits) {
  Minterm all = (Minterm(1) << count) - 1;
  Values carried = begins;
  llvm::append_range(carried, inits);
  auto running = [&](Values now) {
    Value live;
    for (unsigned k = 0; k < count; ++k)
      live = both(live, hasEntries(k, now[k]));
    return live;
  };
  auto body = [&](Values now) {
    SmallVector<Value> coordinates;
    Value largest, equal;
    for (unsigned k = 0; k < count; ++k) {
      coordinates.push_back(spaces[k].coordinate(b, loc, now[k]));
      if (k > 0)
        equal = both(equal, compare(CmpIPredicate::eq, coordinates[0], coordinates[k]));
      largest = largest ? Value(arith::MaxUIOp::create(b, loc, largest, coordinates[k])) : coordinates[k];
    }
    auto meet = [&] {
      Values next;
      SmallVector<levels::Iterator> at;
      for (unsigned k = 0; k < count; ++k) {
        next.push_back(after(k, now[k], largest));
        at.push_back(spaces[k].at(now[k], next[k], largest));
      }
      llvm::append_range(next, visit(all, largest, at, Values(llvm::drop_begin(now, count))));
      return next;
    };
    auto leap = [&] {
      Values next(now);
      for (unsigned k = 0; k < count; ++k)
        next[k] = ifElse(
            b, loc, compare(CmpIPredicate::ult, coordinates[k], largest), b.getIndexType(),
            [&] { return Values{leapTo(k, now[k], largest)}; }, [&] { return Values{now[k]}; })[0];
      return next;
    };
    return ifElse(b, loc, equal, ValueRange(now).getTypes(), meet, leap);
  };
  return Values(llvm::drop_begin(whileLoop(b, loc, carried, running, body), count));
}

Values CoiterateLowering::lower(Values inits) {
  Minterm all = (Minterm(1) << count) - 1;
  bool intersection = count > 1 && cases == ArrayRef<int64_t>{int64_t(all)};
  const Costs &costs = parent.model.costs;
  if (op.getStrategy() == Strategy::Locate)
    return locate(inits);
  if (op.getRange()) {
    explain("merge with the gaps between entries, as coordinates without any are visited too");
    return gaps(inits);
  }
  if (intersection && count == 2 && op.getStrategy() != Strategy::Merge && innermost())
    if (std::optional<Values> results = compareMany(inits))
      return *results;
  if (intersection && op.getStrategy() == Strategy::Gallop) {
    explain("gallop, as asked for");
    return gallopAll(inits);
  }
  if (intersection && count == 2 && op.getStrategy() == Strategy::Auto && innermost()) {
    explain("merge, or from lengths of 1:" + std::to_string(costs.mergeGallopRatio) +
            " on gallop, at run time; coordinates lie too far apart to compare vectors of them");
    return mergeOrGallop(inits);
  }
  explain(op.getStrategy() == Strategy::Merge ? "merge, as asked for"
          : intersection ? "merge; the body holds a loop or is too long for several copies"
                         : "merge; every entry of some operand is visited");
  return merge(inits);
}

std::optional<Values> CoiterateLowering::compareMany(Values inits) {
  auto meet = [&](Value coordinate, Value x, Value y, Values carried) {
    Value one = constant(1);
    SmallVector<levels::Iterator> at{spaces[0].at(x, emitter().add(x, one), coordinate),
                                     spaces[1].at(y, emitter().add(y, one), coordinate)};
    return visit(3, coordinate, at, carried);
  };
  if (op.getStrategy() != Strategy::Gallop && comparesWords(spaces[0], spaces[1])) {
    explain("words of both bitmaps; a merge would take a step for each entry");
    return intersectWords(b, loc, spaces[0], spaces[1], inits, meet);
  }
  if (!comparesBlocks(spaces[0], spaces[1]))
    return std::nullopt;
  Intersection how = op.getStrategy() == Strategy::Blocks   ? Intersection::Blocks
                     : op.getStrategy() == Strategy::Gallop ? Intersection::Gallop
                                                            : Intersection::Auto;
  explain(how == Intersection::Auto
              ? "blocks of " + std::to_string(parent.model.comparedLanes()) +
                    " coordinates, or from lengths of 1:" + std::to_string(parent.model.blockGallopRatio()) +
                    " on leaps of the shorter list, at run time; a merge mispredicts every other entry"
              : std::string("as asked for"));
  Values carried = begins;
  llvm::append_range(carried, inits);
  carried = intersectBlocks(b, loc, spaces[0], spaces[1], how, parent.model, carried, meet);
  return Values(llvm::drop_begin(step(3, {3}, carried), 2));
}

bool CoiterateLowering::innermost() {
  constexpr unsigned mostOperations = 100;
  unsigned operations = 0;
  for (Region &region : op.getCaseRegions())
    region.walk([&](Operation *) { ++operations; });
  return operations <= mostOperations && llvm::none_of(op.getCaseRegions(), [](Region &region) {
           return region
               .walk([](Operation *inner) {
                 return isa<LoopLikeOpInterface, IterateOp, CoiterateOp>(inner) ? WalkResult::interrupt()
                                                                                : WalkResult::advance();
               })
               .wasInterrupted();
         });
}

Values CoiterateLowering::mergeOrGallop(Values inits) {
  auto length = [&](unsigned k) { return emitter().sub(spaces[k].range.end, spaces[k].range.begin); };
  auto muchLonger = [&](Value x, Value y) -> Value {
    return compare(CmpIPredicate::ugt, x, emitter().mul(y, constant(parent.model.costs.mergeGallopRatio)));
  };
  Value x = length(0), y = length(1);
  Value skewed = arith::OrIOp::create(b, loc, muchLonger(x, y), muchLonger(y, x));
  return ifElse(
      b, loc, skewed, ValueRange(inits).getTypes(), [&] { return gallopAll(inits); },
      [&] { return merge(inits); });
}

void Lowering::lowerCoiterate(CoiterateOp op) {
  Values inits = plain(op.getInits());
  Values results = op.getFlags() ? lowerFlagged(op, inits) : CoiterateLowering(*this, op).lower(inits);
  bindCarried(op.getResults(), op.getInits(), results);
}

} // namespace tulle::lower
