// A loop over a set expression: which loops it becomes depends on the set and on the strategy.
//
//   merge   one step per coordinate: the smallest coordinate among the operands is visited, and the operands
//   that have it advance. Over two operands the loop runs while both have entries, and what remains of either
//           is a plain loop; over more, one loop runs while a case can still occur, and an exhausted operand
//           reads as a coordinate beyond all others.
//   gaps    a merge over a range: the coordinates that no operand has are runs between those that one has.
//   gallop  an intersection: the operands behind the largest coordinate gallop to it.
//   flags   an n-way merge, or one step per coordinate of a range, whose body stands in the code once, with a
//           presence flag for each operand: the code grows with the number of operands, not with that of
//           their subsets.
//   blocks  an intersection of two lists, or of two bitmaps: whole vectors of coordinates, or words, at a
//   time (Space.cpp).
// Left to itself (auto), an innermost intersection of two lists is blocks or gallops by the ratio of their
// lengths, a set with a range is merged with its gaps, and everything else is a merge.
#include "passes/lower/Lowering.h"
#include "passes/lower/SetConditions.h"
#include <bit>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using iteration::Minterm;
using iteration::SetExpression;

/// The end of the entries below coordinate `hi`. A range that ends early is rare: the last entry is compared
/// first.
static Value endBefore(const Space &space, Value begin, Value hi) {
  const Emitter &emit = space.emit;
  Value end = space.range.end;
  Value beyond = emit.guarded(emit.isLess(begin, end), [&] {
    Value last = space.coordinate(emit.sub(end, emit.constant(1)));
    return emit.compare(arith::CmpIPredicate::uge, last, hi);
  });
  return emit.choose(beyond, [&] { return space.lowerBound(begin, end, hi); }, [&] { return end; });
}

class CoiterateLowering : Emitter {
public:
  CoiterateLowering(Lowering &parent, CoiterateOp op)
      : Emitter(parent.b, op.getLoc()), parent(parent), op(op), b(parent.b), cases(op.getCases()),
        count(unsigned(op.getSpaces().size())), all((Minterm(1) << count) - 1) {
    for (Value space : op.getSpaces()) {
      spaces.push_back(parent.spaces.at(space));
      spaces.back().maybeEmpty = true; // what is left of it once others have ended
    }
    for (int64_t minterm : cases)
      if (minterm != 0)
        nonempty.push_back(Minterm(minterm));
  }

  Values lower(Values inits) {
    const bool intersection = count > 1 && cases == ArrayRef<int64_t>{int64_t(all)};
    const Strategy strategy = op.getStrategy();
    if (op.getFlags())
      set = *SetExpression::parse(std::string_view(op.getSet()), count);
    if (op.getFlags() && op.getRange())
      return stepFlagged(inits);
    if (op.getRange()) {
      explain("merge with the gaps between entries, as coordinates without any are visited too");
      return gaps(inits);
    }
    Values carried;
    for (const Space &space : spaces)
      carried.push_back(space.nextEntry(space.range.begin));
    carried = concat(carried, inits);
    if (op.getFlags())
      return mergeFlagged(carried);
    const bool pair = intersection && count == 2 && strategy != Strategy::Merge && innermost();
    if (pair)
      if (std::optional<Values> results = compareMany(carried))
        return *results;
    if (intersection && strategy == Strategy::Gallop) {
      explain("gallop, as asked for");
      return gallopAll(carried);
    }
    if (pair && (strategy == Strategy::Auto || strategy == Strategy::MergeOrGallop)) {
      explain("merge, or from lengths of 1:" + std::to_string(parent.model.costs.mergeGallopRatio) +
              " on gallop, at run time; " +
              (strategy == Strategy::Auto
                   ? "coordinates lie too far apart to compare vectors of them"
                   : "comparing vectors of coordinates takes more copies of the body"));
      return mergeOrGallop(carried);
    }
    explain(strategy == Strategy::Merge ? "merge, as asked for"
            : intersection              ? "merge; the body holds a loop or is too long for several copies"
                                        : "merge; every entry of some operand is visited");
    return merge(carried);
  }

private:
  /// What runs in the case of a minterm, or where there is no case.
  using Run = function_ref<Values(std::optional<Minterm> minterm)>;

