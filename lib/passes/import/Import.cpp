// Imports statements in the order of the text, and tells each what holds of the tensors before it.
#include "passes/import/Import.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "notation/FixedSizes.h"
#include "notation/Loops.h"
#include "notation/Sparsity.h"
#include "passes/import/ImportStatement.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tulle::passes {
using namespace mlir;
using notation::Access;
using notation::Statement;

/// A number for each dimension of each tensor: the same where one index runs over several.
static void numberSizes(const notation::Program &program, std::vector<TensorFacts> &facts) {
  llvm::IntEqClasses classes;
  auto next = unsigned(program.indices.size());
  for (auto [tensor, own] : llvm::zip(program.tensors, facts))
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      own.sizes.push_back(next++);
  classes.grow(next);
  auto unite = [&](const Access &access) {
    for (auto [subscript, number] : llvm::zip(access.subscripts, facts[access.tensor].sizes))
      if (subscript.isVariable())
        classes.join(subscript.terms[0].first, unsigned(number));
  };
  for (auto [t, tensor] : llvm::enumerate(program.tensors))
    if (tensor.like)
      for (auto [number, other] : llvm::zip(facts[t].sizes, facts[*tensor.like].sizes))
        classes.join(unsigned(number), unsigned(other));
  for (const Statement &statement : program.statements) {
    if (!statement.part) // whose indices run over some of the coordinates
      unite(statement.lhs);
    for (const Access *access : notation::accesses(statement))
      unite(*access);
  }
  for (TensorFacts &tensor : facts)
    for (int64_t &number : tensor.sizes)
      number = classes.findLeader(unsigned(number));
}

/// Numbers groups of parts with disjoint coordinates, each of consecutive parts; `next` is the first number
/// that is free. A part by itself has none.
static void numberDisjoint(const notation::Decomposition &decomposition, unsigned dimension, int64_t &next,
                           std::vector<TensorFacts> &facts) {
  const size_t count = decomposition.parts.size();
  for (size_t begin = 0, end; begin < count; begin = end) {
    auto fits = [&](size_t p) {
      return llvm::all_of(llvm::seq(begin, p), [&](size_t earlier) {
        return notation::areDisjoint(decomposition.parts[earlier], decomposition.parts[p], dimension);
      });
    };
    for (end = begin + 1; end < count && fits(end);)
      ++end;
    if (end - begin == 1)
      continue;
    for (size_t p = begin; p < end; ++p) {
      SmallVector<int64_t> &numbers = facts[decomposition.tensors[p]].disjoint;
      numbers.resize(facts[decomposition.tensors[p]].sizes.size(), -1);
      numbers[dimension] = next;
    }
    ++next;
  }
}

/// `fixed`: by tensor and dimension, whether the size is a constant; empty: none is.
static std::vector<TensorFacts> factsOf(const notation::Program &program,
                                        const std::vector<std::vector<bool>> &fixed) {
  std::vector<TensorFacts> facts(program.tensors.size());
  for (size_t t = 0; t < facts.size(); ++t)
    facts[t].fixed = fixed.empty() ? std::vector<bool>(program.tensors[t].dims.size(), false) : fixed[t];
  numberSizes(program, facts);
  int64_t groups = 0;
  for (const notation::Decomposition &decomposition : program.decompositions) {
    for (unsigned d = 0; d < program.tensors[decomposition.tensor].dims.size(); ++d)
      numberDisjoint(decomposition, d, groups, facts);
    for (auto [part, tensor] : llvm::zip(decomposition.parts, decomposition.tensors))
      facts[tensor].noPadding = notation::hasNoPadding(part);
  }
  return facts;
}

/// A pattern that one tensor has by itself says nothing.
static void removeUnshared(ModuleOp module) {
  auto visit = [&](function_ref<void(func::FuncOp, unsigned, Attribute)> each) {
    for (auto function : module.getOps<func::FuncOp>())
      for (unsigned k = 0; k < function.getNumArguments(); ++k)
        if (Attribute pattern = function.getArgAttr(k, dialect::kPatternAttr))
          each(function, k, pattern);
  };
  llvm::MapVector<Attribute, llvm::SmallDenseSet<Attribute>> tensors;
  visit([&](func::FuncOp function, unsigned k, Attribute pattern) {
    tensors[pattern].insert(function.getArgAttr(k, dialect::kNameAttr));
  });
  visit([&](func::FuncOp function, unsigned k, Attribute pattern) {
    if (tensors[pattern].size() == 1)
      function.removeArgAttr(k, dialect::kPatternAttr);
  });
}

namespace {

/// What is known of the program as a whole, statement by statement in the order of the text.
class ProgramImporter {
public:
  ProgramImporter(const notation::Program &given, const ImportOptions &options)
      : program(notation::splitDigits(given)), options(options),
        facts(factsOf(program,
                      options.anySize ? std::vector<std::vector<bool>>() : notation::fixedSizes(given))),
        carried(notation::carriedTensors(program)), unused(int64_t(program.tensors.size())) {
    for (auto [t, tensor] : llvm::enumerate(program.tensors))
      patterns.push_back(tensor.like.value_or(unsigned(t)));
  }

