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
  bool scalable = false;     ///< vectorLength elements are those of one granule of a scalable vector
  std::string tail = "auto"; ///< the iterations behind the last whole vector: one of tailNames()
  bool wideIndices = false;  ///< gather with 64-bit indices even where coordinates fit 32
  /// No size is a constant of the code, those of notation::fixedSizes neither, and none says what caches
  /// hold.
  bool anySize = false;
  unsigned threads =
      0; ///< at most; 0: OMP_NUM_THREADS, else the cores this process may run on; 1: code without threads
  bool deterministic = false;    ///< results have the same bits for any number of threads
  std::string strategy = "auto"; ///< how sets of coordinates are co-iterated: one of strategyNames()
  int64_t workPerThread =
      0; ///< stored entries that make another thread profitable; 0: the cost model's. For tests
  std::string upstreamPasses = {}; ///< MLIR's, of functions, run between all passes. For tests
  /// Of the processor that code is planned for, in place of its own. For tests that need the code for tensors
  /// larger than the caches.
  std::map<std::string, int64_t> figures = {};
  uint64_t lowerFirst = 0; ///< draws loops over sets that are lowered before the others; 0: none. For tests
  /// Runs one task of a parallel region, on its thread. For tests that observe tasks.
  std::function<void(const std::function<void()> &run)> aroundTask = {};
  bool quick = false; ///< less optimization: code comes sooner and runs slower
  bool diskCache =
      true; ///< objects are kept below $TULLE_CACHE_DIR, else $XDG_CACHE_HOME/tulle, else ~/.cache/tulle
  /// What Executable::objectCode has said in another process; used where this program, these options, this
  /// CPU and this compiler would make the same.
  std::shared_ptr<const std::string> objectCode = {};
};

/// How sets of coordinates can be co-iterated, `auto` first.
std::vector<std::string> strategyNames();
/// What becomes of the iterations behind the last whole vector: `auto`, as is fastest, or `mask`, one masked
/// vector.
std::vector<std::string> tailNames();

/// A number of the slice that the caller's tensor is.
struct SliceNumber {
  enum Part : unsigned { Offset, Size, Stride };
  unsigned dimension;
  Part part;
  /// Of a tensor that is a slice in the dimension.
  int64_t of(const runtime::Tensor &tensor) const;
};

/// One stored buffer set a kernel takes, or a number.
struct Argument {
  unsigned tensor; ///< index in program.tensors
  format::Encoding
      encoding; ///< how the kernel wants it: the caller converts when the tensor is stored otherwise
  bool result = false;
  bool whole = false;                     ///< the tensor that the caller's slice was cut from
  unsigned statement = 0;                 ///< of a result: the first that writes to it
  std::optional<SliceNumber> number = {}; ///< that is all it is
};

/// A new tensor that code makes.
struct MadeTensor {
  unsigned tensor; ///< index in program.tensors
  runtime::SharedEncoding encoding;
};

/// The code of a statement, or of several: `entry(slots)` with 8-byte slots, five for each buffer (data,
/// data, 0, count, 1) of each argument in layout order, then one for each of its dimension sizes; arguments
/// in order, one slot for a number. Behind them it writes five for each buffer of the tensors that it makes.
struct CompiledStatement {
  std::vector<Argument> arguments;
  std::vector<MadeTensor> made;
  std::string function;                  ///< its name
  unsigned tensor = 0;                   ///< the last that it computes
  void (*entry)(void **slots) = nullptr; ///< once it is linked
};

struct Kernel;

/// What is told of a run.
struct RunReport {
  double computeMs = 0; ///< in kernels alone
  int64_t mostBytes =
      0; ///< that one call of a kernel had allocated at one time, results that it made included
  /// Rounds of each loop of the program; those of an inner loop, in all rounds of the outer ones.
  std::vector<int64_t> iterations = {};
  /// Asked after each round, with the rounds so far: all loops end where it answers false.
  std::function<bool(const std::vector<int64_t> &iterations)> goesOn = {};
  /// Asked on the calling thread, before each statement and each task of a parallel region that it runs; the
  /// run throws Interrupted where it answers true.
  std::function<bool()> isInterrupted = {};
};

/// A compiled program; keeps its machine code alive. Thread-safe to run.
class Executable {
public:
  Executable(notation::Program program, std::shared_ptr<const Kernel> kernel, double compileMs,
             const char *origin, const Options &options)
      : checked(std::move(program)), kernel(std::move(kernel)), ms(compileMs), from(origin),
        options(options) {}

  const notation::Program &program() const { return checked; }
  const std::vector<std::string> &remarks() const; ///< conversions inserted, …
  double compileMs() const { return ms; }
  const char *origin() const { return from; } ///< "compiled", "memory cache", "disk cache", "object code"
  /// The machine code as bytes, for another process (Options::objectCode).
  std::string objectCode() const;
  /// Runs all statements, those of loops again and again. `tensors` is indexed as program().tensors: inputs
  /// set; results and intermediates are allocated here unless set with the right format (then reused, where
  /// no other tensor has the same memory). Parts of a tensor that a schedule decomposes are made here unless
  /// set: reset them with it.
  void run(std::vector<std::optional<runtime::Tensor>> &tensors, RunReport *report = nullptr) const;

private:
  notation::Program checked;
  std::shared_ptr<const Kernel> kernel;
  double ms;
  const char *from;
  Options options;
};

/// Compiles, or finds in memory or on disk. Encodings of inputs must have resolved widths. Throws Error for
/// what cannot be compiled (a sparse result that would be dense, …).
std::shared_ptr<Executable> compile(const notation::Program &program, const Options &options = {});

/// The text of a stage (see pipeline/Stages.h) for `tulle explain`.
std::string explain(const notation::Program &program, std::string_view stage, const Options &options = {});

/// The schedule of a program as a module with a transform.named_sequence of transform.tulle.* ops, which
/// `tulle-opt --transform-preload-library --transform-interpreter` applies to the text of stage linalg.
std::string scheduleIr(const notation::Program &program);

} // namespace tulle::engine
