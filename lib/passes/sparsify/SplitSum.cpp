// A sum is a list of signed terms; terms that read the same sparse operands are one statement, which adds
// them to the result of the one before.
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/IRMapping.h"
#include "passes/sparsify/Statement.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
using linalg::GenericOp;

namespace {

struct Term {
  Value value;
  bool negative;
};

bool mayReorder(Operation *op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    return bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
  return isa<arith::AddIOp, arith::SubIOp>(op);
}

/// One statement's body: `out + (t1 + t2 + …)` or the terms alone, where a mask holds.
class Sum {
public:
  explicit Sum(GenericOp generic)
      : generic(generic), block(*generic.getBody()), out(block.getArguments().back()) {}

  bool match() {
    auto type = cast<RankedTensorType>(generic.getResult(0).getType());
    const bool dense = format::isAllDense(dialect::getEncoding(type).getValue());
    if (!dense || type.getElementType().isF16() || type.getElementType().isBF16() || !fillsWithZero())
      return false;
    Value root = block.getTerminator()->getOperand(0);
    if (auto select = root.getDefiningOp<arith::SelectOp>(); select && select.getFalseValue() == out) {
      mask = select.getCondition();
      root = select.getTrueValue();
    }
    Operation *op = root.getDefiningOp();
    if (op && isSum(op) && llvm::is_contained(op->getOperands(), out) && mayReorder(op)) {
      accumulates = true;
      root = op->getOperand(op->getOperand(0) == out ? 1 : 0);
    }
    collect(root, /*negative=*/false);
    const bool reduces = generic.getNumReductionLoops() > 0;
    return (accumulates || !reduces) &&
           llvm::none_of(terms, [&](const Term &t) { return reads(t.value).contains(out); }) && group();
  }

  SmallVector<GenericOp> split() {
    OpBuilder b(generic);
    SmallVector<GenericOp> made;
    Value init = generic.getDpsInits()[0];
    for (auto &[sparse, members] : groups) {
      made.push_back(statementOf(b, members, init, accumulates || !made.empty()));
      init = made.back().getResult(0);
    }
    return made;
  }

private:
  static bool isSum(Operation *op) { return isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(op); }

  /// An infinite fill swallows what it is added to, wherever in the sum that is.
  bool fillsWithZero() {
    return llvm::all_of(generic.getDpsInputs(), [](Value input) {
      auto type = cast<RankedTensorType>(input.getType());
      return dialect::fillAttr(type) == dialect::zeroAttr(type.getElementType());
    });
  }

  void collect(Value value, bool negative) {
    Operation *op = value.getDefiningOp();
    const bool own = op && op->getBlock() == &block && value.hasOneUse();
    const bool difference = own && isa<arith::SubFOp, arith::SubIOp, complex::SubOp>(op);
    if (own && (isSum(op) || difference) && mayReorder(op)) {
      collect(op->getOperand(0), negative);
      collect(op->getOperand(1), negative != difference);
    } else if (own && isa<arith::NegFOp, complex::NegOp>(op)) {
      collect(op->getOperand(0), !negative);
    } else {
      terms.push_back({value, negative});
    }
  }

  /// The block arguments that a value depends on.
  llvm::SetVector<Value> reads(Value value) {
    llvm::SetVector<Value> reached, arguments;
    reached.insert(value);
    for (size_t k = 0; k < reached.size(); ++k) {
      Value at = reached[k];
      if (at.getParentBlock() != &block)
        continue;
      if (Operation *op = at.getDefiningOp())
        reached.insert(op->operand_begin(), op->operand_end());
      else
        arguments.insert(at);
    }
    return arguments;
  }

  /// Terms of the same sparse operands stay together.
  bool group() {
    for (const Term &term : terms) {
      std::vector<unsigned> sparse;
      for (Value argument : reads(term.value)) {
        const unsigned number = cast<BlockArgument>(argument).getArgNumber();
        auto type = cast<RankedTensorType>(generic->getOperand(number).getType());
        if (!format::isAllDense(dialect::getEncoding(type).getValue()))
          sparse.push_back(number);
      }
      llvm::sort(sparse);
      groups[sparse].push_back(term);
    }
    return groups.size() > 1 &&
           llvm::all_of(groups, [&](auto &entry) { return coversIndices(entry.second); });
  }

