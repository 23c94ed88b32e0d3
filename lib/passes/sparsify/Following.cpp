// How operands follow a statement's loops: coordinates of their levels, iterators, values, and how long the
// loops are.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;
using format::Digit;
using iteration::LevelMode;
using iteration::LoopVar;
using iteration::Subscript;

namespace {

/// Index arithmetic that drops what is constant, so that unblocked tensors get plain coordinates.
struct Arith : levels::IndicesAt {
  using IndicesAt::IndicesAt;
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, int64_t k) { return k == 1 ? x : b.createOrFold<arith::MulIOp>(loc, x, constant(k)); }
  Value div(Value x, int64_t k) { return k == 1 ? x : b.createOrFold<arith::DivUIOp>(loc, x, constant(k)); }
  Value mod(Value x, int64_t k) { return k == 0 ? x : b.createOrFold<arith::RemUIOp>(loc, x, constant(k)); }
};

} // namespace

/// Takes every operand as far as the bound coordinates lead: full levels are located, values of reached
/// leaves loaded. What leads others goes first.
void LoopEmitter::advance(LoopState &s) {
  for (bool led : {false, true})
    for (unsigned o = 0; o < statement.operands.size(); ++o)
      if (statement.operands[o].leader.has_value() == led)
        advance(s, o);
}

void LoopEmitter::advance(LoopState &s, unsigned o) {
  const SparseOperand &operand = statement.operands[o];
  OperandState &state = s.operands[o];
  if (operand.leader)
    follow(s, o);
  const bool isResult = o + 1 == statement.operands.size();
  if (state.absent || state.value || operand.extent || (isResult && statement.assembled))
    return;
  if (!isResult && !operand.leader && !isIterated(o))
    return;
  locateLevels(s, o);
  if (state.iterators.size() < operand.digits.size() || isResult || !readByBody[o])
    return;
  Value iterator = state.iterators.empty() ? Value() : state.iterators.back();
  Type type = getElementTypeOrSelf(operand.tensor.getType());
  auto load = [&] {
    return Carried{dialect::LoadOp::create(b, loc, type, operand.tensor, iterator).getResult()};
  };
  state.value = state.uncertain
                    ? levels::ifElse(b, loc, state.present, type, load, [&] { return fills(o); })[0]
                    : load()[0];
}

void LoopEmitter::locateLevels(LoopState &s, unsigned o) {
  const SparseOperand &operand = statement.operands[o];
  SmallVector<Value> &iterators = s.operands[o].iterators;
  const bool isResult = o + 1 == statement.operands.size();
  while (iterators.size() >= operand.led && iterators.size() < operand.digits.size()) {
    size_t level = iterators.size(), own = level;
    if (isResult && workspace && !statement.pattern) {
      // Levels that the workspace does not have have the iterator of the one above.
      if (workspace->fixed[level]) {
        iterators.push_back(level ? iterators.back() : Value());
        continue;
      }
      own -= size_t(
          llvm::count_if(ArrayRef(workspace->fixed).take_front(level), [](Value v) { return bool(v); }));
    }
    Value coordinate;
    if (plan.levels[o][level].mode != LevelMode::Locate || !coordinateOf(s, operand, level, coordinate))
      break;
    Value parent = own ? iterators.back() : Value();
    iterators.push_back(
        dialect::LocateOp::create(b, loc, iteratorType(o, own), operand.tensor, own, parent, coordinate));
  }
}

/// The operand is where its leader is, in the levels that both have, and where it was below these.
void LoopEmitter::follow(LoopState &s, unsigned o) {
  OperandState &state = s.operands[o];
  const OperandState &leader = s.operands[*statement.operands[o].leader];
  const size_t led = std::min(statement.operands[o].led, leader.iterators.size());
  const SmallVector<Value> below =
      llvm::to_vector(ArrayRef(state.iterators).drop_front(std::min(led, state.iterators.size())));
  const Value value = state.value;
  state = leader;
  state.iterators.truncate(led);
  llvm::append_range(state.iterators, below);
  state.value = value;
}

