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
  MultiplyAll,  ///< C(i,j) = A(i,l) * A(l,k) * A(k,j)
  Masked,       ///< C(i,j) = A(i,k) * A(k,j) where A
  Dot,          ///< s = a(i) * b(i), two sparse vectors
  StructuredMM, ///< C(i,k) = A(i,j) * X(j,k), A with two of every four columns
  Convert,      ///< A from a format to another
  Compile,      ///< SpMV, to code that can run
  // From here on programs; their texts are in registry/Programs.cpp.
  Softmax,       ///< over the stored entries of each row
  Attention,     ///< of Q, K and V, n columns, where A
  FusedMM,       ///< O(i,l) = A(i,j) * Q(i,k) * K(j,k) * V(j,l), n columns
  Gcn,           ///< two layers of a graph network, n features
  GraphSage,     ///< a layer with the mean of the neighbours, n features
  CgStep,        ///< an iteration of conjugate gradients
  PageRankStep,  ///< an iteration of PageRank, with the difference it makes
  Rgms,          ///< Y(i,k) = A(r,i,j) * X(j,l) * W(r,l,k), n features
  RaggedProduct, ///< C(b,i,k) = A(b,i,j) * B(b,j,k), sizes that depend on b
  BlockSpMM,     ///< C(i,k) = A(i,j) * X(j,k), n columns, A in blocks of kBlock rows and columns
  BlockSDDMM,    ///< C(i,j) = D(i,k) * E(j,k), n columns, where A in such blocks has some
  // Of subscripts that tensors give: the coordinates s, d of A's entries (peer/Indirect.h); 0 columns:
  // vectors.
  Gather,        ///< Y(e,k) = X(s(e),k), n columns
  Scatter,       ///< Z(s(e),k) = Y(e,k), n columns
  Messages,      ///< Z(d(e),k) = w(e) * X(s(e),k), w the values of A's entries, n columns
  Convolution,   ///< O(o,c) = X(t(o,r) else 0, d) * W(r,d,c), t the values of A, n channels
  HStack,        ///< C(i,j) = concat(A, B; 1)
  VStack,        ///< C(i,j) = concat(A, B; 0)
  BlockDiagonal, ///< C(i,j) = concat(A, B; 0, 1)
  // Of rows of any lengths, and of a matrix that is read as a vector.
  RowSums,    ///< y(i) = A(i,j)
  RowMaxima,  ///< y(i) max= A(i,j)
  RowSquares, ///< B(i,j) = A(i,j) * A(i,j) + A(i,j)
  Collapsed,  ///< C(i,j) = A(i,k) * B(k,j); v(l) = C(l / n, l % n) - x(l), n columns
  // Whole solvers and graph algorithms (peer/Solvers.h): programs with a loop.
  ConjugateGradients,
  PageRank,
  BreadthFirstSearch,
  ShortestPaths,
  Components
};
/// Rows and columns of the blocks of BlockSpMM and BlockSDDMM.
inline constexpr int64_t kBlock = 32;

/// One operation on one input.
struct Task {
  Op op;
  std::string format; ///< of A
  std::string target; ///< Convert: the format made
  int64_t n;          ///< dense columns
  Input &input;
  ElementType type = ElementType::F64; ///< of all operands; programs also run in single precision

  runtime::Tensor a() const { return input.stored(format, type); }
  runtime::Tensor dense(const std::string &name, std::vector<int64_t> shape) const {
    return input.dense(name, std::move(shape), type);
  }
  /// A dense operand of so many rows of n columns, "X" for the name "x"; where n is 0, a vector of that name.
  runtime::Tensor features(std::string name, int64_t rows) const;
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
/// Of loopPeer: the operations that are programs, fused by hand.
std::optional<Runner> programLoops(const Task &task);
/// Of loopPeer: gathers, scatters, joined matrices.
std::optional<Runner> indirectLoops(const Task &task);
std::optional<Runner> eigenPeer(const Task &task);
std::optional<Runner> scipyPeer(const Task &task);
/// A product whose rows are not sorted: less than what the others do.
std::optional<Runner> scipyUnsortedPeer(const Task &task);
/// awkward-array, in SciPy's process: rows of any lengths.
std::optional<Runner> awkwardPeer(const Task &task);
/// NumPy, in SciPy's process: fancy indices and np.add.at; a convolution is a gather, a product and a scatter
/// for each neighbor, or one product with what im2col makes.
std::optional<Runner> numpyPeer(const Task &task);
std::optional<Runner> numpyIm2colPeer(const Task &task);
std::optional<Runner> mlirPeer(const Task &task);
/// Conversions as MLIR's pipeline makes them without options: a run-time library inserts entry by entry.
std::optional<Runner> mlirLibraryPeer(const Task &task);
/// The matrix as it is stored: optimize may only divide the work.
std::optional<Runner> mklPeer(const Task &task);
/// SpMV after mkl_sparse_optimize made a copy in a format of MKL's own, as it does unless told not to.
std::optional<Runner> mklOwnFormatPeer(const Task &task);

/// Names of competitors that targets name. kOneThread is Tulle with one thread among runs with several; kCopy
/// and kCopyOneThread show how memory bandwidth scales with threads. kUpstreamPasses, on demand, is Tulle
/// with MLIR's passes between its own. kUnfused is Tulle with a kernel for each statement of a program,
/// kUnscheduled Tulle with the schedule that it chooses. kRoofline is the least time that the machine allows.
inline constexpr const char *kOneThread = "tulle 1", *kCopy = "copy", *kCopyOneThread = "copy 1",
                            *kMklOwnFormat = "MKL own format", *kMlirLibrary = "MLIR library",
                            *kUpstreamPasses = "upstream passes", *kUnfused = "unfused",
                            *kUnscheduled = "default", *kRoofline = "the roofline", *kIm2col = "NumPy im2col",
                            *kAwkward = "awkward-array";

std::optional<Runner> graphBlasPeer(const Task &task);
/// Of graphBlasPeer: solvers and graph algorithms, a call for each operation of a round.
std::optional<Runner> graphBlasSolvers(const Task &task);
std::optional<Runner> rsbPeer(const Task &task);
std::optional<Runner> blasPeer(const Task &task);

/// A competitor whose answer are values in `out`, in the order of the loop's.
Runner into(std::span<double> out, std::function<void()> run);

/// Appends the values of one of several results; they are compared as their type allows.
void append(Answer &answer, const runtime::Tensor &result);

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
