// Lays arguments out in slots, gives generated code memory and errors through plain functions, and adopts the
// memory of new tensors.
#include "engine/Call.h"
#include "format/Layout.h"
#include "format/LevelDeclaration.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <fmt/ranges.h>
#include <limits>
#include <thread>

namespace tulle::engine {

using runtime::Block;

/// Where generated code on this thread goes when something is wrong.
struct Exit {
  CallMemory *memory;
  Exit *outer;
  std::jmp_buf target;
};
static thread_local Exit *innermost = nullptr;

CallMemory &CallMemory::current() { return *innermost->memory; }

CallMemory::~CallMemory() {
  for (Block block : blocks)
    giveBlock(block);
}

/// Has no local variable with a destructor, and none that changes after setjmp.
[[gnu::noinline]] static bool runUntilLeft(Exit &exit, CallMemory::Task task, void *context, int64_t number) {
  if (_setjmp(exit.target) != 0)
    return false;
  task(context, number);
  return true;
}

/// Whether the code came to its end.
bool CallMemory::run(Task task, void *context, int64_t number) {
  Exit exit{this, innermost, {}};
  innermost = &exit;
  bool returned = runUntilLeft(exit, task, context, number);
  innermost = exit.outer;
  return returned;
}

void CallMemory::enter(void (*entry)(void **), void **slots) {
  struct Call {
    void (*entry)(void **);
    void **slots;
  } call{entry, slots};
  auto start = [](void *context, int64_t) {
    auto *call = static_cast<Call *>(context);
    call->entry(call->slots);
  };
  RunningThread running;
  if (!run(start, &call, 0))
    std::rethrow_exception(error);
}

void CallMemory::leave() { _longjmp(innermost->target, 1); }

/// Whether the call is to end. Only the thread that called may be asked, which may be in a region inside of
/// another one.
bool CallMemory::isInterrupted() noexcept {
  if (!threads.isInterrupted || std::this_thread::get_id() != caller)
    return false;
  report([&] {
    if ((*threads.isInterrupted)())
      throw Interrupted();
  });
  return failed;
}

void CallMemory::parallel(int64_t tasks, Task task, void *context) {
  if (tasks == 1) {
    if (isInterrupted())
      leave();
    return task(context, 0);
  }
  struct Region {
    CallMemory *memory;
    Task task;
    void *context;
  } region{this, task, context};
  auto runTask = [](void *context, int64_t p) {
    auto *region = static_cast<Region *>(context);
    return !region->memory->isInterrupted() && region->memory->run(region->task, region->context, p);
  };
  if (!runTasks(threads, tasks, runTask, &region))
    leave();
}

/// Tickets are taken at about the same pace, so that the wait is short; but the thread that has the next one
/// may need this processor.
int64_t CallMemory::orderedScan(int64_t *cell, int64_t number, int64_t amount) {
  constexpr int spins = 1000;
  std::atomic_ref<int64_t> next(cell[0]);
  for (int spin = 0; next.load(std::memory_order_acquire) != number; ++spin) {
    if (failed)
      leave();
    if (spin >= spins)
      std::this_thread::yield();
  }
  int64_t before = cell[1];
  cell[1] = before + amount;
  next.store(number + 1, std::memory_order_release);
  return before;
}

template <class Make> void CallMemory::report(Make make) noexcept {
  try {
    make();
  } catch (...) {
    std::lock_guard lock(mutex);
    if (!error)
      error = std::current_exception();
    failed = true;
  }
}

//===--- Messages ---===//

void CallMemory::making(int64_t number) {
  if (size_t(number) >= results.size())
    return;
  result = results[size_t(number)].name;
  made = results[size_t(number)].made;
}

std::string CallMemory::resultText() const {
  if (!made)
    return result.empty() ? "this statement" : fmt::format("computing '{}'", result);
  std::string format = format::displayName(made->encoding);
  return result.empty() ? format : fmt::format("storing '{}' as {}", result, format);
}

std::string CallMemory::levelText(int64_t level) const {
  if (!made || level < 0 || level >= int64_t(made->encoding->levels.size()))
    return fmt::format("level {}", level);
  return fmt::format("level {} ({})", level, format::print(made->encoding->levels[size_t(level)].format));
}

static std::string sizeText(uint64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} bytes", bytes);
  double value = double(bytes) / 1000;
  const char *unit = "kMGTPE";
  for (; value >= 1000; value /= 1000)
    ++unit;
  return fmt::format("{:.3g} {}B", value, *unit);
}

