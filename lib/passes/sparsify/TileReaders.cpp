// tulle-tile-readers: a statement that sums over several relations, say, reads an intermediate a tile of rows
// and a relation at a time.
//
// In `for i: for r: for l: for k: Y[i, k] += T[r, i, l] * W[r, l, k]` every i reads all of W. In tiles of i,
// with r outside of the rows of a tile, these share a part of W, and T needs memory for a tile of one r.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/sparsify/NamedStatement.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_TILEREADERS
#include "passes/Passes.h.inc"

namespace {

using Subscripts = std::vector<iteration::Subscript>;

bool areVariables(const Subscripts &subscripts) {
  return llvm::all_of(subscripts, [](const iteration::Subscript &s) { return s.isVariable(); });
}

/// The dimension that the index alone is the coordinate of.
std::optional<size_t> dimensionOf(unsigned index, const Subscripts &subscripts) {
  for (size_t dim = 0; dim < subscripts.size(); ++dim)
    if (subscripts[dim].terms[0].first == index)
      return dim;
  return std::nullopt;
}

bool mentions(const SparseOperand &operand, unsigned index) {
  return llvm::any_of(operand.subscripts, [&](const iteration::Subscript &s) {
    return llvm::any_of(s.terms, [&](const auto &term) { return term.first == index; });
  });
}

/// A function's statement, and the loops that it has.
struct Planned {
  func::FuncOp function;
  NamedStatement named;
  SparseStatement statement;
  iteration::Plan plan;

