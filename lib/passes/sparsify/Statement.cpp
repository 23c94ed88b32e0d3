// Reads operands, subscripts and the start of the result from the ops around a linalg.generic, and says what
// the planner sees of them.
#include "passes/sparsify/Statement.h"
#include "dialect/Attributes.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {
using namespace mlir;
using iteration::Subscript;

Value beforeChecks(Value integers) {
  while (Operation *check = integers.getDefiningOp()) {
    if (!isa<dialect::BoundedIndicesOp, dialect::DistinctIndicesOp>(check))
      break;
    integers = check->getOperand(0);
  }
  return integers;
}

tensor::ExtractSliceOp sliceBehind(Value operand) {
  auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.getType().getRank() == slice.getSourceType().getRank() ? slice
                                                                               : tensor::ExtractSliceOp();
}

bool isCut(tensor::ExtractSliceOp slice) {
  auto arg = slice ? dyn_cast<BlockArgument>(slice.getSource()) : BlockArgument();
  auto function = arg ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()) : func::FuncOp();
  return slice && !(function && function.getArgAttr(arg.getArgNumber(), dialect::kWholeAttr));
}

bool isWhole(tensor::ExtractSliceOp slice, unsigned dim) {
  const OpFoldResult size = slice.getMixedSizes()[dim];
  const int64_t length = slice.getSourceType().getDimSize(dim);
  auto own = dyn_cast<Value>(size) ? cast<Value>(size).getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  auto unconverted = [](Value tensor) { // a conversion keeps the sizes
    auto convert = tensor.getDefiningOp<dialect::ConvertOp>();
    return convert ? Value(convert.getSource()) : tensor;
  };
  const bool isAll = own ? unconverted(own.getSource()) == unconverted(slice.getSource()) &&
                               own.getConstantIndex() == int64_t(dim)
                         : !ShapedType::isDynamic(length) && isConstantIntValue(size, length);
  return isAll && isZeroInteger(slice.getMixedOffsets()[dim]) && isOneInteger(slice.getMixedStrides()[dim]);
}

namespace {

/// The function argument that an operand is, or is converted from.
BlockArgument argumentOf(Value operand) {
  if (auto reshape = operand.getDefiningOp<dialect::ReshapeOp>())
    operand = reshape.getSource();
  if (auto selection = operand.getDefiningOp<dialect::OneHotOp>())
    operand = selection.getSource();
  if (tensor::ExtractSliceOp slice = sliceBehind(operand))
    operand = slice.getSource();
  operand = beforeChecks(operand);
  if (auto convert = operand.getDefiningOp<dialect::ConvertOp>())
    operand = convert.getSource();
  auto arg = dyn_cast<BlockArgument>(operand);
  return arg && isa<func::FuncOp>(arg.getOwner()->getParentOp()) ? arg : BlockArgument();
}

template <typename Attr> Attr argumentAttr(Value operand, StringRef name) {
  BlockArgument arg = argumentOf(operand);
  if (!arg)
    return {};
  auto function = cast<func::FuncOp>(arg.getOwner()->getParentOp());
  return function.getArgAttrOfType<Attr>(arg.getArgNumber(), name);
}

int64_t entriesOf(Value operand) {
  auto entries = argumentAttr<IntegerAttr>(operand, dialect::kEntriesAttr);
  return entries ? entries.getInt() : -1;
}

/// Takes `mod` and `floordiv` off the outside of a subscript.
AffineExpr takeDigit(AffineExpr expr, Subscript &out) {
  auto take = [&](AffineExprKind kind, int64_t &into) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto by = binary && expr.getKind() == kind ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                                               : AffineConstantExpr();
    if (!by || by.getValue() < 1)
      return;
    into = by.getValue();
    expr = binary.getLHS();
  };
  take(AffineExprKind::Mod, out.modulus);
  take(AffineExprKind::FloorDiv, out.divisor);
  return expr;
}