/// The coordinate at a level, if the loops so far fix it.
bool LoopEmitter::coordinateOf(const LoopState &s, const SparseOperand &operand, size_t level, Value &out) {
  const Digit &digit = operand.digits[level];
  const Subscript &subscript = operand.subscripts[digit.dim];
  if (subscript.isVariable())
    for (auto [d, v] : llvm::enumerate(plan.order))
      if (v == LoopVar{subscript.terms[0].first, digit.stride, digit.modulus} && s.coordinates[d]) {
        out = s.coordinates[d];
        return true;
      }
  for (auto [d, v] : llvm::enumerate(plan.order))
    for (auto [index, coefficient] : subscript.terms)
      if (v.index == index && !s.coordinates[d])
        return false;
  Arith a{b, loc};
  out = a.mod(a.div(subscriptValue(s, operand, digit.dim), digit.stride), digit.modulus);
  return true;
}

Value LoopEmitter::subscriptValue(const LoopState &s, const SparseOperand &operand, unsigned dim) {
  const Subscript &subscript = operand.subscripts[dim];
  Arith a{b, loc};
  Value sum = a.constant(subscript.constant);
  for (auto [index, coefficient] : subscript.terms)
    sum = a.add(a.mul(indexValue(s, index), coefficient), sum);
  return inWhole(operand, dim, a.mod(a.div(sum, subscript.divisor), subscript.modulus));
}

/// The coordinate of what a slice was cut from.
Value LoopEmitter::inWhole(const SparseOperand &operand, unsigned dim, Value coordinate) {
  if (!operand.subscripts[dim].isMoved)
    return coordinate;
  tensor::ExtractSliceOp slice = operand.slice;
  auto number = [&](OpFoldResult given) { return getValueOrCreateConstantIndexOp(b, loc, given); };
  Value distance = b.createOrFold<arith::MulIOp>(loc, coordinate, number(slice.getMixedStrides()[dim]));
  return b.createOrFold<arith::AddIOp>(loc, distance, number(slice.getMixedOffsets()[dim]));
}

/// The index's value so far: the sum of its bound digits.
Value LoopEmitter::indexValue(const LoopState &s, unsigned index) {
  Arith a{b, loc};
  Value sum;
  for (auto [d, v] : llvm::enumerate(plan.order))
    if (v.index == index && s.coordinates[d] && !v.isOverTiles) {
      Value digit = a.mul(s.coordinates[d], v.stride);
      sum = sum ? a.add(sum, digit) : digit;
    }
  return sum ? sum : a.constant(0);
}

/// How many coordinates loop `depth` has: the digit's modulus, less where the index would pass the end of its
/// dimension.
Value LoopEmitter::extent(LoopState &s, unsigned depth) {
  const LoopVar &v = plan.order[depth];
  if (statement.tiles.areOf(v.index)) {
    auto [lo, hi] = bounds(s, depth);
    return b.createOrFold<arith::SubIOp>(loc, hi, lo);
  }
  return extent(s, v);
}

Value LoopEmitter::extent(const LoopState &s, const LoopVar &digit) {
  Arith a{b, loc};
  if (digit.stride == 1 && digit.modulus == 1) // the coordinates of the other digits exist
    return a.constant(1);
  Value left = b.createOrFold<arith::SubIOp>(loc, sizes[digit.index], indexValue(s, digit.index));
  Value count = digit.stride == 1 ? left : a.div(a.add(left, a.constant(digit.stride - 1)), digit.stride);
  return digit.modulus == 0 ? count : b.createOrFold<arith::MinUIOp>(loc, count, a.constant(digit.modulus));
}

/// The digits of the index that the loops from `depth` on run over, as one digit (of modulus 1 where there is
/// none); nothing where another one lies between them, or where loops run over tiles.
std::optional<LoopVar> LoopEmitter::digitsFrom(unsigned index, unsigned depth) const {
  SmallVector<LoopVar> digits;
  for (const LoopVar &loop : ArrayRef(plan.order).drop_front(depth))
    if (loop.index == index)
      digits.push_back(loop);
  if (statement.tiles.areOf(index))
    return std::nullopt;
  if (digits.empty())
    return LoopVar{index, 1, 1};
  llvm::sort(digits,
             [](const LoopVar &x, const LoopVar &y) { // blocks of one coordinate have a low digit, too
               return std::pair(x.stride, x.modulus == 0) < std::pair(y.stride, y.modulus == 0);
             });
  LoopVar joined = digits.front();
  for (const LoopVar &digit : ArrayRef(digits).drop_front()) {
    if (digit.stride != joined.stride * joined.modulus)
      return std::nullopt;
    joined.modulus *= digit.modulus;
  }
  return joined;
}

