// tulle-link-statements: consecutive statements as one function, in SSA form from result to operand.
//
// Statement by statement, the function that is open takes in the next one as long as each tensor stays in one
// encoding. What reads positions and coordinates refers to the argument that a tensor began as, because
// stores change values only; sizes and patterns that the program makes equal refer to one argument, so that
// equal spaces become equal values.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
using program::readsPattern;
#define GEN_PASS_DEF_LINKSTATEMENTS
#include "passes/Passes.h.inc"

namespace {

StringRef nameOf(BlockArgument arg) {
  auto function = cast<func::FuncOp>(arg.getOwner()->getParentOp());
  auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
  return name ? name.getValue() : StringRef();
}

Attribute attributeOf(BlockArgument arg, StringRef name) {
  return cast<func::FuncOp>(arg.getOwner()->getParentOp()).getArgAttr(arg.getArgNumber(), name);
}

/// The argument that a statement's result is written to; null where it makes a new tensor.
BlockArgument destinationOf(func::FuncOp statement) {
  if (statement.isExternal() || !statement.getBody().hasOneBlock())
    return {};
  for (BlockArgument arg : statement.getArguments())
    if (attributeOf(arg, kStatementAttr))
      return arg;
  return {};
}

/// Whether each argument is another tensor: one that is read and replaced stands for two values.
bool namesAreDistinct(func::FuncOp statement) {
  llvm::StringSet<> names;
  return llvm::all_of(statement.getArguments(),
                      [&](BlockArgument arg) { return names.insert(nameOf(arg)).second; });
}

class Linker {
public:
  explicit Linker(ModuleOp module) : module(module) {}

  void run() {
    for (auto statement : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (program && canTake(statement)) {
        take(statement);
        continue;
      }
      close();
      if (destinationOf(statement) && namesAreDistinct(statement))
        open(statement);
    }
    close();
  }

private:
  struct Tensor {
    BlockArgument argument; ///< of the program
    Value current;          ///< what it is behind the statements so far
    bool written;
  };

  void open(func::FuncOp statement) {
    program = statement;
    statements = 1;
    for (BlockArgument arg : statement.getArguments())
      tensors[nameOf(arg)] = {arg, arg, false};
    finish(statement, destinationOf(statement));
  }

  void finish(func::FuncOp statement, BlockArgument destination) {
    Tensor &result = tensors[nameOf(destination)];
    result.current = statement.getBody().front().getTerminator()->getOperand(0);
    result.written = true;
  }

  /// Both run in the same rounds of the same loops. A tensor keeps its encoding, and a result its memory and
  /// its pattern; what was read before it is written is the caller's.
  bool canTake(func::FuncOp statement) const {
    BlockArgument destination = destinationOf(statement);
    return destination && namesAreDistinct(statement) &&
           statement->getAttr(kLoopsAttr) == program->getAttr(kLoopsAttr) &&
           llvm::all_of(statement.getArguments(), [&](BlockArgument arg) {
             auto known = tensors.find(nameOf(arg));
             if (known == tensors.end())
               return true;
             const Tensor &tensor = known->second;
             if (arg.getType() != tensor.argument.getType())
               return false;
             return arg != destination || (tensor.written && attributeOf(arg, kPatternAttr) ==
                                                                 attributeOf(tensor.argument, kPatternAttr));
           });
  }

  /// The tensor that the program has for an argument of a statement.
  Tensor &tensorFor(BlockArgument arg) {
    auto [entry, isNew] = tensors.try_emplace(nameOf(arg));
    if (isNew) {
      auto statement = cast<func::FuncOp>(arg.getOwner()->getParentOp());
      unsigned number = program.getNumArguments();
      (void)program.insertArgument(number, arg.getType(), statement.getArgAttrDict(arg.getArgNumber()),
                                   arg.getLoc());
      entry->second = {program.getArgument(number), program.getArgument(number), false};
    }
    return entry->second;
  }

  void take(func::FuncOp statement) {
    BlockArgument destination = destinationOf(statement);
    for (BlockArgument arg : statement.getArguments()) {
      Tensor &tensor = tensorFor(arg);
      arg.replaceUsesWithIf(tensor.argument, [](OpOperand &use) { return readsPattern(use.getOwner()); });
      arg.replaceAllUsesWith(tensor.current);
    }
    finish(statement, destination);
    Block &from = statement.getBody().front(), &to = program.getBody().front();
    from.getTerminator()->erase();
    to.getOperations().splice(std::prev(to.end()), from.getOperations());
    intermediates[nameOf(destination)] = bool(statement.getResultAttr(0, kIntermediateAttr));
    statement.erase();
    ++statements;
  }

