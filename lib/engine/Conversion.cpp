// Conversions and queries are statements of one op each, which the engine writes itself. A conversion is
// compiled for widths that the data fits, and once more for the widest where it turns out not to fit; a count
// of fewer dimensions than are stored counts the pattern of the tensor over those.
#include "engine/Conversion.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "engine/Call.h"
#include "engine/Compilation.h"
#include "engine/ComputedCoordinates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "passes/import/Body.h"
#include "runtime/tensor/Elements.h"
#include "support/Errors.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/ranges.h>
#include <limits>
#include <numeric>

namespace tulle::engine {

using format::Encoding;
using notation::Aggregate;
using notation::AggregateKind;
using notation::Query;
using runtime::Tensor;

namespace {

//===--- Code of one op ---===//

/// A statement of one op over named tensors.
struct OneOp {
  std::function<std::string()> text; ///< what errors show; names of formats take longer than a small kernel
  std::string key;                   ///< what its code depends on besides the options
  std::vector<std::string> names;
  bool index32;
  /// Of the arguments, and last of the result.
  std::function<llvm::SmallVector<mlir::Type>(mlir::MLIRContext &)> types;
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Type result, mlir::ValueRange arguments)> op;

  mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context) const {
    mlir::ImplicitLocOpBuilder b(mlir::UnknownLoc::get(&context), &context);
    mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(b));
    b.setInsertionPointToEnd(module->getBody());
    const llvm::SmallVector<mlir::Type> all = types(context);
    auto function = mlir::func::FuncOp::create(
        b, "statement0", b.getFunctionType(llvm::ArrayRef(all).drop_back(), {all.back()}));
    b.setInsertionPointToStart(function.addEntryBlock());
    for (auto [k, name] : llvm::enumerate(names))
      function.setArgAttr(k, dialect::kNameAttr, b.getStringAttr(name));
    mlir::func::ReturnOp::create(b, op(b, all.back(), function.getArguments()));
    return module;
  }
  Compilation start(const Options &options, const Target &target = host()) const {
    return Compilation(
        text(), names, pipelineOptions(options, index32),
        [&](mlir::MLIRContext &context) { return build(context); }, {}, target);
  }
  std::pair<std::shared_ptr<const Kernel>, const char *> kernel(const Options &options) const {
    return findOrCompile(fmt::format("{}index32 {:d}\n{}", cacheKeyHead(options), index32, key), options,
                         [&] { return start(options).object(); });
  }
};

mlir::RankedTensorType tensorType(size_t order, mlir::Type element) {
  return mlir::RankedTensorType::get(llvm::SmallVector<int64_t>(order, mlir::ShapedType::kDynamic), element);
}

//===--- Conversions ---===//

/// `reuse`: buffers that both formats have.
OneOp conversionOp(ElementType type, const Encoding &from, const Encoding &to, bool index32, bool reuse) {
  return {
      .text =
          [=] { return fmt::format("convert {} to {}", format::displayName(from), format::displayName(to)); },
      .key = fmt::format("convert {} reuse {:d}\n{}\n{}", name(type), reuse, format::print(from),
                         format::print(to)),
      .names = {"A"},
      .index32 = index32,
      .types = [=](mlir::MLIRContext &context) -> llvm::SmallVector<mlir::Type> {
        auto dense = tensorType(from.order(), passes::scalarType(context, type));
        return {dialect::withEncoding(dense, from), dialect::withEncoding(dense, to)};
      },
      .op =
          [=](mlir::ImplicitLocOpBuilder &b, mlir::Type result, mlir::ValueRange arguments) {
            return dialect::ConvertOp::create(b, result, arguments[0], reuse);
          }};
}

std::string fillText(const Encoding &encoding) {
  return encoding.fill.value_or(encoding.implicitVal.value_or("0"));
}

void requireFormat(const Tensor &tensor, const Encoding &encoding) {
  requireConvertible(tensor.type, tensor.encoding, encoding);
  if (std::string why = format::whyNotSizes(encoding, tensor.dims); !why.empty())
    throw Error(why);
}

Tensor run(const Tensor &tensor, const Encoding &encoding, const Options &options, ConversionReport &report) {
  const bool own = std::all_of(tensor.buffers.begin(), tensor.buffers.end(),
                               [](const runtime::Buffer &buffer) { return buffer.own; });
  const Tensor source = runtime::whole(tensor); // the code of a slice takes what it was cut from
  const OneOp conversion = conversionOp(tensor.type, withOpenSlices(tensor.encoding), encoding,
                                        indicesFit32(source.dims, source.mostSlots()), own);
  auto begin = std::chrono::steady_clock::now();
  auto [kernel, origin] = conversion.kernel(options);
  report.origin = origin;
  if (kernel->statements.front().made.empty())
    throw InternalError("the code of a conversion returns no tensor: " + conversion.text());
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  report.compileMs += elapsed.count();
  Tensor made(encoding, tensor.type, tensor.dims);
  const CompiledStatement &code = kernel->statements.front();
  std::vector<const Tensor *> arguments;
  for (const Argument &argument : code.arguments)
    arguments.push_back(argument.number ? &tensor : &source);
  report.convertMs += call(code, arguments, {{{}, &made}}, threadSettings(options)).ms;
  return made;
}