/// Adds `scale * expr` to the subscript; false for mod, div and symbols inside of it.
bool addTerms(AffineExpr expr, int64_t scale, Subscript &out) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    out.constant += scale * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    out.terms.push_back({dim.getPosition(), scale});
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return addTerms(binary.getLHS(), scale, out) && addTerms(binary.getRHS(), scale, out);
  if (binary && expr.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return addTerms(binary.getLHS(), scale * factor.getValue(), out);
  return false;
}

Value withoutFill(Value init) {
  auto fill = init.getDefiningOp<dialect::FillOp>();
  return fill ? fill.getTensor() : init;
}

/// A sparse tensor that nothing is stored in yet: it is made by the loops.
bool isNewTensor(Value init) {
  init = withoutFill(init);
  auto type = dyn_cast<RankedTensorType>(init.getType());
  return type && init.getDefiningOp<tensor::EmptyOp>() &&
         !format::isAllDense(dialect::getEncoding(type).getValue());
}

LogicalResult readOperand(linalg::GenericOp generic, OpOperand &use, SparseOperand &out) {
  out.tensor = use.get();
  if (!generic.isDpsInit(&use))
    out.slice = sliceBehind(out.tensor);
  if (out.slice)
    out.tensor = out.slice.getSource();
  auto type = dyn_cast<RankedTensorType>(out.tensor.getType());
  if (!type)
    return generic.emitError("operand ") << use.getOperandNumber() << " is not a ranked tensor";
  out.encoding = dialect::getEncoding(type);
  auto selection = out.tensor.getDefiningOp<dialect::OneHotOp>();
  out.total = selection && selection.getTotal();
  out.distinct = selection && selection.getDistinct();
  out.extent = bool(out.tensor.getDefiningOp<tensor::EmptyOp>()) && !generic.isDpsInit(&use);
  const format::Encoding &encoding = out.encoding.getValue();
  std::string why = dialect::whyNotExecutable(encoding, type.getElementType());
  if (why.empty() && generic.isDpsInit(&use) && encoding.explicitVal)
    why =
        "what is computed has values of its own, and explicitVal leaves no place for them; leave it out, and "
        "convert the result";
  auto digits = format::digits(encoding);
  if (why.empty() && generic.isDpsInit(&use) && !digits && format::isAllDense(encoding))
    why = "the dense levels of what is computed are no digits of single dimensions; compute it in "
          "'dense', and convert the result";
  if (!why.empty())
    return generic.emitError("operand ") << use.getOperandNumber() << ": " << why;
  if (digits)
    out.digits = *digits;
  out.sparse = !format::isAllDense(encoding);
  bool ordered =
      llvm::all_of(encoding.levels, [](const format::Level &level) { return level.format.ordered; });
  out.byStorage = (!digits || !ordered) && !generic.isDpsInit(&use) && !out.extent;
  for (AffineExpr expr : generic.getMatchingIndexingMap(&use).getResults()) {
    Subscript s;
    if (!addTerms(takeDigit(expr, s), 1, s))
      return generic.emitError("operand ") << use.getOperandNumber() << " has a subscript that is not affine";
    out.subscripts.push_back(s);
  }
  for (auto [d, s] : llvm::enumerate(out.subscripts)) {
    const bool isCut = out.slice && !isWhole(out.slice, unsigned(d));
    bool isInterval = isCut || s.constant > 0;
    if (isCut) {
      const bool isSolid = isOneInteger(out.slice.getMixedStrides()[d]);
      s.isMoved = !isSolid || !isZeroInteger(out.slice.getMixedOffsets()[d]);
      isInterval = isSolid;
    }
    s.isInterval = isInterval && !generic.isDpsInit(&use);
    s.isPart = s.isInterval && !out.byStorage && format::storesInOrder(encoding, unsigned(d));
  }
  return success();
}

