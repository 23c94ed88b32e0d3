// Loops over the levels of one operand outside, as far as nothing changes where it stores nothing, and loops
// over the indices that it leaves inside.
#include "format/Encoding.h"
#include "iteration/Shape.h"
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;
using iteration::LevelMode;
using iteration::LevelPlan;
using iteration::LoopVar;

namespace {

bool isSearchable(const SparseOperand &operand) {
  return !operand.digits.empty() &&
         llvm::all_of(operand.encoding.getValue().levels, [](const format::Level &level) {
           return level.format.ordered || level.format.kind == format::LevelKind::Hashed;
         });
}

/// The subscripts are different plain indices.
bool hasOwnIndices(const SparseOperand &operand) {
  llvm::SmallDenseSet<unsigned> seen;
  return llvm::all_of(operand.subscripts, [&](const iteration::Subscript &s) {
    return s.isVariable() && seen.insert(s.terms[0].first).second;
  });
}

bool fitsBeside(const SparseStatement &statement, unsigned traversed) {
  for (auto [o, operand] : llvm::enumerate(ArrayRef(statement.operands).drop_back())) {
    if (o == traversed || operand.extent || !operand.sparse)
      continue;
    // Searching at every entry is profitable only to keep the result's pattern.
    if (statement.pattern != traversed || !isSearchable(operand))
      return false;
  }
  return true;
}

/// The traversed operand's indices first, those that are reduced before those of the result: other elements
/// of the result may come between two contributions to one.
std::vector<LoopVar> order(const SparseStatement &statement, unsigned traversed) {
  std::vector<bool> bound(statement.reduction.size());
  std::vector<LoopVar> loops;
  auto append = [&](bool reduced, llvm::function_ref<bool(unsigned)> wanted) {
    for (unsigned i = 0; i < bound.size(); ++i)
      if (!bound[i] && statement.reduction[i] == reduced && wanted(i))
        loops.push_back({i, 1, 0});
  };
  auto isTraversed = [&](unsigned i) {
    return llvm::any_of(statement.operands[traversed].subscripts,
                        [&](const iteration::Subscript &s) { return s.terms[0].first == i; });
  };
  append(true, isTraversed);
  append(false, isTraversed);
  for (const LoopVar &v : loops)
    bound[v.index] = true;
  // An element of the result that the traversal fixes is summed in a register; else its own index is
  // innermost.
  auto any = [](unsigned) { return true; };
  append(true, any);
  append(false, any);
  return loops;
}

} // namespace

std::optional<StorageTraversal> planStorageTraversal(const SparseStatement &statement) {
  std::optional<unsigned> traversed;
  for (auto [o, operand] : llvm::enumerate(statement.operands))
    if (operand.byStorage && (!traversed || statement.pattern == o))
      traversed = unsigned(o);
  if (!traversed || statement.assembled || !hasOwnIndices(statement.operands[*traversed]) ||
      !fitsBeside(statement, *traversed) || !statement.isRequired(*traversed))
    return std::nullopt;
  if (statement.result().sparse && statement.pattern != *traversed)
    return std::nullopt;
  StorageTraversal traversal;
  traversal.operand = *traversed;
  traversal.plan.order = order(statement, *traversed);
  traversal.bound = unsigned(statement.operands[*traversed].subscripts.size());
  for (auto [o, operand] : llvm::enumerate(statement.operands)) {
    std::vector<LevelPlan> &levels = traversal.plan.levels.emplace_back();
    for (const format::Level &level : operand.encoding.getValue().levels)
      levels.push_back(
          {format::isFull(level.format) || o == *traversed ? LevelMode::Locate : LevelMode::Search, 0});
  }
  return traversal;
}

std::optional<iteration::Conversion> conversionToDigits(const SparseStatement &statement) {
  std::vector<iteration::Operand> digits = statement.planOperands();
  std::optional<unsigned> found;
  // The operand whose pattern the result has keeps it while others can be converted.
  for (auto [o, operand] : llvm::enumerate(statement.operands))
    if (operand.byStorage && (!found || statement.pattern == found))
      found = unsigned(o);
  if (!found)
    return std::nullopt;
  return iteration::Conversion{
      *found,
      digits[*found].encoding,
      "its levels can only be traversed as they are stored, and the statement needs them "
      "in the order of its loops",
      {}};
}

Value LoopEmitter::emit(const StorageTraversal &traversal) {
  for (unsigned i = 0; i < statement.reduction.size(); ++i)
    sizes.push_back(dimSize(i));
  LoopState s = outermost(), inside = s;
  inside.operands[traversal.operand].iterators.resize(plan.levels[traversal.operand].size());
  useFlags(inside, traversal.bound);
  s.carried = {statement.init};
  // An element meets every entry of the traversal that its reduced indices lead to.
  for (unsigned d = 0; d < traversal.bound; ++d)
    onceEach &= !isReduction(d);
  // A single number stays in a register: a narrow one would be rounded with every entry.
  const bool single = statement.result().encoding.getValue().levels.empty();
  const bool wide = !single && sumsWide();
  // The traversal leaves out slots that lie outside, and elements without an entry.
  if (!wide || !statement.start)
    s.carried = {filledInit()};
  auto traverse = [&](const LoopState &inner) { return traverseLevels(inner, traversal, {}); };
  Carried result = single ? accumulate(s, Value(), traverse) : wide ? inWorkspace(s, traverse) : traverse(s);
  return failed ? Value() : result[0];
}

