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
  auto traverse = [&](const LoopState &inner) { return traverseLevels(inner, traversal); };
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

LoopEmitter::Carried LoopEmitter::traverseLevels(LoopState s, const StorageTraversal &traversal) {
  const SparseOperand &operand = statement.operands[traversal.operand];
  SmallVector<Value> &iterators = s.operands[traversal.operand].iterators;
  const size_t level = iterators.size();
  if (level == plan.levels[traversal.operand].size())
    return traverseLeaf(s, traversal);
  auto kind = separatesResults(traversal, level) ? dialect::LoopKind::Parallel : dialect::LoopKind::Reduction;
  // A level whose coordinates are those of a dimension has its index.
  StringAttr index;
  if (const format::Expr &e = operand.encoding.getValue().levels[level].expr;
      e->kind == format::ExprKind::Dim)
    if (const iteration::Subscript &subscript = operand.subscripts[e->value]; subscript.isVariable())
      index = b.getStringAttr(nameOfIndices(statement.generic)[subscript.terms[0].first]);
  auto op = dialect::IterateOp::create(b, loc, ValueRange(s.carried).getTypes(), space(s, traversal.operand),
                                       s.carried, loopAttr(kind, index));
  OpBuilder::InsertionGuard guard(b);
  Block &block = op.getBody().emplaceBlock();
  block.addArgument(b.getIndexType(), loc);
  iterators.push_back(block.addArgument(iteratorType(traversal.operand, level), loc));
  for (Value &carried : s.carried)
    carried = block.addArgument(carried.getType(), loc);
  b.setInsertionPointToStart(&block);
  dialect::YieldOp::create(b, loc, traverseLevels(s, traversal));
  return Carried(op.getResults());
}

LoopEmitter::Carried LoopEmitter::traverseLeaf(LoopState s, const StorageTraversal &traversal) {
  const SparseOperand &operand = statement.operands[traversal.operand];
  auto at =
      dialect::CoordinatesOp::create(b, loc, operand.tensor, s.operands[traversal.operand].iterators.back());
  for (auto [subscript, coordinate] : llvm::zip(operand.subscripts, at.getCoordinates()))
    for (unsigned d = 0; d < traversal.bound; ++d)
      if (plan.order[d].index == subscript.terms[0].first)
        s.coordinates[d] = coordinate;
  return levels::ifElse(
      b, loc, at.getInside(), ValueRange(s.carried).getTypes(), [&] { return loops(s, traversal.bound); },
      [&] { return s.carried; });
}

} // namespace tulle::passes