/// Walks back from the init through tulle.fill and tulle.like to the storage.
void readInit(SparseStatement &s) {
  s.init = s.generic.getDpsInitOperand(0)->get();
  s.assembled = isNewTensor(s.init);
  if (s.assembled)
    s.start = dialect::fillAttr(cast<RankedTensorType>(s.init.getType()));
  if (auto fill = s.init.getDefiningOp<dialect::FillOp>()) {
    Attribute constant;
    if (!matchPattern(fill.getValue(), m_Constant(&constant)))
      return;
    s.start = constant;
    s.init = fill.getTensor();
  }
  if (auto like = s.init.getDefiningOp<dialect::LikeOp>())
    s.init = like.getTensor();
}

/// How many levels are left without those of the dimensions from `order` on: without dense ones, else those
/// that store each coordinate of the dimensions before once; none where there are no such levels.
std::optional<size_t> levelsOf(const format::Encoding &encoding, unsigned order) {
  size_t levels = encoding.levels.size(), dims = encoding.order();
  auto isBelow = [&](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense && level.expr->kind == format::ExprKind::Dim &&
           level.expr->value >= int64_t(order);
  };
  for (; levels > 0 && isBelow(encoding.levels[levels - 1]); --levels)
    --dims;
  return dims == order ? std::optional(levels) : format::outerLevels(encoding, order);
}

/// Whether the levels from `from` on are dense ones of dimensions: located, whatever is iterated.
bool isDenseFrom(const format::Encoding &encoding, size_t from) {
  return llvm::all_of(ArrayRef(encoding.levels).drop_front(from), [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense && level.expr->kind == format::ExprKind::Dim;
  });
}

/// How many levels come before dense ones of dimensions.
size_t depthOf(const SparseOperand &operand) {
  size_t depth = 0;
  while (!isDenseFrom(operand.encoding.getValue(), depth))
    ++depth;
  return depth;
}

/// Whether two operands are slices by the same numbers, or none.
bool areCutAlike(const SparseOperand &a, const SparseOperand &b) {
  if (!a.slice || !b.slice)
    return !a.slice && !b.slice;
  tensor::ExtractSliceOp x = a.slice, y = b.slice;
  return x.getMixedOffsets() == y.getMixedOffsets() && x.getMixedSizes() == y.getMixedSizes() &&
         x.getMixedStrides() == y.getMixedStrides();
}

/// The levels that two operands with one pattern have in common: those of the dimensions up to the first that
/// they are read at different subscripts of.
std::optional<size_t> commonLevels(const SparseOperand &a, const SparseOperand &b, AffineMap x, AffineMap y) {
  if (!areCutAlike(a, b))
    return std::nullopt;
  unsigned order = 0;
  while (order < std::min(x.getNumResults(), y.getNumResults()) && x.getResult(order) == y.getResult(order))
    ++order;
  const format::Encoding &first = a.encoding.getValue(), &second = b.encoding.getValue();
  if (first.posWidth != second.posWidth || first.crdWidth != second.crdWidth)
    return std::nullopt;
  for (; order > 0; --order)
    if (const std::optional<size_t> levels = levelsOf(first, order);
        levels && levels == levelsOf(second, order) && format::haveEqualLevels(first, second, *levels) &&
        isDenseFrom(second, *levels))
      return levels;
  return std::nullopt;
}

/// Whether the result is written at the subscripts at which the pattern is read, as far as both have some.
bool begins(linalg::GenericOp generic, OpOperand *result, OpOperand *pattern) {
  ArrayRef<AffineExpr> written = generic.getMatchingIndexingMap(result).getResults(),
                       read = generic.getMatchingIndexingMap(pattern).getResults();
  const size_t common = std::min(read.size(), written.size());
  return read.take_front(common) == written.take_front(common);
}

LogicalResult readPattern(SparseStatement &s) {
  if (!s.result().sparse || s.assembled)
    return success();
  OpOperand *init = s.generic.getDpsInitOperand(0);
  auto like = withoutFill(init->get()).getDefiningOp<dialect::LikeOp>();
  for (auto [k, use] : llvm::enumerate(s.generic->getOpOperands()))
    if (like && use.get() == like.getPattern() && &use != init && begins(s.generic, init, &use))
      s.pattern = k;
  if (!s.pattern)
    return s.generic.emitError(
        "a sparse result needs tulle.like of an input with the same subscripts, or tensor.empty where its "
        "pattern is its own");
  return success();
}