/// With widths that are not named chosen. The code makes tensors that store their values.
Tensor generated(const Tensor &tensor, const Encoding &encoding, const Options &options,
                 ConversionReport &report, bool inOrder = false) {
  Encoding target = format::resolveWidths(encoding, tensor.dims, tensor.mostSlots());
  if (encoding == tensor.encoding || target == tensor.encoding)
    return tensor;
  if (format::withStoredValues(tensor.encoding) == target)
    return runtime::withStoredValues(tensor);
  if (encoding.explicitVal) {
    Tensor made = generated(tensor, format::withStoredValues(encoding), options, report);
    target.posWidth = made.encoding->posWidth;
    target.crdWidth = made.encoding->crdWidth;
    return runtime::withExplicitValue(made, target);
  }
  if (!inOrder && needsNumbers(encoding))
    return storeNumbered(tensor, encoding, options, report);
  try {
    return run(tensor, target, options, report);
  } catch (const WidthError &) {
    constexpr int64_t large = std::numeric_limits<int64_t>::max();
    Encoding wide = format::resolveWidths(encoding, large, large);
    if (wide == target)
      throw;
    return run(tensor, wide, options, report);
  }
}

/// Without dimensions there are no coordinates to convert: all values are summed.
Tensor sumOf(const runtime::Entries &entries, const Encoding &encoding) {
  const size_t width = byteWidth(entries.type), count = entries.values.size() / width;
  if (!entries.coords.empty() || entries.values.size() != count * width)
    throwError("entries of a tensor without dimensions are values of {} bytes; got coordinates for {} "
               "dimensions, and {} bytes",
               width, entries.coords.size(), entries.values.size());
  Tensor made = runtime::makeDense(entries.type, {});
  requireFormat(made, encoding);
  made.encoding = format::resolveWidths(encoding, 0, 0);
  auto *slot = static_cast<std::byte *>(made.values());
  // The first is copied: adding it to 0 would change -0.0.
  for (size_t e = 0; e < count; ++e)
    if (e == 0)
      std::memcpy(slot, entries.values.data(), width);
    else
      runtime::addScalar(entries.type, slot, entries.values.data() + e * width);
  return made;
}

//===--- Queries ---===//

static_assert(int(dialect::Aggregate::Count) == int(AggregateKind::Count) &&
              int(dialect::Aggregate::Max) == int(AggregateKind::Max) &&
              int(dialect::Aggregate::Min) == int(AggregateKind::Min) &&
              int(dialect::Aggregate::Id) == int(AggregateKind::Id));

/// `select [i] -> max j - i`
std::string queryText(const Encoding &encoding, const std::vector<unsigned> &select,
                      const Aggregate &aggregate) {
  std::vector<std::string> names = format::dimensionNames(encoding.order()), selected;
  for (unsigned d : select)
    selected.push_back(names[d]);
  std::string value;
  if (aggregate.value) {
    Encoding shell = format::denseEncoding(encoding.order());
    shell.levels.assign(1, {"", aggregate.value, {}});
    value = " " + format::printBody(shell);
  }
  return fmt::format("select [{}] -> {}{}", fmt::join(selected, ","),
                     dialect::stringifyAggregate(dialect::Aggregate(aggregate.kind)).str(), value);
}

/// A query of one aggregate, over all dimensions it does not select.
OneOp queryOp(ElementType type, const Encoding &encoding, const std::vector<unsigned> &select,
              const Aggregate &aggregate, bool index32) {
  const unsigned order = encoding.order();
  const std::string text = queryText(encoding, select, aggregate);
  return {.text = [=] { return text; },
          .key = fmt::format("query {}\n{}\n{}", name(type), text, format::print(encoding)),
          .names = {"A", "result"},
          .index32 = index32,
          .types = [=](mlir::MLIRContext &context) -> llvm::SmallVector<mlir::Type> {
            auto source = tensorType(order, passes::scalarType(context, type));
            auto result = tensorType(select.size(), mlir::IntegerType::get(&context, 64));
            return {dialect::withEncoding(source, encoding), result, result};
          },
          .op =
              [=](mlir::ImplicitLocOpBuilder &b, mlir::Type result, mlir::ValueRange arguments) {
                mlir::MLIRContext *context = b.getContext();
                mlir::AffineMapAttr value;
                if (aggregate.value) {
                  mlir::AffineExpr e = assemble::affine(aggregate.value, context);
                  if (!e)
                    throw InternalError("a query's expression is not affine");
                  value = mlir::AffineMapAttr::get(mlir::AffineMap::get(order, 0, e));
                }
                auto selected = mlir::AffineMap::getMultiDimMapWithTargets(order, select, context);
                return dialect::QueryOp::create(
                    b, result, dialect::AggregateAttr::get(context, dialect::Aggregate(aggregate.kind)),
                    arguments[0], arguments[1], mlir::AffineMapAttr::get(selected), value);
              }};
}

