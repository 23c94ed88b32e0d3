#include "passes/import/Import.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "notation/Sparsity.h"
#include "passes/import/Body.h"

namespace tulle::passes {
using namespace mlir;
using notation::Access;
using notation::Statement;

namespace {

/// One statement's function. Every access of the right-hand side that differs in tensor or subscripts is one
/// operand.
class StatementImporter {
public:
  StatementImporter(const notation::Program &program, const Statement &statement,
                    const ImportOptions &options)
      : program(program), statement(statement), options(options) {}

  void build(OpBuilder &builder, unsigned number) {
    collect(statement.rhs);
    if (statement.where)
      collect(statement.where);
    pattern();
    makeFunction(builder, number);
    OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
    Value result = makeGeneric(b);
    func::ReturnOp::create(b, loc(b), result);
  }

private:
  Location loc(OpBuilder &b) const { return b.getUnknownLoc(); }

  void collect(const notation::Expr &e) {
    if (e->op == notation::Op::Access)
      add(e->access);
    for (const notation::Expr &arg : e->args)
      collect(arg);
  }
  void collect(const notation::Mask &m) {
    if (m->op == notation::MaskOp::Stored)
      return add(m->access);
    collect(m->lhs);
    if (m->rhs)
      collect(m->rhs);
  }
  void add(const Access &access) {
    if (find(access) < operands.size())
      return;
    operands.push_back(access);
    if (!llvm::is_contained(read, access.tensor))
      read.push_back(access.tensor);
  }
  static bool same(const Access &a, const Access &b) {
    return a.tensor == b.tensor && llvm::equal(a.subscripts, b.subscripts, [](auto &x, auto &y) {
             return x.terms == y.terms && x.constant == y.constant;
           });
  }
  size_t find(const Access &access) const {
    return llvm::find_if(operands, [&](const Access &o) { return same(o, access); }) - operands.begin();
  }

  const notation::TensorDecl &result() const { return program.tensors[statement.lhs.tensor]; }

  /// A result with sparse levels shares one operand's pattern; its encoding then is that operand's, in the
  /// result's format.
  void pattern() {
    resultEncoding = result().encoding;
    if (format::isAllDense(resultEncoding))
      return;
    notation::ResultPattern p = notation::resultPattern(program, statement);
    if (p.kind != notation::PatternKind::Operand)
      throw support::SyntaxError("<expr>", program.text, statement.range, p.reason);
    patternOperand = find(*p.operand);
    const format::Encoding &source = program.tensors[p.operand->tensor].encoding;
    if (resultEncoding.posWidth == 0)
      resultEncoding.posWidth = source.posWidth;
    // Two-bit coordinates are a property of one format, not of the data.
    if (resultEncoding.crdWidth == 0)
      resultEncoding.crdWidth = source.crdWidth == 2 ? 32 : source.crdWidth;
  }

  RankedTensorType tensorType(MLIRContext &context, const notation::TensorDecl &tensor,
                              const format::Encoding &encoding) const {
    SmallVector<int64_t> shape(tensor.dims.size(), ShapedType::kDynamic);
    return dialect::withEncoding(RankedTensorType::get(shape, scalarType(context, tensor.type)), encoding);
  }

  void makeFunction(OpBuilder &builder, unsigned number) {
    MLIRContext &context = *builder.getContext();
    SmallVector<Type> types;
    for (unsigned t : read)
      types.push_back(tensorType(context, program.tensors[t], program.tensors[t].encoding));
    types.push_back(tensorType(context, result(), resultEncoding));
    function = func::FuncOp::create(builder, loc(builder), "statement" + std::to_string(number),
                                    builder.getFunctionType(types, types.back()));
    function.addEntryBlock();
    for (auto [i, t] : llvm::enumerate(read))
      function.setArgAttr(i, kNameAttr, builder.getStringAttr(program.tensors[t].name));
    function.setArgAttr(read.size(), kNameAttr, builder.getStringAttr(result().name));
  }

  AffineMap mapOf(MLIRContext *context, const std::vector<notation::Affine> &subscripts) const {
    SmallVector<AffineExpr> exprs;
    for (const notation::Affine &s : subscripts) {
      AffineExpr e = getAffineConstantExpr(s.constant, context);
      for (auto [index, coefficient] : s.terms)
        e = e + getAffineDimExpr(loopOf(index), context) * coefficient;
      exprs.push_back(e);
    }
    return AffineMap::get(loops.size(), 0, exprs, context);
  }
  unsigned loopOf(unsigned index) const { return llvm::find(loops, index) - loops.begin(); }

