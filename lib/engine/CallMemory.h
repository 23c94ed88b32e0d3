// The blocks that one call of generated code holds, and the way out of it when something is wrong.
#pragma once
#include "engine/Parallel.h"
#include "runtime/tensor/BlockPool.h"
#include "runtime/tensor/Tensor.h"
#include <atomic>
#include <exception>
#include <mutex>

namespace tulle::engine {

/// Errors leave generated code by longjmp: to `enter`, or on a worker to where its task began. The contract,
/// which makes that defined (a jump over a frame with a destructor is not):
/// 1. Generated frames hold nothing to destroy: no destructors, no cleanups, no landing pads. Code generation
///    marks every function nounwind, so that they need no unwind tables either.
/// 2. The members below that generated code calls return, or leave through `leave`; they let no exception
///    pass, and have destroyed every local by then: `report` runs what may throw, and keeps the exception.
/// 3. Between `enter` and `leave` there are no other C++ frames but those of `run`, which have no local with
/// a
///    destructor, and OpenMP's are not crossed: every task of a parallel region has an exit of its own.
/// 4. What the call allocated belongs to this object and is freed by its destructor.
/// Several workers may call these members at once.
class CallMemory {
public:
  /// `made` may be null; `result` is what messages call it.
  CallMemory(std::string_view result, const runtime::Tensor *made, const ThreadSettings &threads = {})
      : threads(threads), result(result), made(made) {}
  ~CallMemory();
  CallMemory(const CallMemory &) = delete;

  /// Calls `entry`; throws what generated code reported.
  void enter(void (*entry)(void **), void **slots);

  /// The memory behind a memref that came back, trimmed to its size; one of an argument's own buffers is
  /// aliased.
  runtime::Buffer adopt(void *allocated, void *data, int64_t count, int64_t bytes,
                        const std::vector<const runtime::Tensor *> &arguments);

  // What generated code calls. They do not throw.
  void *allocate(uint64_t bytes);
  void free(void *data);
  int64_t checkedSize(int64_t level, int64_t parents, int64_t each);
  int64_t checkedPositions(int64_t level, int64_t parents, int64_t each);
  [[noreturn]] void widthError(int64_t level, int64_t value, int64_t width);
  [[noreturn]] void groupError(int64_t level, int64_t parent, int64_t found, int64_t wanted);
  using Task = void (*)(void *context, int64_t task);
  void parallel(int64_t tasks, Task task, void *context);
  int64_t turn(int64_t *cell, int64_t number, int64_t amount);

  const ThreadSettings threads;

  /// Of the innermost call on this thread.
  static CallMemory &current();

private:
  bool run(Task task, void *context, int64_t number);
  std::string resultText() const;
  std::string levelText(int64_t level) const;
  /// Keeps what `make` throws, to be thrown again outside of generated code.
  template <class Make> void report(Make make) noexcept;
  [[noreturn]] void leave();

  std::string_view result;
  const runtime::Tensor *made;
  std::mutex mutex; ///< of what follows
  std::vector<runtime::Block> blocks;
  int64_t held = 0;
  std::exception_ptr error; ///< the first one
  std::atomic<bool> failed = false;
};

} // namespace tulle::engine
