// A query becomes one statement for each aggregate; a count of fewer dimensions than are stored counts the
// pattern of the tensor over those.
#include "engine/AnswerQuery.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "engine/Call.h"
#include "engine/Compilation.h"
#include "engine/Conversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/import/Body.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tulle::engine {

using notation::Aggregate;
using notation::AggregateKind;
using notation::Query;
using runtime::Tensor;

namespace {

/// A query of one aggregate, over all dimensions it does not select: one statement.
struct QueryKernel {
  ElementType type;
  format::Encoding encoding;
  std::vector<unsigned> select;
  Aggregate aggregate;
  bool index32;

  std::string text() const {
    std::vector<std::string> names = format::dimensionNames(encoding.order()), selected;
    for (unsigned d : select)
      selected.push_back(names[d]);
    return fmt::format("select [{}] -> {}{}", fmt::join(selected, ","),
                       dialect::stringifyAggregate(kind()).str(), aggregate.value ? " " + valueText() : "");
  }

  std::string key(const Options &options) const {
    return fmt::format("{}index32 {}\nquery {}\n{}\n{}", cacheKeyHead(options), int(index32), name(type),
                       format::print(encoding), text());
  }

  mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context) const {
    mlir::OpBuilder b(&context);
    mlir::Location loc = b.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(b, loc));
    b.setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<int64_t> shape(encoding.order(), mlir::ShapedType::kDynamic),
        resultShape(select.size(), mlir::ShapedType::kDynamic);
    auto source = dialect::withEncoding(mlir::RankedTensorType::get(shape, passes::scalarType(context, type)),
                                        encoding);
    auto result = mlir::RankedTensorType::get(resultShape, b.getI64Type());
    auto function =
        mlir::func::FuncOp::create(b, loc, "statement0", b.getFunctionType({source, result}, {result}));
    b.setInsertionPointToStart(function.addEntryBlock());
    function.setArgAttr(0, dialect::kNameAttr, b.getStringAttr("A"));
    function.setArgAttr(1, dialect::kNameAttr, b.getStringAttr("result"));
    llvm::SmallVector<mlir::AffineExpr> selected;
    for (unsigned d : select)
      selected.push_back(mlir::getAffineDimExpr(d, &context));
    auto map = mlir::AffineMap::get(encoding.order(), 0, selected, &context);
    mlir::AffineMapAttr value;
    if (aggregate.value) {
      mlir::AffineExpr e = assemble::affine(aggregate.value, &context);
      if (!e)
        throw InternalError("a query's expression is not affine");
      value = mlir::AffineMapAttr::get(mlir::AffineMap::get(encoding.order(), 0, e));
    }
    mlir::Value answer = dialect::QueryOp::create(
        b, loc, result, dialect::AggregateAttr::get(&context, kind()), function.getArgument(0),
        function.getArgument(1), mlir::AffineMapAttr::get(map), value);
    mlir::func::ReturnOp::create(b, loc, answer);
    return module;
  }

  Compilation start(const Options &options) const {
    return Compilation(text(), {"A", "result"}, pipelineOptions(options, index32),
                       [&](mlir::MLIRContext &context) { return build(context); });
  }

private:
  std::string valueText() const {
    format::Encoding shell = format::denseEncoding(encoding.order());
    shell.levels.assign(1, {"", aggregate.value, {}});
    return format::printBody(shell);
  }
  dialect::Aggregate kind() const {
    static_assert(int(dialect::Aggregate::Count) == int(AggregateKind::Count) &&
                  int(dialect::Aggregate::Max) == int(AggregateKind::Max) &&
                  int(dialect::Aggregate::Min) == int(AggregateKind::Min) &&
                  int(dialect::Aggregate::Id) == int(AggregateKind::Id));
    return dialect::Aggregate(aggregate.kind);
  }
};

/// Every element holds what stands for "no entry".
Tensor emptyAnswer(const Tensor &tensor, const std::vector<unsigned> &select, const Aggregate &aggregate) {
  std::vector<int64_t> sizes;
  for (unsigned d : select)
    sizes.push_back(tensor.dims[d]);
  Tensor answer = runtime::makeDense(ElementType::I64, sizes);
  if (!aggregate.value)
    return answer;
  std::vector<int64_t> atLeastOne = tensor.dims;
  for (int64_t &size : atLeastOne)
    size = std::max<int64_t>(size, 1);
  auto [low, high] = notation::valueRange(aggregate.value, atLeastOne);
  auto *values = static_cast<int64_t *>(answer.values());
  std::fill(values, values + answer.storedCount(), aggregate.kind == AggregateKind::Max ? low - 1 : high + 1);
  return answer;
}

