// Pictures of tensors, which have rows of their own first.
#include "Impl.h"
#include "engine/Conversion.h"
#include "runtime/picture/Picture.h"
#include "support/Errors.h"
#include "tulle/picture.h"

namespace tulle {

using detail::Access;

std::string spyText(const AnyTensor &tensor, int columns) {
  if (columns < 1)
    throwError("tulle::spyText: {} columns; expected at least 1", columns);
  return runtime::spyText(engine::compact(Access::unwrap(tensor)), columns);
}

std::string storageText(const AnyTensor &tensor) {
  return runtime::storageText(engine::compact(Access::unwrap(tensor)));
}

std::string pictureSvg(const AnyTensor &tensor, bool storage) {
  return runtime::pictureSvg(engine::compact(Access::unwrap(tensor)), storage);
}

} // namespace tulle
