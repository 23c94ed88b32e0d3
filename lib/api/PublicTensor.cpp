// tulle::AnyTensor, tulle::query, tulle::read and tulle::write: handles over runtime::Tensor. Checks what
// users pass, and hides the compiler's types.
#include "Impl.h"
#include "engine/Conversion.h"
#include "engine/Kernel.h"
#include "engine/Split.h"
#include "format/Checks.h"
#include "runtime/generate/Generate.h"
#include "runtime/io/Io.h"
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/Lengths.h"
#include "runtime/tensor/Views.h"
#include "support/Errors.h"
#include "tulle/io.h"
#include "tulle/query.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <optional>

namespace tulle {

const runtime::Tensor &detail::Access::unwrap(const AnyTensor &tensor) {
  if (tensor.empty())
    throw Error("an empty tensor handle is used; make a tensor with tulle::read, pack, zeros or dense first");
  return tensor.impl->tensor;
}

ElementType detail::elementType(const std::string &name) {
  if (auto type = parseElementType(name))
    return *type;
  throwError("unknown element type '{}'; expected f64 f32 f16 bf16 c64 c128 i8 i16 i32 i64 or bool", name);
}

using detail::Access;
using detail::elementType;
using detail::requireSizes;

const std::vector<int64_t> &AnyTensor::dims() const { return Access::unwrap(*this).dims; }

int64_t AnyTensor::dim(unsigned d) const {
  const std::vector<int64_t> &sizes = dims();
  if (d >= sizes.size())
    throwError("dimension {} of a tensor with {} dimensions; they are counted from 0", d, sizes.size());
  return sizes[d];
}

TensorType AnyTensor::type() const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  return {element(), Format(format::print(tensor.encoding)), tensor.dims};
}

std::string AnyTensor::element() const { return std::string(name(Access::unwrap(*this).type)); }
bool AnyTensor::isDense() const { return engine::isRowMajor(Access::unwrap(*this).encoding); }
std::string AnyTensor::formatName() const {
  const format::Encoding &encoding = Access::unwrap(*this).encoding;
  const bool declares = std::ranges::any_of(encoding.levels, [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Declared;
  });
  // The name is a format to whoever reads it, so that its level formats have to be in it.
  return declares ? format::printBody(encoding) : format::displayName(encoding);
}
std::string AnyTensor::fill() const {
  const format::Encoding &encoding = Access::unwrap(*this).encoding;
  return encoding.fill ? *encoding.fill : encoding.implicitVal.value_or("0");
}
int64_t AnyTensor::storedCount() const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  if (!format::hasSlices(tensor.encoding))
    return tensor.pickedSlots.value_or(tensor.storedCount());
  const std::string every = fmt::format("{}", fmt::join(format::dimensionNames(order()), ", "));
  const AnyTensor counted = query("select [] -> count(" + every + ") as n", *this).at("n");
  return *reinterpret_cast<const int64_t *>(Access::unwrap(counted).value(0));
}
int64_t AnyTensor::bytes() const { return Access::unwrap(*this).bytes(); }

static BufferView viewOf(const runtime::Tensor &tensor, unsigned field) {
  const format::Field &meta = tensor.layout().fields[field];
  unsigned width = meta.kind == format::FieldKind::Values ? 8 * byteWidth(tensor.type) : meta.width;
  return {tensor.buffers[field].data, tensor.buffers[field].count, width, tensor.buffers[field].owner};
}

static void requireLevel(const runtime::Tensor &tensor, unsigned level) {
  if (level >= tensor.layout().positions.size())
    throwError("level {} of a format with {} levels; they are counted from 0", level,
               tensor.layout().positions.size());
}

BufferView AnyTensor::positions(unsigned level) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  requireLevel(tensor, level);
  auto field = tensor.layout().positions[level];
  return field ? viewOf(tensor, *field) : BufferView{};
}

BufferView AnyTensor::coordinates(unsigned level) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  requireLevel(tensor, level);
  auto ref = tensor.layout().coordinates[level];
  return ref ? viewOf(tensor, ref->field) : BufferView{};
}

BufferView AnyTensor::rawValues() const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  if (tensor.encoding->explicitVal)
    throwError("a tensor of format {} has no values in memory: all are {}; convert it to the format without "
               "explicitVal first",
               format::displayName(tensor.encoding), *tensor.encoding->explicitVal);
  const BufferView values = viewOf(tensor, tensor.layout().valuesField());
  if (tensor.buffers.back().isApart)
    throwError("the values of the tensor, a view in format {}, lie in several allocations; convert it with "
               "to(Format(\"ragged\")) first, or read it with a kernel",
               format::displayName(tensor.encoding));
  return values;
}

