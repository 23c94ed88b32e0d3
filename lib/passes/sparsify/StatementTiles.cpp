// Loops over tiles in the plan of a statement: whether the operands that are iterated can be cut into them.
#include "format/LevelKinds.h"
#include "passes/sparsify/Statement.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

namespace tulle::passes {
using namespace mlir;
using iteration::LevelMode;

iteration::Tiles tilesOf(linalg::GenericOp generic, const std::vector<bool> &reduction) {
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(generic);
  std::vector<iteration::Split> splits;
  std::vector<iteration::Position> positions;
  std::vector<iteration::Fused> fused;
  std::map<std::string, unsigned> known; // by loop, its index
  for (auto [i, name] : llvm::enumerate(nameOfIndices(generic)))
    known[name] = unsigned(i);
  auto indexOf = [&](StringAttr loop) {
    const auto found = known.find(loop.str());
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  for (Attribute derived :
       schedule &&schedule.getDerived() ? schedule.getDerived().getValue() : ArrayRef<Attribute>())
    if (auto split = dyn_cast<dialect::SplitAttr>(derived)) {
      if (const std::optional<unsigned> index = indexOf(split.getLoop())) {
        splits.push_back({*index, split.getLoop().str(), split.getOuter().str(), split.getInner().str(),
                          split.getSize(), split.getDivides()});
        known[split.getOuter().str()] = known[split.getInner().str()] = *index;
      }
    } else if (auto position = dyn_cast<dialect::PositionAttr>(derived)) {
      if (const std::optional<unsigned> index = indexOf(position.getLoop())) {
        positions.push_back(
            {*index, position.getLoop().str(), position.getPosition().str(), position.getOperand().str()});
        known[position.getPosition().str()] = *index;
      }
    } else if (auto fuse = dyn_cast<dialect::FuseAttr>(derived)) {
      const std::optional<unsigned> outer = indexOf(fuse.getOuter()), inner = indexOf(fuse.getInner());
      if (outer && inner) {
        fused.push_back({*outer, *inner, fuse.getFused().str(), reduction[*inner] ? *inner : *outer});
        known[fuse.getFused().str()] = fused.back().index;
      }
    }
  return iteration::Tiles(std::move(splits), std::move(positions), std::move(fused));
}

std::optional<SparseStatement::CountedLevel>
SparseStatement::countedLevel(const iteration::Plan &plan, const iteration::Position &position) const {
  const iteration::Fused *pair = tiles.fusedNamed(position.loop);
  auto visits = [&](unsigned operand, size_t l, unsigned index) {
    const iteration::LevelPlan &level = plan.levels[operand][l];
    return level.mode == LevelMode::Drive && plan.order[level.loop].index == index;
  };
  // All coordinates of a first level are a loop over a range.
  auto isRange = [&](unsigned operand, size_t l, unsigned index) {
    const iteration::Subscript &subscript = operands[operand].subscripts[operands[operand].digits[l].dim];
    return l == 0 && plan.levels[operand][l].mode == LevelMode::Locate && subscript.isVariable() &&
           subscript.terms[0].first == index;
  };
  for (unsigned o = 0; o + 1 < operands.size(); ++o) {
    if (operands[o].extent || nameOfOperand(generic, o) != position.operand)
      continue;
    const unsigned iterated = leaderOf(o);
    for (size_t l = 0; l < plan.levels[iterated].size(); ++l)
      if (visits(iterated, l, pair ? pair->inner : position.index) &&
          (!pair ||
           (l > 0 && (visits(iterated, l - 1, pair->outer) || isRange(iterated, l - 1, pair->outer)))))
        return CountedLevel{iterated, l};
  }
  return std::nullopt;
}

namespace {

/// Refuses what the loops of a plan cannot be.
class TileChecker {
public:
  TileChecker(const SparseStatement &statement, const iteration::Plan &plan)
      : statement(statement), plan(plan), indices(nameOfIndices(statement.generic)) {}

  /// Before tiles are added: operands are in an order by which they can be cut.
  LogicalResult checkOrder() const {
    for (auto [o, operand] : llvm::enumerate(statement.operands))
      for (auto [l, level] : llvm::enumerate(plan.levels[o])) {
        const unsigned index = level.mode == LevelMode::Drive ? plan.order[level.loop].index : 0;
        if (level.mode == LevelMode::Drive && statement.tiles.areOf(index) &&
            !operand.encoding.getValue().levels[l].format.ordered)
          return refuse(indices[index])
                 << "the coordinates that " << nameOfOperand(statement.generic, unsigned(o))
                 << " stores there are in no order, by which tiles could be cut; convert it to a format in "
                    "which they are";
      }
    return success(llvm::all_of(statement.tiles.fusedLoops(), [&](const iteration::Fused &pair) {
      return succeeded(checkAdjacent(pair));
    }));
  }

  /// Once they are added.
  LogicalResult checkPositions() const {
    return success(llvm::all_of(statement.tiles.positions(), [&](const iteration::Position &position) {
      return succeeded(checkPosition(position));
    }));
  }

private:
  const SparseStatement &statement;
  const iteration::Plan &plan;
  std::vector<std::string> indices;

  InFlightDiagnostic refuse(StringRef loop) const {
    return mlir::emitError(dialect::locationOf(statement.generic, ("derived " + loop).str()));
  }

  /// Two loops that are to be one stand right in each other.
  LogicalResult checkAdjacent(const iteration::Fused &pair) const {
    auto loopsOver = [&](unsigned index) { return llvm::count(plan.order, iteration::LoopVar{index}); };
    for (unsigned index : {pair.outer, pair.inner})
      if (loopsOver(index) != 1)
        return refuse(indices[pair.outer])
               << indices[index] << " has several loops, over blocks of an operand and within them";
    const auto isCounted = [&](const iteration::Position &position) { return position.loop == pair.name; };
    if (statement.tiles.areOf(pair.index) && llvm::none_of(statement.tiles.positions(), isCounted))
      return refuse(pair.name) << "tiles of " << pair.name << " are of what an operand stores: pos("
                               << pair.name << ", …) says of which";
    const auto at = llvm::find(plan.order, iteration::LoopVar{pair.outer});
    if (at + 1 != plan.order.end() && *(at + 1) == iteration::LoopVar{pair.inner})
      return success();
    SmallVector<std::string> loops, cure;
    for (const iteration::LoopVar &loop : plan.order) {
      loops.push_back(iteration::nameOf(loop, indices));
      if (loop.index != pair.inner)
        cure.push_back(loops.back());
      if (loop.index == pair.outer)
        cure.push_back(indices[pair.inner]);
    }
    return refuse(indices[pair.outer])
           << "the loop over " << indices[pair.inner] << " is not right inside of that over "
           << indices[pair.outer] << ": the order is " << llvm::join(loops, ", ") << "; reorder("
           << llvm::join(cure, ", ") << ") asks for another";
  }

  LogicalResult checkPosition(const iteration::Position &position) const {
    if (const iteration::Fused *pair = statement.tiles.fusedNamed(position.loop))
      return checkPairs(position, *pair);
    const std::string &index = indices[position.index];
    const auto counted = statement.countedLevel(plan, position);
    if (!counted)
      return refuse(position.loop) << "the loop over " << index << " does not iterate what "
                                   << position.operand << " stores there; split(" << position.loop
                                   << ", …) makes tiles of equal numbers of coordinates";
    const format::LevelFormat &level = levelOf(*counted);
    if (!level.unique)
      return refuse(position.loop) << position.operand << " stores a coordinate of " << index
                                   << " once for each entry below it, and tiles would cut these apart; split("
                                   << position.loop << ", …) keeps them together";
    // Tiles of the other operands begin at the coordinates where those of this one do.
    const bool hasEach = format::storesPositions(level) && !format::startsAtZero(level);
    if (!hasEach && !statement.visitsOnly(plan, *counted))
      return refuse(position.loop) << "positions of " << position.operand
                                   << " may be padding, which has no coordinate at which tiles of the other "
                                      "operands could begin; split("
                                   << position.loop << ", …) cuts all of them by coordinates";
    return checkOutside(position, *counted, counted->level);
  }

  const format::LevelFormat &levelOf(const SparseStatement::CountedLevel &counted) const {
    return statement.operands[counted.operand].encoding.getValue().levels[counted.level].format;
  }

  /// Tiles of entries that a fused loop visits.
  LogicalResult checkPairs(const iteration::Position &position, const iteration::Fused &pair) const {
    const auto counted = statement.countedLevel(plan, position);
    if (!counted)
      return refuse(position.loop) << indices[pair.outer] << " and " << indices[pair.inner]
                                   << " are not over adjacent levels of " << position.operand
                                   << ", the inner one of which stores its coordinates; fuse loops that are";
    const format::LevelFormat &level = levelOf(*counted);
    using enum format::LevelKind;
    if (!level.unique || !format::isOneOf(level.kind, {Compressed, Singleton}))
      return refuse(position.loop) << "positions of a level that is " << format::print(level)
                                   << " do not follow those of the level above; convert(" << position.operand
                                   << ", CSR) has some that do";
    if (statement.assembled)
      return refuse(position.loop) << "a new tensor is assembled from whole rows, and tiles would begin "
                                      "inside of them; store it in a "
                                      "dense format";
    if (const std::optional<unsigned> other = otherIterated(*counted, pair))
      return refuse(position.loop) << "the loops iterate what " << nameOfOperand(statement.generic, *other)
                                   << " stores, too, of which tiles of " << position.operand
                                   << " are no tiles; convert it to a format that stores every coordinate";
    if (!statement.isRequired(counted->operand))
      return refuse(position.loop) << "the statement has values where " << position.operand
                                   << " stores nothing, which no tile of its entries has";
    return checkOutside(position, *counted, counted->level - 1);
  }

  /// Another operand that one of the two loops iterates.
  std::optional<unsigned> otherIterated(const SparseStatement::CountedLevel &counted,
                                        const iteration::Fused &pair) const {
    for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
      for (const iteration::LevelPlan &level : plan.levels[o])
        if (o != counted.operand && !statement.operands[o].leader && level.mode == LevelMode::Drive &&
            llvm::is_contained({pair.outer, pair.inner}, plan.order[level.loop].index))
          return o;
    return std::nullopt;
  }

  /// Positions are those below an iterator: the loops that lead to it, of so many levels, are outside.
  LogicalResult checkOutside(const iteration::Position &position,
                             const SparseStatement::CountedLevel &counted, size_t above) const {
    const std::vector<std::string> tiles = statement.tiles.leaves(position.position);
    auto isTile = [&](unsigned depth) { return llvm::is_contained(tiles, plan.names[depth]); };
    unsigned outermost = 0;
    while (outermost < plan.order.size() && !isTile(outermost))
      ++outermost;
    for (unsigned depth = outermost; depth < plan.order.size(); ++depth)
      if (!isTile(depth) && leadsTo(counted, above, depth))
        return refuse(position.loop) << "positions of " << position.operand
                                     << " are those below one coordinate of " << plan.names[depth]
                                     << ": the loop over " << plan.names[outermost]
                                     << " stands inside of that over " << plan.names[depth];
    return success();
  }

  /// Whether the loop is over coordinates of one of the levels above.
  bool leadsTo(const SparseStatement::CountedLevel &counted, size_t above, unsigned depth) const {
    const SparseOperand &operand = statement.operands[counted.operand];
    for (size_t l = 0; l < above; ++l) {
      const iteration::LevelPlan &level = plan.levels[counted.operand][l];
      if (level.mode == LevelMode::Drive && level.loop == depth)
        return true;
      if (level.mode == LevelMode::Locate && !plan.order[depth].isOverTiles)
        for (auto [index, coefficient] : operand.subscripts[operand.digits[l].dim].terms)
          if (plan.order[depth].index == index)
            return true;
    }
    return false;
  }
};

} // namespace

bool SparseStatement::visitsOnly(const iteration::Plan &plan, const CountedLevel &counted) const {
  const unsigned loop = plan.levels[counted.operand][counted.level].loop;
  for (unsigned o = 0; o + 1 < operands.size(); ++o)
    for (const iteration::LevelPlan &level : plan.levels[o])
      if (o != counted.operand && !operands[o].leader && level.mode == LevelMode::Drive && level.loop == loop)
        return false;
  return isRequired(counted.operand);
}

LogicalResult SparseStatement::addTiles(iteration::Plan &plan) const {
  TileChecker checker(*this, plan);
  if (tiles.empty())
    return success();
  if (failed(checker.checkOrder()))
    return failure();
  linalg::GenericOp op = generic;
  const std::string why = tiles.addTo(plan, wantedLoops(op), nameOfIndices(op));
  if (why.empty())
    return checker.checkPositions();
  const Location order = dialect::locationOf(op, "reorder");
  return mlir::emitError(order == op->getLoc() ? dialect::derivedLocation(op) : order) << why;
}

} // namespace tulle::passes