  // `carried` starts with the positions of all operands; the results are without them.
  Values merge(Values carried) {
    if (count > 2) {
      // The loop may end as soon as no case can occur any more; the smallest minterms decide this.
      const std::vector<Minterm> least = iteration::minimalOf({nonempty.begin(), nonempty.end()});
      if (!least.empty())
        carried = step(all, least, carried);
      return dropFront(carried, count);
    }
    if (count == 2)
      carried = step(3, {3}, carried);
    Values rest = dropFront(carried, count);
    for (unsigned k = 0; k < count; ++k)
      if (hasCase(Minterm(1) << k))
        rest = epilogue(k, carried[k], rest);
    return rest;
  }

  Values mergeFlagged(Values carried) {
    Minterm certain = 0;
    for (unsigned k = 0; k < count; ++k)
      certain |= Minterm(set.isWithin(k)) << k;
    auto running = [&](Values now) {
      // The set goes on while it holds something of operands that have not ended.
      return evaluate(*this, set, /*negatedAs=*/true,
                      [&](unsigned k) { return spaces[k].hasEntries(now[k]); });
    };
    auto body = [&](Values now) {
      auto [coordinates, least] = coordinatesAt(all, certain, now);
      return visitAt(least, coordinates, now);
    };
    return dropFront(whileLoop(b, loc, carried, running, body), count);
  }

  Values gallopAll(Values carried) {
    auto running = [&](Values now) {
      Value live;
      for (unsigned k = 0; k < count; ++k)
        live = both(live, spaces[k].hasEntries(now[k]));
      return live;
    };
    auto body = [&](Values now) {
      SmallVector<Value> coordinates;
      Value largest, equal;
      for (unsigned k = 0; k < count; ++k) {
        coordinates.push_back(spaces[k].coordinate(now[k]));
        if (k > 0)
          equal = both(equal, isEqual(coordinates[0], coordinates[k]));
        largest = greatest(largest, coordinates[k]);
      }
      auto meet = [&] {
        Values next;
        SmallVector<Iterator> at;
        for (unsigned k = 0; k < count; ++k) {
          next.push_back(spaces[k].after(now[k], largest));
          at.push_back(spaces[k].at(now[k], next[k], largest));
        }
        return concat(next, visit(all, largest, at, dropFront(now, count)));
      };
      auto leap = [&] {
        Values next(now);
        for (unsigned k = 0; k < count; ++k)
          next[k] = choose(
              isLess(coordinates[k], largest),
              [&] { return spaces[k].nextEntry(spaces[k].gallop(now[k], largest)); }, [&] { return now[k]; });
        return next;
      };
      return branch(equal, ValueRange(now).getTypes(), meet, leap);
    };
    return dropFront(whileLoop(b, loc, carried, running, body), count);
  }

  /// Many coordinates at a time, what is left over by a merge; nullopt where the operands do not allow it.
  std::optional<Values> compareMany(Values carried) {
    auto meet = [&](Value coordinate, Value x, Value y, Values now) {
      Value afterX = next(x), afterY = next(y);
      SmallVector<Iterator> at{spaces[0].at(x, afterX, coordinate), spaces[1].at(y, afterY, coordinate)};
      return visit(3, coordinate, at, now);
    };
    if (op.getStrategy() != Strategy::Gallop && comparesWords(spaces[0], spaces[1])) {
      explain("words of both bitmaps; a merge would take a step for each entry");
      return intersectWords(*this, spaces[0], spaces[1], dropFront(carried, 2), meet);
    }
    const Strategy strategy = op.getStrategy();
    if (strategy == Strategy::MergeOrGallop || !comparesBlocks(spaces[0], spaces[1]))
      return std::nullopt;
    explain(
        strategy == Strategy::Auto
            ? "blocks of " + std::to_string(parent.model.comparedLanes()) +
                  " coordinates, or from lengths of 1:" + std::to_string(parent.model.blockGallopRatio()) +
                  " on galloping by the shorter list, at run time; a merge mispredicts every other entry"
            : std::string("as asked for"));
    carried = intersectBlocks(*this, spaces[0], spaces[1], strategy, parent.model, carried, meet);
    return dropFront(step(3, {3}, carried), 2);
  }