/// Whether different coordinates of the level mean different elements of the result, so that its loop is
/// parallel.
bool LoopEmitter::separatesResults(const StorageTraversal &traversal, size_t level) const {
  const bool hasOwn = statement.pattern == traversal.operand && level < statement.result().led;
  if (hasOwn || llvm::none_of(statement.reduction, [](bool reduced) { return reduced; }))
    return true;
  const format::Encoding &encoding = statement.operands[traversal.operand].encoding.getValue();
  std::optional<unsigned> dim = format::separatedDimension(encoding, unsigned(level));
  return dim && !statement.reduction[statement.operands[traversal.operand].subscripts[*dim].terms[0].first];
}

/// The index of a dimension whose coordinates are those of the level; null where it has none.
StringAttr LoopEmitter::indexOfLevel(const StorageTraversal &traversal, size_t level) {
  const SparseOperand &operand = statement.operands[traversal.operand];
  const format::Expr &e = operand.encoding.getValue().levels[level].expr;
  if (e->kind != format::ExprKind::Dim || !operand.subscripts[e->value].isVariable())
    return {};
  return b.getStringAttr(nameOfIndices(statement.generic)[operand.subscripts[e->value].terms[0].first]);
}

/// Whether the loops over the level and the next one are interchanged: entries of the level (columns
/// of ELL) add to the same rows of the result, the next level's coordinate says which row, and a row stays in
/// registers where it is finished before the next one begins.
bool LoopEmitter::isInterchanged(const StorageTraversal &traversal, size_t level) {
  const auto &levels = statement.operands[traversal.operand].encoding.getValue().levels;
  if (level + 1 == levels.size() || !format::isFull(levels[level + 1].format) ||
      !indexOfLevel(traversal, level + 1) || separatesResults(traversal, level) ||
      !separatesResults(traversal, level + 1))
    return false;
  for (size_t d = traversal.bound; d < plan.order.size(); ++d)
    if (!isReduction(unsigned(d)))
      return true;
  return false;
}

/// A loop with this body over the coordinates of a level, or of a range, which carries `s.carried`.
LoopEmitter::Carried LoopEmitter::traversalLoop(LoopState s, Value over, dialect::LoopAttr attr,
                                                llvm::function_ref<Carried(LoopState, Value, Value)> body) {
  auto op = dialect::IterateOp::create(b, loc, ValueRange(s.carried).getTypes(), over, s.carried, attr);
  OpBuilder::InsertionGuard guard(b);
  Block &block = op.getBody().emplaceBlock();
  Value coordinate = block.addArgument(b.getIndexType(), loc), iterator;
  if (auto space = dyn_cast<dialect::SpaceType>(over.getType()))
    iterator = block.addArgument(
        dialect::IteratorType::get(b.getContext(), space.getEncoding(), space.getLevel()), loc);
  for (Value &carried : s.carried)
    carried = block.addArgument(carried.getType(), loc);
  b.setInsertionPointToStart(&block);
  dialect::YieldOp::create(b, loc, body(s, coordinate, iterator));
  return Carried(op.getResults());
}

/// `coordinates`: of the levels whose loops are around.
LoopEmitter::Carried LoopEmitter::traverseLevels(LoopState s, const StorageTraversal &traversal,
                                                 ArrayRef<Value> coordinates) {
  const unsigned operand = traversal.operand;
  const size_t level = coordinates.size();
  if (level == plan.levels[operand].size())
    return traverseLeaf(s, traversal, coordinates);
  auto attr = [&](size_t level) {
    auto kind =
        separatesResults(traversal, level) ? dialect::LoopKind::Parallel : dialect::LoopKind::Reduction;
    return loopAttr(kind, indexOfLevel(traversal, level));
  };
  SmallVector<Value> inside(coordinates);
  if (!isInterchanged(traversal, level))
    return traversalLoop(s, space(s, operand), attr(level), [&](LoopState s, Value coordinate, Value at) {
      s.operands[operand].iterators.push_back(at);
      inside.push_back(coordinate);
      return traverseLevels(s, traversal, inside);
    });
  Value tensor = statement.operands[operand].tensor, entries = space(s, operand);
  Value size = dialect::LevelSizeOp::create(b, loc, b.getIndexType(), tensor, level + 1);
  Value rows = dialect::RangeOp::create(b, loc, constant(0), size);
  return traversalLoop(s, rows, attr(level + 1), [&](LoopState s, Value row, Value) {
    return traversalLoop(s, entries, attr(level), [&](LoopState s, Value entry, Value at) {
      Value located =
          dialect::LocateOp::create(b, loc, iteratorType(operand, level + 1), tensor, level + 1, at, row);
      s.operands[operand].iterators.append({at, located});
      inside.append({entry, row});
      return traverseLevels(s, traversal, inside);
    });
  });
}

LoopEmitter::Carried LoopEmitter::traverseLeaf(LoopState s, const StorageTraversal &traversal,
                                               ArrayRef<Value> coordinates) {
  const SparseOperand &operand = statement.operands[traversal.operand];
  auto at =
      dialect::CoordinatesOp::create(b, loc, operand.tensor, s.operands[traversal.operand].iterators.back());
  SmallVector<Value> found(at.getCoordinates());
  // That of a loop says that the element is the same in all iterations of other loops.
  for (auto [level, coordinate] : llvm::zip_equal(operand.encoding.getValue().levels, coordinates))
    if (level.expr->kind == format::ExprKind::Dim && !format::hasSlices(operand.encoding.getValue()))
      found[size_t(level.expr->value)] = coordinate;
  for (auto [subscript, coordinate] : llvm::zip(operand.subscripts, found))
    for (unsigned d = 0; d < traversal.bound; ++d)
      if (plan.order[d].index == subscript.terms[0].first)
        s.coordinates[d] = coordinate;
  return levels::ifElse(
      b, loc, at.getInside(), ValueRange(s.carried).getTypes(), [&] { return loops(s, traversal.bound); },
      [&] { return s.carried; });
}

} // namespace tulle::passes