Tensor answer(const Tensor &tensor, const std::vector<unsigned> &select, const Aggregate &aggregate,
              const Options &options) {
  const Tensor whole = runtime::whole(tensor);
  const QueryKernel kernel{tensor.type, tensor.encoding, select, aggregate,
                           indicesFit32(whole.dims, whole.storedCount())};
  auto [code, origin] =
      findOrCompile(kernel.key(options), options, [&] { return kernel.start(options).object(); });
  Tensor result = emptyAnswer(tensor, select, aggregate);
  std::vector<Tensor> operands;
  for (const Argument &argument : code->statements.front().arguments)
    if (!argument.result)
      operands.push_back(engine::convert(argument.whole ? whole : tensor, argument.encoding, options));
  std::vector<const Tensor *> arguments;
  for (const Tensor &operand : operands)
    arguments.push_back(&operand);
  arguments.push_back(&result);
  call(code->statements.front(), arguments, aggregate.name, nullptr, threadSettings(options));
  return result;
}

/// The dimensions a count distinguishes, in ascending order; all of them where every entry counts by itself.
std::vector<unsigned> distinguished(const Query &query, const Aggregate &aggregate) {
  std::vector<unsigned> dims = query.select;
  dims.insert(dims.end(), aggregate.counted.begin(), aggregate.counted.end());
  std::sort(dims.begin(), dims.end());
  return dims;
}

/// The pattern of a tensor over some of its dimensions, as a tensor of those.
Tensor projectPattern(const Tensor &tensor, const std::vector<unsigned> &dims, const Options &options) {
  std::vector<std::string> names = format::dimensionNames(unsigned(tensor.dims.size())), kept;
  std::vector<int64_t> sizes;
  for (unsigned d : dims) {
    kept.push_back(names[d]);
    sizes.push_back(tensor.dims[d]);
  }
  std::string text = fmt::format("T({}) max= 1 where A({})", fmt::join(kept, ","), fmt::join(names, ","));
  std::map<std::string, notation::Binding> bindings;
  bindings["A"] = {tensor.type, tensor.dims, tensor.encoding, true};
  const std::string pattern =
      fmt::format("({0}) -> ({1} : compressed)", fmt::join(kept, ","), fmt::join(kept, " : compressed, "));
  bindings["T"].type = ElementType::I8;
  bindings["T"].encoding = format::resolveWidths(format::parseEncoding(pattern), sizes, tensor.storedCount());
  notation::Program program = notation::check(text, bindings);
  std::vector<std::optional<Tensor>> tensors(program.tensors.size());
  const size_t source = program.tensors[0].name == "A" ? 0 : 1; // the other one is T
  tensors[source] = tensor;
  compile(program, options)->run(tensors);
  return *tensors[1 - source];
}

} // namespace

std::vector<Tensor> query(const Tensor &tensor, const Query &query, const Options &options) {
  checkOptions(options);
  std::vector<Tensor> answers;
  for (const Aggregate &aggregate : query.aggregates) {
    std::vector<unsigned> dims = distinguished(query, aggregate);
    if (aggregate.kind != AggregateKind::Count || dims.size() == tensor.dims.size()) {
      answers.push_back(answer(tensor, query.select, aggregate, options));
      continue;
    }
    std::vector<unsigned> select;
    for (unsigned d : query.select)
      select.push_back(unsigned(std::find(dims.begin(), dims.end(), d) - dims.begin()));
    answers.push_back(answer(projectPattern(tensor, dims, options), select, aggregate, options));
  }
  return answers;
}

std::string explainQuery(ElementType type, const format::Encoding &encoding, const Query &query,
                         std::string_view stageName, const Options &options) {
  const pipeline::Stage stage = stageNamed(stageName);
  if (stage == pipeline::Stage::Notation)
    throw Error("a query has no text of stage 'notation'");
  checkOptions(options);
  std::string text;
  for (const Aggregate &aggregate : query.aggregates) {
    QueryKernel kernel{type, encoding, query.select, aggregate, true};
    text += "// " + aggregate.name + ": " + kernel.text() + "\n" + kernel.start(options).text(stage);
  }
  return text;
}

} // namespace tulle::engine