  /// The statement's indices: those of the result, then the reductions.
  void makeLoops() {
    for (const notation::Affine &s : statement.lhs.subscripts)
      loops.push_back(s.terms[0].first);
    kinds.assign(loops.size(), utils::IteratorType::parallel);
    loops.append(statement.reductionIndices.begin(), statement.reductionIndices.end());
    kinds.append(statement.reductionIndices.size(), utils::IteratorType::reduction);
  }

  /// Operands that only say how far an index runs which no tensor has as a plain subscript (`F` aside, in
  /// `A(i+r)`).
  void addExtents(OpBuilder &b, SmallVectorImpl<Value> &inputs, SmallVectorImpl<AffineMap> &maps,
                  AffineMap outMap) const {
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

  Value makeGeneric(OpBuilder &b) {
    makeLoops();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (auto [o, access] : llvm::enumerate(operands)) {
      Value arg = function.getArgument(llvm::find(read, access.tensor) - read.begin());
      if (patternOperand == o)
        arg = asResult(b, arg);
      inputs.push_back(arg);
      maps.push_back(mapOf(b.getContext(), access.subscripts));
    }
    AffineMap outMap = mapOf(b.getContext(), statement.lhs.subscripts);
    addExtents(b, inputs, maps, outMap);
    Value init = makeInit(b, inputs);
    maps.push_back(outMap);
    auto generic =
        linalg::GenericOp::create(b, loc(b), init.getType(), inputs, init, maps, kinds,
                                  [&](OpBuilder &nested, Location, ValueRange args) { body(nested, args); });
    return generic.getResult(0);
  }

  /// The pattern's operand in the result's format.
  Value asResult(OpBuilder &b, Value arg) const {
    auto type = cast<RankedTensorType>(arg.getType());
    RankedTensorType wanted = dialect::withEncoding(type, resultEncoding);
    return type == wanted ? arg : dialect::ConvertOp::create(b, loc(b), wanted, arg).getResult();
  }

  Value makeInit(OpBuilder &b, ArrayRef<Value> inputs) {
    Value init = function.getArguments().back();
    if (patternOperand)
      init = dialect::LikeOp::create(b, loc(b), init.getType(), init, inputs[*patternOperand]);
    if (statement.accumulate)
      return init;
    BodyBuilder builder(b, loc(b), options.strictFp, nullptr);
    Value start = statement.assign ? builder.constant(result().type, {})
                                   : builder.identity(statement.reduce, result().type);
    return dialect::FillOp::create(b, loc(b), init.getType(), start, init);
  }

  void body(OpBuilder &b, ValueRange args) {
    BodyBuilder builder(b, loc(b), options.strictFp,
                        [&](const Access &access) { return args[find(access)]; });
    // Narrow floats compute, and accumulate, in the type of the right-hand side.
    ElementType compute = statement.rhs->type;
    Value accumulator = builder.convert(args.back(), result().type, compute);
    Value value = builder.expr(statement.rhs);
    if (!statement.assign)
      value = builder.reduce(statement.reduce, compute, accumulator, value);
    if (statement.where)
      value = arith::SelectOp::create(b, loc(b), builder.mask(statement.where), value, accumulator);
    linalg::YieldOp::create(b, loc(b), builder.convert(value, compute, result().type));
  }

  const notation::Program &program;
  const Statement &statement;
  const ImportOptions &options;
  std::vector<Access> operands;
  SmallVector<unsigned> read;  ///< tensors, one function argument each
  SmallVector<unsigned> loops; ///< linalg dimension -> index variable
  SmallVector<utils::IteratorType> kinds;
  format::Encoding resultEncoding;
  std::optional<size_t> patternOperand;
  func::FuncOp function;
};

} // namespace

OwningOpRef<ModuleOp> importProgram(MLIRContext &context, const notation::Program &program,
                                    const ImportOptions &options) {
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> module(ModuleOp::create(b, b.getUnknownLoc()));
  for (auto [number, statement] : llvm::enumerate(program.statements)) {
    b.setInsertionPointToEnd(module->getBody());
    StatementImporter(program, statement, options).build(b, number);
  }
  return module;
}

} // namespace tulle::passes
