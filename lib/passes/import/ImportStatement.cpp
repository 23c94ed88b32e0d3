// Builds the function of a statement: operands and loops from its accesses, then one linalg.generic, or two
// where increments are summed in a tensor of their own.
#include "passes/import/ImportStatement.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "dialect/Reshape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "notation/Arithmetic.h"
#include "notation/Sparsity.h"
#include "passes/import/Body.h"
#include "passes/import/Import.h"
#include "passes/import/ImportSchedule.h"
#include "passes/import/Increments.h"
#include "passes/import/OperandViews.h"

namespace tulle::passes {
using namespace mlir;
using notation::Access;
using notation::Statement;

namespace {

/// One statement's function. Every access of the right-hand side that differs in tensor or subscripts is one
/// operand.
class StatementImporter {
public:
  StatementImporter(const notation::Program &program, unsigned number, const ImportOptions &options,
                    ArrayRef<int64_t> patterns, ArrayRef<TensorFacts> facts)
      : program(program), number(number), statement(program.statements[number]), options(options),
        patterns(patterns), facts(facts), view(notation::expansionOf(program, statement.lhs)) {
    if (view)
      statement.lhs.subscripts = view->subscripts;
  }

  func::FuncOp build(OpBuilder &builder) {
    for (const Access *access : notation::operandsOf(statement))
      add(*access);
    for (const notation::Indirection &given : statement.indirections)
      addArgument(given.source.tensor);
    pattern();
    if (computed && statement.accumulate) // the entries it has are one more operand of the new tensor
      addArgument(statement.lhs.tensor);
    makeFunction(builder, number);
    OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
    makeLoops();
    if (statement.concat.isWhole()) {
      func::ReturnOp::create(b, loc(b), concatenated(b));
      return function;
    }
    Value result = !computed      ? intoArgument(b)
                   : inTwoSteps() ? finishIncrements(b, makeIncrements(b))
                                  : intoNewTensor(b);
    // The loops in which increments meet the old entries are not those of the statement.
    b.getBlock()->walk([&](linalg::GenericOp generic) {
      importSchedule(generic, program, statement, generic.getNumLoops() == statementLoops, computed);
    });
    if (view)
      result = collapsed(b, result);
    if (computed && options.dropZeros)
      result.getDefiningOp()->setAttr(dialect::kDropAttr, b.getUnitAttr());
    func::ReturnOp::create(b, loc(b), result);
    return function;
  }

  /// The tensor that stores the same coordinates at the same positions as the result, after the statement.
  std::optional<unsigned> hasPatternOf() const {
    if (!patternOperand)
      return std::nullopt;
    unsigned tensor = operands[*patternOperand].tensor;
    return format::sharesStructure(resultEncoding, program.tensors[tensor].encoding) ? std::optional(tensor)
                                                                                     : std::nullopt;
  }

private:
  /// The statement in the program's text, which what becomes of it keeps.
  Location loc(OpBuilder &b) const {
    const support::TextPosition place = support::positionOf(program.text, statement.range.begin);
    return FileLineColLoc::get(b.getStringAttr(kProgramText), place.line, place.column);
  }

  void add(const Access &access) {
    if (find(access) < operands.size())
      return;
    operands.push_back(access);
    addArgument(access.tensor);
  }
  size_t find(const Access &access) const {
    return llvm::find_if(operands, [&](const Access &o) { return sameAccess(o, access); }) - operands.begin();
  }

  const notation::TensorDecl &result() const { return program.tensors[statement.lhs.tensor]; }

  /// A result with sparse levels has one operand's pattern (its encoding then is that operand's, in the
  /// result's format), or it is a new tensor.
  void pattern() {
    resultEncoding = result().encoding;
    if (format::isAllDense(resultEncoding))
      return;
    notation::ResultPattern p = notation::resultPattern(program, statement);
    if (p.kind == notation::PatternKind::Dense)
      throw support::SyntaxError("<expr>", program.text, statement.range, p.reason);
    // What is like another tensor stores what that one stores, whatever the values are.
    computed = p.kind == notation::PatternKind::Computed || (options.dropZeros && !result().like);
    if (computed)
      return;
    patternOperand = find(*p.operand);
    const format::Encoding &source = program.tensors[p.operand->tensor].encoding;
    if (resultEncoding.posWidth == 0)
      resultEncoding.posWidth = source.posWidth;
    // Two-bit coordinates are a property of one format, not of the data.
    if (resultEncoding.crdWidth == 0)
      resultEncoding.crdWidth = source.crdWidth == 2 ? 32 : source.crdWidth;
  }

