// tulle::read and tulle::write: files as tensors of the format and element type that the caller names.
#include "Impl.h"
#include "engine/Conversion.h"
#include "runtime/generate/Generate.h"
#include "runtime/io/Io.h"
#include "runtime/tensor/Elements.h"
#include "tulle/io.h"
#include <optional>

namespace tulle {

using detail::Access;

static runtime::Tensor withElement(const runtime::Tensor &tensor, ElementType type) {
  if (tensor.type == type)
    return tensor;
  runtime::Tensor made = runtime::likePattern(tensor, type);
  runtime::convertElements(tensor.type, static_cast<const std::byte *>(tensor.values()), type,
                           static_cast<std::byte *>(made.values()), tensor.storedCount());
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
  std::optional<ElementType> type;
  if (!element.empty())
    type = detail::elementType(element);
  return store(path, runtime::readFile(path), format.text(), type);
}

AnyTensor readAny(const std::string &path) {
  runtime::FileContents contents = runtime::readFile(path);
  std::string suggested = contents.suggested;
  return store(path, std::move(contents), suggested, std::nullopt);
}

void write(const std::string &path, const AnyTensor &tensor) {
  const runtime::Tensor &stored = Access::unwrap(tensor);
  const bool isSlice =
      format::hasSlices(stored.encoding); // files hold buffers, and those of a slice hold more
  runtime::writeFile(path,
                     isSlice ? engine::convert(stored, format::withoutSlices(stored.encoding)) : stored);
}

AnyTensor generateAny(const std::string &spec, const std::vector<int64_t> &dims, const Format &format,
                      const std::string &element) {
  ElementType type = detail::elementType(element);
  detail::requireSizes(dims);
  return store(spec, runtime::generate(spec, dims, type), format.text(), type);
}

} // namespace tulle