/// The number of the pattern an operand has, where it is stored as an argument is; null for others.
Attribute patternOf(const SparseOperand &operand) {
  auto arg = dyn_cast<BlockArgument>(operand.tensor);
  if (!operand.sparse || operand.byStorage || !arg || argumentAttr<Attribute>(arg, dialect::kSourceAttr))
    return {};
  return argumentAttr<Attribute>(arg, dialect::kPatternAttr);
}

/// The operand follows the leader, if they have levels in common.
bool follow(SparseStatement &s, unsigned operand, unsigned leader) {
  auto mapOf = [&](unsigned o) { return s.generic.getMatchingIndexingMap(&s.generic->getOpOperand(o)); };
  const std::optional<size_t> levels =
      commonLevels(s.operands[leader], s.operands[operand], mapOf(leader), mapOf(operand));
  if (!levels)
    return false;
  s.operands[operand].leader = leader;
  s.operands[operand].led = *levels;
  return true;
}

/// The result is where its pattern is; the levels that it has below are digits, whatever those above are.
void followPattern(SparseStatement &s) {
  SparseOperand &result = s.result();
  follow(s, unsigned(s.operands.size() - 1), s.leaderOf(*s.pattern));
  const format::Encoding &encoding = result.encoding.getValue();
  if (!result.digits.empty() || encoding.levels.size() == result.led)
    return;
  result.digits.resize(result.led);
  for (const format::Level &level : ArrayRef(encoding.levels).drop_front(result.led))
    result.digits.push_back({unsigned(level.expr->value), 1, 0});
}

/// What has more levels that are iterated leads what has fewer, where all happens at its entries: elsewhere
/// the other would be by itself.
void findLeaders(SparseStatement &s) {
  auto inputs = llvm::to_vector(llvm::seq(0u, unsigned(s.operands.size() - 1)));
  auto isDeeper = [&](unsigned a, unsigned b) { return depthOf(s.operands[a]) > depthOf(s.operands[b]); };
  llvm::stable_sort(inputs, isDeeper);
  for (auto [number, o] : llvm::enumerate(inputs))
    for (unsigned k : ArrayRef(inputs).take_front(number))
      if (Attribute pattern = patternOf(s.operands[o]);
          pattern && !s.operands[o].leader && !s.operands[k].leader && patternOf(s.operands[k]) == pattern &&
          (depthOf(s.operands[o]) == depthOf(s.operands[k]) || s.isRequired(k)))
        follow(s, o, k);
  if (s.pattern)
    followPattern(s);
}

} // namespace

std::vector<std::string> wantedLoops(linalg::GenericOp generic) {
  std::vector<std::string> names;
  const dialect::ScheduleAttr schedule = dialect::scheduleOf(generic);
  if (schedule && schedule.getReorder())
    for (StringAttr name : schedule.getReorder().getAsRange<StringAttr>())
      names.push_back(name.str());
  return names;
}

void setOrder(linalg::GenericOp generic, const iteration::WantedOrder &order) {
  const std::vector<std::string> indices = nameOfIndices(generic);
  SmallVector<std::string> names;
  for (const iteration::LoopVar &loop : order)
    names.push_back(iteration::nameOf(loop, indices));
  Builder b(generic.getContext());
  dialect::ScheduleAttr said = dialect::scheduleOf(generic);
  dialect::SchedulePrimitives all = said ? said.all() : dialect::SchedulePrimitives();
  all.reorder = b.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end()));
  generic->setAttr(dialect::kScheduleAttr, dialect::ScheduleAttr::get(b.getContext(), all));
}