  llvm::SetVector<Value> inputsOf(ArrayRef<Term> members) {
    llvm::SetVector<Value> arguments;
    for (const Term &term : members)
      arguments.insert_range(reads(term.value));
    if (mask)
      arguments.insert_range(reads(mask));
    return arguments;
  }

  /// Whether every index is a subscript of what is left, which says how far it runs.
  bool coversIndices(ArrayRef<Term> members) {
    llvm::SmallDenseSet<unsigned> covered;
    llvm::SetVector<Value> arguments = inputsOf(members);
    arguments.insert(out);
    for (Value argument : arguments) {
      OpOperand &use = generic->getOpOperand(cast<BlockArgument>(argument).getArgNumber());
      for (AffineExpr subscript : generic.getMatchingIndexingMap(&use).getResults())
        if (auto index = dyn_cast<AffineDimExpr>(subscript))
          covered.insert(index.getPosition());
    }
    return covered.size() == generic.getNumLoops();
  }

  GenericOp statementOf(OpBuilder &b, ArrayRef<Term> members, Value init, bool adds) {
    SmallVector<Value> inputs, arguments;
    SmallVector<AffineMap> maps;
    llvm::SetVector<Value> needed = inputsOf(members);
    for (Value argument : block.getArguments().drop_back())
      if (needed.contains(argument)) {
        OpOperand &use = generic->getOpOperand(cast<BlockArgument>(argument).getArgNumber());
        arguments.push_back(argument);
        inputs.push_back(use.get());
        maps.push_back(generic.getMatchingIndexingMap(&use));
      }
    maps.push_back(generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)));
    arguments.push_back(out);
    auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
      IRMapping mapping;
      mapping.map(arguments, args);
      Value sum = adds ? args.back() : Value();
      for (const Term &term : members)
        sum = add(inner, loc, sum, copy(inner, term.value, mapping), term.negative);
      if (mask)
        sum = arith::SelectOp::create(inner, loc, copy(inner, mask, mapping), sum, args.back());
      linalg::YieldOp::create(inner, loc, sum);
    };
    auto made = GenericOp::create(b, generic.getLoc(), generic->getResultTypes(), inputs, init, maps,
                                  generic.getIteratorTypesArray(), body);
    for (NamedAttribute attr : generic->getDiscardableAttrs())
      made->setDiscardableAttr(attr.getName(), attr.getValue());
    return made;
  }

  Value copy(OpBuilder &b, Value value, IRMapping &mapping) {
    Operation *op = value.getDefiningOp();
    if (mapping.contains(value) || !op || op->getBlock() != &block)
      return mapping.lookupOrDefault(value);
    for (Value operand : op->getOperands())
      copy(b, operand, mapping);
    b.clone(*op, mapping);
    return mapping.lookup(value);
  }

  static Value add(OpBuilder &b, Location loc, Value sum, Value x, bool negative) {
    auto fast = arith::FastMathFlagsAttr::get(b.getContext(),
                                              arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
    Type type = x.getType();
    if (!sum && !negative)
      return x;
    if (!sum)
      sum = dialect::materialize(b, loc, dialect::zeroAttr(type), type);
    if (isa<IntegerType>(type))
      return negative ? arith::SubIOp::create(b, loc, sum, x).getResult()
                      : arith::AddIOp::create(b, loc, sum, x).getResult();
    if (isa<ComplexType>(type))
      return negative ? complex::SubOp::create(b, loc, sum, x, fast).getResult()
                      : complex::AddOp::create(b, loc, sum, x, fast).getResult();
    return negative ? arith::SubFOp::create(b, loc, sum, x, fast).getResult()
                    : arith::AddFOp::create(b, loc, sum, x, fast).getResult();
  }

  GenericOp generic;
  Block &block;
  Value out, mask;
  bool accumulates = false;
  SmallVector<Term> terms;
  llvm::MapVector<std::vector<unsigned>, SmallVector<Term>, std::map<std::vector<unsigned>, unsigned>> groups;
};

} // namespace

SmallVector<GenericOp> splitSum(GenericOp generic) {
  Sum sum(generic);
  return sum.match() ? sum.split() : SmallVector<GenericOp>();
}

} // namespace tulle::passes