/// Every element holds what stands for "no entry".
Tensor emptyAnswer(const Tensor &tensor, const std::vector<unsigned> &select, const Aggregate &aggregate) {
  std::vector<int64_t> sizes;
  for (unsigned d : select)
    sizes.push_back(tensor.dims[d]);
  Tensor answer = runtime::makeDense(ElementType::I64, sizes);
  if (!aggregate.value)
    return answer;
  auto [low, high] = notation::valueRange(aggregate.value, atLeastOne(tensor.dims));
  auto *values = static_cast<int64_t *>(answer.values());
  std::fill(values, values + answer.storedCount(), aggregate.kind == AggregateKind::Max ? low - 1 : high + 1);
  return answer;
}

Tensor answer(const Tensor &tensor, const std::vector<unsigned> &select, const Aggregate &aggregate,
              const Options &options) {
  const Tensor whole = runtime::whole(tensor);
  const OneOp kernel =
      queryOp(tensor.type, tensor.encoding, select, aggregate, indicesFit32(whole.dims, whole.mostSlots()));
  const auto code = kernel.kernel(options).first;
  Tensor result = emptyAnswer(tensor, select, aggregate);
  std::vector<Tensor> operands;
  for (const Argument &argument : code->statements.front().arguments)
    if (!argument.result)
      operands.push_back(engine::convert(argument.whole ? whole : tensor, argument.encoding, options));
  std::vector<const Tensor *> arguments;
  for (const Tensor &operand : operands)
    arguments.push_back(&operand);
  arguments.push_back(&result);
  call(code->statements.front(), arguments, {{aggregate.name}}, threadSettings(options));
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
  bindings["T"].encoding = format::resolveWidths(format::parseEncoding(pattern), sizes, tensor.mostSlots());
  notation::Program program = notation::check(text, bindings);
  std::vector<std::optional<Tensor>> tensors(program.tensors.size());
  const size_t source = program.tensors[0].name == "A" ? 0 : 1; // the other one is T
  tensors[source] = tensor;
  compile(program, options)->run(tensors);
  return *tensors[1 - source];
}

/// With a number added to a dimension.
format::Expr replaced(const format::Expr &e, unsigned dim, int64_t more) {
  if (e->kind == format::ExprKind::Dim && unsigned(e->value) == dim)
    return format::binary(format::ExprKind::Add, e, format::constant(more));
  return e->lhs && e->rhs ? format::binary(e->kind, replaced(e->lhs, dim, more), replaced(e->rhs, dim, more))
                          : e;
}

/// A query whose coordinates are all dimensions of a tensor.
struct PlainQuery {
  Query query;
  ComputedList computed;
};

PlainQuery withComputed(const Tensor &tensor, const Query &query, const Options &options) {
  std::vector<unsigned> all(tensor.dims.size());
  std::iota(all.begin(), all.end(), 0);
  PlainQuery made{query, computeCoordinates(projectPattern(tensor, all, options), query.computed, options)};
  made.query.computed.clear();
  for (size_t k = 0; k < query.computed.size(); ++k)
    for (Aggregate &aggregate : made.query.aggregates)
      if (const int64_t low = made.computed.lows[k]; aggregate.value && low != 0)
        aggregate.value = replaced(aggregate.value, unsigned(all.size() + k), low);
  return made;
}

} // namespace

void requireConvertible(ElementType type, const Encoding &from, const Encoding &to) {
  if (std::string why = format::whyNotExecutable(to, type); !why.empty())
    throw Error(why);
  if (format::hasSlices(to))
    throwError("a tensor cannot be converted to {}: what lies outside the slices is not known; convert the "
               "whole to that format without slices, and cut it with slice()",
               format::displayName(to));
  std::byte have[16] = {}, wanted[16] = {};
  storeScalar(type, have, format::fillValue(from, type));
  storeScalar(type, wanted, format::fillValue(to, type));
  if (!format::isAllDense(from) && std::memcmp(have, wanted, sizeof have) != 0)
    throwError("cannot convert {} to {}: what is not stored means {} in one and {} in the other; give both "
               "the same fill",
               format::displayName(from), format::displayName(to), fillText(from), fillText(to));
}