/// Loops over blocks of the pattern leave a slice that is cut from a longer dimension: it is searched at
/// their coordinates, not followed.
static void searchSlicesInBlocks(SparseStatement &s) {
  const SparseOperand &pattern = s.operands[s.leaderOf(*s.pattern)];
  auto hasBlocks = [&](const Subscript &subscript) {
    return llvm::any_of(pattern.digits, [&](const format::Digit &digit) {
      const Subscript &own = pattern.subscripts[digit.dim];
      return (digit.stride != 1 || digit.modulus != 0) && own.isIndex() && subscript.isIndex() &&
             own.terms[0].first == subscript.terms[0].first;
    });
  };
  for (SparseOperand &operand : s.operands)
    for (auto [d, subscript] : llvm::enumerate(operand.subscripts))
      if (isCut(operand.slice) && !isWhole(operand.slice, unsigned(d)) && hasBlocks(subscript)) {
        subscript.isMoved = true;
        subscript.isInterval = subscript.isPart = false;
      }
}

FailureOr<SparseStatement> SparseStatement::read(linalg::GenericOp generic) {
  SparseStatement s;
  s.generic = generic;
  if (generic.getNumDpsInits() != 1 || !generic.hasPureTensorSemantics())
    return generic.emitError("only one result, and tensors, are supported");
  if (generic.getNumDpsInputs() > 63)
    return generic.emitError("more than 63 operands in one statement: split it");
  for (utils::IteratorType kind : generic.getIteratorTypesArray())
    s.reduction.push_back(kind == utils::IteratorType::reduction);
  for (OpOperand &use : generic->getOpOperands())
    if (failed(readOperand(generic, use, s.operands.emplace_back())))
      return failure();
  readInit(s);
  s.result().tensor = s.init;
  // A dense one may be a part of its tensor.
  for (const Subscript &sub : s.result().subscripts)
    if (!sub.isVariable() && (s.result().sparse || (!sub.isShifted() && !sub.terms.empty())))
      return generic.emitError("the result's subscripts must be plain indices");
  for (const Subscript &sub : s.result().subscripts)
    for (auto [index, scale] : sub.terms)
      if (s.reduction[index])
        return generic.emitError("expected the iterator of index ")
               << index << ", which the result has, to be parallel; it is a reduction";
  if (failed(readPattern(s)))
    return failure();
  findLeaders(s);
  if (s.pattern)
    searchSlicesInBlocks(s);
  s.tiles = tilesOf(generic, s.reduction);
  s.wanted = s.tiles.untiled(wantedLoops(generic), nameOfIndices(generic));
  return s;
}

bool SparseStatement::isRequired(unsigned input) const {
  BodyAlgebra algebra(generic);
  if (start && llvm::none_of(reduction, [](bool reduced) { return reduced; }))
    algebra.setAccumulator(start);
  Presence absent;
  absent.absent = uint64_t(1) << input;
  return algebra.isNoOp(absent);
}

std::optional<unsigned> SparseStatement::giverOf(unsigned index) const {
  for (auto [o, operand] : llvm::enumerate(ArrayRef(operands).drop_back())) {
    const std::vector<format::Level> &levels = operand.encoding.getValue().levels;
    if (operand.byStorage || operand.digits.empty() || operand.leader ||
        levels.back().format.kind != format::LevelKind::Singleton ||
        llvm::any_of(levels, [](const format::Level &level) { return !level.format.unique; }))
      continue;
    const format::Digit &digit = operand.digits.back();
    const Subscript &subscript = operand.subscripts[digit.dim];
    if (digit.stride == 1 && digit.modulus == 0 && subscript.isVariable() &&
        subscript.terms[0].first == index && isRequired(unsigned(o)))
      return unsigned(o);
  }
  return std::nullopt;
}

bool SparseStatement::isSpread(unsigned index) const {
  if (assembled) // entries would be taken to arrive in the order of the loop
    return false;
  return llvm::any_of(llvm::enumerate(ArrayRef(operands).drop_back()), [&](const auto &numbered) {
    const SparseOperand &operand = numbered.value();
    if (!operand.distinct || !isRequired(unsigned(numbered.index())))
      return false;
    const Subscript &given = operand.subscripts.back();
    if (!given.isVariable() || reduction[given.terms[0].first])
      return false;
    return llvm::any_of(ArrayRef(operand.subscripts).drop_back(), [&](const Subscript &subscript) {
      return subscript.isVariable() && subscript.terms[0].first == index;
    });
  });
}