  void importStatement(OpBuilder &b, unsigned number) {
    const Statement &statement = program.statements[number];
    for (const notation::Loop &loop : program.loops)
      if (loop.begin == number)
        enter(loop);
    auto [function, operand] = passes::importStatement(b, program, number, options, patterns, facts);
    const notation::TensorDecl &result = program.tensors[statement.lhs.tensor];
    if (!result.result && !result.condition && !carried[statement.lhs.tensor])
      function.setResultAttr(0, dialect::kIntermediateAttr, b.getUnitAttr());
    if (ArrayAttr loops = loopsAround(b, number))
      function->setAttr(dialect::kLoopsAttr, loops);
    patterns[statement.lhs.tensor] = operand ? patterns[*operand] : unused++;
  }

private:
  /// What the loop writes has the pattern that it had before, or the one that the last round gave it.
  void enter(const notation::Loop &loop) {
    for (const Statement &statement : ArrayRef(program.statements).slice(loop.begin, loop.end - loop.begin)) {
      const unsigned result = statement.lhs.tensor;
      if (!program.tensors[result].like)
        patterns[result] = unused++;
    }
  }

  ArrayAttr loopsAround(OpBuilder &b, unsigned statement) const {
    SmallVector<Attribute> loops;
    for (auto [number, loop] : llvm::enumerate(program.loops))
      if (loop.begin <= statement && statement < loop.end)
        loops.push_back(dialect::RepeatAttr::get(
            b.getContext(), int64_t(number), loop.most,
            loop.until ? b.getStringAttr(program.tensors[*loop.until].name) : StringAttr()));
    return loops.empty() ? ArrayAttr() : b.getArrayAttr(loops);
  }

  const notation::Program program;
  const ImportOptions &options;
  const std::vector<TensorFacts> facts;
  const std::vector<bool> carried;
  SmallVector<int64_t> patterns; ///< a number for the one each tensor has: its own until a statement gives it
                                 ///< another's
  int64_t unused;
};

} // namespace

std::optional<int64_t> segmentLength(const notation::Program &program, unsigned tensor) {
  const notation::TensorDecl &decl = program.tensors[tensor];
  const std::vector<format::Level> &levels = decl.encoding.levels;
  const auto digits = format::digits(decl.encoding);
  if (program.statements.size() < 2 || decl.entries < 0 || !digits || levels.size() != decl.dims.size() ||
      levels.size() < 2 || levels.back().format.kind != format::LevelKind::Compressed)
    return std::nullopt;
  int64_t segments = 1; // of levels above that store all coordinates
  for (size_t l = 0; l + 1 < levels.size(); ++l) {
    if (levels[l].format.kind != format::LevelKind::Dense)
      return std::nullopt;
    segments = std::max<int64_t>(segments * std::min(decl.dims[(*digits)[l].dim], decl.entries + 1), 1);
    if (segments > decl.entries)
      return 1;
  }
  int64_t length = 1;
  while (length < 64 && length * 2 <= decl.entries / segments)
    length *= 2;
  return length;
}

std::optional<int64_t> bytesBelow(const notation::Program &program, unsigned tensor) {
  constexpr int64_t cached = int64_t(8) << 20;
  const notation::TensorDecl &decl = program.tensors[tensor];
  const bool isRead = decl.input || program.statements.size() > 1;
  const bool fits = isRead && decl.dims.size() == 1 && decl.dims[0] > 0 &&
                    format::isAllDense(decl.encoding) && decl.dims[0] < cached / byteWidth(decl.type);
  return fits ? std::optional(cached) : std::nullopt;
}

std::optional<int64_t> tableBytes(const notation::Program &program, unsigned tensor) {
  constexpr int64_t least = int64_t(4) << 20, most = int64_t(64) << 30;
  const notation::TensorDecl &decl = program.tensors[tensor];
  if (program.statements.size() < 2 || decl.dims.size() < 2 || !format::isAllDense(decl.encoding))
    return std::nullopt;
  int64_t total = byteWidth(decl.type);
  for (int64_t size : decl.dims) {
    if (size <= 0)
      return std::nullopt;
    total = total > most / size ? most : total * size;
  }
  int64_t bytes = least;
  while (bytes * 2 <= total)
    bytes *= 2;
  return total < least ? std::nullopt : std::optional(bytes);
}

OwningOpRef<ModuleOp> importProgram(MLIRContext &context, const notation::Program &program,
                                    const ImportOptions &options) {
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> module(ModuleOp::create(b, b.getUnknownLoc()));
  ProgramImporter importer(program, options);
  for (unsigned number = 0; number < program.statements.size(); ++number) {
    b.setInsertionPointToEnd(module->getBody());
    importer.importStatement(b, number);
  }
  removeUnshared(*module);
  return module;
}

} // namespace tulle::passes