  void addArgument(unsigned tensor) {
    if (!llvm::is_contained(read, tensor))
      read.push_back(tensor);
  }

  /// Increments may meet an entry of a new tensor many times: they are collected in a tensor of their own, as
  /// wide as they are computed, before they meet the old entries, are rounded, or turn out to be 0. What
  /// comparisons decide, and what arrives at given coordinates, is collected before it meets the old entries:
  /// these stay where nothing arrives.
  bool inTwoSteps() const {
    auto missesEntries = [&](const notation::Indirection &given) {
      const bool isWritten = llvm::any_of(statement.lhs.subscripts, [&](const notation::Affine &s) {
        return s.terms[0].first == given.index;
      });
      return isWritten || program.indices[given.index].outside == notation::Outside::Nothing;
    };
    if (statement.reductionIndices.empty())
      return statement.accumulate && (notation::hasConditions(statement.where) ||
                                      llvm::any_of(statement.indirections, missesEntries));
    return statement.accumulate || statement.rhs->type != result().type || options.dropZeros;
  }

  RankedTensorType tensorType(MLIRContext &context, unsigned tensor, ElementType type,
                              const format::Encoding &encoding) const {
    SmallVector<int64_t> shape;
    for (auto [size, fixed] : llvm::zip_equal(program.tensors[tensor].dims, facts[tensor].fixed))
      shape.push_back(fixed ? size : ShapedType::kDynamic);
    return dialect::withEncoding(RankedTensorType::get(shape, scalarType(context, type)), encoding);
  }

  void makeFunction(OpBuilder &builder, unsigned number) {
    MLIRContext &context = *builder.getContext();
    SmallVector<Type> types;
    for (unsigned t : read)
      types.push_back(tensorType(context, t, program.tensors[t].type, program.tensors[t].encoding));
    RankedTensorType resultType = tensorType(context, statement.lhs.tensor, result().type, resultEncoding);
    if (!computed)
      types.push_back(resultType);
    function = func::FuncOp::create(builder, loc(builder), "statement" + std::to_string(number),
                                    builder.getFunctionType(types, resultType));
    function.addEntryBlock();
    for (auto [i, t] : llvm::enumerate(read)) {
      const notation::TensorDecl &tensor = program.tensors[t];
      nameArgument(builder, unsigned(i), t);
      if (tensor.entries >= 0 && !format::isAllDense(tensor.encoding))
        function.setArgAttr(i, dialect::kEntriesAttr, builder.getI64IntegerAttr(tensor.entries));
      if (const std::optional<int64_t> length = segmentLength(program, t))
        function.setArgAttr(i, dialect::kSegmentAttr, builder.getI64IntegerAttr(*length));
      if (const std::optional<int64_t> bytes = tableBytes(program, t))
        function.setArgAttr(i, dialect::kBytesAttr, builder.getI64IntegerAttr(*bytes));
      if (!format::isAllDense(tensor.encoding))
        function.setArgAttr(i, dialect::kPatternAttr, builder.getI64IntegerAttr(patterns[t]));
    }
    if (!computed) {
      nameArgument(builder, unsigned(read.size()), statement.lhs.tensor);
      function.setArgAttr(read.size(), dialect::kStatementAttr, builder.getI64IntegerAttr(number));
      if (auto operand = hasPatternOf())
        function.setArgAttr(read.size(), dialect::kPatternAttr,
                            builder.getI64IntegerAttr(patterns[*operand]));
    }
    for (BlockArgument arg : function.getArguments())
      if (auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), dialect::kNameAttr))
        arg.setLoc(NameLoc::get(name, arg.getLoc()));
    function.setResultAttr(0, dialect::kNameAttr, builder.getStringAttr(result().name));
    if (computed && program.statements.size() > 1)
      function.setResultAttr(0, dialect::kSizesAttr,
                             builder.getDenseI64ArrayAttr(facts[statement.lhs.tensor].sizes));
  }

