// Compiled programs.
#pragma once
#include "tulle/tensor.h"
#include <cstdint>
#include <functional>

namespace tulle {

namespace detail {
struct KernelImpl;
}

struct CompileOptions {
  bool strictFp = false; ///< floating-point reductions keep the order of the loops
  unsigned threads =
      0; ///< at most; 0: OMP_NUM_THREADS, else all cores of the process; 1: code without threads
  bool deterministic = false; ///< results have the same bits for any number of threads
  unsigned vectorLength = 0;  ///< elements of a vector, a power of 2 up to 64; 0: chosen for the element type
  bool scalable = false;      ///< vectors are multiples of vectorLength elements, as the registers of SVE are
  std::string tail = "auto";  ///< the iterations behind the last whole vector: "mask": one masked vector;
                              ///< "auto": as is fastest
  bool wideIndices = false;   ///< gather with 64-bit indices where coordinates fit 32 bits, too
  /// One code for all sizes. By default the lengths of rows of dense tensors, up to 1024 bytes, are constants
  /// of it where types have sizes: it is compiled sooner, and again for other lengths, of which the first
  /// eight have code of their own.
  bool anySize = false;
  std::string schedule; ///< "reorder(i, k, j); assemble(C, count)": how to compute, where the
                        ///< default is not wanted
  /// Results besides those that no later statement reads; other intermediate tensors need not exist in
  /// memory.
  std::vector<std::string> results;
  /// Results that inputs give a first value, to which a statement adds: `z(i) += …` starts at 0 otherwise.
  std::vector<std::string> given;
  bool diskCache = true; ///< look for the machine code on disk, and leave it there
  /// What Kernel::objectCode has said in another process: used where the same program is compiled with the
  /// same options for the same CPU by the same build of Tulle, else ignored. Machine code runs as it is: take
  /// it from where you would take a program.
  std::shared_ptr<const std::string> objectCode;
};

/// What a run tells of the loops of a program (`repeat`).
struct RunReport {
  /// Rounds of each loop, in the order of the text; those of an inner loop, in all rounds of the outer ones.
  std::vector<std::int64_t> iterations;
  /// Called after each round, with the rounds so far. Where it returns false all loops end, and the
  /// statements behind them run.
  std::function<bool(const std::vector<std::int64_t> &iterations)> afterRound;
  /// Asked before each statement and each part of a parallel loop that the calling thread runs, on that
  /// thread. Where it answers true the run throws Interrupted when the other threads are done with their
  /// parts: there are no results, and memory that was given for them holds some part of them. The inputs and
  /// the kernel are as before.
  std::function<bool()> isInterrupted;
};

/// An access of a tensor in a statement.
struct AccessUse {
  std::string tensor;
  /// As the notation has them: "i", "i+1", "0"; empty where a tensor gives the coordinate.
  std::vector<std::string> subscripts;
  /// Points where the tensor stores nothing contribute nothing to the statement's result.
  bool restricts = false;
};

/// A statement of a compiled program.
struct StatementUse {
  AccessUse result;
  std::string reduction;    ///< of indices that the result lacks, as the notation spells it: "+=", "min=", …
  bool accumulates = false; ///< adds to what the result has already
  std::vector<AccessUse> operands; ///< masks and tensors of coordinates included
  std::string pattern;             ///< the operand that stores where the result does; empty where none does
  std::vector<std::string> indexValues; ///< indices whose values are computed with: `where (i < j)`
  bool inLoop = false;                  ///< of a `repeat`
};

/// A compiled program. Copies share the machine code; safe to call from several threads at once.
class TULLE_EXPORT Kernel {
public:
  /// Runs on the inputs in the order in which the program first names them, and returns the result that is
  /// written last. Inputs are what needs a first value: what is read, or added to in a loop, before it is
  /// written. They must have the element types and formats the kernel was compiled for (Error otherwise);
  /// sizes may differ, and the widths of positions and coordinates where the format names none ("CSR"): code
  /// for others is compiled when it is first needed.
  template <class... Tensors> AnyTensor operator()(const Tensors &...inputs) const {
    return call({inputs...});
  }
  /// The same; into the memory of `output`, where one is given (see run).
  AnyTensor call(const std::vector<AnyTensor> &inputs, RunReport *report = nullptr,
                 const AnyTensor &output = {}) const;
  /// Runs on named inputs and returns the program's results, by name. Of dense results the memory may be
  /// given in `outputs`: it is written to, also where the caller's (`dense`), and returned. Throws Error for
  /// an output of another type, format or size, one that is no result, and one that an input has, too.
  std::map<std::string, AnyTensor> run(const std::map<std::string, AnyTensor> &inputs,
                                       RunReport *report = nullptr,
                                       const std::map<std::string, AnyTensor> &outputs = {}) const;

  const std::vector<std::string> &inputs() const;  ///< names, in the order of the call
  const std::vector<std::string> &results() const; ///< names, in the order in which they are last written
  std::vector<std::string> remarks() const;        ///< conversions that were inserted, …
  /// A stage of the compiler as text, by the name that `tulle explain --stage` has for it.
  std::string explain(const std::string &stage) const;
  /// All stages side by side, as an HTML document of its own.
  std::string explainPage() const;
  double compileMs() const;
  std::string origin() const; ///< "compiled", "memory cache", "disk cache" or "object code"

  /// What it was compiled of, so that another process can.
  const std::string &program() const;
  const std::map<std::string, TensorType> &types() const;
  const CompileOptions &options() const;
  /// Its machine code as bytes (CompileOptions::objectCode).
  std::string objectCode() const;

  /// What the statements of the program read and write, for who divides the work among several kernels.
  std::vector<StatementUse> statements() const;

private:
  explicit Kernel(std::shared_ptr<detail::KernelImpl> impl) : impl(std::move(impl)) {}
  friend TULLE_EXPORT Kernel compile(const std::string &, const std::map<std::string, TensorType> &,
                                     const CompileOptions &);
  std::shared_ptr<detail::KernelImpl> impl;
};

/// The tensors of a program by name: operands, which need a first value, in the order in which it first names
/// them, and what statements write, in the order in which each is last written.
struct ProgramTensors {
  std::vector<std::string> operands, written;
};
/// Throws Error pointing into the text.
TULLE_EXPORT ProgramTensors tensorsOf(const std::string &program);

/// Compiles a program for tensors of these types; a result that is not named is dense. Sizes of operands need
/// not be given. Throws Error pointing into the text.
TULLE_EXPORT Kernel compile(const std::string &program, const std::map<std::string, TensorType> &types,
                            const CompileOptions &options = {});

} // namespace tulle