std::vector<BufferView> AnyTensor::buffers() const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  std::vector<BufferView> views;
  for (unsigned field = 0; field < tensor.buffers.size(); ++field)
    views.push_back(viewOf(tensor, field));
  return views;
}

void *AnyTensor::ownValues() {
  if (Access::unwrap(*this).encoding->explicitVal)
    rawValues(); // says why there are none
  if (Access::unwrap(*this).pickedSlots)
    impl->tensor = engine::compact(impl->tensor);
  runtime::Buffer &values = impl->tensor.buffers[impl->tensor.layout().valuesField()];
  if (!values.own || values.owner.use_count() > 1)
    values = runtime::Buffer::copyOf(values, "a copy of the values");
  return values.data;
}

AnyTensor AnyTensor::to(const Format &format) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  return Access::wrap(
      engine::convert(tensor, format::parseFormatFor(format.text(), tensor.dims, "<format>")));
}

AnyTensor AnyTensor::slice(unsigned dimension, int64_t offset, int64_t size, int64_t stride) const {
  return Access::wrap(runtime::slice(Access::unwrap(*this), dimension, offset, size, stride));
}

std::vector<AnyTensor> AnyTensor::decompose(const std::string &parts) const {
  const runtime::Tensor &tensor = Access::unwrap(*this);
  notation::TensorDecl decl;
  decl.name = "tensor";
  decl.type = tensor.type;
  decl.dims = tensor.dims;
  decl.encoding = tensor.encoding;
  notation::Decomposition decomposition;
  decomposition.parts = notation::parseParts(parts, decl, "parts");
  decomposition.range = {0, parts.size()};
  std::vector<AnyTensor> made;
  for (runtime::Tensor &part : engine::split(tensor, decomposition, {parts, "parts"}, decl.name))
    made.push_back(Access::wrap(std::move(part)));
  return made;
}

std::map<std::string, AnyTensor> query(const std::string &text, const AnyTensor &tensor) {
  const runtime::Tensor &source = Access::unwrap(tensor);
  notation::Query parsed = notation::parseQuery(text, source.encoding);
  std::vector<runtime::Tensor> answers = engine::query(source, parsed);
  std::map<std::string, AnyTensor> named;
  for (size_t k = 0; k < answers.size(); ++k)
    named[parsed.aggregates[k].name] = Access::wrap(std::move(answers[k]));
  return named;
}

std::string AnyTensor::print() const { return runtime::printStorage(engine::compact(Access::unwrap(*this))); }

void AnyTensor::requireElement(const char *wanted) const {
  if (std::string have = element(); have != wanted)
    throwError("the tensor has elements of type {}, not {}; read or convert it as {}", have, wanted, wanted);
}

static const char *roleName(format::FieldKind kind) {
  switch (kind) {
  case format::FieldKind::Sizes:
    return "sizes";
  case format::FieldKind::Permutation:
    return "permutation";
  case format::FieldKind::Positions:
    return "positions";
  case format::FieldKind::Coordinates:
    return "coordinates";
  case format::FieldKind::Bits:
    return "bits";
  case format::FieldKind::Values:
    return "values";
  }
  return "";
}

void detail::requireSizes(const std::vector<int64_t> &dims) {
  for (int64_t size : dims)
    if (size < 0)
      throwError("a dimension of size {}; sizes are 0 or more", size);
}

AnyTensor zerosAny(const std::string &element, std::vector<int64_t> dims) {
  requireSizes(dims);
  return Access::wrap(runtime::makeDense(elementType(element), std::move(dims)));
}

/// Code never writes to what is borrowed, but buffers of results have the same type.
static std::shared_ptr<void> ownerOf(const BufferView &view) {
  return std::const_pointer_cast<void>(view.owner);
}

AnyTensor denseAny(const std::string &element, std::vector<int64_t> dims, const BufferView &elements) {
  requireSizes(dims);
  const ElementType type = elementType(element);
  int64_t count = 1;
  for (int64_t size : dims)
    if (__builtin_mul_overflow(count, size, &count))
      throwError("tulle::dense: the sizes {} are too large", fmt::join(dims, " x "));
  if (count != elements.count || 8 * byteWidth(type) != elements.width || (count && !elements.data))
    throwError("tulle::dense: the sizes need {} elements of {} bits, but {} of {} are given", count,
               8 * byteWidth(type), elements.count, elements.width);
  return Access::wrap(
      runtime::borrowDense(type, std::move(dims), const_cast<void *>(elements.data), ownerOf(elements)));
}

