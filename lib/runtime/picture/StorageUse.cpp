// What a format stores, level by level, as numbers and as a table.
#include "runtime/picture/Picture.h"
#include "runtime/tensor/Walk.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstring>

namespace tulle::runtime {

StorageUse storageUse(const Tensor &given) {
  const Tensor tensor = whole(given);
  const std::vector<LevelShape> shapes = levelShapes(tensor);
  StorageUse use;
  for (unsigned l = 0; l < shapes.size(); ++l)
    use.levels.push_back({format::printLevel(tensor.encoding, l), shapes[l].size,
                          batchStarts(tensor, shapes, l + 1).back(), "", 0});
  for (size_t f = 0; f < tensor.buffers.size(); ++f) {
    const format::Field &field = tensor.layout().fields[f];
    const Buffer &buffer = tensor.buffers[f];
    use.bytes += buffer.bytes;
    if (field.kind == format::FieldKind::Values) {
      use.valueBytes = buffer.bytes;
      continue;
    }
    LevelUse &level = use.levels[field.level];
    level.buffers += fmt::format("{}{} {} x {} bits", level.buffers.empty() ? "" : ", ",
                                 fieldLabel(field.kind), buffer.count, field.width);
    level.bytes += buffer.bytes;
  }
  use.slots = tensor.mostSlots();
  const std::vector<std::byte> fill = fillBytes(tensor.encoding, tensor.type);
  const StoredValues values(tensor);
  walk(tensor, false, [&](const std::vector<int64_t> &, int64_t position) {
    use.entries += std::memcmp(values[position], fill.data(), fill.size()) != 0;
  });
  return use;
}

static std::string_view elementName(const Tensor &tensor) { return name(tensor.type); }

std::string storageText(const Tensor &tensor) {
  const StorageUse use = storageUse(tensor);
  size_t width = 6;
  for (const LevelUse &level : use.levels)
    width = std::max(width, level.text.size());
  std::string text = fmt::format("{} {}, {}\n", shapeText(tensor.dims), elementName(tensor),
                                 format::displayName(tensor.encoding));
  text +=
      fmt::format("level  {:{}}  {:>10}  {:>10}  {:>12}  stores\n", "", width, "size", "positions", "bytes");
  for (size_t l = 0; l < use.levels.size(); ++l) {
    const LevelUse &level = use.levels[l];
    text += fmt::format("{:5}  {:{}}  {:10}  {:10}  {:12}  {}\n", l, level.text, width, level.size,
                        level.positions, level.bytes, level.buffers.empty() ? "nothing" : level.buffers);
  }
  text += fmt::format("{:5}  {:{}}  {:>10}  {:10}  {:12}  {}\n", "", "values", width, "", use.slots,
                      use.valueBytes,
                      tensor.encoding->explicitVal ? "nothing: all are " + *tensor.encoding->explicitVal
                                                   : std::string(elementName(tensor)));
  const double padding = use.slots ? 100.0 * double(use.slots - use.entries) / double(use.slots) : 0;
  text += fmt::format("{} bytes, {:.1f} for each of {} entries; {:.1f}% of the values are padding or {}\n",
                      use.bytes, use.entries ? double(use.bytes) / double(use.entries) : 0.0, use.entries,
                      padding, tensor.encoding->fill ? *tensor.encoding->fill : "zeros");
  return text;
}

} // namespace tulle::runtime