  /// Whether a statement behind the program reads the tensor.
  bool isReadBehind(StringRef name) const {
    for (Operation *next = program->getNextNode(); next; next = next->getNextNode())
      if (auto statement = dyn_cast<func::FuncOp>(next))
        for (BlockArgument arg : statement.getArguments())
          if (nameOf(arg) == name)
            return true;
    return false;
  }

  void close() {
    if (program && statements > 1) {
      returnResults();
      unifySizes();
      unifyPatterns();
    }
    program = {};
    tensors.clear();
    intermediates.clear();
  }

  void returnResults() {
    OpBuilder b(program);
    SmallVector<Value> results;
    SmallVector<Attribute> names;
    for (auto &[name, tensor] : tensors) {
      auto isIntermediate = intermediates.find(name);
      const bool first = isIntermediate == intermediates.end();
      bool inner = first ? bool(program.getResultAttr(0, kIntermediateAttr)) : isIntermediate->second;
      if (!tensor.written || (inner && !isReadBehind(name)))
        continue;
      results.push_back(tensor.current);
      names.push_back(b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(name))));
    }
    program.getBody().front().getTerminator()->setOperands(results);
    program.setType(b.getFunctionType(program.getArgumentTypes(), ValueRange(results).getTypes()));
    program.setAllResultAttrs(names);
  }

  /// Sizes that the program's indices make equal are those of one argument.
  void unifySizes() {
    DenseMap<int64_t, std::pair<BlockArgument, int64_t>> first;
    auto sizesOf = [](BlockArgument arg) { // of a slice, they are not those of what it was cut from
      if (attributeOf(arg, kWholeAttr))
        return ArrayRef<int64_t>();
      auto sizes = dyn_cast_or_null<DenseI64ArrayAttr>(attributeOf(arg, kSizesAttr));
      return sizes ? sizes.asArrayRef() : ArrayRef<int64_t>();
    };
    for (BlockArgument arg : program.getArguments())
      for (auto [d, size] : llvm::enumerate(sizesOf(arg)))
        first.try_emplace(size, arg, int64_t(d));
    program.walk([&](tensor::DimOp dim) {
      auto arg = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> number = dim.getConstantIndex();
      if (!arg || arg.getOwner() != &program.getBody().front() || !number ||
          *number >= int64_t(sizesOf(arg).size()))
        return;
      auto [same, d] = first.lookup(sizesOf(arg)[size_t(*number)]);
      OpBuilder b(dim);
      dim.getSourceMutable().assign(same);
      dim.getIndexMutable().assign(arith::ConstantIndexOp::create(b, dim.getLoc(), d));
    });
  }

  /// Of arguments with one pattern and equal sizes, the first is where coordinates are read: the dense levels
  /// that two tensors have below one pattern may differ.
  void unifyPatterns() {
    DenseMap<std::tuple<Attribute, Attribute, Attribute>, BlockArgument> first;
    for (BlockArgument arg : program.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(arg.getType());
      Attribute pattern = attributeOf(arg, kPatternAttr);
      if (!type || !pattern || attributeOf(arg, kSourceAttr))
        continue;
      BlockArgument same =
          first.try_emplace({pattern, getEncoding(type), attributeOf(arg, kSizesAttr)}, arg).first->second;
      if (same != arg)
        arg.replaceUsesWithIf(same, [](OpOperand &use) {
          return readsPattern(use.getOwner()) && !isa<tensor::DimOp>(use.getOwner());
        });
    }
  }

  ModuleOp module;
  func::FuncOp program; ///< the open one
  unsigned statements = 0;
  llvm::MapVector<StringRef, Tensor> tensors;
  llvm::DenseMap<StringRef, bool> intermediates; ///< results of statements behind the first
};

struct LinkStatements : impl::LinkStatementsBase<LinkStatements> {
  void runOnOperation() override { Linker(getOperation()).run(); }
};

} // namespace
} // namespace tulle::passes