  void nameArgument(OpBuilder &builder, unsigned number, unsigned tensor) {
    function.setArgAttr(number, dialect::kNameAttr, builder.getStringAttr(program.tensors[tensor].name));
    if (program.statements.size() > 1)
      function.setArgAttr(number, dialect::kSizesAttr, builder.getDenseI64ArrayAttr(facts[tensor].sizes));
    if (const std::optional<int64_t> bytes = options.anySize ? std::nullopt : bytesBelow(program, tensor))
      function.setArgAttr(number, dialect::kBytesBelowAttr, builder.getI64IntegerAttr(*bytes));
    if (!facts[tensor].disjoint.empty())
      function.setArgAttr(number, dialect::kDisjointAttr,
                          builder.getDenseI64ArrayAttr(facts[tensor].disjoint));
    if (facts[tensor].noPadding)
      function.setArgAttr(number, dialect::kNoPaddingAttr, builder.getUnitAttr());
  }

  AffineMap mapOf(MLIRContext *context, const std::vector<notation::Affine> &subscripts) const {
    SmallVector<AffineExpr> exprs;
    for (const notation::Affine &s : subscripts) {
      AffineExpr e = getAffineConstantExpr(s.constant, context);
      for (auto [index, coefficient] : s.terms)
        e = e + getAffineDimExpr(loopOf(index), context) * coefficient;
      exprs.push_back(digit(e, s.divisor, s.modulus));
    }
    return AffineMap::get(loops.size(), 0, exprs, context);
  }
  static AffineExpr digit(AffineExpr e, int64_t divisor, int64_t modulus) {
    e = e.floorDiv(divisor);
    return modulus == 0 ? e : e % modulus;
  }
  unsigned loopOf(unsigned index) const { return llvm::find(loops, index) - loops.begin(); }

  /// The statement's indices: those of the result, then the reductions, and what tensors give.
  void makeLoops() {
    for (const notation::Affine &s : statement.lhs.subscripts)
      if (!s.terms.empty())
        loops.push_back(s.terms[0].first);
    kinds.assign(loops.size(), utils::IteratorType::parallel);
    loops.append(statement.reductionIndices.begin(), statement.reductionIndices.end());
    for (const notation::Indirection &given : statement.indirections)
      if (!llvm::is_contained(loops, given.index))
        loops.push_back(given.index);
    kinds.resize(loops.size(), utils::IteratorType::reduction);
    statementLoops = unsigned(loops.size());
  }

  Value argument(unsigned tensor) const {
    func::FuncOp f = function; // accessors of operations are not const
    return f.getArgument(llvm::find(read, tensor) - read.begin());
  }

  /// Adds an operand without elements for each index that no operand has as a plain subscript (as `i` and `r`
  /// in `A(i+r)`): linalg takes the extents of its loops from shapes.
  void addExtents(OpBuilder &b, SmallVectorImpl<Value> &inputs, SmallVectorImpl<AffineMap> &maps) const {
    AffineMap outMap = mapOf(b.getContext(), statement.lhs.subscripts);
    for (auto [l, index] : llvm::enumerate(loops)) {
      auto plain = [&, d = unsigned(l)](AffineMap map) {
        return llvm::any_of(map.getResults(),
                            [&](AffineExpr e) { return e == getAffineDimExpr(d, b.getContext()); });
      };
      if (llvm::any_of(maps, plain) || plain(outMap))
        continue;
      inputs.push_back(tensor::EmptyOp::create(b, loc(b), {program.indices[index].size}, b.getI1Type()));
      maps.push_back(AffineMap::get(loops.size(), 0, getAffineDimExpr(l, b.getContext())));
    }
  }

  /// The operand in the format that the schedule asks for.
  Value converted(OpBuilder &b, unsigned tensor, Value arg) const {
    for (const notation::LoopSchedule::Conversion &c : statement.loops.conversions)
      if (c.tensor == tensor) {
        auto type = cast<RankedTensorType>(arg.getType());
        const format::Encoding target = notation::conversionTarget(program, c);
        return dialect::ConvertOp::create(b, scheduleLocation(b, program, c.range),
                                          dialect::withEncoding(type, target), arg);
      }
    return arg;
  }