//===--- Memory ---===//

/// Large blocks start at whole pages. A loop that reads one and writes another at the same distance from a
/// page stalls, since processors compare the low 12 bits of addresses: so blocks of a call start at different
/// distances (experiments 025).
static int64_t distance(size_t blocks, uint64_t bytes) {
  constexpr uint64_t large = uint64_t(1) << 19;
  return bytes < large ? 0 : int64_t(1 + blocks % 16) * 13 * 64;
}

static bool holds(const Block &block, const void *data) {
  return data && data >= block.data && data < static_cast<char *>(block.data) + block.bytes;
}

void *CallMemory::allocate(uint64_t bytes) {
  Block block;
  int64_t skipped = 0;
  report([&] {
    std::lock_guard lock(mutex);
    skipped = distance(blocks.size(), bytes);
    blocks.reserve(blocks.size() + 1);
    if (bytes <= uint64_t(INT64_MAX / 2))
      block = runtime::takeKeptBlock(int64_t(bytes) + skipped);
    // What this call holds already, or is kept, is used memory, so only a new block has to fit.
    if (!block.data && (bytes > uint64_t(INT64_MAX) || !runtime::fitsMemory(int64_t(bytes))))
      throwError("out of memory: {} needs {} ({} bytes), which this machine does not have; use a sparser "
                 "format or smaller sizes",
                 resultText(), sizeText(bytes + uint64_t(held)), bytes + uint64_t(held));
    if (!block.data)
      block = runtime::takeBlock(int64_t(bytes) + skipped);
    if (!block.data)
      throwError("out of memory: the system refused {} bytes for {}", bytes, resultText());
    blocks.push_back(block);
    held += block.bytes;
    most = std::max(most, held);
  });
  if (!block.data)
    leave();
  return static_cast<char *>(block.data) + skipped;
}

void CallMemory::free(void *data) {
  std::lock_guard lock(mutex);
  auto it = std::find_if(blocks.begin(), blocks.end(), [&](const Block &b) { return holds(b, data); });
  if (it == blocks.end())
    return; // null
  held -= it->bytes;
  giveBlock(*it);
  blocks.erase(it);
}

static void fill(void *data, int64_t count, const runtime::Element &element) {
  auto as = [&]<class T>(T) { std::fill_n(static_cast<T *>(data), count, T(element.bits)); };
  switch (element.bytes) {
  case 1:
    return as(uint8_t());
  case 2:
    return as(uint16_t());
  case 4:
    return as(uint32_t());
  default:
    return as(uint64_t());
  }
}

void *CallMemory::allocateFilled(int64_t count, int64_t elementBytes, int64_t bits) {
  const runtime::Element element{elementBytes, uint64_t(bits)};
  int64_t bytes;
  if (__builtin_mul_overflow(count, elementBytes, &bytes))
    bytes = std::numeric_limits<int64_t>::max(); // refused below
  void *found = nullptr;
  report([&] {
    std::lock_guard lock(mutex);
    blocks.reserve(blocks.size() + 1);
    const runtime::FilledBlock filled = runtime::takeFilledBlock(bytes, element);
    if (!filled.block.data)
      return;
    blocks.push_back(filled.block);
    held += filled.block.bytes;
    most = std::max(most, held);
    found = static_cast<char *>(filled.block.data) + filled.offset;
  });
  if (failed)
    leave();
  if (!found) {
    found = allocate(uint64_t(bytes));
    fill(found, count, element);
  }
  return found;
}