  unsigned indexAt(size_t depth) const { return plan.order[depth].index; }
  std::string nameAt(size_t depth) { return nameOfIndices(named.generic)[indexAt(depth)]; }
  Attribute attributeOf(unsigned argument, StringRef name) { return function.getArgAttr(argument, name); }
  /// The number of the argument of that name.
  std::optional<unsigned> argument(Attribute name) {
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      if (name && attributeOf(k, dialect::kNameAttr) == name)
        return k;
    return std::nullopt;
  }
};

std::optional<Planned> plan(func::FuncOp function) {
  NamedStatement named = statementOf(function);
  if (!named.generic || !named.result)
    return std::nullopt;
  FailureOr<SparseStatement> statement = SparseStatement::read(named.generic);
  if (failed(statement) || statement->assembled ||
      !hasDenseDimensions(
          dialect::getEncoding(cast<RankedTensorType>(named.generic.getResult(0).getType())).getValue()) ||
      !areVariables(statement->result().subscripts))
    return std::nullopt;
  std::optional<iteration::Plan> loops = planOf(*statement);
  return loops ? std::optional(Planned{function, named, std::move(*statement), std::move(*loops)})
               : std::nullopt;
}

/// Loops over rows, then over a reduction, in which another reduction and then a row of the result are: all
/// over all coordinates.
bool isReductionOfRows(const Planned &reader) {
  const size_t depth = reader.plan.order.size();
  auto isReduction = [&](size_t d) { return reader.statement.reduction[reader.indexAt(d)]; };
  return depth == reader.statement.reduction.size() && depth > 3 && !isReduction(0) && isReduction(1) &&
         !isReduction(depth - 1) && llvm::any_of(llvm::seq<size_t>(2, depth - 1), isReduction) &&
         llvm::all_of(llvm::seq<size_t>(0, depth), [&](size_t d) { return isFree(reader.plan, d); });
}

/// Whether all rows read the same elements of a dense operand, others in each iteration of the reduction.
bool sharesOperand(const Planned &reader) {
  auto isShared = [&](const SparseOperand &operand) {
    return !operand.sparse && !operand.extent && mentions(operand, reader.indexAt(1)) &&
           !mentions(operand, reader.indexAt(0)) && mentions(operand, reader.plan.order.back().index);
  };
  return llvm::any_of(llvm::drop_end(reader.statement.operands), isShared);
}

/// Whether the maker's two outermost loops, over all coordinates, are over what the reader's are over.
bool beginsAsReader(const Planned &maker, const Planned &reader, const Subscripts &read) {
  SmallVector<unsigned, 2> made;
  for (size_t depth : llvm::seq<size_t>(0, 2))
    if (std::optional<size_t> dim = dimensionOf(reader.indexAt(depth), read))
      made.push_back(maker.statement.result().subscripts[*dim].terms[0].first);
  return made.size() == 2 && maker.plan.order.size() > 2 &&
         llvm::all_of(llvm::seq<size_t>(0, 2), [&](size_t depth) {
           return isFree(maker.plan, depth) && llvm::is_contained(made, maker.indexAt(depth));
         });
}

/// Whether the intermediate that one makes is the other's alone, and nothing keeps the two from being one
/// function.
bool isOnlyReader(ModuleOp module, Planned &maker, Planned &reader) {
  const StringAttr name = maker.named.result;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      if (function.getArgAttr(k, dialect::kNameAttr) == name && function != reader.function &&
          !(function == maker.function && function.getArgAttr(k, dialect::kStatementAttr)))
        return false;
  for (unsigned k = 0; k < maker.function.getNumArguments(); ++k) {
    const Attribute own = maker.attributeOf(k, dialect::kNameAttr);
    if (own == reader.named.result || (own != name && reader.argument(own)))
      return false;
  }
  return maker.function.getResultAttr(0, dialect::kIntermediateAttr) &&
         maker.function->getAttr(dialect::kLoopsAttr) == reader.function->getAttr(dialect::kLoopsAttr) &&
         reader.named.result != name &&
         !operandOf(reader.function, reader.named.generic, reader.named.result);
}

/// Sums of these are in a wider row, which all of its elements share until they are rounded.
bool hasNarrowFloats(Planned &planned) {
  auto result = cast<RankedTensorType>(planned.named.generic.getResult(0).getType());
  return isa<FloatType>(result.getElementType()) && result.getElementTypeBitWidth() < 32;
}

bool isScheduled(Planned &planned) { return bool(dialect::scheduleOf(planned.named.generic)); }

/// Whether the reader may have tiles in which what the maker makes is computed, and that pays off: the
/// intermediate is larger than caches, so that there are many rows, or much to be shared (experiment 110).
bool isTiled(ModuleOp module, Planned &maker, Planned &reader) {
  OpOperand *read = operandOf(reader.function, reader.named.generic, maker.named.result);
  if (!read || hasNarrowFloats(maker) || hasNarrowFloats(reader) || isScheduled(maker) ||
      isScheduled(reader) || !maker.statement.start || !isOnlyReader(module, maker, reader))
    return false;
  const unsigned argument = *reader.argument(maker.named.result);
  const Subscripts &subscripts = reader.statement.operands[read->getOperandNumber()].subscripts;
  return reader.attributeOf(argument, dialect::kBytesAttr) &&
         reader.function.getArgumentTypes()[argument] == maker.function.getResultTypes()[0] &&
         llvm::hasSingleElement(reader.function.getArgument(argument).getUses()) &&
         areVariables(subscripts) && isReductionOfRows(reader) && sharesOperand(reader) &&
         beginsAsReader(maker, reader, subscripts);
}

/// The tile's rows stand inside of the reduction, in which the intermediate is computed; nothing becomes of
/// it where a name is taken, or the loops cannot have tiles.
void tile(Planned &maker, Planned &reader, int64_t rows) {
  const std::vector<std::string> names = nameOfIndices(reader.named.generic);
  const std::string row = reader.nameAt(0), outer = row + "_tile", inner = row + "_row";
  if (llvm::is_contained(names, outer) || llvm::is_contained(names, inner))
    return;
  MLIRContext *context = reader.named.generic.getContext();
  Builder b(context);
  SmallVector<std::string> order{outer, reader.nameAt(1), inner};
  for (size_t depth = 2; depth < reader.plan.order.size(); ++depth)
    order.push_back(reader.nameAt(depth));
  auto split = dialect::SplitAttr::get(context, b.getStringAttr(row), b.getStringAttr(outer),
                                       b.getStringAttr(inner), rows, /*divides=*/false);
  dialect::SchedulePrimitives tiles, place;
  tiles.derived = b.getArrayAttr(split);
  tiles.reorder = b.getStrArrayAttr(SmallVector<StringRef>(order.begin(), order.end()));
  place.computeAt = b.getStrArrayAttr(StringRef(reader.nameAt(1)));
  place.ifPossible = b.getUnitAttr();
  reader.named.generic->setAttr(dialect::kScheduleAttr, dialect::ScheduleAttr::get(context, tiles));
  FailureOr<SparseStatement> tiled = SparseStatement::read(reader.named.generic);
  std::optional<iteration::Plan> loops = succeeded(tiled) ? planOf(*tiled) : std::nullopt;
  if (!loops || failed(tiled->addTiles(*loops))) {
    reader.named.generic->removeAttr(dialect::kScheduleAttr);
    return;
  }
  maker.named.generic->setAttr(dialect::kScheduleAttr, dialect::ScheduleAttr::get(context, place));
  reader.function->setAttr(dialect::kSplitsAttr, b.getArrayAttr(split));
  dialect::explainChoice(reader.function,
                         "tiling: rows of a tile share what an operand has of one " + reader.nameAt(1));
}

struct TileReaders : impl::TileReadersBase<TileReaders> {
  void runOnOperation() override {
    // What is no statement is reported by the passes that need one.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (size_t k = 0; k + 1 < functions.size(); ++k) {
      if (functions[k].getNumResults() != 1 || !functions[k].getResultAttr(0, dialect::kIntermediateAttr))
        continue;
      std::optional<Planned> maker = plan(functions[k]);
      std::optional<Planned> reader = maker ? plan(functions[k + 1]) : std::nullopt;
      if (reader && isTiled(getOperation(), *maker, *reader))
        tile(*maker, *reader, dialect::costModel(reader->function).costs.sharedTileRows);
    }
  }
};

} // namespace
} // namespace tulle::passes
