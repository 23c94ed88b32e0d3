// Views of public tensors; where there is none, the statement that makes the copy is compiled and run.
#include "Impl.h"
#include "engine/Conversion.h"
#include "engine/Engine.h"
#include "notation/Program.h"
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Views.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>
#include <numeric>

namespace tulle {

using detail::Access;

namespace {

using Operands = std::vector<std::pair<std::string, const runtime::Tensor *>>;

/// The tensor; of a slice, whose storage holds more, a copy of what it shows.
runtime::Tensor withoutSlices(const runtime::Tensor &tensor) {
  return engine::convert(tensor, format::withoutSlices(tensor.encoding));
}

/// The tensor `name` of these sizes after a program over the operands, in an encoding without widths of its
/// own.
runtime::Tensor evaluate(const std::string &text, const Operands &operands, const std::string &name,
                         std::vector<int64_t> dims, format::Encoding encoding) {
  std::map<std::string, notation::Binding> bindings;
  for (const auto &[operand, tensor] : operands)
    bindings[operand] = {tensor->type, tensor->dims, tensor->encoding, true};
  bindings[name].type = operands[0].second->type;
  bindings[name].dims = std::move(dims);
  bindings[name].encoding = std::move(encoding);
  const notation::Program program = notation::check(text, bindings);
  std::vector<std::optional<runtime::Tensor>> tensors(program.tensors.size());
  size_t result = 0;
  for (size_t t = 0; t < tensors.size(); ++t) {
    for (const auto &[operand, tensor] : operands)
      if (program.tensors[t].name == operand)
        tensors[t] = *tensor;
    if (program.tensors[t].name == name)
      result = t;
  }
  engine::compile(program, {})->run(tensors);
  return *tensors[result];
}

/// A result's format: what the tensor is stored in, values included, but for what a view made of it.
format::Encoding formatOf(const runtime::Tensor &tensor) {
  format::Encoding encoding = format::withStoredValues(format::withoutSlices(tensor.encoding));
  encoding.posWidth = encoding.crdWidth = 0;
  return encoding;
}

/// The names of dimensions, the first one replaced.
std::string subscripts(const runtime::Tensor &tensor, unsigned dimension, const std::string &text) {
  std::vector<std::string> names = format::dimensionNames(unsigned(tensor.dims.size()));
  if (!text.empty())
    names[dimension] = text;
  return fmt::format("{}", fmt::join(names, ", "));
}

runtime::Tensor copyReversed(const runtime::Tensor &tensor, unsigned dimension) {
  const std::string own = format::dimensionNames(unsigned(tensor.dims.size()))[dimension];
  const std::string text =
      fmt::format("Y({}) = A({})", subscripts(tensor, 0, ""),
                  subscripts(tensor, dimension, fmt::format("{} - {}", tensor.dims[dimension] - 1, own)));
  return evaluate(text, {{"A", &tensor}}, "Y", tensor.dims, formatOf(tensor));
}

/// The digits of l, which is the number of an element in row-major order.
std::vector<std::string> digitsOf(const std::vector<int64_t> &dims, const char *quotient, const char *rest) {
  std::vector<std::string> digits;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d])
    digits.insert(digits.begin(), fmt::format("l {} {}", quotient, stride) +
                                      (d == 0 ? "" : fmt::format(" {} {}", rest, dims[d])));
  return digits;
}

/// A vector, stored by the digits that the result's coordinates are, so that the result is a view of it.
runtime::Tensor copyReshaped(const runtime::Tensor &tensor, const std::vector<int64_t> &dims) {
  const bool dense = format::isAllDense(tensor.encoding);
  auto likeSource = [&](const std::string &text, unsigned order) {
    format::Encoding made = format::parseFormat(text, order);
    made.fill = tensor.encoding->fill;
    made.implicitVal = tensor.encoding->implicitVal;
    return made;
  };
  if (std::ranges::count(dims, 0) > 0) { // no digits, and no elements
    const char *name = dense ? "dense" : dims.size() == 2 ? "CSR" : "CSF";
    return engine::convert(runtime::makeDense(tensor.type, dims), likeSource(name, unsigned(dims.size())));
  }
  std::vector<std::string> levels = digitsOf(dims, "floordiv", "mod");
  for (size_t l = 0; l < levels.size(); ++l)
    levels[l] += dense || (l == 0 && levels.size() == 2) ? " : dense" : " : compressed";
  int64_t count = 1;
  for (int64_t size : dims)
    count *= size;
  const runtime::Tensor flat = evaluate(
      fmt::format("V(l) = A({})", fmt::join(digitsOf(tensor.dims, "/", "%"), ", ")), {{"A", &tensor}}, "V",
      {count}, likeSource(fmt::format("(l) -> ({})", fmt::join(levels, ", ")), 1));
  return runtime::reshaped(flat, dims).value();
}

runtime::Tensor copyGathered(const runtime::Tensor &tensor, std::span<const int64_t> rows) {
  runtime::Tensor numbers = runtime::makeDense(ElementType::I64, {int64_t(rows.size())});
  std::ranges::copy(rows, static_cast<int64_t *>(numbers.values()));
  std::vector<int64_t> dims = tensor.dims;
  dims[0] = int64_t(rows.size());
  return evaluate(fmt::format("Y({}) = A({})", subscripts(tensor, 0, ""), subscripts(tensor, 0, "p(i)")),
                  {{"A", &tensor}, {"p", &numbers}}, "Y", dims, formatOf(tensor));
}