void CallMemory::freeFilled(void *data, int64_t count, int64_t elementBytes, int64_t bits) {
  report([&] {
    std::lock_guard lock(mutex);
    auto it = std::find_if(blocks.begin(), blocks.end(), [&](const Block &b) { return holds(b, data); });
    if (it == blocks.end())
      return;
    const int64_t offset = static_cast<char *>(data) - static_cast<char *>(it->data);
    runtime::giveFilledBlock({*it, offset, count * elementBytes, {elementBytes, uint64_t(bits)}});
    held -= it->bytes;
    blocks.erase(it);
  });
}

runtime::Buffer CallMemory::adopt(void *allocated, void *data, int64_t count, int64_t bytes,
                                  const std::vector<const runtime::Tensor *> &arguments) {
  for (const runtime::Tensor *argument : arguments)
    for (const runtime::Buffer &buffer : argument->buffers)
      if (buffer.own && buffer.data == data && count >= 0 && bytes <= buffer.bytes)
        return {buffer.owner, data, count, bytes, /*own=*/true};
  auto it = std::find_if(blocks.begin(), blocks.end(), [&](const Block &b) { return holds(b, allocated); });
  int64_t offset = it == blocks.end() ? 0 : static_cast<char *>(data) - static_cast<char *>(it->data);
  if (it == blocks.end() || count < 0 || offset < 0 || offset + bytes > it->bytes)
    throw InternalError("a statement returned memory that it did not allocate");
  Block block = *it;
  blocks.erase(it);
  held -= block.bytes;
  trimBlock(block, offset + bytes);
  return {std::shared_ptr<void>(block.data, [block](void *) { giveBlock(block); }),
          static_cast<char *>(block.data) + offset, count, bytes, /*own=*/true};
}

int64_t CallMemory::checkedSize(int64_t level, int64_t parents, int64_t each) {
  int64_t positions;
  // Far beyond any memory, and sixteen bytes of each still fit 64 bits.
  constexpr int64_t most = int64_t(1) << 58;
  if (!__builtin_mul_overflow(parents, each, &positions) && positions >= 0 && positions <= most)
    return positions;
  report([&] {
    throwError("out of memory: {} needs {} x {} positions at {}, more than any memory holds; use a sparser "
               "format or smaller sizes",
               resultText(), parents, each, levelText(level));
  });
  leave();
}

static std::string productText(format::Large parents, format::Large each) {
  if (parents == 1 || each == 1)
    return fmt::format("{}", uint64_t(parents * each));
  return fmt::format("{} x {}", uint64_t(parents), uint64_t(each));
}

int64_t CallMemory::checkedPositions(int64_t level, int64_t parents, int64_t each) {
  const int64_t positions = checkedSize(level, parents, each);
  if (!made || level < 0 || level >= int64_t(made->encoding->levels.size()))
    return positions;
  bool refused = true;
  report([&] {
    const format::Capacity capacity =
        format::capacityFor(made->encoding, made->dims, byteWidth(made->type), size_t(level), parents, each);
    const int64_t bytes = int64_t(std::min(capacity.bytes, format::Large(INT64_MAX)));
    refused = !runtime::fitsMemory(bytes);
    if (refused)
      throwError("out of memory: {} needs {}{} ({} bytes), which this machine does not have: {} has {} "
                 "positions; use a sparser format or smaller sizes",
                 resultText(), capacity.exact ? "" : "at least ", sizeText(uint64_t(bytes)), bytes,
                 levelText(int64_t(capacity.level)), productText(capacity.parents, capacity.each));
  });
  if (refused)
    leave();
  return positions;
}

//===--- Errors ---===//

