// Calling a compiled statement: slots, the blocks that the call holds, and the way out of generated code when
// something is wrong.
#pragma once
#include "engine/Kernel.h"
#include "engine/Parallel.h"
#include "runtime/tensor/BlockPool.h"
#include "runtime/tensor/Tensor.h"
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace tulle::engine {

/// What is told of a call.
struct CallReport {
  double ms = 0;         ///< in generated code
  int64_t mostBytes = 0; ///< that it had allocated at one time
};

/// A result of a call. `made` is a new tensor: encoding, type and dims are set, and it receives its buffers,
/// each with exactly its size; null where the call writes to an argument. `name` is what errors call it.
struct CallResult {
  std::string_view name = {};
  runtime::Tensor *made = nullptr;
};

/// Runs statements on tensors stored as they want them; of `results`, those that are made are in order.
/// Throws Error when memory does not suffice (before it is touched), a coordinate or position does not fit
/// its width, or the result's format cannot hold the entries, and Interrupted where it is; nothing that the
/// call allocated is left then.
/// Thread-safe.
CallReport call(const CompiledStatement &code, const std::vector<const runtime::Tensor *> &arguments,
                const std::vector<CallResult> &results = {}, const ThreadSettings &threads = {});

/// A coordinate or position that does not fit: more than an Error, because a wider format can be tried.
class WidthError : public Error {
  using Error::Error;
};

/// What generated code may call (HACKING.md, contract 5), by symbol name. Only inside `call`.
struct RuntimeSymbol {
  const char *name;
  void *address;
};
std::span<const RuntimeSymbol> runtimeSymbols();

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
  /// Messages are about the first of the results, or the one that the code said it makes.
  CallMemory(const std::vector<CallResult> &results, const ThreadSettings &threads = {})
      : threads(threads), results(results) {
    making(0);
  }
  ~CallMemory();
  CallMemory(const CallMemory &) = delete;

  /// Calls `entry`; throws what generated code reported.
  void enter(void (*entry)(void **), void **slots);

  /// The memory behind a memref that came back, trimmed to its size; one of an argument's own buffers is
  /// aliased.
  runtime::Buffer adopt(void *allocated, void *data, int64_t count, int64_t bytes,
                        const std::vector<const runtime::Tensor *> &arguments);

  /// The most bytes that the code had at one time.
  int64_t mostBytes() const { return most; }

  // What generated code calls. They do not throw.
  void *allocate(uint64_t bytes);
  void free(void *data);
  void *allocateFilled(int64_t count, int64_t elementBytes, int64_t bits);
  void freeFilled(void *data, int64_t count, int64_t elementBytes, int64_t bits);
  int64_t checkedSize(int64_t level, int64_t parents, int64_t each);
  int64_t checkedPositions(int64_t level, int64_t parents, int64_t each);
  [[noreturn]] void widthError(int64_t level, int64_t value, int64_t width);
  [[noreturn]] void groupError(int64_t level, int64_t parent, int64_t found, int64_t most);
  [[noreturn]] void declaredError(int64_t level, int64_t fault, int64_t parent, int64_t value);
  [[noreturn]] void indexError(const char *text, int64_t length, const int64_t *coordinates, int64_t rank,
                               int64_t value, int64_t size);
  [[noreturn]] void repeatedError(const char *text, int64_t length, const int64_t *coordinates, int64_t rank,
                                  int64_t value, int64_t size);
  [[noreturn]] void repeatedPlaceError(const char *text, int64_t length, const int64_t *coordinates,
                                       int64_t rank, const int64_t *values, int64_t count);
  using Task = void (*)(void *context, int64_t task);
  void parallel(int64_t tasks, Task task, void *context);
  int64_t orderedScan(int64_t *cell, int64_t number, int64_t amount);
  void making(int64_t number);

  const ThreadSettings threads;

  /// Of the innermost call on this thread.
  static CallMemory &current();

private:
  bool run(Task task, void *context, int64_t number);
  bool isInterrupted() noexcept;
  std::string resultText() const;
  std::string levelText(int64_t level) const;
  /// Keeps what `make` throws, to be thrown again outside of generated code.
  template <class Make> void report(Make make) noexcept;
  [[noreturn]] void leave();

  const std::thread::id caller = std::this_thread::get_id();
  const std::vector<CallResult> &results;
  std::string_view result; ///< what messages are about
  const runtime::Tensor *made = nullptr;
  std::mutex mutex; ///< of what follows
  std::vector<runtime::Block> blocks;
  int64_t held = 0, most = 0;
  std::exception_ptr error; ///< the first one
  std::atomic<bool> failed = false;
};

} // namespace tulle::engine
