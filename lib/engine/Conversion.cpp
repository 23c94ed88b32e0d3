// A conversion is a statement of one op. Its code is compiled for widths that the data fits, and once more
// for the widest where it turns out not to fit.
#include "engine/Conversion.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "engine/Call.h"
#include "engine/Codegen.h"
#include "engine/Compilation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/Body.h"
#include "runtime/tensor/Elements.h"
#include "support/Errors.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace tulle::engine {

using format::Encoding;
using runtime::Tensor;

namespace {

/// What a conversion's code depends on.
struct Conversion {
  ElementType type;
  Encoding from, to;
  bool index32;
  bool reuse; ///< buffers that both formats have

  std::string text() const {
    return fmt::format("convert {} to {}", format::displayName(from), format::displayName(to));
  }

  std::string key(const Options &options) const {
    return fmt::format("{}index32 {} reuse {}\nconvert {}\n{}\n{}", cacheKeyHead(options), int(index32),
                       int(reuse), name(type), format::print(from), format::print(to));
  }

  /// func.func @statement0(%A) { return (tulle.convert %A) }
  mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context) const {
    mlir::OpBuilder b(&context);
    mlir::Location loc = b.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(b, loc));
    b.setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<int64_t> shape(from.order(), mlir::ShapedType::kDynamic);
    auto dense = mlir::RankedTensorType::get(shape, passes::scalarType(context, type));
    mlir::RankedTensorType source = dialect::withEncoding(dense, from),
                           target = dialect::withEncoding(dense, to);
    auto function = mlir::func::FuncOp::create(b, loc, "statement0", b.getFunctionType({source}, {target}));
    b.setInsertionPointToStart(function.addEntryBlock());
    function.setArgAttr(0, dialect::kNameAttr, b.getStringAttr("A"));
    mlir::Value converted = dialect::ConvertOp::create(b, loc, target, function.getArgument(0), reuse);
    mlir::func::ReturnOp::create(b, loc, converted);
    return module;
  }

  Compilation start(const Options &options) const {
    return Compilation(text(), {"A"}, pipelineOptions(options, index32),
                       [&](mlir::MLIRContext &context) { return build(context); });
  }
};

std::string fillText(const Encoding &encoding) {
  return encoding.fill.value_or(encoding.implicitVal.value_or("0"));
}

void requireFormat(const Tensor &tensor, const Encoding &encoding) {
  if (std::string why = format::whyNotExecutable(encoding, tensor.type); !why.empty())
    throw Error(why);
  if (format::hasSlices(encoding))
    throwError("a tensor cannot be converted to {}: what lies outside the slices is not known; convert the "
               "whole to that format without slices, and cut it with slice()",
               format::displayName(encoding));
  if (std::string why = format::whyNotSizes(encoding, tensor.dims); !why.empty())
    throw Error(why);
  std::byte have[16] = {}, wanted[16] = {};
  storeScalar(tensor.type, have, format::fillValue(tensor.encoding, tensor.type));
  storeScalar(tensor.type, wanted, format::fillValue(encoding, tensor.type));
  if (!format::isAllDense(tensor.encoding) && std::memcmp(have, wanted, sizeof have) != 0)
    throwError("cannot convert {} to {}: what is not stored means {} in one and {} in the other; give both "
               "the same fill",
               format::displayName(tensor.encoding), format::displayName(encoding), fillText(tensor.encoding),
               fillText(encoding));
}

Tensor run(const Tensor &tensor, const Encoding &encoding, const Options &options, ConversionReport &report) {
  const bool own = std::all_of(tensor.buffers.begin(), tensor.buffers.end(),
                               [](const runtime::Buffer &buffer) { return buffer.own; });
  const Tensor source = runtime::whole(tensor); // the code of a slice takes what it was cut from
  const Conversion conversion{tensor.type, tensor.encoding, encoding,
                              indicesFit32(source.dims, source.storedCount()), own};
  auto begin = std::chrono::steady_clock::now();
  auto [kernel, origin] =
      findOrCompile(conversion.key(options), options, [&] { return conversion.start(options).object(); });
  report.origin = origin;
  if (!kernel->statements.front().made)
    throw InternalError("the code of a conversion returns no tensor: " + conversion.text());
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  report.compileMs += elapsed.count();
  Tensor made(encoding, tensor.type, tensor.dims);
  report.convertMs += call(kernel->statements.front(), {&source}, {}, &made, threadSettings(options));
  return made;
}

/// With widths that are not named chosen. The code makes tensors that store their values.
Tensor generated(const Tensor &tensor, const Encoding &encoding, const Options &options,
                 ConversionReport &report) {
  Encoding target = format::resolveWidths(encoding, tensor.dims, tensor.storedCount());
  if (encoding == tensor.encoding || target == tensor.encoding)
    return tensor;
  if (format::withStoredValues(tensor.encoding) == target)
    return runtime::withStoredValues(tensor);
  if (encoding.explicitVal) {
    Tensor made = generated(tensor, format::withStoredValues(encoding), options, report);
    target.posWidth = made.encoding.posWidth;
    target.crdWidth = made.encoding.crdWidth;
    return runtime::withExplicitValue(made, target);
  }
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
  made.layout = format::layout(made.encoding);
  auto *slot = static_cast<std::byte *>(made.values());
  // The first is copied: adding it to 0 would change -0.0.
  for (size_t e = 0; e < count; ++e)
    if (e == 0)
      std::memcpy(slot, entries.values.data(), width);
    else
      runtime::addScalar(entries.type, slot, entries.values.data() + e * width);
  return made;
}

} // namespace

Tensor convert(const Tensor &tensor, const Encoding &encoding, const Options &options,
               ConversionReport *report) {
  checkOptions(options);
  requireFormat(tensor, encoding);
  ConversionReport own;
  return generated(tensor, encoding, options, report ? *report : own);
}

Tensor store(runtime::Entries entries, const Encoding &encoding, const Options &options,
             ConversionReport *report) {
  checkOptions(options);
  if (entries.dims.empty())
    return sumOf(entries, encoding);
  Tensor borrowed = runtime::borrowEntries(std::make_shared<const runtime::Entries>(std::move(entries)));
  borrowed.encoding.fill = encoding.fill; // entries do not say what is between them
  borrowed.encoding.implicitVal = encoding.implicitVal;
  requireFormat(borrowed, encoding);
  ConversionReport own;
  return generated(borrowed, encoding, options, report ? *report : own);
}

std::string explainConversion(ElementType type, const Encoding &from, const Encoding &to,
                              std::string_view stageName, const Options &options) {
  const pipeline::Stage stage = stageNamed(stageName);
  checkOptions(options);
  for (const Encoding *encoding : {&from, &to})
    if (std::string why = format::whyNotExecutable(*encoding, type); !why.empty())
      throw Error(why);
  if (format::hasSlices(to))
    throwError("a conversion cannot make a slice; leave slice(…) out of {}", format::displayName(to));
  if (stage == pipeline::Stage::Notation)
    return fmt::format("// {}\n// from {}\n// to   {}\n", Conversion{type, from, to, true, true}.text(),
                       format::print(from), format::print(to));
  return Conversion{type, from, format::withStoredValues(to), true, true}.start(options).text(stage);
}

} // namespace tulle::engine
