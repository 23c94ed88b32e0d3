#include "engine/Call.h"
#include "engine/CallMemory.h"
#include "support/Errors.h"
#include <chrono>
#include <limits>

namespace tulle::engine {

using runtime::Buffer;
using runtime::Tensor;

/// Positions may be gathered with as signed 32-bit indices; more entries than that need 64-bit positions.
static void checkCount(const Tensor &tensor) {
  if (tensor.storedCount() > std::numeric_limits<int32_t>::max() && !format::isAllDense(tensor.encoding) &&
      tensor.encoding.posWidth <= 32)
    throwError("{} stored entries need posWidth = 64, but the format has posWidth = {}: {}",
               tensor.storedCount(), tensor.encoding.posWidth, format::print(tensor.encoding));
}

static void append(std::vector<void *> &slots, const Tensor &tensor) {
  checkCount(tensor);
  auto integer = [](int64_t value) { return reinterpret_cast<void *>(uintptr_t(value)); };
  for (const Buffer &buffer : tensor.buffers)
    slots.insert(slots.end(), {buffer.data, buffer.data, integer(0), integer(buffer.count), integer(1)});
  for (int64_t size : tensor.dims)
    slots.push_back(integer(size));
}

/// How many coordinates the packed ones of a level are: the values, of which the full levels below hold
/// several for each.
static int64_t packedCount(const Tensor &tensor, unsigned level) {
  int64_t count = tensor.storedCount();
  for (unsigned l = level + 1; l < tensor.encoding.levels.size(); ++l)
    if (auto range = format::levelRange(tensor.encoding, l, tensor.dims); range && range->size() > 0)
      count /= range->size();
  return count;
}

/// Makes the buffers that came back in slots those of the tensor.
static void adopt(CallMemory &memory, Tensor &made, void *const *slots,
                  const std::vector<const Tensor *> &arguments) {
  made.layout = format::layout(made.encoding);
  made.buffers.clear();
  for (const format::Field &field : made.layout.fields) {
    auto count = int64_t(reinterpret_cast<intptr_t>(slots[3]));
    bool values = field.kind == format::FieldKind::Values;
    unsigned bits = values ? 8 * byteWidth(made.type) : field.width;
    // 2-bit coordinates are counted in bytes of four.
    int64_t bytes = bits == 2 ? count : count * int64_t(bits / 8);
    made.buffers.push_back(memory.adopt(slots[0], slots[1], count, bytes, arguments));
    slots += 5;
  }
  for (const format::Field &field : made.layout.fields)
    if (field.width == 2)
      made.buffers[made.layout.coordinates[field.level]->field].count = packedCount(made, field.level);
}

double call(const CompiledStatement &code, const std::vector<const Tensor *> &arguments,
            std::string_view name, Tensor *made, const ThreadSettings &threads) {
  std::vector<void *> slots;
  for (const Tensor *argument : arguments)
    append(slots, *argument);
  size_t results = slots.size();
  if (made)
    slots.resize(results + 5 * format::layout(made->encoding).fields.size());

  CallMemory memory(name, made, threads);
  auto begin = std::chrono::steady_clock::now();
  memory.enter(code.entry, slots.data());
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (made)
    adopt(memory, *made, slots.data() + results, arguments);
  return ms;
}

} // namespace tulle::engine