  /// Chosen at run time, by the ratio of the lengths.
  Values mergeOrGallop(Values carried) {
    auto length = [&](unsigned k) { return sub(spaces[k].range.end, spaces[k].range.begin); };
    auto muchLonger = [&](Value x, Value y) {
      return isLess(mul(y, constant(parent.model.costs.mergeGallopRatio)), x);
    };
    Value x = length(0), y = length(1);
    return branch(
        either(muchLonger(x, y), muchLonger(y, x)), ValueRange(dropFront(carried, count)).getTypes(),
        [&] { return gallopAll(carried); }, [&] { return merge(carried); });
  }

  Values gaps(Values inits) {
    auto [lo, hi] = parent.spaces.at(op.getRange()).range;
    Values carried;
    SmallVector<Minterm> any;
    for (unsigned k = 0; k < count; ++k) {
      Space &space = spaces[k];
      Value begin = space.firstFrom(lo), size = space.levelSize();
      std::optional<int64_t> known = getConstantIntValue(hi);
      if (hi != size && (!known || known != getConstantIntValue(size)))
        space.range.end = endBefore(space, begin, hi);
      carried.push_back(begin);
      any.push_back(Minterm(1) << k);
    }
    // Carried first: the coordinate up to which everything is visited.
    auto fill = [&](Value until, Values now) {
      return forLoop(b, loc, now[0], until, op.getLoop(), dropFront(now, 1),
                     [&](Value coordinate, Values inner) { return visit(0, coordinate, {}, inner); });
    };
    Values rest = concat({lo}, inits);
    if (count == 1) {
      rest = parent.iterate(loc, spaces[0], carried[0], spaces[0].range.end,
                            op.getLoop().withKind(LoopKind::Reduction), /*each=*/false, rest,
                            [&](Value coordinate, const Iterator &iterator, Values now) {
                              Values next{Emitter::next(coordinate)};
                              return concat(next, visit(1, coordinate, iterator, fill(coordinate, now)));
                            });
      return fill(hi, rest);
    }
    carried = step(all, any, concat(carried, rest), [&](Value coordinate, Values now) {
      Values next{Emitter::next(coordinate)};
      return concat(next, fill(coordinate, now));
    });
    return fill(hi, dropFront(carried, count));
  }

  Values stepFlagged(Values inits) {
    const PositionRange range = parent.spaces.at(op.getRange()).range;
    Values carried = llvm::map_to_vector<6>(spaces, [&](const Space &s) { return s.firstFrom(range.begin); });
    // Positions are loop-carried, so the iterations are not independent whatever the op says.
    carried = forLoop(b, loc, range.begin, range.end, op.getLoop().withKind(LoopKind::Reduction),
                      concat(carried, inits), [&](Value coordinate, const Values &now) {
                        return visitAt(coordinate, coordinatesAt(all, 0, now).first, now);
                      });
    return dropFront(carried, count);
  }

  void explain(const std::string &how) {
    explainChoice(op, ("strategy of " + op.getSet() + ": " + how).str());
  }
  /// No loop runs inside, and the cases are short enough for several copies.
  bool innermost() {
    constexpr unsigned mostOperations = 100;
    unsigned operations = 0;
    bool holdsLoop = false;
    for (Region &region : op.getCaseRegions())
      region.walk([&](Operation *inner) {
        ++operations;
        holdsLoop |= isa<LoopLikeOpInterface, CoiterateOp>(inner);
      });
    return operations <= mostOperations && !holdsLoop;
  }

