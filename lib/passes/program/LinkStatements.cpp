// tulle-link-statements: consecutive statements as one function, in SSA form from result to operand.
//
// Statements form a group as long as each tensor stays in one encoding; a group becomes one function. What
// reads positions and coordinates refers to the argument that a tensor began as, because stores change values
// only, or to the value of the assembly that made it; sizes and patterns that the program makes equal refer
// to one argument, so that equal spaces become equal values.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

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
  for (BlockArgument arg : statement.getArguments())
    if (attributeOf(arg, kStatementAttr))
      return arg;
  return {};
}

StringRef resultOf(func::FuncOp statement) {
  return statement.getResultAttrOfType<StringAttr>(0, kNameAttr).getValue();
}

bool isStatement(func::FuncOp function) {
  return !function.isExternal() && function.getBody().hasOneBlock() && function.getNumResults() == 1 &&
         function.getResultAttr(0, kNameAttr) && isa<RankedTensorType>(function.getResultTypes()[0]);
}

bool isDense(Type type) { return format::isAllDense(getEncoding(cast<RankedTensorType>(type)).getValue()); }

/// Consecutive statements that can be one function.
class Group {
public:
  bool empty() const { return statements.empty(); }
  ArrayRef<func::FuncOp> members() const { return statements; }

  /// Adds the statement if it fits.
  bool add(func::FuncOp statement) {
    if (!isStatement(statement) ||
        (!empty() && statement->getAttr(kLoopsAttr) != statements.front()->getAttr(kLoopsAttr)))
      return false;
    BlockArgument destination = destinationOf(statement);
    llvm::StringMap<Known> found;
    for (BlockArgument arg : statement.getArguments())
      if (arg != destination && !reads(arg, found))
        return false;
    if (destination && !replaces(destination, found))
      return false;
    for (auto &entry : found)
      tensors.try_emplace(entry.first(), entry.second);
    Known &result = tensors[resultOf(statement)];
    result = destination ? Known{destination.getType(), attributeOf(destination, kPatternAttr), true}
                         : Known{statement.getResultTypes()[0], {}, true, true};
    statements.push_back(statement);
    return true;
  }

private:
  struct Known {
    Type type;
    Attribute pattern;
    bool written = false;
    bool made = false;    ///< by an assembly in here, with a pattern of its own
    bool asStored = true; ///< it is what the caller has, in no other encoding
  };

  /// A tensor keeps its encoding.
  bool reads(BlockArgument arg, llvm::StringMap<Known> &found) {
    const Attribute pattern = attributeOf(arg, kPatternAttr);
    if (auto known = tensors.find(nameOf(arg)); known != tensors.end()) {
      if (known->second.made && pattern)
        madePatterns.insert(pattern);
      return arg.getType() == known->second.type;
    }
    const bool asStored = !attributeOf(arg, kSourceAttr) && !attributeOf(arg, kWholeAttr);
    const Known read{arg.getType(), pattern, false, false, asStored};
    return found.try_emplace(nameOf(arg), read).first->second.type == arg.getType();
  }

  /// A result keeps its memory and its pattern, which must be there before. What was read before it is
  /// replaced is in the caller's memory, which a dense result continues.
  bool replaces(BlockArgument destination, const llvm::StringMap<Known> &found) const {
    const Attribute pattern = attributeOf(destination, kPatternAttr);
    if (pattern && madePatterns.contains(pattern))
      return false;
    auto own = found.find(nameOf(destination));
    auto known = tensors.find(nameOf(destination));
    if (own == found.end() && known == tensors.end())
      return true;
    const Known &tensor = own == found.end() ? known->second : own->second;
    if (tensor.made || tensor.type != destination.getType() || !tensor.asStored)
      return false;
    return tensor.written ? tensor.pattern == pattern : isDense(tensor.type);
  }

  SmallVector<func::FuncOp> statements;
  llvm::StringMap<Known> tensors;
  llvm::DenseSet<Attribute> madePatterns;
};

/// Makes one function of the statements of a group.
class Linker {
public:
  /// `isReadBehind`: whether a statement behind the group reads the tensor of that name.
  explicit Linker(function_ref<bool(StringRef)> isReadBehind) : isReadBehind(isReadBehind) {}

