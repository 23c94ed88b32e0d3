// From a checked program and the formats of its tensors to callable machine code.
#pragma once
#include "notation/Program.h"
#include "runtime/tensor/Tensor.h"
#include <functional>
#include <map>

namespace tulle::engine {

struct Options {
  bool strictFp = false;     ///< reductions keep the order of the loops
  bool dropZeros = false;    ///< sparse results do not store what equals their fill
  unsigned vectorLength = 0; ///< elements of a vector, a power of 2 up to 64; 0: chosen for the element type
  bool wideIndices = false;  ///< gather with 64-bit indices even where coordinates fit 32. For tests
  unsigned threads =
      0; ///< at most; 0: OMP_NUM_THREADS, else the cores this process may run on; 1: code without threads
  bool deterministic = false;       ///< results have the same bits for any number of threads
  std::string strategy = "auto";    ///< how sets of coordinates are walked: auto, merge, gallop or blocks
  int64_t workPerThread = 0;        ///< stored entries that pay for another thread; 0: measured. For tests
  std::string iterationPasses = {}; ///< MLIR's, run on the loops over sets of coordinates as well. For tests
  /// Runs one part of a parallel region, on its thread. For tests that watch parts.
  std::function<void(const std::function<void()> &run)> aroundPart = {};
  bool quick = false; ///< less optimization: code comes sooner and runs slower
  bool diskCache =
      true; ///< objects are kept below $TULLE_CACHE_DIR, else $XDG_CACHE_HOME/tulle, else ~/.cache/tulle
};

/// One stored buffer set a kernel takes.
struct Argument {
  unsigned tensor; ///< index in program.tensors
  format::Encoding
      encoding; ///< how the kernel wants it: the caller converts when the tensor is stored otherwise
  bool result = false;
  bool whole = false; ///< the tensor that the caller's slice was cut from
};

/// A compiled statement: `entry(slots)` with 8-byte slots, five for each buffer (data, data, 0, count, 1) of
/// each argument in layout order, then one for each of its dimension sizes; arguments in order. A statement
/// that makes a new tensor writes five for each of its buffers behind them.
struct CompiledStatement {
  void (*entry)(void **slots) = nullptr;
  std::vector<Argument> arguments;
  std::optional<format::Encoding>
      made; ///< format of the new tensor it makes; else the last argument is the result
};

/// A compiled program; keeps its machine code alive. Thread-safe to run.
class Executable {
public:
  virtual ~Executable() = default;
  virtual const notation::Program &program() const = 0;
  virtual const std::vector<std::string> &remarks() const = 0; ///< conversions inserted, …
  virtual double compileMs() const = 0;
  virtual const char *origin() const = 0; ///< "compiled", "memory cache", "disk cache"
  /// Runs all statements. `tensors` is indexed as program().tensors: inputs set; results and intermediates
  /// are allocated here unless set with the right format (then reused, where no other tensor shares the
  /// memory). `computeMs`, if given, receives the time in kernels alone.
  virtual void run(std::vector<std::optional<runtime::Tensor>> &tensors,
                   double *computeMs = nullptr) const = 0;
};

/// Compiles, or finds in memory or on disk. Encodings of inputs must have resolved widths. Throws Error for
/// what cannot be compiled (a sparse result that would be dense, …).
std::shared_ptr<Executable> compile(const notation::Program &program, const Options &options = {});

/// The text of a stage (see pipeline/Stages.h) for `tulle explain`.
std::string explain(const notation::Program &program, std::string_view stage, const Options &options = {});

} // namespace tulle::engine