runtime::Tensor copyConcatenated(const std::vector<runtime::Tensor> &tensors, unsigned dimension) {
  Operands operands;
  std::vector<std::string> names;
  for (size_t t = 0; t < tensors.size(); ++t) {
    names.push_back(fmt::format("A{}", t));
    operands.push_back({names.back(), &tensors[t]});
  }
  std::vector<int64_t> dims = tensors[0].dims;
  dims[dimension] = 0;
  for (const runtime::Tensor &tensor : tensors)
    dims[dimension] = runtime::checkedAdd(dims[dimension], tensor.dims[dimension], "tulle::concat");
  return evaluate(
      fmt::format("C({}) = concat({}; {})", subscripts(tensors[0], 0, ""), fmt::join(names, ", "), dimension),
      operands, "C", dims, formatOf(tensors[0]));
}

/// The dense tensors in one allocation, one behind the other.
std::vector<runtime::Tensor> copyTogether(const std::vector<runtime::Tensor> &tensors) {
  std::vector<runtime::Tensor> dense;
  int64_t count = 0;
  for (const runtime::Tensor &tensor : tensors) {
    dense.push_back(engine::convert(tensor, format::denseEncoding(unsigned(tensor.dims.size()))));
    count = runtime::checkedAdd(count, dense.back().storedCount(), "tulle::stack");
  }
  const runtime::Tensor all = runtime::makeDense(tensors[0].type, {count}, /*zeroed=*/false);
  int64_t at = 0;
  for (runtime::Tensor &tensor : dense) {
    const int64_t own = tensor.storedCount();
    if (own > 0)
      std::memcpy(all.value(at), tensor.values(), size_t(own) * byteWidth(all.type));
    tensor = runtime::borrowDense(all.type, tensor.dims, all.value(at), all.buffers.back().owner);
    at += own;
  }
  return dense;
}

std::vector<runtime::Tensor> unwrapAll(const std::vector<AnyTensor> &tensors, const char *what) {
  if (tensors.empty())
    throwError("{} of no tensors: it would have no sizes", what);
  std::vector<runtime::Tensor> made;
  for (const AnyTensor &tensor : tensors)
    made.push_back(Access::unwrap(tensor));
  return made;
}

} // namespace

AnyTensor AnyTensor::transpose(std::vector<unsigned> order) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  if (order.empty()) {
    order.resize(tensor.dims.size());
    std::iota(order.rbegin(), order.rend(), 0u);
  }
  return Access::wrap(runtime::permuted(tensor, order));
}

AnyTensor AnyTensor::reverse(unsigned dimension) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  std::optional<runtime::Tensor> view = runtime::mirrored(tensor, dimension);
  if (!view && tensor.dims[dimension] == 0)
    return *this;
  return Access::wrap(view ? *view : copyReversed(tensor, dimension));
}

AnyTensor AnyTensor::reshape(const std::vector<int64_t> &dims) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  std::optional<runtime::Tensor> view = runtime::reshaped(tensor, dims);
  if (!view && dims.empty())
    throw Error("reshape() to no dimensions; the one element of a tensor is what `s = A(i,j)` sums");
  return Access::wrap(view ? *view : copyReshaped(withoutSlices(tensor), dims));
}

AnyTensor AnyTensor::gather(std::span<const int64_t> rows) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  std::optional<runtime::Tensor> view = runtime::gathered(tensor, rows);
  return Access::wrap(view ? *view : copyGathered(tensor, rows), view && Access::hasLengths(*this));
}

AnyTensor AnyTensor::canonical() const { return Access::wrap(runtime::canonical(Access::unwrap(*this))); }

AnyTensor concatAny(const std::vector<AnyTensor> &tensors, unsigned dimension) {
  std::vector<runtime::Tensor> all = unwrapAll(tensors, "tulle::concat");
  for (runtime::Tensor &tensor : all)
    tensor = withoutSlices(tensor);
  if (dimension >= all[0].dims.size())
    throwError("tulle::concat along dimension {} of tensors with {} dimensions; they are counted from 0",
               dimension, all[0].dims.size());
  std::optional<runtime::Tensor> view;
  if (dimension == 0)
    view = runtime::concatenated(all);
  const bool haveLengths = std::ranges::all_of(tensors, Access::hasLengths);
  return Access::wrap(view ? *view : copyConcatenated(all, dimension), view && haveLengths);
}

AnyTensor stackAny(const std::vector<AnyTensor> &tensors) {
  const std::vector<runtime::Tensor> all = unwrapAll(tensors, "tulle::stack");
  std::optional<runtime::Tensor> view = runtime::stacked(all);
  if (!view)
    view = runtime::stacked(copyTogether(all));
  if (!view)
    throwError("tulle::stack of tensors with sizes [{}]: their rows have no elements",
               fmt::join(all[0].dims, ", "));
  return Access::wrap(std::move(*view), /*hasLengths=*/true);
}

} // namespace tulle