  void link(ArrayRef<func::FuncOp> statements) {
    func::FuncOp first = statements.front();
    OpBuilder b(first);
    program = func::FuncOp::create(b, first.getLoc(), first.getName(), b.getFunctionType({}, {}));
    body = program.addEntryBlock();
    func::ReturnOp::create(b = OpBuilder::atBlockEnd(body), first.getLoc());
    for (NamedAttribute attr : first->getDiscardableAttrs())
      program->setDiscardableAttr(attr.getName(), attr.getValue());
    for (func::FuncOp statement : statements)
      take(statement);
    returnResults();
    unifySizes();
    unifyPatterns();
  }

private:
  struct Tensor {
    Value pattern; ///< where positions, coordinates and sizes are: the argument, or what an assembly made
    Value current; ///< what it is behind the statements so far
    bool written = false, intermediate = false;
  };

  Attribute attributeOf(BlockArgument arg, StringRef name) const {
    return attributes[arg.getArgNumber()].get(name);
  }

  /// The tensor that the program has for an argument of a statement.
  Tensor &tensorFor(BlockArgument arg) {
    auto [entry, isNew] = tensors.try_emplace(nameOf(arg));
    auto statement = cast<func::FuncOp>(arg.getOwner()->getParentOp());
    DictionaryAttr own = statement.getArgAttrDict(arg.getArgNumber());
    if (isNew) {
      BlockArgument added = body->addArgument(arg.getType(), arg.getLoc());
      attributes.emplace_back(own);
      entry->second = {added, added};
    } else if (auto known = dyn_cast<BlockArgument>(entry->second.pattern)) {
      NamedAttrList &all = attributes[known.getArgNumber()]; // it was only read so far
      if (Attribute number = own.get(kStatementAttr); number && !all.get(kStatementAttr))
        all.set(kStatementAttr, number);
    }
    return entry->second;
  }

  void take(func::FuncOp statement) {
    const StringRef name = resultOf(statement);
    const bool makes = !destinationOf(statement);
    for (BlockArgument arg : statement.getArguments()) {
      Tensor &tensor = tensorFor(arg);
      arg.replaceUsesWithIf(tensor.pattern, [](OpOperand &use) { return readsPattern(use.getOwner()); });
      arg.replaceAllUsesWith(tensor.current);
    }
    Block &from = statement.getBody().front();
    Value result = from.getTerminator()->getOperand(0);
    from.getTerminator()->erase();
    if (makes) {
      made.insert(name);
      if (!from.empty())
        makers.push_back({&from.front(), name});
      if (auto sizes = statement.getResultAttrOfType<DenseI64ArrayAttr>(0, kSizesAttr))
        madeSizes[result] = sizes;
    } else {
      made.remove(name);
    }
    Tensor &tensor = tensors[name];
    tensor = {makes ? result : tensor.pattern, result, true,
              bool(statement.getResultAttr(0, kIntermediateAttr))};
    body->getOperations().splice(std::prev(body->end()), from.getOperations());
    if (Attribute large = statement->getAttr(kLargeAttr))
      program->setAttr(kLargeAttr, large);
    if (auto more = statement->getAttrOfType<ArrayAttr>(kScheduledAttr)) {
      llvm::SetVector<Attribute> all;
      if (auto known = program->getAttrOfType<ArrayAttr>(kScheduledAttr))
        all.insert_range(known);
      all.insert_range(more);
      program->setAttr(kScheduledAttr, ArrayAttr::get(program.getContext(), all.getArrayRef()));
    }
    statement.erase();
  }

  /// Those written in place, then those made.
  void returnResults() {
    OpBuilder b(program);
    SmallVector<Value> results;
    SmallVector<Attribute> names;
    auto add = [&](StringRef name, Value value) {
      results.push_back(value);
      NamedAttrList own(b.getNamedAttr(kNameAttr, b.getStringAttr(name)));
      if (tensors[name].intermediate && !isReadBehind(name))
        own.set(kIntermediateAttr, b.getUnitAttr());
      names.push_back(own.getDictionary(b.getContext()));
    };
    for (auto &[name, tensor] : tensors)
      if (tensor.written && !made.contains(name) && (!tensor.intermediate || isReadBehind(name)))
        add(name, tensor.current);
    for (StringRef name : made)
      add(name, tensors[name].current);
    body->getTerminator()->setOperands(results);
    program.setType(b.getFunctionType(body->getArgumentTypes(), ValueRange(results).getTypes()));
    program.setAllArgAttrs(llvm::map_to_vector(
        attributes, [&](NamedAttrList &list) { return Attribute(list.getDictionary(b.getContext())); }));
    program.setAllResultAttrs(names);
    if (made.size() > 1)
      sayWhatIsMade();
  }

