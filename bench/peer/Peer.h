// What the benchmarks compare with: each library offers the operations it has, over the same arrays.
#pragma once
#include "measure/Input.h"
#include "measure/Measure.h"

namespace tulle::bench {

/// The operations that are timed. A is the input; dense operands are those of Input::dense by the names
/// below.
enum class Op {
  SpMV,         ///< y(i) = A(i,j) * x(j)
  SpMM,         ///< C(i,k) = A(i,j) * X(j,k), n columns
  SDDMM,        ///< C(i,j) = D(i,k) * E(j,k) where A, n columns
  MTTKRP,       ///< C(i,r) = A(i,j,k,…) * D(j,r) * E(k,r) * …, n columns
  TTV,          ///< C(i,j) = A(i,j,k) * x(k)
  TTM,          ///< C(i,j,r) = A(i,j,k) * X(k,r), n columns
  Add,          ///< C(i,j) = A(i,j) + B(i,j)
  Multiply,     ///< C(i,j) = A(i,k) * A(k,j)
  Masked,       ///< C(i,j) = A(i,k) * A(k,j) where A
  Dot,          ///< s = a(i) * b(i), two sparse vectors
  StructuredMM, ///< C(i,k) = A(i,j) * X(j,k), A with two of every four columns
  Softmax,      ///< over the stored entries of each row
  Convert,      ///< A from a format to another
  Compile       ///< SpMV, to code that can run
};

/// One operation on one input.
struct Task {
  Op op;
  std::string format; ///< of A
  std::string target; ///< Convert: the format made
  int64_t n;          ///< dense columns
  Input &input;

  runtime::Tensor a() const { return input.stored(format); }
  /// MTTKRP: D, E, …, one of n columns for each dimension but the first.
  std::vector<runtime::Tensor> factors() const;
};

struct Peer {
  std::string name;
  /// Ready to run; nothing where it has no such operation. Throws Absent where it is not installed.
  std::function<std::optional<Runner>(const Task &)> make;
};

/// Hand-written loops first: they are the reference.
const std::vector<Peer> &peers();

std::optional<Runner> loopPeer(const Task &task);
std::optional<Runner> eigenPeer(const Task &task);
std::optional<Runner> scipyPeer(const Task &task);
/// A product whose rows are not sorted: less than what the others do.
std::optional<Runner> scipyUnsortedPeer(const Task &task);
std::optional<Runner> mlirPeer(const Task &task);
/// Conversions as MLIR's pipeline makes them without options: a run-time library inserts entry by entry.
std::optional<Runner> mlirLibraryPeer(const Task &task);
/// The matrix as it is stored: optimize may only divide the work.
std::optional<Runner> mklPeer(const Task &task);
/// SpMV after mkl_sparse_optimize made a copy in a format of MKL's own, as it does unless told not to.
std::optional<Runner> mklOwnFormatPeer(const Task &task);

/// Names of competitors that targets name. kOneThread is Tulle with one thread among runs with several; kCopy
/// and kCopyOneThread show how memory bandwidth scales with threads. kUpstreamPasses, on demand, is Tulle
/// with MLIR's passes between its own.
inline constexpr const char *kOneThread = "tulle 1", *kCopy = "copy", *kCopyOneThread = "copy 1",
                            *kMklOwnFormat = "MKL own format", *kMlirLibrary = "MLIR library",
                            *kUpstreamPasses = "upstream passes";

std::optional<Runner> graphBlasPeer(const Task &task);
std::optional<Runner> rsbPeer(const Task &task);
std::optional<Runner> blasPeer(const Task &task);

/// A competitor whose answer are values in `out`, in the order of the loop's.
Runner into(std::span<double> out, std::function<void()> run);

/// Runs `make` and keeps what it made until the next run, so that it can be compared; it goes outside of what
/// is timed. `answer` describes it.
template <typename Make, typename Describe> Runner making(Make make, Describe answer) {
  using Made = decltype(make());
  auto last = std::make_shared<std::optional<Made>>();
  return {[last, make] {
            last->reset();
            return timed([&] { last->emplace(make()); });
          },
          [last, answer] { return answer(**last); }};
}

} // namespace tulle::bench