AnyTensor packAny(const std::string &element, std::vector<int64_t> dims,
                  const std::vector<std::span<const int64_t>> &coords, const void *values, int64_t count,
                  const Format &format) {
  requireSizes(dims);
  if (coords.size() != dims.size())
    throwError("tulle::pack: {} sizes, but coordinates for {} dimensions", dims.size(), coords.size());
  for (size_t d = 0; d < coords.size(); ++d)
    if (int64_t(coords[d].size()) != count)
      throwError("tulle::pack: dimension {} has {} coordinates for {} values", d, coords[d].size(), count);
  const format::Encoding encoding = format::parseFormatFor(format.text(), dims, "<format>");
  const ElementType type = elementType(element);
  const auto *bytes = static_cast<const std::byte *>(values);
  runtime::Entries entries{type, std::move(dims), {}, {bytes, bytes + count * byteWidth(type)}};
  for (std::span<const int64_t> of : coords)
    entries.coords.emplace_back(of.begin(), of.end());
  return Access::wrap(engine::store(std::move(entries), encoding));
}

std::vector<BufferRole> buffersOf(const Format &format, unsigned order) {
  const format::Layout layout =
      format::layout(format::resolveWidths(format::parseFormat(format.text(), order), 0, 0));
  std::vector<BufferRole> roles;
  for (const format::Field &field : layout.fields)
    roles.push_back({roleName(field.kind), field.level});
  return roles;
}

/// The encoding with the widths of the given buffers, where it names none itself.
static format::Encoding withWidths(format::Encoding encoding, const std::vector<BufferView> &buffers) {
  format::Layout layout = format::layout(encoding);
  if (buffers.size() != layout.fields.size())
    throwError("tulle::borrow: the format has {} buffers, but {} are given; they are positions and "
               "coordinates level by level, then the values",
               layout.fields.size(), buffers.size());
  for (size_t f = 0; f < buffers.size(); ++f) {
    if (layout.fields[f].kind == format::FieldKind::Positions && !encoding.posWidth)
      encoding.posWidth = buffers[f].width;
    if (layout.fields[f].kind == format::FieldKind::Coordinates && !encoding.crdWidth)
      encoding.crdWidth = buffers[f].width;
  }
  return format::resolveWidths(encoding, 0, 0);
}

/// A tensor without type, sizes and buffers.
static runtime::Tensor borrowedShell(const std::string &text, unsigned order,
                                     const std::vector<BufferView> &buffers) {
  format::Encoding encoding = format::parseFormat(text, order);
  if (std::string why = format::whyNotExecutable(encoding); !why.empty())
    throw Error("tulle::borrow: " + why);
  if (format::hasSlices(encoding))
    throw Error("tulle::borrow: the sizes of what the slices are cut from are not given; borrow the whole, "
                "and cut it with slice()");
  return {withWidths(encoding, buffers), ElementType::F64, {}};
}

/// The same, of texts that come again and again: parsing one takes longer than a small kernel.
static runtime::Tensor knownShell(const std::string &text, unsigned order,
                                  const std::vector<BufferView> &buffers) {
  constexpr size_t most = 64;
  std::vector<unsigned> key = {order};
  for (const BufferView &buffer : buffers)
    key.push_back(buffer.width);
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::vector<unsigned>>, runtime::Tensor> known;
  {
    std::lock_guard lock(mutex);
    if (auto found = known.find({text, key}); found != known.end())
      return found->second;
  }
  runtime::Tensor made = borrowedShell(text, order, buffers);
  std::lock_guard lock(mutex);
  if (known.size() >= most)
    known.clear();
  return known.try_emplace({text, std::move(key)}, std::move(made)).first->second;
}

AnyTensor borrowAny(const std::string &element, std::vector<int64_t> dims, const Format &format,
                    const std::vector<BufferView> &buffers, Check check) {
  requireSizes(dims);
  runtime::Tensor tensor = knownShell(format.text(), unsigned(dims.size()), buffers);
  tensor.type = elementType(element);
  tensor.dims = std::move(dims);
  tensor.buffers.reserve(buffers.size());
  for (size_t f = 0; f < buffers.size(); ++f) {
    const BufferView &view = buffers[f];
    if (tensor.layout().fields[f].implied) {
      tensor.buffers.push_back(runtime::Buffer::borrow(nullptr, view.count, 0));
      continue;
    }
    bool isValues = f == tensor.layout().valuesField();
    unsigned width = isValues ? 8 * byteWidth(tensor.type) : tensor.layout().fields[f].width;
    if (view.width != width || view.count < 0 || (view.count && !view.data))
      throwError("tulle::borrow: buffer {} has {} elements of {} bits, but the format needs {} bits", f,
                 view.count, view.width, width);
    // 2-bit coordinates come packed, four to a byte.
    int64_t bytes = width == 2 ? view.count : view.count * (width / 8);
    tensor.buffers.push_back(
        runtime::Buffer::borrow(const_cast<void *>(view.data), view.count, bytes, ownerOf(view)));
  }
  if (check == Check::Everything)
    runtime::validate(tensor);
  return Access::wrap(std::move(tensor));
}