  /// Where one call makes several tensors, errors are told of which one.
  void sayWhatIsMade() {
    auto module = program->getParentOfType<ModuleOp>();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    if (!module.lookupSymbol(kMakingFunction))
      func::FuncOp::create(b, program.getLoc(), kMakingFunction, b.getFunctionType(b.getI64Type(), {}))
          .setPrivate();
    for (auto [first, name] : makers) {
      b.setInsertionPoint(first);
      const auto number = std::distance(made.begin(), llvm::find(made, name));
      Value result = arith::ConstantIntOp::create(b, first->getLoc(), number, 64);
      func::CallOp::create(b, first->getLoc(), kMakingFunction, TypeRange(), result);
    }
  }

  /// Sizes that the program's indices make equal are those of one argument.
  void unifySizes() {
    DenseMap<int64_t, std::pair<BlockArgument, int64_t>> first;
    auto sizesOf = [&](Value tensor) { // of a slice, they are not those of what it was cut from
      auto arg = dyn_cast<BlockArgument>(tensor);
      if (arg && (arg.getOwner() != body || attributeOf(arg, kWholeAttr)))
        return ArrayRef<int64_t>();
      auto sizes =
          arg ? dyn_cast_or_null<DenseI64ArrayAttr>(attributeOf(arg, kSizesAttr)) : madeSizes.lookup(tensor);
      return sizes ? sizes.asArrayRef() : ArrayRef<int64_t>();
    };
    for (BlockArgument arg : body->getArguments())
      for (auto [d, size] : llvm::enumerate(sizesOf(arg)))
        first.try_emplace(size, arg, int64_t(d));
    program.walk([&](tensor::DimOp dim) {
      std::optional<int64_t> number = dim.getConstantIndex();
      ArrayRef<int64_t> sizes = sizesOf(dim.getSource());
      auto same =
          number && *number < int64_t(sizes.size()) ? first.find(sizes[size_t(*number)]) : first.end();
      if (same == first.end())
        return;
      OpBuilder b(dim);
      dim.getSourceMutable().assign(same->second.first);
      dim.getIndexMutable().assign(arith::ConstantIndexOp::create(b, dim.getLoc(), same->second.second));
    });
  }

  /// Of arguments with one pattern and equal sizes, the first is where coordinates are read: the dense levels
  /// that two tensors have below one pattern may differ.
  void unifyPatterns() {
    DenseMap<std::tuple<Attribute, Attribute, Attribute>, BlockArgument> first;
    for (BlockArgument arg : body->getArguments()) {
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

  function_ref<bool(StringRef)> isReadBehind;
  func::FuncOp program;
  Block *body;
  SmallVector<NamedAttrList> attributes; ///< of the arguments
  llvm::MapVector<StringRef, Tensor> tensors;
  llvm::SetVector<StringRef> made;                       ///< tensors whose last value an assembly made
  SmallVector<std::pair<Operation *, StringRef>> makers; ///< where statements that assemble begin
  DenseMap<Value, DenseI64ArrayAttr> madeSizes;
};

/// Joins the groups of a module.
void linkStatements(ModuleOp module) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  llvm::StringMap<size_t> lastReader; // by tensor
  for (auto [k, function] : llvm::enumerate(functions))
    for (BlockArgument arg : function.getArguments())
      lastReader[nameOf(arg)] = k;
  for (size_t begin = 0, end; begin < functions.size(); begin = end) {
    Group group;
    for (end = begin; end < functions.size() && group.add(functions[end]);)
      ++end;
    end = std::max(end, begin + 1);
    if (end - begin > 1)
      Linker([&](StringRef name) { return lastReader.lookup(name) >= end; }).link(group.members());
  }
}

struct LinkStatements : impl::LinkStatementsBase<LinkStatements> {
  void runOnOperation() override { linkStatements(getOperation()); }
};

} // namespace
} // namespace tulle::passes
