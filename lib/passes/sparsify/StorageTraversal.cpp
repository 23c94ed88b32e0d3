#include "passes/sparsify/StorageTraversal.h"
#include "dialect/Scalars.h"
#include "format/Encoding.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

bool fitsBeside(const SparseStatement &statement, unsigned walked) {
  for (auto [o, operand] : llvm::enumerate(ArrayRef(statement.operands).drop_back())) {
    if (o == walked || operand.extent || !operand.sparse)
      continue;
    // Searching at every entry is worth it only to keep the result's pattern.
    if (statement.pattern != walked || !isSearchable(operand))
      return false;
  }
  return true;
}

/// Nothing changes where the operand stores nothing.
bool changesNothingElsewhere(const SparseStatement &statement, unsigned walked) {
  BodyAlgebra algebra(statement.generic);
  if (statement.start && llvm::none_of(statement.reduction, [](bool r) { return r; }))
    algebra.setAccumulator(statement.start);
  Presence absent;
  absent.absent = uint64_t(1) << walked;
  return algebra.isNoOp(absent);
}

/// The walked operand's indices first, those that are reduced before those of the result: other elements of
/// the result may come between two contributions to one.
std::vector<LoopVar> order(const SparseStatement &statement, unsigned walked) {
  std::vector<bool> bound(statement.reduction.size());
  std::vector<LoopVar> loops;
  auto append = [&](bool reduced, llvm::function_ref<bool(unsigned)> wanted) {
    for (unsigned i = 0; i < bound.size(); ++i)
      if (!bound[i] && statement.reduction[i] == reduced && wanted(i))
        loops.push_back({i, 1, 0});
  };
  auto isWalked = [&](unsigned i) {
    return llvm::any_of(statement.operands[walked].subscripts,
                        [&](const iteration::Subscript &s) { return s.terms[0].first == i; });
  };
  append(true, isWalked);
  append(false, isWalked);
  for (const LoopVar &v : loops)
    bound[v.index] = true;
  // An element of the result that the walk fixes is summed in a register; else its own index is innermost.
  auto any = [](unsigned) { return true; };
  append(true, any);
  append(false, any);
  return loops;
}

} // namespace

std::optional<StorageTraversal> planStorageWalk(const SparseStatement &statement) {
  std::optional<unsigned> walked;
  for (auto [o, operand] : llvm::enumerate(statement.operands))
    if (operand.byStorage && (!walked || statement.pattern == o))
      walked = unsigned(o);
  if (!walked || statement.assembled || !hasOwnIndices(statement.operands[*walked]) ||
      !fitsBeside(statement, *walked) || !changesNothingElsewhere(statement, *walked))
    return std::nullopt;
  if (statement.result().sparse && statement.pattern != *walked)
    return std::nullopt;
  StorageTraversal walk;
  walk.operand = *walked;
  walk.plan.order = order(statement, *walked);
  walk.bound = unsigned(statement.operands[*walked].subscripts.size());
  for (auto [o, operand] : llvm::enumerate(statement.operands)) {
    std::vector<LevelPlan> &levels = walk.plan.levels.emplace_back();
    for (const format::Level &level : operand.encoding.getValue().levels)
      levels.push_back({isFull(level.format) || o == *walked ? LevelMode::Locate : LevelMode::Search, 0});
  }
  return walk;
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
      "its levels can only be walked as they are stored, and the statement needs them "
      "in the order of its loops",
      {}};
}