/// The levels of a new tensor as the planner sees them: their digits, all dense.
format::Encoding SparseStatement::storedOrder() const {
  if (result().digits.empty())
    return format::denseEncoding(result().subscripts.size());
  format::Encoding order = result().encoding.getValue();
  for (format::Level &level : order.levels)
    level.format = {};
  return order;
}

/// An encoding of digits that holds the same: what an operand without loops of its own is converted to.
static format::Encoding inLoopOrder(const SparseOperand &operand) {
  const format::Encoding &from = operand.encoding.getValue();
  format::Encoding to = format::denseEncoding(from.order());
  for (auto [l, level] : llvm::enumerate(to.levels))
    level.format.kind =
        l == 0 && from.order() == 2 ? format::LevelKind::Dense : format::LevelKind::Compressed;
  // Names widths where the operand does: narrow ones may do only for its own levels.
  to.posWidth = from.posWidth == 0 ? 0 : std::max(from.posWidth, 32u);
  to.crdWidth = from.crdWidth == 0 ? 0 : std::max(from.crdWidth, 32u);
  to.fill = from.fill ? from.fill : from.implicitVal;
  return to;
}

std::vector<std::string> nameOfIndices(linalg::GenericOp generic) {
  auto given = generic->getAttrOfType<ArrayAttr>(dialect::kIndicesAttr);
  std::vector<std::string> names;
  for (unsigned d = 0; d < generic.getNumLoops(); ++d)
    names.push_back(given && d < given.size() ? cast<StringAttr>(given[d]).str() : "d" + std::to_string(d));
  return names;
}

std::string nameOfOperand(linalg::GenericOp generic, unsigned operand) {
  if (auto name = argumentAttr<StringAttr>(generic->getOperand(operand), dialect::kNameAttr))
    return name.str();
  return "operand " + std::to_string(operand);
}

std::vector<iteration::Operand> SparseStatement::planOperands() const {
  std::vector<iteration::Operand> result;
  for (const SparseOperand &o : operands)
    result.emplace_back(o.byStorage ? inLoopOrder(o) : o.encoding.getValue(), o.subscripts).entries =
        entriesOf(o.tensor);
  if (pattern && operands[*pattern].byStorage)
    result.back().encoding =
        format::likeEncoding(result[*pattern].encoding, unsigned(result.back().subscripts.size()));
  linalg::GenericOp body = generic;
  // Padding is stored: a mask and the pattern of a new tensor would see it, and 0 * inf is nan, of an integer
  // that becomes a float too.
  bool integers = llvm::all_of(*body.getBody(), [](Operation &op) {
    return llvm::all_of(op.getResultTypes(), [](Type type) { return type.isInteger(); });
  });
  for (auto [operand, arg] : llvm::zip(result, body.getRegionInputArgs())) {
    bool tested = llvm::any_of(arg.getUsers(), [](Operation *user) { return isa<dialect::StoredOp>(user); });
    operand.exact = tested || assembled || !integers || !arg.getType().isInteger();
  }
  if (assembled) {
    result.back().encoding = storedOrder();
    result.back().assembled = true;
  }
  for (auto [operand, planned] : llvm::zip(operands, result))
    planned.follows = operand.leader ? int(*operand.leader) : -1;
  if (pattern)
    result[leaderOf(*pattern)].keep = true;
  for (auto [operand, planned] : llvm::zip(operands, result)) {
    // What the function computes nobody converts.
    planned.fixed = isa_and_nonnull<dialect::OneHotOp, linalg::GenericOp>(operand.tensor.getDefiningOp());
    planned.split = operand.tensor.getDefiningOp<dialect::ReshapeOp>() || isCut(operand.slice);
  }
  return result;
}

} // namespace tulle::passes