  /// What is left of one operand once the others have ended.
  Values epilogue(unsigned operand, Value begin, Values carried) {
    const Space &space = spaces[operand];
    SmallVector<Iterator> at(count);
    return parent.iterate(loc, space, begin, space.range.end, op.getLoop(), /*each=*/false, carried,
                          [&](Value coordinate, const Iterator &iterator, Values now) {
                            at[operand] = iterator;
                            return visit(Minterm(1) << operand, coordinate, at, now);
                          });
  }

  /// One loop over the operands of `among`, which runs while all of some element of `live` have entries left.
  /// `before` runs ahead of each visit, on the coordinate and what is carried behind the positions; the first
  /// of that is its own and not seen by the cases. Returns the positions, too.
  Values step(Minterm among, ArrayRef<Minterm> live, Values carried,
              function_ref<Values(Value, Values)> before = nullptr) {
    Minterm certain = among;
    for (Minterm minterm : live)
      certain &= minterm;
    auto running = [&](Values now) {
      Value any;
      for (Minterm minterm : live) {
        Value haveEntries;
        for (unsigned k : members(minterm))
          haveEntries = both(haveEntries, spaces[k].hasEntries(now[k]));
        any = either(any, haveEntries);
      }
      return any;
    };
    auto body = [&](Values now) {
      auto [coordinates, least] = coordinatesAt(among, certain, now);
      Values rest = dropFront(now, count);
      if (!before)
        return visitLeast(among, coordinates, least, now, rest);
      rest = before(least, rest);
      Values results = visitLeast(among, coordinates, least, now, dropFront(rest, 1));
      results.insert(results.begin() + count, rest.front());
      return results;
    };
    return whileLoop(b, loc, carried, running, body);
  }

  /// Visits the least coordinate; returns the positions behind it, and what is carried on.
  Values visitLeast(Minterm among, const Values &coordinates, Value least, const Values &now,
                    Values carried) {
    SmallVector<Minterm> possible =
        llvm::filter_to_vector(nonempty, [&](Minterm m) { return (m & ~among) == 0; });
    llvm::stable_sort(possible, [](Minterm x, Minterm y) { return std::popcount(x) > std::popcount(y); });
    Values has(count), advanced(ArrayRef(now).take_front(count));
    for (unsigned k : members(among))
      has[k] = isEqual(coordinates[k], least);
    SmallVector<Minterm> others = setsWithoutCase(among, cases, count);
    // Where every set has a case, positions advance inside of the branches: one that is guessed right does
    // not wait for the coordinates. Else they advance without a branch.
    const bool inside = others.empty() && count <= kFewOperands;
    if (!inside)
      for (unsigned k : members(among))
        advanced[k] = spaces[k].advance(now[k], has[k], least);
    Values first = inside ? advanced : Values();
    SmallVector<Type> types(ValueRange(concat(first, carried)).getTypes());
    Values results = dispatch(possible, others, has, types, [&](std::optional<Minterm> minterm) -> Values {
      Values positions = advanced;
      if (!minterm)
        return concat(first, carried);
      SmallVector<Iterator> at(count);
      for (unsigned k : members(*minterm)) {
        if (inside)
          positions[k] = spaces[k].after(now[k], least);
        at[k] = spaces[k].at(now[k], positions[k], least);
      }
      // Every operand that has the coordinate agrees on it.
      Values values = visit(*minterm, coordinates[unsigned(std::countr_zero(*minterm))], at, carried);
      return inside ? concat(positions, values) : values;
    });
    return inside ? results : concat(advanced, results);
  }

  /// The coordinates of the operands of `among`, of which those of `certain` have entries; and the least.
  std::pair<Values, Value> coordinatesAt(Minterm among, Minterm certain, const Values &now) {
    Values coordinates(count);
    Value smallest;
    for (unsigned k : members(among)) {
      coordinates[k] = certain >> k & 1 ? spaces[k].coordinate(now[k]) : spaces[k].sentinelCoordinate(now[k]);
      smallest = least(smallest, coordinates[k]);
    }
    return {coordinates, smallest};
  }