Value LoopEmitter::emit(const StorageTraversal &walk) {
  for (unsigned i = 0; i < statement.reduction.size(); ++i)
    sizes.push_back(dimSize(i));
  LoopState s = outermost(), inside = s;
  inside.operands[walk.operand].iterators.resize(plan.levels[walk.operand].size());
  useFlags(inside, walk.bound);
  s.carried = {statement.init};
  // An element meets every entry of the walk that its reduced indices lead to.
  for (unsigned d = 0; d < walk.bound; ++d)
    onceEach &= !isReduction(d);
  // The walk leaves out slots that lie outside, and elements without an entry.
  auto fill = statement.generic.getDpsInits()[0].getDefiningOp<dialect::FillOp>();
  Value start = fill ? fill.getValue() : Value();
  if (statement.start)
    start = dialect::materialize(b, loc, statement.start, getElementTypeOrSelf(statement.init.getType()));
  // A single number stays in a register: a narrow one would be rounded with every entry.
  const bool single = statement.result().encoding.getValue().levels.empty();
  const bool wide = !single && sumsWide();
  if (start && !(wide && statement.start))
    s.carried[0] = dialect::FillOp::create(b, loc, statement.init.getType(), start, statement.init);
  auto walked = [&](const LoopState &inner) { return walkLevels(inner, walk); };
  Carried result = single ? accumulate(s, Value(), walked) : wide ? inWorkspace(s, walked) : walked(s);
  return failed ? Value() : result[0];
}

/// Whether different coordinates of the level mean different elements of the result, so that its loop is
/// parallel.
bool LoopEmitter::separatesResults(const StorageTraversal &walk, size_t level) const {
  if (statement.pattern == walk.operand ||
      llvm::none_of(statement.reduction, [](bool reduced) { return reduced; }))
    return true;
  const format::Encoding &encoding = statement.operands[walk.operand].encoding.getValue();
  std::optional<unsigned> dim = format::separatedDimension(encoding, unsigned(level));
  return dim && !statement.reduction[statement.operands[walk.operand].subscripts[*dim].terms[0].first];
}

LoopEmitter::Carried LoopEmitter::walkLevels(LoopState s, const StorageTraversal &walk) {
  size_t level = s.operands[walk.operand].iterators.size();
  if (level == plan.levels[walk.operand].size())
    return walkLeaf(s, walk);
  SmallVector<Type> types(ValueRange(s.carried).getTypes());
  auto kind = separatesResults(walk, level) ? dialect::LoopKind::Parallel : dialect::LoopKind::Reduction;
  // A level whose coordinates are those of a dimension has its index.
  const SparseOperand &operand = statement.operands[walk.operand];
  StringAttr index;
  if (const format::Expr &e = operand.encoding.getValue().levels[level].expr;
      e->kind == format::ExprKind::Dim)
    if (const iteration::Subscript &subscript = operand.subscripts[e->value]; subscript.isVariable())
      index = b.getStringAttr(nameOfIndices(statement.generic)[subscript.terms[0].first]);
  auto op = dialect::IterateOp::create(b, loc, types, space(s, walk.operand), s.carried,
                                       dialect::LoopAttr::get(b.getContext(), kind, index));
  OpBuilder::InsertionGuard guard(b);
  Block &block = op.getBody().emplaceBlock();
  block.addArgument(b.getIndexType(), loc);
  s.operands[walk.operand].iterators.push_back(block.addArgument(iteratorType(walk.operand, level), loc));
  for (Value &carried : s.carried)
    carried = block.addArgument(carried.getType(), loc);
  b.setInsertionPointToStart(&block);
  dialect::YieldOp::create(b, loc, walkLevels(s, walk));
  return Carried(op.getResults());
}

LoopEmitter::Carried LoopEmitter::walkLeaf(LoopState s, const StorageTraversal &walk) {
  const SparseOperand &operand = statement.operands[walk.operand];
  auto at = dialect::CoordinatesOp::create(b, loc, operand.tensor, s.operands[walk.operand].iterators.back());
  for (auto [subscript, coordinate] : llvm::zip(operand.subscripts, at.getCoordinates()))
    for (unsigned d = 0; d < walk.bound; ++d)
      if (plan.order[d].index == subscript.terms[0].first)
        s.coordinates[d] = coordinate;
  SmallVector<Type> types(ValueRange(s.carried).getTypes());
  auto branch = scf::IfOp::create(b, loc, types, at.getInside(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, s.carried);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, loops(s, walk.bound));
  return Carried(branch.getResults());
}

} // namespace tulle::passes