void CallMemory::widthError(int64_t level, int64_t value, int64_t width) {
  report([&] {
    const char *what = "coordinate or position", *option = "posWidth or crdWidth";
    if (made && made->encoding->posWidth != made->encoding->crdWidth) {
      bool position = unsigned(width) == made->encoding->posWidth;
      what = position ? "position" : "coordinate";
      option = position ? "posWidth" : "crdWidth";
    }
    throw WidthError(
        fmt::format("{}: {}: {} {} does not fit {} = {}; use a wider one, or 0 to let it be chosen",
                    resultText(), levelText(level), what, value, option, width));
  });
  leave();
}

/// The coordinates below a position, `(i = 1, j = 4..7)`, where the levels above hold all of theirs; else
/// empty.
static std::string regionText(const runtime::Tensor &tensor, size_t level, int64_t position) {
  auto digits = format::digits(tensor.encoding);
  if (!digits)
    return "";
  std::vector<int64_t> begin(tensor.dims.size(), 0), extent = tensor.dims;
  for (size_t l = level; l-- > 0;) {
    format::LevelKind kind = tensor.encoding->levels[l].format.kind;
    int64_t size = format::levelSize((*digits)[l], tensor.dims);
    if ((kind != format::LevelKind::Dense && kind != format::LevelKind::Batch) || size <= 0)
      return "";
    const format::Digit &digit = (*digits)[l];
    begin[digit.dim] += position % size * digit.stride;
    extent[digit.dim] = std::min(extent[digit.dim], digit.stride);
    position /= size;
  }
  std::string text;
  for (size_t d = 0; d < begin.size(); ++d) {
    // Blocks may reach beyond the dimension, and what numbers hold.
    int64_t last = begin[d] + (std::min(extent[d], tensor.dims[d] - begin[d]) - 1);
    text += fmt::format("{}{} = {}", d ? ", " : "", tensor.encoding->dims[d].name, begin[d]);
    if (last > begin[d])
      text += fmt::format("..{}", last);
  }
  return "(" + text + ")";
}

void CallMemory::groupError(int64_t level, int64_t parent, int64_t found, int64_t most) {
  report([&] {
    const bool known = made && level >= 0 && level < int64_t(made->encoding->levels.size());
    if (known && made->encoding->levels[size_t(level)].expr->kind == format::ExprKind::Counter)
      throwError("{}: level {} ({}) numbers {} entries, and has {} slices; write more slices, or leave their "
                 "number out",
                 resultText(), level, format::printLevel(made->encoding, unsigned(level)), found, most);
    if (known && found < most)
      throwError("{}: {}: the last group has {} coordinate{} inside the tensor, and {} are stored; use "
                 "compressed instead",
                 resultText(), levelText(level), found, found == 1 ? "" : "s", most);
    std::string group;
    if (known)
      group = regionText(*made, size_t(level), parent);
    if (group.empty())
      group = fmt::format("below position {}", parent);
    throwError("{}: {}: group {} has {} entries, this level holds at most {}; use compressed instead",
               resultText(), levelText(level), group, found, most);
  });
  leave();
}

void CallMemory::declaredError(int64_t level, int64_t fault, int64_t parent, int64_t value) {
  report([&] {
    const format::LevelDeclaration &declaration = *made->encoding->levels[size_t(level)].format.declaration;
    format::failDeclared(declaration, format::DeclaredFault(fault),
                         fmt::format("{}: {}", resultText(), levelText(level)), parent, value);
  });
  leave();
}

void CallMemory::indexError(const char *text, int64_t length, const int64_t *coordinates, int64_t rank,
                            int64_t value, int64_t size) {
  report([&] {
    const std::span<const int64_t> place(coordinates, size_t(rank));
    throwError("'{}' is {} at ({}), which is no coordinate below {}: write `else 0` behind it to read 0 "
               "there, or `clamp` for the nearest",
               std::string_view(text, size_t(length)), value, fmt::join(place, ", "), size);
  });
  leave();
}

