#include "tulle/io.h"
#include "Impl.h"
#include "engine/Convert.h"
#include "runtime/generate/Generate.h"
#include "runtime/io/Io.h"
#include <optional>

namespace tulle {

using detail::Access;

static runtime::Tensor withElement(const runtime::Tensor &tensor, ElementType type) {
  if (tensor.type == type)
    return tensor;
  runtime::Tensor made = runtime::likePattern(tensor, type);
  const std::byte *from = static_cast<const std::byte *>(tensor.values());
  std::byte *to = static_cast<std::byte *>(made.values());
  for (int64_t i = 0; i < tensor.storedCount(); ++i)
    storeScalar(type, to + i * byteWidth(type),
                convertScalar(loadScalar(tensor.type, from + i * byteWidth(tensor.type)), tensor.type, type));
  return made;
}

static AnyTensor store(runtime::FileContents contents, const std::string &format,
                       std::optional<ElementType> element) {
  unsigned order = contents.dims().size();
  format::Encoding encoding = format::parseFormat(format, order);
  format::Encoding stored = format::withStoredValues(encoding); // values of which type is seen at the end
  runtime::Tensor tensor = contents.isStored ? engine::convert(contents.stored, stored)
                                             : engine::store(std::move(contents.entries), stored);
  if (element)
    tensor = withElement(tensor, *element);
  return Access::wrap(engine::convert(tensor, encoding));
}

AnyTensor readAny(const std::string &path, const Format &format, const std::string &element) {
  std::optional<ElementType> type;
  if (!element.empty())
    type = detail::elementType(element);
  return store(runtime::readFile(path), format.text(), type);
}

AnyTensor readAny(const std::string &path) {
  runtime::FileContents contents = runtime::readFile(path);
  std::string suggested = contents.suggested;
  return store(std::move(contents), suggested, std::nullopt);
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
  return store(runtime::generate(spec, dims, type), format.text(), type);
}

} // namespace tulle