/// Size of an index: what the schedule says, or that of any dimension it is the plain subscript of, a
/// statically known one first.
Value LoopEmitter::dimSize(unsigned index) {
  if (const dialect::ScheduleAttr schedule = dialect::scheduleOf(statement.generic))
    if (std::optional<int64_t> size = schedule.boundOf(nameOfIndices(statement.generic)[index]))
      return arith::ConstantIndexOp::create(b, loc, *size);
  const SparseOperand *found = nullptr;
  unsigned dim = 0;
  for (const SparseOperand &operand : statement.operands)
    for (auto [d, subscript] : llvm::enumerate(operand.subscripts)) {
      if (!subscript.isIndex() || subscript.terms[0].first != index)
        continue;
      tensor::ExtractSliceOp slice = operand.slice;
      bool fixed =
          !cast<RankedTensorType>(slice ? slice.getType() : operand.tensor.getType()).isDynamicDim(d);
      if (!found || fixed) {
        found = &operand;
        dim = d;
      }
    }
  if (tensor::ExtractSliceOp slice = found->slice)
    return getValueOrCreateConstantIndexOp(b, loc, slice.getMixedSizes()[dim]);
  Value tensor = found->tensor;
  // What is known of sizes is known of arguments.
  if (auto selection = tensor.getDefiningOp<dialect::OneHotOp>()) {
    if (dim + 1 == unsigned(selection.getResult().getType().getRank()))
      return selection.getSize();
    tensor = selection.getSource();
  }
  tensor = beforeChecks(tensor);
  if (auto type = cast<RankedTensorType>(tensor.getType()); !type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSize(dim);
  return tensor::DimOp::create(b, loc, tensor, dim);
}

Type LoopEmitter::iteratorType(unsigned operand, size_t level) const {
  return dialect::IteratorType::get(b.getContext(), statement.operands[operand].encoding, level);
}

Value LoopEmitter::space(const LoopState &s, unsigned operand) {
  const auto &iterators = s.operands[operand].iterators;
  const SparseOperand &o = statement.operands[operand];
  auto type = dialect::SpaceType::get(b.getContext(), o.encoding, iterators.size());
  Value parent = iterators.empty() ? Value() : iterators.back();
  Value all =
      dialect::SpaceOp::create(b, loc, type, o.tensor, iterators.size(), parent, condition(s, operand));
  if (o.digits.empty())
    return all;
  const unsigned dim = o.digits[iterators.size()].dim;
  return o.subscripts[dim].isPart ? partOf(all, o, dim) : all;
}

/// The coordinates that the index reaches, counted as it is.
Value LoopEmitter::partOf(Value space, const SparseOperand &operand, unsigned dim) {
  const Subscript &subscript = operand.subscripts[dim];
  Value begin = inWhole(operand, dim, constant(subscript.constant));
  Value end = b.createOrFold<arith::AddIOp>(loc, begin, sizes[subscript.terms[0].first]);
  Value range = dialect::RangeOp::create(b, loc, begin, end);
  Value part = dialect::RestrictOp::create(b, loc, space.getType(), space, range);
  // Also by 0: the level has coordinates that the loop has not.
  return dialect::ShiftOp::create(b, loc, part.getType(), part, begin);
}

/// The iterator of the last level; null when it was not reached.
Value LoopEmitter::iteratorOf(const LoopState &s, unsigned operand) const {
  const auto &iterators = s.operands[operand].iterators;
  bool reached = iterators.size() == plan.levels[operand].size() && !iterators.empty();
  return reached ? iterators.back() : Value();
}

std::optional<unsigned> LoopEmitter::nextSearch(const LoopState &s) const {
  for (unsigned o : openInputs(s))
    if (!statement.operands[o].extent && s.operands[o].iterators.size() < statement.operands[o].digits.size())
      return o;
  return std::nullopt;
}

} // namespace tulle::passes