  /// Visits a coordinate with a flag for each operand, whether it is at it and advances. Returns the
  /// positions, too.
  Values visitAt(Value coordinate, const Values &coordinates, const Values &now) {
    Values has, next, rest = dropFront(now, count);
    SmallVector<Iterator> at;
    for (unsigned k = 0; k < count; ++k) {
      has.push_back(isEqual(coordinates[k], coordinate));
      next.push_back(spaces[k].advance(now[k], has[k], coordinate));
      at.push_back(spaces[k].at(now[k], next[k], coordinate));
    }
    auto run = [&] {
      return parent.emitBody(op.getCaseRegions()[0], coordinate, at, op.getInits(), rest, has);
    };
    if (set.isUnion(count))
      return concat(next, run());
    Value inside = evaluate(*this, set, /*negatedAs=*/std::nullopt, [&](unsigned k) { return has[k]; });
    return concat(next, branch(inside, ValueRange(rest).getTypes(), run, [&] { return rest; }));
  }

  /// Branches to `run` for the minterm of `possible` that is the set of operands that have the coordinate, or
  /// for none. `others`: the sets that have no case.
  Values dispatch(ArrayRef<Minterm> possible, ArrayRef<Minterm> others, ArrayRef<Value> has, TypeRange types,
                  Run run) {
    if (possible.size() > 4)
      return switchOver(possible, has, types, run);
    if (possible.empty())
      return run(std::nullopt);
    Minterm minterm = possible.front();
    std::vector<Minterm> left(possible.begin() + 1, possible.end());
    left.insert(left.end(), others.begin(), others.end());
    Value condition = hasExactly(*this, minterm, std::move(left), has);
    if (!condition)
      return run(minterm);
    return branch(
        condition, types, [&] { return run(minterm); },
        [&] { return dispatch(possible.drop_front(), others, has, types, run); });
  }

  Values switchOver(ArrayRef<Minterm> possible, ArrayRef<Value> has, TypeRange types, Run run) {
    Value mask = constant(0);
    for (unsigned k = 0; k < count; ++k)
      if (has[k]) {
        Value bit = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), has[k]);
        mask = arith::OrIOp::create(b, loc, mask, arith::ShLIOp::create(b, loc, bit, constant(k)));
      }
    SmallVector<int64_t> ids(possible.begin(), possible.end());
    auto branch = scf::IndexSwitchOp::create(b, loc, types, mask, ids, unsigned(ids.size()));
    OpBuilder::InsertionGuard guard(b);
    auto fill = [&](Region &region, std::optional<Minterm> minterm) {
      b.createBlock(&region);
      scf::YieldOp::create(b, loc, run(minterm));
    };
    fill(branch.getDefaultRegion(), std::nullopt);
    for (auto [region, minterm] : llvm::zip(branch.getCaseRegions(), possible))
      fill(region, minterm);
    return Values(branch.getResults());
  }

  Values visit(Minterm minterm, Value coordinate, ArrayRef<Iterator> at, Values carried) {
    for (auto [region, id] : llvm::zip(op.getCaseRegions(), cases)) {
      if (id != int64_t(minterm))
        continue;
      SmallVector<Iterator> its = llvm::map_to_vector(members(minterm), [&](unsigned k) { return at[k]; });
      return parent.emitBody(region, coordinate, its, op.getInits(), carried);
    }
    return carried;
  }

  bool hasCase(Minterm minterm) const { return llvm::is_contained(cases, int64_t(minterm)); }

  Lowering &parent;
  CoiterateOp op;
  OpBuilder &b;
  ArrayRef<int64_t> cases;
  SmallVector<Minterm> nonempty; ///< cases without minterm 0
  SmallVector<Space> spaces;
  unsigned count;
  Minterm all;
  SetExpression set; ///< with flags
};

void Lowering::lower(CoiterateOp op) {
  bindCarried(op.getResults(), op.getInits(), CoiterateLowering(*this, op).lower(plain(op.getInits())));
}

} // namespace tulle::lower