  Value makeGeneric(OpBuilder &b, ArrayRef<Value> inputs, SmallVector<AffineMap> maps, Value init,
                    function_ref<void(OpBuilder &, ValueRange)> body) const {
    maps.push_back(mapOf(b.getContext(), statement.lhs.subscripts));
    auto generic =
        linalg::GenericOp::create(b, loc(b), init.getType(), inputs, init, maps, kinds,
                                  [&](OpBuilder &nested, Location, ValueRange args) { body(nested, args); });
    SmallVector<StringRef> names;
    for (unsigned index : ArrayRef(loops).take_front(kinds.size()))
      names.push_back(program.indices[index].name);
    generic->setAttr(dialect::kIndicesAttr, b.getStrArrayAttr(names));
    if (program.statements.size() > 1)
      generic->setAttr(dialect::kNameAttr, b.getStringAttr(nameOf(program, number)));
    return generic.getResult(0);
  }

  static const format::Encoding &encodingOf(Value tensor) {
    return dialect::getEncoding(cast<RankedTensorType>(tensor.getType())).getValue();
  }

  /// The operand as a tensor that has the index where it has digits of it, and the subscripts of that.
  std::pair<Value, std::vector<notation::Affine>> reshaped(OpBuilder &b, Value arg,
                                                           const Access &access) const {
    const notation::Reshape reshape = notation::reshapeOf(access);
    const SmallVector<int64_t> shape(reshape.subscripts.size(), ShapedType::kDynamic);
    Value made = dialect::viewOf(b, loc(b), arg, reshape.digits, /*expand=*/false, shape);
    if (!made)
      failAtConversion(access);
    return {made, reshape.subscripts};
  }

  /// A format that a schedule asks for has no level for the digits at which it is read.
  [[noreturn]] void failAtConversion(const Access &access) const {
    const auto &all = statement.loops.conversions;
    const auto found = std::ranges::find(all, access.tensor, &notation::LoopSchedule::Conversion::tensor);
    const std::string why =
        "'" + program.tensors[access.tensor].name +
        "' is read at digits of an index, of which no level of this format is one; a dense "
        "format, or one with a level for each dimension, has them";
    if (found == all.end())
      throw support::SyntaxError("<expr>", program.text, access.range, why);
    throw support::SyntaxError(program.scheduleName, program.schedule, found->range, why);
  }

  /// Of the dimensions that an index has the start of, as in `x(i+0)`, this start.
  Value started(OpBuilder &b, Value arg, ArrayRef<notation::Affine> subscripts) const {
    SmallVector<Value> sizes;
    for (const notation::Affine &s : subscripts)
      sizes.push_back(s.startsAtZero() && !s.isVariable() ? indexSize(b, s.terms[0].first) : Value());
    return startOf(b, loc(b), arg, sizes);
  }

  /// The result, of the dimensions that it has.
  Value collapsed(OpBuilder &b, Value made) const {
    func::FuncOp f = function; // accessors of operations are not const
    Value result = f.getArguments().back();
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(tensor::DimOp::create(b, loc(b), result, d));
    return dialect::viewOf(b, loc(b), made, view->digits, /*expand=*/false, type.getShape(), sizes);
  }

  /// The constants among the subscripts of integers, `p(i,0)`; null where there is none.
  static DenseI64ArrayAttr fixedAt(OpBuilder &b, const notation::Indirection &given) {
    SmallVector<int64_t> at;
    for (const notation::Affine &subscript : given.source.subscripts)
      at.push_back(subscript.isConstant() ? subscript.constant : -1);
    const bool any = llvm::any_of(at, [](int64_t coordinate) { return coordinate >= 0; });
    return any ? b.getDenseI64ArrayAttr(at) : DenseI64ArrayAttr();
  }