void CallMemory::repeatedError(const char *text, int64_t length, const int64_t *coordinates, int64_t rank,
                               int64_t value, int64_t) {
  report([&] {
    const std::span<const int64_t> place(coordinates, size_t(rank));
    throwError(
        "'{}' is {} at ({}), and at a place before: each coordinate is given once; leave out 'unique' to "
        "combine what meets",
        std::string_view(text, size_t(length)), value, fmt::join(place, ", "));
  });
  leave();
}

void CallMemory::repeatedPlaceError(const char *text, int64_t length, const int64_t *coordinates,
                                    int64_t rank, const int64_t *values, int64_t count) {
  report([&] {
    const std::span<const int64_t> place(coordinates, size_t(rank)), together(values, size_t(count));
    throwError(
        "'{}' is ({}) at ({}), and at a place before: each element is given once; leave out 'unique' to "
        "have one of what meets",
        std::string_view(text, size_t(length)), fmt::join(together, ", "), fmt::join(place, ", "));
  });
  leave();
}

//===--- Symbols ---===//

/// A member function of the current call's memory as a plain function.
template <auto member> struct OfCurrent;
template <class Result, class... Args, Result (CallMemory::*member)(Args...)> struct OfCurrent<member> {
  static Result call(Args... args) { return (CallMemory::current().*member)(args...); }
};

static bool fits(int64_t bytes) { return bytes >= 0 && runtime::fitsMemory(bytes); }
static int64_t threads(int64_t work) { return profitableTasks(CallMemory::current().threads, work); }
static int64_t tasks(int64_t work) { return fixedTasks(CallMemory::current().threads, work); }

std::span<const RuntimeSymbol> runtimeSymbols() {
  static const RuntimeSymbol symbols[] = {
      {"_mlir_memref_to_llvm_alloc", reinterpret_cast<void *>(OfCurrent<&CallMemory::allocate>::call)},
      {"_mlir_memref_to_llvm_free", reinterpret_cast<void *>(OfCurrent<&CallMemory::free>::call)},
      {"tulle_allocate_filled", reinterpret_cast<void *>(OfCurrent<&CallMemory::allocateFilled>::call)},
      {"tulle_free_filled", reinterpret_cast<void *>(OfCurrent<&CallMemory::freeFilled>::call)},
      {"tulle_checked_size", reinterpret_cast<void *>(OfCurrent<&CallMemory::checkedSize>::call)},
      {"tulle_checked_positions", reinterpret_cast<void *>(OfCurrent<&CallMemory::checkedPositions>::call)},
      {"tulle_fits", reinterpret_cast<void *>(fits)},
      {"tulle_threads", reinterpret_cast<void *>(threads)},
      {"tulle_fixed_tasks", reinterpret_cast<void *>(tasks)},
      {"tulle_parallel", reinterpret_cast<void *>(OfCurrent<&CallMemory::parallel>::call)},
      {"tulle_ordered_scan", reinterpret_cast<void *>(OfCurrent<&CallMemory::orderedScan>::call)},
      {"tulle_making", reinterpret_cast<void *>(OfCurrent<&CallMemory::making>::call)},
      {"tulle_error_width", reinterpret_cast<void *>(OfCurrent<&CallMemory::widthError>::call)},
      {"tulle_error_group", reinterpret_cast<void *>(OfCurrent<&CallMemory::groupError>::call)},
      {"tulle_error_declared", reinterpret_cast<void *>(OfCurrent<&CallMemory::declaredError>::call)},
      {"tulle_error_index", reinterpret_cast<void *>(OfCurrent<&CallMemory::indexError>::call)},
      {"tulle_error_repeated", reinterpret_cast<void *>(OfCurrent<&CallMemory::repeatedError>::call)},
      {"tulle_error_repeated_place",
       reinterpret_cast<void *>(OfCurrent<&CallMemory::repeatedPlaceError>::call)},
  };
  return symbols;
}

//===--- The call ---===//

using runtime::Buffer;
using runtime::Tensor;