AnyTensor raggedAny(const AnyTensor &padded, const std::vector<AnyTensor> &lengths) {
  const runtime::Tensor &from = Access::unwrap(padded);
  if (lengths.size() >= from.dims.size())
    throwError("tulle::ragged: {} lengths for a tensor of {} dimensions; the first has none", lengths.size(),
               from.dims.size());
  std::vector<std::optional<runtime::Tensor>> given(from.dims.size());
  std::vector<bool> hasLengths(from.dims.size());
  for (size_t d = 1; d <= lengths.size(); ++d)
    if ((hasLengths[d] = !lengths[d - 1].empty()))
      given[d] = Access::unwrap(lengths[d - 1]);
  try {
    runtime::Entries within = runtime::withinLengths(runtime::toDense(from), given);
    return Access::wrap(engine::store(std::move(within), runtime::raggedEncoding(hasLengths)), true);
  } catch (const Error &error) {
    throw Error(std::string("tulle::ragged: ") + error.what());
  }
}

AnyTensor likeAny(const std::string &element, const AnyTensor &pattern, const std::vector<int64_t> &below) {
  requireSizes(below);
  const runtime::Tensor from = engine::compact(Access::unwrap(pattern));
  if (format::hasSlices(from.encoding))
    throw Error(
        "tulle::like: the storage of a slice holds more than its entries; convert it with to() first");
  std::vector<int64_t> dims = from.dims;
  dims.insert(dims.end(), below.begin(), below.end());
  const format::Encoding encoding = format::likeEncoding(from.encoding, unsigned(dims.size()));
  if (std::string why = format::whyNotExecutable(encoding); !why.empty())
    throw Error("tulle::like: " + why);
  return Access::wrap(runtime::likePattern(from, elementType(element), encoding, std::move(dims)));
}

//===--- Files and generators ---===//

static runtime::Tensor withElement(const runtime::Tensor &tensor, ElementType type) {
  if (tensor.type == type)
    return tensor;
  runtime::Tensor made = runtime::likePattern(tensor, type);
  runtime::convertElements(tensor.type, tensor.value(0), type, made.value(0), tensor.storedCount());
  return made;
}

/// `name` is the file or the generator, for errors.
static AnyTensor store(const std::string &name, runtime::FileContents contents, const std::string &format,
                       std::optional<ElementType> element) {
  unsigned order = contents.dims().size();
  format::Encoding encoding = format::parseFormat(format, order);
  format::Encoding stored = format::withStoredValues(encoding); // values of which type is seen at the end
  try {
    runtime::Tensor tensor = contents.isStored ? engine::convert(contents.stored, stored)
                                               : engine::store(std::move(contents.entries), stored);
    return Access::wrap(engine::convert(element ? withElement(tensor, *element) : tensor, encoding));
  } catch (const Error &error) {
    throw Error(name + ": " + error.what());
  }
}

AnyTensor readAny(const std::string &path, const Format &format, const std::string &element) {
  const auto type = element.empty() ? std::nullopt : std::optional(detail::elementType(element));
  return store(path, runtime::readFile(path), format.text(), type);
}

AnyTensor readAny(const std::string &path) {
  runtime::FileContents contents = runtime::readFile(path);
  std::string suggested = contents.suggested;
  return store(path, std::move(contents), suggested, std::nullopt);
}

void write(const std::string &path, const AnyTensor &tensor) {
  const runtime::Tensor &stored = Access::unwrap(tensor);
  // Files hold buffers, and those of a slice hold more.
  const bool isSlice = format::hasSlices(stored.encoding);
  runtime::writeFile(path, isSlice ? engine::convert(stored, format::withoutSlices(stored.encoding))
                                   : engine::compact(stored));
}

AnyTensor generateAny(const std::string &spec, const std::vector<int64_t> &dims, const Format &format,
                      const std::string &element) {
  ElementType type = detail::elementType(element);
  detail::requireSizes(dims);
  return store(spec, runtime::generate(spec, dims, type), format.text(), type);
}

} // namespace tulle