  /// What a tensor of integers selects in the dimension whose index it gives.
  Value selection(OpBuilder &b, const notation::Indirection &given) const {
    Value integers = argument(given.source.tensor);
    auto type = cast<RankedTensorType>(integers.getType());
    const auto order = unsigned(type.getRank());
    const format::Encoding &encoding = dialect::getEncoding(type).getValue(),
                           plain = format::denseEncoding(order);
    if (encoding.levels.size() != order || !format::haveEqualLevels(encoding, plain, order)) {
      type = dialect::withEncoding(type, plain);
      integers = dialect::ConvertOp::create(b, loc(b), type, integers);
    }
    const notation::IndexVar &index = program.indices[given.index];
    if (index.outside != notation::Outside::Error || given.shift != 0) {
      const bool isFar = std::abs(given.shift) > INT32_MAX / 2;
      Type wide = b.getIntegerType(std::max(type.getElementTypeBitWidth(), isFar ? 64u : 32u));
      type = RankedTensorType::get(type.getShape(), wide, type.getEncoding());
    }
    Value size = indexSize(b, given.index);
    Value bounded = dialect::BoundedIndicesOp::create(
        b, loc(b), type, integers, size, Value(), dialect::Outside(index.outside),
        b.getStringAttr(index.name), given.shift, fixedAt(b, given));
    if (index.unique)
      bounded = dialect::DistinctIndicesOp::create(b, loc(b), type, bounded, size,
                                                   b.getStringAttr(index.name), fixedAt(b, given));
    const bool total = index.outside != notation::Outside::Nothing;
    return dialect::OneHotOp::create(b, loc(b), dialect::selectionOf(type), bounded, size, total,
                                     index.unique);
  }

  /// The loops over the statement's operands, behind which stand what tensors of integers select and, with
  /// `old`, the entries that the result already has.
  Value makeStatement(OpBuilder &b, bool old, function_ref<Value(ArrayRef<Value> inputs)> init,
                      function_ref<void(OpBuilder &, ValueRange)> body) const {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (auto [o, access] : llvm::enumerate(operands)) {
      Value arg = converted(b, access.tensor, argument(access.tensor));
      std::vector<notation::Affine> subscripts = access.subscripts;
      if (notation::hasDigits(access) && !format::isAllDense(encodingOf(arg)))
        std::tie(arg, subscripts) = reshaped(b, arg, access);
      else if (const auto expansion = notation::expansionOf(program, access);
               expansion && !format::isAllDense(encodingOf(arg)))
        std::tie(arg, subscripts) =
            std::pair(expandedView(b, loc(b), arg, expansion->digits), expansion->subscripts);
      arg = started(b, arg, subscripts);
      inputs.push_back(patternOperand == o ? asResult(b, arg) : arg);
      maps.push_back(mapOf(b.getContext(), subscripts));
    }
    for (const notation::Indirection &given : statement.indirections) {
      std::vector<notation::Affine> subscripts = given.source.subscripts;
      subscripts.push_back({.terms = {{given.index, 1}}, .limit = {}, .range = {}});
      inputs.push_back(started(b, selection(b, given), subscripts));
      maps.push_back(mapOf(b.getContext(), subscripts));
    }
    if (old) {
      inputs.push_back(argument(statement.lhs.tensor));
      maps.push_back(mapOf(b.getContext(), statement.lhs.subscripts));
    }
    addExtents(b, inputs, maps);
    return makeGeneric(b, inputs, maps, init(inputs), body);
  }

  /// The parts of a sparse result, in their places.
  Value concatenated(OpBuilder &b) const {
    SmallVector<Value> parts;
    for (const Access &part : statement.concat.parts)
      parts.push_back(argument(part.tensor));
    SmallVector<int64_t> dims(statement.concat.dims.begin(), statement.concat.dims.end());
    const RankedTensorType made =
        tensorType(*b.getContext(), statement.lhs.tensor, result().type, resultEncoding);
    return dialect::ConcatOp::create(b, loc(b), made, parts, dims);
  }

  Value intoArgument(OpBuilder &b) {
    return makeStatement(
        b, /*old=*/false, [&](ArrayRef<Value> inputs) { return makeInit(b, inputs); },
        [&](OpBuilder &nested, ValueRange args) { body(nested, args, args.back()); });
  }