/// Positions may be gathered with as signed 32-bit indices; more entries than that need 64-bit positions.
static void checkCount(const Tensor &tensor) {
  if (tensor.storedCount() > std::numeric_limits<int32_t>::max() && !format::isAllDense(tensor.encoding) &&
      tensor.encoding->posWidth <= 32)
    throwError("{} stored entries need posWidth = 64, but the format has posWidth = {}: {}",
               tensor.storedCount(), tensor.encoding->posWidth, format::print(tensor.encoding));
}

int64_t SliceNumber::of(const Tensor &tensor) const {
  const std::optional<format::Slice> &slice = tensor.encoding->dims[dimension].slice;
  if (!slice)
    throw InternalError("a number of a slice is asked for of what is none");
  return part == Offset ? *slice->offset : part == Size ? *slice->size : *slice->stride;
}

static void *integer(int64_t value) { return reinterpret_cast<void *>(uintptr_t(value)); }

static void append(std::vector<void *> &slots, const Tensor &tensor) {
  checkCount(tensor);
  for (const Buffer &buffer : tensor.buffers) {
    // Code takes the number of values for a bound of that of entries.
    const bool isValues = &buffer == &tensor.buffers.back();
    const int64_t count = isValues ? tensor.mostSlots() : buffer.count;
    slots.insert(slots.end(), {buffer.data, buffer.data, integer(0), integer(count), integer(1)});
  }
  for (int64_t size : tensor.dims)
    slots.push_back(integer(size));
}

/// How many coordinates the packed ones of a level are: the values, of which the full levels below hold
/// several for each.
static int64_t packedCount(const Tensor &tensor, unsigned level) {
  int64_t count = tensor.storedCount();
  for (unsigned l = level + 1; l < tensor.encoding->levels.size(); ++l)
    if (auto range = format::levelRange(tensor.encoding, l, tensor.dims); range && range->size() > 0)
      count /= range->size();
  return count;
}

/// Makes the buffers that came back in slots those of the tensor.
static void adopt(CallMemory &memory, Tensor &made, void *const *slots,
                  const std::vector<const Tensor *> &arguments) {
  made.buffers.clear();
  for (const format::Field &field : made.layout().fields) {
    auto count = int64_t(reinterpret_cast<intptr_t>(slots[3]));
    bool values = field.kind == format::FieldKind::Values;
    unsigned bits = values ? 8 * byteWidth(made.type) : field.width;
    // 2-bit coordinates are counted in bytes of four.
    int64_t bytes = bits == 2 ? count : count * int64_t(bits / 8);
    made.buffers.push_back(memory.adopt(slots[0], slots[1], count, bytes, arguments));
    slots += 5;
  }
  for (const format::Field &field : made.layout().fields)
    if (field.width == 2)
      made.buffers[made.layout().coordinates[field.level]->field].count = packedCount(made, field.level);
}

CallReport call(const CompiledStatement &code, const std::vector<const Tensor *> &arguments,
                const std::vector<CallResult> &results, const ThreadSettings &threads) {
  std::vector<void *> slots;
  slots.reserve(24 * arguments.size()); // of most formats
  for (size_t k = 0; k < arguments.size(); ++k)
    if (const std::optional<SliceNumber> &number = code.arguments[k].number)
      slots.push_back(integer(number->of(*arguments[k])));
    else
      append(slots, *arguments[k]);
  size_t next = slots.size();
  for (const CallResult &result : results)
    if (result.made)
      slots.resize(slots.size() + 5 * result.made->layout().fields.size());

  CallMemory memory(results, threads);
  auto begin = std::chrono::steady_clock::now();
  memory.enter(code.entry, slots.data());
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  for (const CallResult &result : results)
    if (result.made) {
      adopt(memory, *result.made, slots.data() + next, arguments);
      next += 5 * result.made->layout().fields.size();
    }
  return {ms, memory.mostBytes()};
}

} // namespace tulle::engine