Tensor convert(const Tensor &tensor, const Encoding &encoding, const Options &options,
               ConversionReport *report) {
  checkOptions(options);
  requireFormat(tensor, encoding);
  ConversionReport own;
  return generated(tensor, encoding, options, report ? *report : own);
}

Tensor convertInOrder(const Tensor &list, const Encoding &encoding, const Options &options,
                      ConversionReport &report) {
  requireFormat(list, encoding);
  return generated(list, encoding, options, report, /*inOrder=*/true);
}

Tensor compact(const Tensor &tensor, const Options &options) {
  if (!tensor.pickedSlots)
    return tensor;
  if (format::hasSlices(tensor.encoding))
    return runtime::cut(compact(runtime::whole(tensor), options), tensor.encoding);
  using enum format::LevelKind;
  Encoding packed = tensor.encoding;
  for (format::Level &level : packed.levels)
    level.format.kind = level.format.kind == Jagged            ? Ragged
                        : level.format.kind == LooseCompressed ? Compressed
                                                               : level.format.kind;
  return convert(convert(tensor, packed, options), tensor.encoding, options);
}

Tensor store(runtime::Entries entries, const Encoding &encoding, const Options &options,
             ConversionReport *report) {
  checkOptions(options);
  if (entries.dims.empty())
    return sumOf(entries, encoding);
  Tensor borrowed = runtime::borrowEntries(std::make_shared<const runtime::Entries>(std::move(entries)));
  Encoding filled = *borrowed.encoding;
  filled.fill = encoding.fill; // entries do not say what is between them
  filled.implicitVal = encoding.implicitVal;
  borrowed.encoding = std::move(filled);
  requireFormat(borrowed, encoding);
  ConversionReport own;
  return generated(borrowed, encoding, options, report ? *report : own);
}

Compilation conversionCompilation(ElementType type, const Encoding &from, const Encoding &to, bool index32,
                                  const Options &options, const Target &target) {
  return conversionOp(type, from, to, index32, /*reuse=*/false).start(options, target);
}

/// Of a conversion that is one kernel.
static std::string stepText(ElementType type, const Encoding &from, const Encoding &to, pipeline::Stage stage,
                            const Options &options) {
  if (stage == pipeline::Stage::Notation)
    return fmt::format("// {}\n// from {}\n// to   {}\n", conversionOp(type, from, to, true, true).text(),
                       format::print(from), format::print(to));
  return conversionOp(type, from, format::withStoredValues(to), true, true).start(options).text(stage);
}

std::string explainConversion(ElementType type, const Encoding &from, const Encoding &to,
                              std::string_view stageName, const Options &options) {
  const pipeline::Stage stage = pipeline::stageNamed(stageName);
  checkOptions(options);
  for (const Encoding *encoding : {&from, &to})
    if (std::string why = format::whyNotExecutable(*encoding, type); !why.empty())
      throw Error(why);
  if (format::hasSlices(to))
    throwError("a conversion cannot make a slice; leave slice(…) out of {}", format::displayName(to));
  if (!needsNumbers(to))
    return stepText(type, from, to, stage, options);
  std::string text;
  for (const auto &[before, after] : numberedSteps(from, to))
    text += stepText(type, before, after, stage, options);
  return text;
}

std::vector<Tensor> query(const Tensor &tensor, const Query &query, const Options &options) {
  checkOptions(options);
  if (!query.computed.empty()) {
    const PlainQuery plain = withComputed(tensor, query, options);
    return engine::query(plain.computed.list, plain.query, options);
  }
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

std::string explainQuery(const Tensor &tensor, const Query &query, std::string_view stageName,
                         const Options &options) {
  const pipeline::Stage stage = pipeline::stageNamed(stageName);
  if (stage == pipeline::Stage::Notation)
    throw Error("a query has no text of stage 'notation'");
  checkOptions(options);
  if (!query.computed.empty()) {
    const PlainQuery plain = withComputed(tensor, query, options);
    const ComputedList &computed = plain.computed;
    return stepText(computed.list.type, computed.from, computed.to, stage, options) +
           explainQuery(computed.list, plain.query, stageName, options);
  }
  std::string text;
  for (const Aggregate &aggregate : query.aggregates) {
    const OneOp kernel = queryOp(tensor.type, tensor.encoding, query.select, aggregate, true);
    text += "// " + aggregate.name + ": " + kernel.text() + "\n" + kernel.start(options).text(stage);
  }
  return text;
}

} // namespace tulle::engine