  /// A new tensor in one go; entries the result already has are the start of those at the same coordinates.
  Value intoNewTensor(OpBuilder &b) {
    Scalar start = statement.assign || statement.accumulate
                       ? format::fillValue(resultEncoding, result().type)
                       : notation::identity(statement.reduce, result().type);
    return makeStatement(
        b, statement.accumulate,
        [&](ArrayRef<Value>) { return newTensor(b, result().type, resultEncoding, start); },
        [&](OpBuilder &nested, ValueRange args) {
          body(nested, args,
               statement.accumulate ? args[operands.size() + statement.indirections.size()] : args.back());
        });
  }

  /// What the reduction adds to the result, where it adds something.
  Value makeIncrements(OpBuilder &b) {
    ElementType type = statement.rhs->type;
    Scalar start = notation::identity(statement.reduce, type);
    return makeStatement(
        b, /*old=*/false,
        [&](ArrayRef<Value>) {
          return newTensor(b, type, incrementEncoding(statement, result(), resultEncoding, start), start);
        },
        [&](OpBuilder &nested, ValueRange args) {
          BodyBuilder builder = bodyBuilder(nested, args);
          linalg::YieldOp::create(nested, loc(nested),
                                  contribution(nested, builder, args, args.back(), args.back()));
        });
  }

  /// The increments meet the entries the result already has, or are rounded to its type.
  Value finishIncrements(OpBuilder &b, Value increments) {
    loops.resize(statement.lhs.subscripts.size());
    kinds.resize(loops.size());
    AffineMap outMap = mapOf(b.getContext(), statement.lhs.subscripts);
    SmallVector<Value> inputs{increments};
    if (statement.accumulate)
      inputs.push_back(argument(statement.lhs.tensor));
    Value init =
        newTensor(b, result().type, resultEncoding, format::fillValue(resultEncoding, result().type));
    return makeGeneric(b, inputs, SmallVector<AffineMap>(inputs.size(), outMap), init,
                       [&](OpBuilder &nested, ValueRange args) {
                         BodyBuilder builder = bodyBuilder(nested, args);
                         ElementType compute = statement.rhs->type;
                         Value value = args[0];
                         if (statement.accumulate)
                           value = builder.reduce(statement.reduce, compute,
                                                  builder.convert(args[1], result().type, compute), value);
                         value = builder.convert(value, compute, result().type);
                         if (!statement.accumulate) { // what the reduction starts from is no entry
                           Value stored =
                               dialect::StoredOp::create(nested, loc(nested), nested.getI1Type(), args[0]);
                           value = arith::SelectOp::create(nested, loc(nested), stored, value, args.back());
                         }
                         linalg::YieldOp::create(nested, loc(nested), value);
                       });
  }

  /// A tensor that does not exist yet: every coordinate has the value `start` before the first contribution.
  Value newTensor(OpBuilder &b, ElementType type, const format::Encoding &encoding,
                  const Scalar &start) const {
    const RankedTensorType made = tensorType(*b.getContext(), statement.lhs.tensor, type, encoding);
    SmallVector<Value> sizes;
    for (auto [d, s] : llvm::enumerate(statement.lhs.subscripts))
      if (made.isDynamicDim(d))
        sizes.push_back(indexSize(b, s.terms[0].first));
    Value empty = tensor::EmptyOp::create(b, loc(b), made, sizes);
    Value value = BodyBuilder(b, loc(b), options.strictFp, nullptr, nullptr).constant(type, start);
    return dialect::FillOp::create(b, loc(b), empty.getType(), value, empty);
  }

  /// The size of an index: that of a dimension it alone subscripts, else (`A(i+r)`) a constant, as of what
  /// is new.
  Value indexSize(OpBuilder &b, unsigned index) const {
    auto size = [&](const Access &access) -> Value {
      for (auto [d, s] : llvm::enumerate(access.subscripts))
        if (s.isVariable() && s.terms[0].first == index)
          return tensor::DimOp::create(b, loc(b), tensorAt(access), d);
      return {};
    };
    for (const Access &access : operands)
      if (Value found = size(access))
        return found;
    if (!view && (statement.accumulate || !computed))
      if (Value found = size(statement.lhs))
        return found;
    return arith::ConstantIndexOp::create(b, loc(b), program.indices[index].size);
  }
  /// An operand, or the result where that is one.
  Value tensorAt(const Access &access) const {
    func::FuncOp f = function;
    return llvm::is_contained(read, access.tensor) ? argument(access.tensor) : f.getArguments().back();
  }

  /// The pattern's operand with the structure that the result has.
  Value asResult(OpBuilder &b, Value arg) const {
    auto type = cast<RankedTensorType>(arg.getType());
    if (format::sharesStructure(resultEncoding, dialect::getEncoding(type).getValue()))
      return arg;
    return dialect::ConvertOp::create(b, loc(b), dialect::withEncoding(type, resultEncoding), arg);
  }

  Value makeInit(OpBuilder &b, ArrayRef<Value> inputs) {
    Value init = function.getArguments().back();
    if (view)
      init = expandedView(b, loc(b), init, view->digits);
    if (patternOperand)
      init = dialect::LikeOp::create(b, loc(b), init.getType(), init, inputs[*patternOperand]);
    if (statement.accumulate || statement.part)
      return init;
    BodyBuilder builder(b, loc(b), options.strictFp, nullptr, nullptr);
    const Scalar identity = notation::identity(statement.reduce, result().type);
    Value start = builder.constant(result().type, statement.assign ? Scalar{} : identity);
    return dialect::FillOp::create(b, loc(b), init.getType(), start, init);
  }

  BodyBuilder bodyBuilder(OpBuilder &b, ValueRange args) const {
    return BodyBuilder(
        b, loc(b), options.strictFp, [this, args](const Access &access) { return args[find(access)]; },
        [this](unsigned index) { return loopOf(index); });
  }

  /// The value after one point of the iteration space, in the type of the right-hand side: what meets the
  /// accumulator, or, where a tensor of integers gives other coordinates, what there was before.
  Value contribution(OpBuilder &b, BodyBuilder &builder, ValueRange args, Value accumulator,
                     Value before) const {
    Value value = builder.expr(statement.rhs);
    if (!statement.assign)
      value = builder.reduce(statement.reduce, statement.rhs->type, accumulator, value);
    if (statement.where)
      value = builder.select(builder.mask(statement.where), value, accumulator);
    for (Value selected : args.slice(operands.size(), statement.indirections.size())) {
      Value stored = dialect::StoredOp::create(b, loc(b), b.getI1Type(), selected);
      value = builder.select(stored, value, before);
    }
    return value;
  }

  void body(OpBuilder &b, ValueRange args, Value accumulator) const {
    BodyBuilder builder = bodyBuilder(b, args);
    // Narrow floats compute, and accumulate, in the type of the right-hand side.
    ElementType compute = statement.rhs->type;
    Value wide = builder.convert(accumulator, result().type, compute);
    const bool own = accumulator == args.back() || statement.indirections.empty();
    Value before = own ? wide : builder.convert(args.back(), result().type, compute);
    Value value = contribution(b, builder, args, wide, before);
    linalg::YieldOp::create(b, loc(b), builder.convert(value, compute, result().type));
  }

  const notation::Program &program;
  unsigned number;
  Statement statement; ///< of which sums on the left are indices of a view of the result
  const ImportOptions &options;
  ArrayRef<int64_t> patterns;                  ///< of the tensors, before the statement
  ArrayRef<TensorFacts> facts;                 ///< of the tensors
  const std::optional<notation::Reshape> view; ///< of the result, which is dense
  std::vector<Access> operands;
  SmallVector<unsigned> read;  ///< tensors, one function argument each
  SmallVector<unsigned> loops; ///< linalg dimension -> index variable
  unsigned statementLoops = 0; ///< how many these are, of the statement as it is written
  SmallVector<utils::IteratorType> kinds;
  format::Encoding resultEncoding;
  std::optional<size_t> patternOperand;
  bool computed = false; ///< the result is a new tensor
  func::FuncOp function;
};

} // namespace

ImportedStatement importStatement(OpBuilder &b, const notation::Program &program, unsigned number,
                                  const ImportOptions &options, ArrayRef<int64_t> patterns,
                                  ArrayRef<TensorFacts> facts) {
  StatementImporter importer(program, number, options, patterns, facts);
  func::FuncOp function = importer.build(b);
  return {function, importer.hasPatternOf()};
}

} // namespace tulle::passes
